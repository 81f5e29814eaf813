//! `screenshot`: a picture of the page, kept as a run file.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ErrorCode, Reason},
    registry::{Effect, Interface, Retry, Spec},
    schema,
    target::OptionalTarget,
};

/// Arguments of `screenshot`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// The element to take; left out: the viewport. Its box is scrolled into view.
    #[serde(flatten)]
    pub target: OptionalTarget,
    /// Take the whole page instead of the viewport.
    #[serde(default)]
    pub full_page: bool,
    /// The picture's format.
    #[serde(default)]
    pub format: Format,
}

/// A picture's format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Lossless.
    #[default]
    Png,
    /// Smaller.
    Jpeg,
}

/// Result of `screenshot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The picture, as a run file.
    pub file: super::FileInfo,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Size in bytes.
    pub size: u64,
}

pub(crate) const SPEC: Spec = Spec {
    name: "screenshot",
    summary: "Take a picture of the page.",
    description: "Take a screenshot of the page: what the viewport shows, one element, or with `full_page` everything. It is kept as a run file and reported by its size; it is not pasted into the conversation.",
    effect: Effect::Read,
    retry: Retry::Safe,
    interface: Interface::Read,
    returns: "The picture's run file and its size, never its bytes.",
    errors: &[ErrorCode::SiteBlocked, ErrorCode::FileNotSaved],
    reasons: &[
        Reason::NotFound,
        Reason::StaleRef,
        Reason::NotVisible,
        Reason::Timeout,
        Reason::DialogOpen,
        Reason::PageCrashed,
        Reason::Quota,
    ],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: "{}",
};
