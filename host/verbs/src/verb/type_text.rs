//! `type`: put text into a field.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ErrorCode, Reason, ToolError},
    limits::TYPE_CHARS_MAX,
    registry::{Effect, Interface, Retry, Spec},
    schema,
    target::OptionalTarget,
};

/// Arguments of `type`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// The field; left out: what has the focus.
    #[serde(flatten)]
    pub target: OptionalTarget,
    /// What to put in. `{{secret:name}}` stands for a secret of the binding, which the host puts in.
    #[garde(length(chars, max = TYPE_CHARS_MAX))]
    pub text: String,
    /// What becomes of what the field holds. Default: `replace` with a target, `insert` (at the caret) without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Short for `mode: "append"`.
    #[serde(default)]
    pub append: bool,
    /// Press Enter afterwards.
    #[serde(default)]
    pub submit: bool,
    /// Send each character as a key press of its own, for pages that listen to keys.
    #[serde(default)]
    pub slowly: bool,
}

/// What becomes of what a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The text takes its place.
    Replace,
    /// The text goes behind it.
    Append,
    /// The text goes in at the caret.
    Insert,
}

impl Input {
    /// The mode that holds: as given, else by whether there is a target.
    ///
    /// # Errors
    /// When `append` and another `mode` are given together.
    pub fn effective_mode(&self) -> Result<Mode, ToolError> {
        match (self.mode, self.append) {
            (Some(Mode::Append) | None, true) => Ok(Mode::Append),
            (Some(_), true) => {
                Err(ToolError::invalid("`append` and another `mode` contradict each other: give one of them"))
            }
            (Some(mode), false) => Ok(mode),
            (None, false) if self.target.0.is_some() => Ok(Mode::Replace),
            (None, false) => Ok(Mode::Insert),
        }
    }
}

pub use super::click::Output;

pub(crate) const SPEC: Spec = Spec {
    name: "type",
    summary: "Put text into a field.",
    description: "Type `text` into one field of the page; it replaces what the field holds unless `mode` says otherwise. Without a target it goes where the focus is, at the caret. `submit` presses Enter afterwards. Write `{{secret:name}}` for a secret: the host types it, and you never see it.",
    effect: Effect::Write,
    retry: Retry::Never,
    interface: Interface::Act,
    returns: "Where the browser is afterwards, and what submitting opened.",
    errors: &[ErrorCode::SiteBlocked],
    reasons: &[
        Reason::NotFound,
        Reason::StaleRef,
        Reason::NotVisible,
        Reason::Covered,
        Reason::Disabled,
        Reason::ReadOnly,
        Reason::NotEditable,
        Reason::ValueRefused,
        Reason::Timeout,
        Reason::DialogOpen,
        Reason::PageCrashed,
        Reason::OutcomeUnknown,
    ],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r##"{"selector": "#email", "text": "robin@example.com"}"##,
};
