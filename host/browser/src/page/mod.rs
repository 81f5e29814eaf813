//! The script that reads and aims at pages from inside, and how it is called.
//!
//! It lives in an isolated world of every document ([`crate::frames::WORLD`]), installed before the page's own scripts run. Each function
//! takes JSON and answers `{ok}` or `{error: {reason, message}}`; what it says is built from what a page wrote, but
//! never runs here.
//!
//! The functions themselves are in the `.js` files, which are joined in the order that `world.js` names.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use transom_verbs::{ToolError, error::Reason};

use chromiumoxide_cdp::cdp::js_protocol::runtime::EvaluateParams;

use crate::{
    cdp::{CallError, Connection, Session},
    frames::ScriptContext,
};

macro_rules! joined {
    ($($file:literal),* $(,)?) => {
        /// The names of the files, in the order in which they are joined.
        #[cfg(test)]
        const FILES: &[&str] = &[$($file,)*];

        /// The whole script.
        pub(crate) const SOURCE: &str = concat!(
            "(() => {\n'use strict';\n",
            $(include_str!($file), "\n",)*
            // The page prints: nothing is printed, but the caller is told (`PRINT_BINDING`).
            "addEventListener('beforeprint', (event) => { if (event.isTrusted) globalThis.__transomPrint?.(''); });\n",
            "})();\n",
        );
    };
}

joined![
    "world.js",
    "dom.js",
    "text_safety.js",
    "refs.js",
    "visibility.js",
    "tree.js",
    "selectors.js",
    "generated.js",
    "roles.js",
    "names.js",
    "states.js",
    "outline.js",
    "snapshot.js",
    "frames.js",
    "hit.js",
    "actionable.js",
    "typing.js",
    "rendered_text.js",
    "markdown.js",
    "html.js",
    "read.js",
    "wait.js",
    "publish.js",
];

/// Why a call of the script has no result.
#[derive(Debug)]
pub(crate) enum PageFault {
    /// The script says no, for a reason of the contract.
    Refused(ToolError),
    /// The document is gone, or going: its world ended during the call.
    Gone,
    /// The call itself failed.
    Call(CallError),
}

impl From<CallError> for PageFault {
    fn from(error: CallError) -> PageFault {
        if error.is_context_gone() { PageFault::Gone } else { PageFault::Call(error) }
    }
}

/// What Chromium answers to an evaluation.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluated<T> {
    pub(crate) result: Remote<T>,
    pub(crate) exception_details: Option<Exception>,
}

/// A value in the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remote<T> {
    #[serde(default, rename = "type")]
    pub(crate) kind: String,
    pub(crate) value: Option<T>,
    pub(crate) unserializable_value: Option<String>,
    pub(crate) object_id: Option<String>,
    pub(crate) description: Option<String>,
}

/// What was thrown.
#[derive(Debug, Deserialize)]
pub(crate) struct Exception {
    #[serde(default)]
    pub(crate) text: String,
    pub(crate) exception: Option<Remote<serde_json::Value>>,
}

#[derive(Deserialize)]
enum Answer<T> {
    #[serde(rename = "ok")]
    Ok(T),
    #[serde(rename = "error")]
    Error(Refused),
}

#[derive(Deserialize)]
struct Refused {
    reason: String,
    message: String,
}

impl Refused {
    fn into_error(self) -> ToolError {
        match Reason::from_wire(&self.reason) {
            Some(reason) => ToolError::failed(reason, self.message),
            None if self.reason == "invalid_input" => ToolError::invalid(self.message),
            None => ToolError::failed(Reason::Script, self.message),
        }
    }
}

/// The command that evaluates `expression` in `context` and gives its value.
pub(crate) fn evaluate_in(context: &ScriptContext, expression: String) -> EvaluateParams {
    let mut command = EvaluateParams::new(expression);
    command.unique_context_id = Some(context.unique.to_string());
    command.return_by_value = Some(true);
    command.await_promise = Some(true);
    command.silent = Some(true);
    command
}

/// Calls `function` of the script in `context` with `arguments`.
///
/// The caller has the deadline: a renderer that is busy or stopped answers late or never.
pub(crate) async fn call<T: DeserializeOwned>(
    connection: &Connection,
    context: &ScriptContext,
    function: &str,
    arguments: &impl Serialize,
) -> Result<T, PageFault> {
    let arguments = serde_json::to_string(arguments)
        .map_err(|error| CallError::Form { method: function.to_owned(), problem: error.to_string() })?;
    // JSON is a subset of JavaScript's expressions, so the arguments can't be anything else than a value there.
    let command = evaluate_in(context, format!("__transom.{function}({arguments})"));
    let session = Session::target(connection.clone(), context.session.clone());
    let answer: Evaluated<Answer<T>> = session.send(&command).parsed().await?;
    match answer.result.value {
        Some(Answer::Ok(value)) => Ok(value),
        Some(Answer::Error(refused)) => Err(PageFault::Refused(refused.into_error())),
        // The document is so new that the script is not there yet, or it is being taken down.
        None => Err(PageFault::Gone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_joined_in_the_order_that_the_script_names() {
        let order: Vec<&str> = include_str!("world.js")
            .lines()
            .filter_map(|line| line.strip_prefix("// ORDER:"))
            .flat_map(str::split_whitespace)
            .collect();
        assert_eq!(order, FILES);
    }

    #[test]
    fn an_answer_is_a_value_or_a_refusal_with_a_reason_of_the_contract() {
        let parse = |text: &str| serde_json::from_str::<Answer<u8>>(text).unwrap();
        assert!(matches!(parse(r#"{"ok":3}"#), Answer::Ok(3)));
        let Answer::Error(refused) = parse(r#"{"error":{"reason":"covered","message":"m","by":"div"}}"#) else {
            panic!()
        };
        assert!(refused.into_error().is(Reason::Covered));
        let Answer::Error(refused) = parse(r#"{"error":{"reason":"invalid_input","message":"m"}}"#) else { panic!() };
        assert_eq!(refused.into_error().code, transom_verbs::ErrorCode::InvalidInput);
    }
}
