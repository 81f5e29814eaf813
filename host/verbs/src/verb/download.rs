//! `download`: keep a file of the site as a run file.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ErrorCode, Reason, ToolError},
    limits::URL_BYTES_MAX,
    registry::{Effect, Interface, Retry, Spec},
    schema,
    target::{OptionalTarget, Target},
};

/// Arguments of `download`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// The file's address. Its host, and that of every redirect, has to be one of the binding's. Used when a target is given too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(bytes, min = 1, max = URL_BYTES_MAX))]
    pub url: Option<String>,
    /// The control whose click starts the download.
    #[serde(flatten)]
    pub target: OptionalTarget,
}

/// Where a download begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Source<'a> {
    /// At an address.
    Url(&'a str),
    /// At a control that is clicked.
    Control(&'a Target),
}

impl Input {
    /// The address, or else the control.
    ///
    /// # Errors
    /// When neither is given.
    pub fn source(&self) -> Result<Source<'_>, ToolError> {
        match (&self.url, &self.target.0) {
            (Some(url), _) => Ok(Source::Url(url)),
            (None, Some(target)) => Ok(Source::Control(target)),
            (None, None) => {
                Err(ToolError::invalid("nothing to download: give `url`, or the control whose click starts it"))
            }
        }
    }
}

/// Result of `download`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The run file.
    pub file: super::FileInfo,
}

pub(crate) const SPEC: Spec = Spec {
    name: "download",
    summary: "Keep a file of the site as a run file.",
    description: "Download a file and keep it as a run file. Give `url`, the file's address on one of the hosts that the `{prefix}` binding allows, or the control whose click starts the download (`ref`, `selector` or a point); `url` wins when both are given, and every redirect is checked. Answers with the file's handle (`id`), name, size, type and source, never with its bytes.",
    effect: Effect::Read,
    retry: Retry::Safe,
    interface: Interface::Files,
    returns: "The run file's handle, name, size, type and where it came from; never its bytes.",
    errors: &[ErrorCode::SiteBlocked, ErrorCode::FileNotSaved],
    reasons: &[
        Reason::NoDownload,
        Reason::NotFound,
        Reason::StaleRef,
        Reason::NotVisible,
        Reason::Covered,
        Reason::Disabled,
        Reason::Navigation,
        Reason::Timeout,
        Reason::DialogOpen,
        Reason::PageCrashed,
        Reason::Quota,
    ],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r#"{"url": "https://shop.example.com/orders.csv"}"#,
};
