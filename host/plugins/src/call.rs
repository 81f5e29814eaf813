//! One call: its arguments are checked, an instance is made, used once and thrown away, and its end is put in words.
//!
//! | what ended it | code and reason that the caller sees |
//! |---|---|
//! | a result | – |
//! | an error of the host, returned unchanged | the host's |
//! | an error of the plugin's own | `computer_use_failed` / `plugin`, or `computer_use_invalid_input` |
//! | a limit of `limits.rs`, the manifest's deadline among them | `computer_use_failed` / `plugin_limit` |
//! | the caller's deadline, where it is nearer | `computer_use_failed` / `timeout` |
//! | anything else | `computer_use_failed` / `plugin_trap` |
//!
//! One deadline covers the queue, the guest and the host's part: the engine's clock stops code, a timer stops waits.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use transom_verbs::{ErrorCode, FileId, Reason, TabId, ToolError};
use wasmtime::{Store, Trap};

use crate::{
    Host,
    bindings::{Plugin as Exports, exports::transom::plugin::tools, transom::plugin::types},
    describe::ToolSpec,
    limits::Limit,
    plugin::Loaded,
    state::State,
};

/// Largest arguments of a tool, in bytes of their JSON. They come from a model's call, which is smaller by far.
const ARGUMENT_BYTES_MAX: usize = 256 * 1024;

/// Run files that one result may name, of each kind.
const FILES_MAX: usize = 32;

/// Longest message of a plugin's own error, in characters, and of its hint.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// What a tool's call gave. The plugin's text, in which secrets have not been looked for: redact it before it goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolResult {
    /// What the model reads.
    pub content: String,
    /// One line worth remembering after `content` is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// The same as data: an object, which fits the tool's output schema if it declared one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Map<String, Value>>,
    /// The task is finished, in the tool's view.
    pub is_done: bool,
    /// With `is_done`: whether it ended well.
    pub success: bool,
    /// Run files that belong to the answer. Their handles have the right form; whether the run has them is for it to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<FileId>,
    /// Run files that the model should see as pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<FileId>,
    /// For programs, never for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

impl ToolResult {
    /// The result as one JSON object; what isn't there is left out.
    #[must_use]
    pub fn into_json(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// How a guest's call ended, other than by coming back.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It passed a limit.
    Limit(Limit),
    /// It trapped, or could not be instantiated.
    Trap(wasmtime::Error),
}

/// Until when a call may go on, and whose deadline that is.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    is_callers: bool,
    limit: Limit,
}

impl Deadline {
    /// The plugin's own deadline from now, or the caller's where that is nearer.
    pub(crate) fn new(own: Duration, callers: Option<Instant>) -> Deadline {
        let now = Instant::now();
        let at = now.checked_add(own).unwrap_or(now);
        let limit = Limit::Deadline { deadline: own };
        match callers {
            Some(callers) if callers < at => Deadline { at: callers, is_callers: true, limit },
            _ => Deadline { at, is_callers: false, limit },
        }
    }

    /// What ends a guest that is still there at `now`, if it is over.
    pub(crate) fn check(&self, now: Instant) -> Result<(), Limit> {
        if now >= self.at { Err(self.limit) } else { Ok(()) }
    }
}

/// Calls one tool.
pub(crate) async fn call(
    plugin: &Loaded,
    tool: &str,
    arguments: Value,
    tab: Option<TabId>,
    host: Arc<dyn Host>,
    deadline: Instant,
) -> Result<ToolResult, ToolError> {
    let Some(spec) = plugin.tools.iter().find(|spec| spec.name == tool) else {
        return Err(ToolError::invalid(format!("plugin `{}` has no tool `{}`", plugin.manifest.name(), shorten(tool))));
    };
    let arguments = check_arguments(spec, arguments)?;
    let deadline = Deadline::new(plugin.manifest.limits().deadline, Some(deadline));
    let ended = timeout_at(deadline.at, run(plugin, spec, &arguments, tab, host, deadline)).await;
    let name = plugin.manifest.name();
    match ended {
        Ok(Ok(result)) => result,
        Err(_) if deadline.is_callers => Err(timed_out(name, tool)),
        Err(_) => Err(over_limit(name, tool, deadline.limit)),
        Ok(Err(Ended::Limit(Limit::Deadline { .. }))) if deadline.is_callers => Err(timed_out(name, tool)),
        Ok(Err(Ended::Limit(limit))) => Err(over_limit(name, tool, limit)),
        Ok(Err(Ended::Trap(error))) => {
            // The backtrace is the operator's; a caller would read a stranger's symbols and learn nothing.
            tracing::warn!(plugin = name, tool, error = ?error, "a plugin trapped");
            let message = format!("the plugin `{name}` broke off in `{tool}`");
            Err(ToolError::failed(Reason::PluginTrap, message)
                .with_hint("its trace is in the operator's log; a call with other arguments may work"))
        }
    }
}

/// Asks a component for its tools, with no run behind it. It has `within` from when it begins; waiting for a place in the
/// pool is not its fault.
pub(crate) async fn describe(
    plugin: &Loaded,
    host: Arc<dyn Host>,
    within: Duration,
) -> Result<Vec<tools::Tool>, Ended> {
    let _place = plugin.engine.place().await;
    let deadline = Deadline::new(within, None);
    let asked = async {
        let (mut store, exports) = instantiate(plugin, "describe", None, host, deadline).await?;
        let described = exports.transom_plugin_tools().call_describe(&mut store).await;
        described.map_err(|error| ended(&store, error))
    };
    match timeout_at(deadline.at, asked).await {
        Ok(described) => described,
        Err(_) => Err(Ended::Limit(deadline.limit)),
    }
}

async fn run(
    plugin: &Loaded,
    spec: &ToolSpec,
    arguments: &str,
    tab: Option<TabId>,
    host: Arc<dyn Host>,
    deadline: Deadline,
) -> Result<Result<ToolResult, ToolError>, Ended> {
    let _place = plugin.engine.place().await;
    deadline.check(Instant::now()).map_err(Ended::Limit)?;
    let (mut store, exports) = instantiate(plugin, &spec.name, tab, host, deadline).await?;
    let answer = exports.transom_plugin_tools().call_call(&mut store, &spec.name, arguments).await;
    match answer {
        Ok(Ok(result)) => {
            let limit = plugin.budget.result_bytes;
            if size_of_result(&result) > limit {
                return Err(Ended::Limit(Limit::Result { bytes: limit }));
            }
            Ok(check_result(plugin, spec, result))
        }
        Ok(Err(error)) => Ok(Err(guest_error(store.data(), error))),
        Err(error) => Err(ended(&store, error)),
    }
}

async fn instantiate(
    plugin: &Loaded,
    tool: &str,
    tab: Option<TabId>,
    host: Arc<dyn Host>,
    deadline: Deadline,
) -> Result<(Store<State>, Exports), Ended> {
    let memory = plugin.manifest.limits().memory;
    let state = State::new(tool.to_owned(), tab, deadline, host, memory, plugin.budget);
    let mut store = plugin.engine.store(state, plugin.budget.passed_bytes);
    match plugin.exports.instantiate_async(&mut store).await {
        Ok(exports) => Ok((store, exports)),
        Err(error) => Err(ended(&store, error)),
    }
}

/// Sorts what wasmtime ended a guest with.
fn ended(store: &Store<State>, error: wasmtime::Error) -> Ended {
    if let Some(limit) = error.downcast_ref::<Limit>() {
        return Ended::Limit(*limit);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => return Ended::Limit(Limit::Stack),
        // What a guest does when it gets no more memory is a trap of its own making.
        Some(_) => {}
        // wasmtime keeps the type of this error to itself; the canary `huge` fails when its words change.
        None if format!("{error:#}").contains("too much data") => {
            return Ended::Limit(Limit::Passed { bytes: store.hostcall_fuel() });
        }
        None => {}
    }
    match store.data().limiter.refused() {
        Some(limit) => Ended::Limit(limit),
        None => Ended::Trap(error),
    }
}

fn check_arguments(spec: &ToolSpec, arguments: Value) -> Result<String, ToolError> {
    let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
    let text = arguments.to_string();
    if text.len() > ARGUMENT_BYTES_MAX {
        let message = format!("the arguments of `{}` have more than {} KiB", spec.name, ARGUMENT_BYTES_MAX / 1024);
        return Err(ToolError::invalid(message));
    }
    match spec.faults_of_input(&arguments) {
        Some(faults) => Err(ToolError::invalid(format!("`{}`: {faults}", spec.name))),
        None => Ok(text),
    }
}

fn size_of_result(result: &tools::ToolResult) -> usize {
    let tools::ToolResult { content, memory, structured, is_done: _, success: _, attachments, images, metadata } =
        result;
    let optional = [memory, structured, metadata].into_iter().flatten();
    let texts = optional.chain(attachments).chain(images);
    texts.fold(content.len(), |sum, text| sum.saturating_add(text.len()))
}

fn check_result(plugin: &Loaded, spec: &ToolSpec, result: tools::ToolResult) -> Result<ToolResult, ToolError> {
    let wrong = |what: String| {
        let message = format!("the plugin `{}` gave a wrong result in `{}`: {what}", plugin.manifest.name(), spec.name);
        ToolError::failed(Reason::Plugin, message)
    };
    let structured = result.structured.map(|text| object(&text)).transpose();
    let structured = structured.map_err(|why| wrong(format!("its structured data {why}")))?;
    let declared = spec.output_schema.is_some();
    let structured = match structured {
        Some(data) if declared => {
            let data = Value::Object(data);
            if let Some(faults) = spec.faults_of_output(&data) {
                return Err(wrong(format!("its data does not fit the schema that it declared: {faults}")));
            }
            match data {
                Value::Object(data) => Some(data),
                _ => None,
            }
        }
        None if declared => return Err(wrong("it declared a schema and gave no data".to_owned())),
        other => other,
    };
    let metadata = result.metadata.map(|text| object(&text)).transpose();
    Ok(ToolResult {
        content: result.content,
        memory: result.memory,
        structured,
        is_done: result.is_done,
        success: result.success,
        attachments: files(result.attachments).map_err(wrong)?,
        images: files(result.images).map_err(wrong)?,
        metadata: metadata.map_err(|why| wrong(format!("its metadata {why}")))?,
    })
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("is no JSON object".to_owned()),
        Err(error) => Err(format!("is no JSON: {error}")),
    }
}

fn files(handles: Vec<String>) -> Result<Vec<FileId>, String> {
    if handles.len() > FILES_MAX {
        return Err(format!("it names more than {FILES_MAX} files"));
    }
    handles.into_iter().map(|handle| FileId::parse(handle).map_err(|error| error.to_string())).collect()
}

/// What the caller sees of an error that a guest returned.
fn guest_error(state: &State, error: types::Error) -> ToolError {
    if let Some(given) = state.error_given(&error) {
        return given;
    }
    let message = match shorten(&error.message) {
        message if message.trim().is_empty() => "the plugin gave no reason".to_owned(),
        message => message,
    };
    let error_of_its_own = if error.code == ErrorCode::InvalidInput.as_str() {
        ToolError::invalid(message)
    } else {
        ToolError::failed(Reason::Plugin, message)
    };
    match error.hint {
        Some(hint) => error_of_its_own.with_hint(shorten(&hint)),
        None => error_of_its_own,
    }
}

fn shorten(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MESSAGE_CHARS_MAX).collect()
}

fn over_limit(plugin: &str, tool: &str, limit: Limit) -> ToolError {
    tracing::warn!(plugin, tool, %limit, "a plugin was stopped by a limit");
    let error =
        ToolError::failed(Reason::PluginLimit, format!("the plugin `{plugin}` was stopped in `{tool}`: {limit}"));
    match limit {
        Limit::Memory { .. } => error.with_hint("ask for less at once; its manifest sets `limits.memory`"),
        Limit::Deadline { .. } => error.with_hint("ask for less at once; its manifest sets `limits.deadline`"),
        _ => error,
    }
}

fn timed_out(plugin: &str, tool: &str) -> ToolError {
    ToolError::failed(Reason::Timeout, format!("the call's deadline passed in `{tool}` of the plugin `{plugin}`"))
}
