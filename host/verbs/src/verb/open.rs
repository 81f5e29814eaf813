//! `open`: a new tab.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ErrorCode, Reason},
    limits::URL_BYTES_MAX,
    registry::{Effect, Interface, Retry, Spec},
    schema,
};

/// Arguments of `open`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// The full address to open; left out: the binding's start page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(bytes, min = 1, max = URL_BYTES_MAX))]
    pub url: Option<String>,
}

pub use super::tabs::Output;

pub(crate) const SPEC: Spec = Spec {
    name: "open",
    summary: "Open a new tab.",
    description: "Open a new tab on `url`, or on the binding's start page, and make it the active one. Answers with all tabs.",
    effect: Effect::Read,
    retry: Retry::Never,
    interface: Interface::Navigate,
    returns: "The tabs, the new one active.",
    errors: &[ErrorCode::SiteBlocked],
    reasons: &[Reason::Navigation, Reason::Timeout, Reason::Quota],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r#"{"url": "https://shop.example.com/help"}"#,
};
