//! `dialog`: answer a confirm or a prompt.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::Reason,
    registry::{Effect, Interface, Retry, Spec},
    schema,
    state::DialogKind,
};

/// Arguments of `dialog`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// OK (true) or Cancel (false).
    pub accept: bool,
    /// What to enter in a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, max = 10_000))]
    pub text: Option<String>,
}

/// Result of `dialog`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The kind of dialog that was answered.
    pub kind: DialogKind,
    /// Its text.
    pub message: String,
}

pub(crate) const SPEC: Spec = Spec {
    name: "dialog",
    summary: "Answer a confirm or a prompt.",
    description: "Answer the dialog that a click or a script opened: `accept` true for OK, false for Cancel, and `text` for a prompt. Until it is answered, other calls on that tab fail.",
    effect: Effect::Write,
    retry: Retry::Never,
    interface: Interface::Act,
    returns: "The dialog that was answered.",
    errors: &[],
    reasons: &[Reason::NotFound, Reason::Timeout, Reason::PageCrashed],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r#"{"accept": true}"#,
};
