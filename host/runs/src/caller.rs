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
    /// Whether the caller may be on the page of this address, beside what the binding says of it.
    pub(crate) fn admit_live(&self, address: &str) -> Result<(), ToolError> {
        let Caller::Plugin { plugin, .. } = self else { return Ok(()) };
        let address = address.strip_prefix("blob:").unwrap_or(address);
        match Url::parse(address) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => self.admit_url(plugin, &url),
            // What the binding takes for an empty page is one for a plugin too.
            _ => Ok(()),
        }
    }

    fn admit_url(&self, plugin: &BoundPlugin, url: &Url) -> Result<(), ToolError> {
        plugin.capabilities.decide(Asked::Url { url, used_as: Use::Page }).map_err(|denial| {
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
