//! Who calls: a model under its run's grants, or a plugin's call under its own, narrower ones.

use std::{fmt, sync::Arc};

use transom_policy::{grant::Asked, hosts::Use};
use transom_verbs::{ErrorCode, ToolError};
use url::Url;

use crate::bound_plugin::BoundPlugin;

#[derive(Clone, Debug)]
pub(crate) enum Caller {
    /// Whoever holds the run: it may call the tools that the run was granted.
    Model,
    /// A call of this plugin: it may perform the verbs that imports, manifest and binding leave it.
    Plugin {
        plugin: Arc<BoundPlugin>,
        /// The interface by which the call came.
        interface: &'static str,
    },
}

impl Caller {
    /// Whether the caller may open or be on a page of this address, beside what the binding says of it.
    pub(crate) fn admit(&self, address: &str) -> Result<(), ToolError> {
        let Caller::Plugin { plugin, .. } = self else { return Ok(()) };
        let url = Url::parse(address).map_err(|_| {
            ToolError::new(ErrorCode::SiteBlocked, "refused: the page has no address that could be judged")
        })?;
        plugin.capabilities.decide(Asked::Url { url: &url, used_as: Use::Page }).map_err(|denial| {
            let error = ToolError::new(ErrorCode::SiteBlocked, format!("refused: {denial}"));
            match denial.line() {
                Some(line) => error.with_hint(line),
                None => error,
            }
        })
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller::Model => f.write_str("model"),
            Caller::Plugin { plugin, .. } => write!(f, "plugin {}", plugin.name),
        }
    }
}
