//! The built components, and a host that answers from memory and writes down what it was asked.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::Instant;
use transom_plugins::{Host, LoadError, LogLevel, Plugin, PluginHost, PluginHostConfig, ToolResult};
use transom_policy::redact::{Redacted, Redactor};
use transom_verbs::{ErrorCode, Reason, TabId, ToolError};

/// A navigation to this URL is never answered.
pub(crate) const NEVER: &str = "https://never.test/";

/// A run file's handle.
pub(crate) const FILE: &str = "file_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// The folder of a canary or of `plugins/orders`.
pub(crate) fn folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = if name == "orders" { root.join("plugins/orders") } else { root.join("tests/canaries").join(name) };
    let component = folder.join(format!("{name}.wasm"));
    assert!(component.is_file(), "{} is not built: run `just guests`", component.display());
    folder
}

pub(crate) fn plugin_host() -> PluginHost {
    PluginHost::new(PluginHostConfig { calls_at_once: 4, ..PluginHostConfig::default() }).unwrap()
}

pub(crate) async fn try_load(host: &PluginHost, name: &str) -> Result<Plugin, LoadError> {
    host.load(&folder(name).join("plugin.toml")).await
}

pub(crate) async fn load(name: &str) -> Plugin {
    try_load(&plugin_host(), name).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Calls a tool with a deadline that no test reaches, in the tab `t1`.
pub(crate) async fn call(
    plugin: &Plugin,
    tool: &str,
    args: Value,
    host: &Arc<Recording>,
) -> Result<ToolResult, ToolError> {
    call_until(plugin, tool, args, host, Duration::from_secs(40)).await
}

pub(crate) async fn call_until(
    plugin: &Plugin,
    tool: &str,
    args: Value,
    host: &Arc<Recording>,
    within: Duration,
) -> Result<ToolResult, ToolError> {
    let tab = Some(TabId::parse("t1").unwrap());
    plugin.call(tool, args, tab, host.clone(), Instant::now() + within).await
}

/// The error of a call, as its code and reason, and the whole as one text.
pub(crate) fn refusal(result: Result<ToolResult, ToolError>) -> (ErrorCode, Option<Reason>, String) {
    let error = result.expect_err("the call should have failed");
    let text = format!("{} | {}", error.message, error.hint.unwrap_or_default());
    (error.code, error.reason, text)
}

/// A host that grants all but the verbs in `denied`.
#[derive(Default)]
pub(crate) struct Recording {
    pub(crate) denied: BTreeSet<&'static str>,
    pub(crate) secrets: Vec<String>,
    calls: Mutex<Vec<(&'static str, &'static str, Value)>>,
    lines: Mutex<Vec<(LogLevel, String)>>,
    n_waiting: AtomicUsize,
}

impl Recording {
    pub(crate) fn new() -> Arc<Recording> {
        Arc::default()
    }

    pub(crate) fn denying(verb: &'static str) -> Arc<Recording> {
        Arc::new(Recording { denied: [verb].into(), ..Recording::default() })
    }

    pub(crate) fn with_secret(name: &str) -> Arc<Recording> {
        Arc::new(Recording { secrets: vec![name.to_owned()], ..Recording::default() })
    }

    /// One line for each verb that was asked for: `act.click {"tab":"t1",…}`.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = self.calls.lock().unwrap();
        calls.iter().map(|(interface, verb, args)| format!("{interface}.{verb} {args}")).collect()
    }

    pub(crate) fn n_calls(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    pub(crate) fn lines(&self) -> Vec<(LogLevel, String)> {
        self.lines.lock().unwrap().clone()
    }

    /// Verbs that are being waited for at this moment.
    pub(crate) fn n_waiting(&self) -> usize {
        self.n_waiting.load(SeqCst)
    }
}

#[async_trait]
impl Host for Recording {
    async fn verb(
        &self,
        interface: &'static str,
        verb: &'static str,
        args: Value,
    ) -> Result<Redacted<Value>, Redacted<ToolError>> {
        let never = args.get("url").is_some_and(|url| url == NEVER);
        self.calls.lock().unwrap().push((interface, verb, args));
        if never {
            let _waiting = Waiting::new(&self.n_waiting);
            std::future::pending::<()>().await;
        }
        if self.denied.contains(verb) {
            let error = ToolError::new(ErrorCode::NotGranted, format!("`{verb}` is not granted to this plugin"))
                .with_hint(format!("add \"{verb}\" to verbs of its [[binding.plugin]]"));
            return Err(Redactor::none().error(&error));
        }
        Ok(Redactor::none().value(&outcome(verb)))
    }

    fn secret_names(&self) -> Vec<String> {
        self.secrets.clone()
    }

    fn log(&self, level: LogLevel, line: &str) {
        self.lines.lock().unwrap().push((level, line.to_owned()));
    }
}

/// A host that answers at once from what it prepared: for measuring.
pub(crate) struct Answering(BTreeMap<&'static str, Value>);

impl Answering {
    pub(crate) fn new() -> Arc<Answering> {
        let verbs = ["navigate", "extract", "click"];
        Arc::new(Answering(verbs.into_iter().map(|verb| (verb, outcome(verb))).collect()))
    }
}

#[async_trait]
impl Host for Answering {
    async fn verb(
        &self,
        _interface: &'static str,
        verb: &'static str,
        _args: Value,
    ) -> Result<Redacted<Value>, Redacted<ToolError>> {
        Ok(Redactor::none().value(&self.0[verb]))
    }

    fn secret_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn log(&self, _level: LogLevel, _line: &str) {}
}

/// Counts itself while it lives: a verb that was dropped is waited for no more.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Waiting<'a> {
        count.fetch_add(1, SeqCst);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A result of the form that the registry declares.
pub(crate) fn outcome(verb: &str) -> Value {
    let url = "https://shop.test/orders";
    let file = json!({"id": FILE, "name": "orders.csv", "size": 12, "type": "text/csv"});
    let tab = |id: &str, active: bool| json!({"tab": id, "title": "Orders", "url": url, "active": active});
    match verb {
        "navigate" | "back" | "forward" | "reload" => json!({"url": url, "title": "Orders", "status": 200}),
        "tabs" | "close" => json!({"tabs": [tab("t1", true)]}),
        "open" => json!({"tabs": [tab("t1", false), tab("t2", true)]}),
        "switch" => json!({"tabs": [tab("t1", true), tab("t2", false)]}),
        "wait" => json!({"url": url, "waited_ms": 3}),
        "snapshot" => {
            json!({"snapshot": "- button \"Go\" [ref=e1]", "url": url, "title": "Orders", "truncated": false})
        }
        "extract" => json!({"text": "€ 12.50", "truncated": false, "url": url}),
        "screenshot" => json!({"file": file, "width": 800, "height": 600, "size": 12}),
        "click" => json!({"url": url, "opened_tab": "t3", "dialog": {"kind": "confirm", "message": "Sure?"}}),
        "type" => json!({"url": url}),
        "dialog" => json!({"kind": "confirm", "message": "Sure?"}),
        "evaluate" => json!({"value": "Orders"}),
        "download" => json!({"file": file}),
        "upload" => json!({"url": url, "file": file}),
        other => panic!("no outcome for `{other}`"),
    }
}
