//! `wait`: until something is so.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ErrorCode, Reason, ToolError},
    limits::{SCRIPT_BYTES_MAX, SELECTOR_BYTES_MAX, URL_BYTES_MAX, WAIT_MS_MAX},
    registry::{Effect, Interface, Retry, Spec},
    schema,
};

/// Arguments of `wait`: exactly one of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// This many milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(max = WAIT_MS_MAX))]
    pub ms: Option<u32>,
    /// Until the page shows this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 10_000))]
    pub text: Option<String>,
    /// Until the page no longer shows this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 10_000))]
    pub text_gone: Option<String>,
    /// Until an element matches this CSS selector and is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(bytes, min = 1, max = SELECTOR_BYTES_MAX))]
    pub selector: Option<String>,
    /// Until the page's address is this one, or holds this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(bytes, min = 1, max = URL_BYTES_MAX))]
    pub url: Option<String>,
    /// Until the page has come this far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<LoadState>,
    /// Until this expression is true; needs the `evaluate` grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(bytes, min = 1, max = SCRIPT_BYTES_MAX))]
    pub script: Option<String>,
}

/// How far a page has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoadState {
    /// Its load event.
    Load,
    /// Its document is parsed.
    Domcontentloaded,
    /// No request for half a second.
    Idle,
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition<'a> {
    /// Time passes, in milliseconds.
    Ms(u32),
    /// A text is shown.
    Text(&'a str),
    /// A text is gone.
    TextGone(&'a str),
    /// A selector matches something visible.
    Selector(&'a str),
    /// The address is or holds this.
    Url(&'a str),
    /// The page has come this far.
    State(LoadState),
    /// An expression is true.
    Script(&'a str),
}

impl Input {
    /// The one condition.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn condition(&self) -> Result<Condition<'_>, ToolError> {
        let mut given = [
            self.ms.map(Condition::Ms),
            self.text.as_deref().map(Condition::Text),
            self.text_gone.as_deref().map(Condition::TextGone),
            self.selector.as_deref().map(Condition::Selector),
            self.url.as_deref().map(Condition::Url),
            self.state.map(Condition::State),
            self.script.as_deref().map(Condition::Script),
        ]
        .into_iter()
        .flatten();
        match (given.next(), given.next()) {
            (Some(condition), None) => Ok(condition),
            (None, _) => Err(ToolError::invalid(
                "nothing to wait for: give one of `ms`, `text`, `text_gone`, `selector`, `url`, `state`, `script`",
            )),
            (Some(_), Some(_)) => {
                Err(ToolError::invalid("more than one thing to wait for: give one, and wait again for the next"))
            }
        }
    }
}

/// Result of `wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The page's address afterwards.
    pub url: String,
    /// How long it took, in milliseconds.
    pub waited_ms: u64,
}

pub(crate) const SPEC: Spec = Spec {
    name: "wait",
    summary: "Wait until something is so.",
    description: "Wait for one thing: a text to show (`text`) or to go (`text_gone`), an element (`selector`), an address (`url`), a load state (`state`), an expression to be true (`script`), or a number of milliseconds (`ms`). Actions already wait for what they start, so this is for what a page does by itself.",
    effect: Effect::Read,
    retry: Retry::Safe,
    interface: Interface::Navigate,
    returns: "Where the page is, and how long it took.",
    errors: &[ErrorCode::SiteBlocked],
    reasons: &[Reason::Timeout, Reason::Script, Reason::DialogOpen, Reason::PageCrashed],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r#"{"text": "Order sent"}"#,
};
