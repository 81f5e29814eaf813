//! `evaluate`: run a caller's script in the page's own world. One round trip for an expression.
//!
//! A script is tried as an expression first. If it is none, Chromium says so when it compiles, before anything of it has run, and
//! it is sent again as the body of an async function. Scripts that begin like statements are sent as a body at once. With a target
//! the element is the argument `element` and `this`.
//!
//! What comes back is JSON or an error: `undefined` is null, and what JSON can't hold (a function, a cycle, a NaN) says so.

use chromiumoxide_cdp::cdp::js_protocol::runtime::{CallArgument, CallFunctionOnParams, EvaluateParams, TimeDelta};
use serde_json::{Value, value::RawValue};
use tokio::time::Instant;
use transom_verbs::{
    Call, ToolError,
    error::Reason,
    limits::VALUE_BYTES_MAX,
    verb::evaluate::{Input, Output},
};

use crate::{
    aim::{Aim, Purpose, actionable_until},
    browser::{Inner, TabView},
    cdp::{CallError, Reply, Session},
    extract::REDACTION_OVERLAP,
    failure,
    page::{Evaluated, Exception},
    world::Look,
};

/// Characters of a page's error message that are shown.
const MESSAGE_CHARS: usize = 1_000;

/// How a script is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Expression,
    Body,
}

impl Form {
    /// The form to try first.
    fn of(script: &str) -> Form {
        const STATEMENTS: &[&str] =
            &["return", "const", "let", "var", "if", "for", "while", "do", "switch", "try", "throw", "debugger"];
        let word: &str =
            script.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').next().unwrap_or_default();
        if STATEMENTS.contains(&word) { Form::Body } else { Form::Expression }
    }

    /// The script as a function that takes `element`. New lines keep a comment at its end from swallowing what follows.
    fn function(self, script: &str, is_with_element: bool) -> String {
        let parameter = if is_with_element { "element" } else { "" };
        match self {
            Form::Expression => format!("async function({parameter}) {{ return (\n{script}\n) }}"),
            Form::Body => format!("async function({parameter}) {{\n{script}\n}}"),
        }
    }
}

impl Inner {
    pub(crate) async fn evaluate(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let tab = self.ready_tab(call.tab.as_ref())?;
        self.refuse_where_secrets_are(&tab)?;
        let aim = match &input.target.0 {
            None => None,
            Some(target) => Some(self.aim(&tab, target, Purpose::Read, actionable_until(call, deadline)).await?),
        };
        let object = match &aim {
            None => None,
            Some(aim) => Some((aim, self.element_in_page(&tab, aim).await?)),
        };
        let script = input.script.trim().trim_end_matches(';');
        let mark = self.mark();
        let mut form = Form::of(script);
        let by = Self::last_words(deadline);
        let answer = loop {
            let reply = match &object {
                None => self.send_script(&tab, form, script, by),
                Some((aim, element)) => self.send_script_on(aim, element, form, script),
            };
            let answer = match self.script_answer(&tab, reply, by).await? {
                Some(answer) => answer,
                None => break None,
            };
            if form == Form::Expression && answer.exception_details.as_ref().is_some_and(is_no_expression) {
                form = Form::Body;
                continue;
            }
            break Some(answer);
        };
        let value = match answer {
            None => Value::Null,
            Some(answer) => value_of(answer)?,
        };
        // The renderer tells of a navigation before it answers the script that began it, so nothing more has to be asked.
        let is_quiet = self.shared.look(|world| {
            let frame = world.frames.get(&tab.frame);
            let has_dialog = world.tabs.with_frame(&tab.frame).is_some_and(|tab| tab.dialog.is_some());
            !has_dialog && frame.is_some_and(|frame| !frame.motion.has_moved_since(mark.since))
        });
        if is_quiet {
            return Ok(Output { value, dialog: None });
        }
        let started = self.settle(&tab, &mark, None, deadline).await?;
        Ok(Output { value, dialog: started.dialog })
    }

    /// Sends a script for the page's own world.
    fn send_script(&self, tab: &TabView, form: Form, script: &str, by: Instant) -> Reply {
        let mut command = EvaluateParams::new(format!("({})()", form.function(script, false)));
        command.return_by_value = Some(true);
        command.await_promise = Some(true);
        // A loop without an end is stopped, so that the page can be used again.
        let left = by.saturating_duration_since(Instant::now()).as_secs_f64() * 1000.0;
        command.timeout = Some(TimeDelta::new(left.max(1.0)));
        tab.session.send(&command)
    }

    fn send_script_on(&self, aim: &Aim, element: &str, form: Form, script: &str) -> Reply {
        let mut command = CallFunctionOnParams::new(form.function(script, true));
        command.object_id = Some(element.to_owned().into());
        command.arguments =
            Some(vec![CallArgument { object_id: Some(element.to_owned().into()), ..CallArgument::default() }]);
        command.return_by_value = Some(true);
        command.await_promise = Some(true);
        Session::target(self.connection.clone(), aim.context.session.clone()).send(&command)
    }

    /// The script's end; `None` when a dialog that it opened keeps it from ending.
    async fn script_answer(
        &self,
        tab: &TabView,
        reply: Reply,
        by: Instant,
    ) -> Result<Option<Evaluated<Box<RawValue>>>, ToolError> {
        let gone = self.shared.until(|world| match world.tabs.with_frame(&tab.frame) {
            Some(tab) if tab.dialog.is_some() => Look::Ready(()),
            _ => Look::Later,
        });
        tokio::select! {
            biased;
            answer = reply.parsed() => match answer {
                Ok(answer) => Ok(Some(answer)),
                Err(CallError::Refused { message, .. }) if message.contains("terminated") || message.contains("timed out") => {
                    Err(ToolError::failed(Reason::Timeout, "the script did not end in time and was stopped"))
                }
                Err(CallError::Refused { message, .. }) if message.contains("reference chain is too long") => {
                    Err(no_json("it is nested too deeply, or holds itself"))
                }
                Err(CallError::Refused { message, .. }) if message.contains("couldn't be returned by value") => {
                    Err(no_json("it holds something that JSON can't"))
                }
                // Stopped inside of a promise, Chromium says no more than "Internal error".
                Err(CallError::Refused { .. }) if Instant::now() >= by => {
                    Err(ToolError::failed(Reason::Timeout, "the script did not end in time and was stopped"))
                }
                Err(error) => Err(error.into()),
            },
            gone = gone => { gone?; Ok(None) }
        }
    }

    /// The element that was aimed at, as an object of the page's own world.
    async fn element_in_page(&self, tab: &TabView, aim: &Aim) -> Result<String, ToolError> {
        use chromiumoxide_cdp::cdp::browser_protocol::dom::{BackendNodeId, DescribeNodeParams, ResolveNodeParams};
        use chromiumoxide_cdp::cdp::js_protocol::runtime::ExecutionContextId;
        #[derive(serde::Deserialize)]
        struct Described {
            node: Node,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Node {
            backend_node_id: i64,
        }
        #[derive(serde::Deserialize)]
        struct Resolved {
            object: Object,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Object {
            object_id: Option<String>,
        }
        let session = Session::target(self.connection.clone(), aim.context.session.clone());
        let describe = DescribeNodeParams {
            object_id: Some(self.object_of(tab, aim).await?.into()),
            ..DescribeNodeParams::default()
        };
        let described: Described = session.send(&describe).parsed().await?;
        let world = self.shared.look(|world| world.frames.get(&aim.frame).and_then(|frame| frame.main_world.clone()));
        let Some(world) = world else { return Err(failure::moved_on()) };
        let mut resolve = ResolveNodeParams {
            backend_node_id: Some(BackendNodeId::new(described.node.backend_node_id)),
            execution_context_id: Some(ExecutionContextId::new(world.number)),
            ..ResolveNodeParams::default()
        };
        let resolved: Resolved = match session.send(&resolve).parsed().await {
            Ok(resolved) => resolved,
            // An element of a frame inside: its own document's world is the right one, and Chromium picks that by itself.
            Err(CallError::Refused { .. }) => {
                resolve.execution_context_id = None;
                session.send(&resolve).parsed().await?
            }
            Err(error) => return Err(error.into()),
        };
        resolved.object.object_id.ok_or_else(failure::moved_on)
    }
}

/// Whether this says that the script is no expression. Then nothing of it has run: what is thrown later comes out of a promise, which
/// Chromium says.
fn is_no_expression(exception: &Exception) -> bool {
    let is_syntax = exception
        .exception
        .as_ref()
        .and_then(|e| e.description.as_deref())
        .is_some_and(|d| d.starts_with("SyntaxError"));
    is_syntax && exception.text == "Uncaught"
}

fn no_json(why: &str) -> ToolError {
    ToolError::failed(Reason::Script, format!("the script's value is no JSON: {why}"))
        .with_hint("return the part that is needed")
}

fn value_of(answer: Evaluated<Box<RawValue>>) -> Result<Value, ToolError> {
    if let Some(exception) = answer.exception_details {
        return Err(ToolError::failed(Reason::Script, format!("the script threw: {}", message_of(&exception))));
    }
    let result = answer.result;
    if let Some(text) = result.unserializable_value {
        return Err(no_json(&format!("it is {text}")));
    }
    if matches!(result.kind.as_str(), "function" | "symbol" | "bigint") {
        return Err(no_json(&format!("it is a {}", result.kind)));
    }
    match result.value {
        None if result.kind == "undefined" => Ok(Value::Null),
        None => Err(no_json(&format!("it is a {}", result.kind))),
        Some(raw) if raw.get().len() > VALUE_BYTES_MAX => {
            let message =
                format!("the script's value has {} bytes; at most {VALUE_BYTES_MAX} are returned", raw.get().len());
            Err(ToolError::failed(Reason::Script, message).with_hint("return the part that is needed"))
        }
        Some(raw) => serde_json::from_str(raw.get()).map_err(|_| no_json("it is nested too deeply")),
    }
}

/// The message of what was thrown, without a stack, on one line.
pub(crate) fn message_of(exception: &Exception) -> String {
    let thrown = exception.exception.as_ref();
    let described = thrown.and_then(|thrown| thrown.description.clone()).filter(|text| !text.is_empty());
    let value = thrown.and_then(|thrown| thrown.value.as_ref()).map(Value::to_string);
    let text = exception.text.strip_prefix("Uncaught (in promise) ").unwrap_or(&exception.text);
    let is_bare = text.is_empty() || text.starts_with("Uncaught");
    let whole = match (described, value) {
        (Some(described), _) => described,
        (None, _) if !is_bare => text.to_owned(),
        (None, Some(value)) => value,
        (None, None) => text.to_owned(),
    };
    let first_lines = whole.split("\n    at ").next().unwrap_or_default();
    first_lines
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(MESSAGE_CHARS + REDACTION_OVERLAP as usize)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_begins_like_a_statement_is_a_body() {
        for script in ["return 1", "const a = 1; return a", "if (a) { return 1 }", "throw new Error('x')"] {
            assert_eq!(Form::of(script), Form::Body, "{script}");
        }
        for script in
            ["1 + 1", "returned", "({a: 1})", "document.title", "await fetch('/')", "constants.x", "$('a')", ""]
        {
            assert_eq!(Form::of(script), Form::Expression, "{script}");
        }
    }

    #[test]
    fn an_error_tells_its_message_and_no_stack() {
        let exception: Exception = serde_json::from_str(
            r#"{"text":"Uncaught (in promise) Error: a  b","exception":{"type":"object","description":"Error: a\n  b\n    at f (x:1:2)\n    at g"}}"#,
        )
        .unwrap();
        assert_eq!(message_of(&exception), "Error: a b");
        let by_value: Exception = serde_json::from_str(
            r#"{"text":"Uncaught (in promise) Error: a","exception":{"type":"object","value":{}}}"#,
        )
        .unwrap();
        assert_eq!(message_of(&by_value), "Error: a");
        let plain: Exception =
            serde_json::from_str(r#"{"text":"Uncaught (in promise)","exception":{"type":"number","value":7}}"#)
                .unwrap();
        assert_eq!(message_of(&plain), "7");
    }
}
