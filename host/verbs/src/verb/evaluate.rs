//! `evaluate`: run a script in the page.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::{ErrorCode, Reason},
    limits::SCRIPT_BYTES_MAX,
    registry::{Effect, Interface, Retry, Spec},
    schema,
    target::OptionalTarget,
};

/// Arguments of `evaluate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// An expression (`document.title`), or the body of an async function (`const r = await fetch('/a'); return r.status`).
    #[garde(length(bytes, min = 1, max = SCRIPT_BYTES_MAX))]
    pub script: String,
    /// An element that the script has as `element`.
    #[serde(flatten)]
    pub target: OptionalTarget,
}

/// Result of `evaluate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// What the script gave, as JSON; `null` for undefined.
    pub value: Value,
    /// A dialog that the script opened and that waits for `dialog`; `value` is null then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<crate::state::OpenDialog>,
}

pub(crate) const SPEC: Spec = Spec {
    name: "evaluate",
    summary: "Run a script in the page.",
    description: "Run JavaScript in the page and answer with its value as JSON. `script` is an expression or the body of an async function. With a target, the element is there as `element`. Refused in a document that a secret was typed into, unless the binding allows it.",
    effect: Effect::Write,
    retry: Retry::Never,
    interface: Interface::Script,
    returns: "The value, as JSON.",
    errors: &[ErrorCode::SiteBlocked],
    reasons: &[
        Reason::Script,
        Reason::NotFound,
        Reason::StaleRef,
        Reason::Timeout,
        Reason::DialogOpen,
        Reason::PageCrashed,
        Reason::OutcomeUnknown,
    ],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r#"{"script": "document.title"}"#,
};
