//! One run: the tools that it is granted, its browsers, its files, and when it ends.
//!
//! A run ends when its caller ends it, when nothing was called for the binding's idle time, when the host stops, or when it can't
//! go on. Ending it cancels what is under way, ends its browsers and gives its place back; its files stay until the host stops,
//! so that a person can fetch them.
//!
//! Not here: whether a call may be performed (`dispatcher.rs`), and how runs are made (`host.rs`).

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use serde::Serialize;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use transom_policy::grant::{Grants, Prefix};
use transom_verbs::{Effect, ErrorCode, ToolError, verb::FileInfo};

use crate::{
    binding::Binding,
    bound_plugin::BoundPlugin,
    caller::Caller,
    dispatcher::{CallOptions, CallResult, Dispatcher},
    files::{NewFile, RunFiles},
    journal::{Kind, Record, unix_ms},
    session::{Session, run_ended},
};

/// What a run is to be.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The tools that it is granted.
    pub tools: Tools,
    /// Files that it begins with.
    pub files: Vec<GivenFile>,
    /// The model that drives it, where the operator asks for one.
    pub model: Option<String>,
    /// By which way it is called: `mcp`, `http`, `cli`.
    pub shape: String,
    /// How long it may be idle; default and bound: the host's.
    pub idle: Option<Duration>,
}

/// The tools that a run is granted.
#[derive(Clone, Debug)]
pub enum Tools {
    /// These, each by its full name (`shop.click`).
    Named(Vec<String>),
    /// The binding's `verbs` and the tools of its plugins.
    Binding(String),
}

/// A file that a run is given.
#[derive(Clone, Debug)]
pub struct GivenFile {
    /// Its name; it is made safe.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its media type; guessed from the name where there is none.
    pub media_type: Option<String>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Its caller ended it.
    Caller,
    /// Nothing was called for too long.
    Idle,
    /// The host stopped.
    HostStopped,
    /// It could not go on: no browser, or a journal that can't be written.
    Failed,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EndReason::Caller => "its caller ended it",
            EndReason::Idle => "nothing was called for too long",
            EndReason::HostStopped => "the host stopped",
            EndReason::Failed => "it could not go on",
        })
    }
}

/// A tool that a run may call.
#[derive(Clone, Debug, Serialize)]
pub struct ToolInfo {
    /// Its full name: `shop.click`.
    pub name: String,
    /// What a model reads. A plugin's words are redacted.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Whether it changes something on the site.
    pub effect: Effect,
}

/// What is known of a run from outside.
#[derive(Clone, Debug, Serialize)]
pub struct RunInfo {
    /// Its id.
    pub id: String,
    /// By which way it is called.
    pub shape: String,
    /// The model that drives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that it is granted.
    pub tools: Vec<String>,
    /// When it began, in milliseconds since 1970 UTC.
    pub started_at: i64,
    /// Why it ended, when it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndReason>,
}

/// An open file of a run, for the person who fetches it. Its bytes are as they were stored: nothing is taken out.
#[derive(Debug)]
pub struct RunFile {
    /// What is known of it.
    pub info: FileInfo,
    /// The bytes.
    pub file: tokio::fs::File,
}

/// What opens a run, and nothing but that run.
#[derive(Clone)]
pub struct RunToken(String);

/// Random bytes of a token: 256 bits can't be guessed.
const TOKEN_BYTES: usize = 32;

impl RunToken {
    pub(crate) fn new() -> Result<RunToken, getrandom::Error> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(RunToken(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Whether `text` is this token. Takes the same time however much of it is right.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }

    /// The token, for whoever made the run.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RunToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunToken(…)")
    }
}

/// One prefix of a run.
#[derive(Debug)]
pub(crate) struct RunPrefix {
    pub binding: Arc<Binding>,
    pub plugins: Vec<Arc<BoundPlugin>>,
    pub session: Session,
}

impl RunPrefix {
    /// The plugin's tool of this name (without the prefix), and its name within the plugin.
    pub(crate) fn tool<'a>(&self, name: &'a str) -> Option<(&Arc<BoundPlugin>, &'a str)> {
        self.plugins.iter().find_map(|plugin| plugin.own_name(name).map(|own| (plugin, own)))
    }

    /// Names of the plugins' tools, without the prefix.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.plugins.iter().flat_map(|plugin| plugin.tool_names()).collect()
    }
}

pub(crate) struct RunInner {
    pub id: String,
    pub token: RunToken,
    pub shape: String,
    pub model: Option<String>,
    pub started_at: i64,
    pub grants: Grants,
    pub tools: Vec<ToolInfo>,
    pub prefixes: BTreeMap<Prefix, Arc<RunPrefix>>,
    pub files: RunFiles,
    pub dispatcher: Arc<Dispatcher>,
    pub idle: Duration,
    /// Cancelled when the run ends.
    pub cancel: CancellationToken,
    ended: OnceLock<EndReason>,
    activity: watch::Sender<Activity>,
    /// Tasks of calls: each writes its outcome row before it ends.
    calls: TaskTracker,
    /// The run's place among those that a host holds at once; given back at the end.
    place: Mutex<Option<OwnedSemaphorePermit>>,
    /// The run's folder of exchange folders, removed at the end.
    exchange: PathBuf,
}

impl fmt::Debug for RunInner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("id", &self.id).field("ended", &self.ended).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
struct Activity {
    n_calls: usize,
    last: Instant,
}

/// What [`Run::new`] is made of.
pub(crate) struct RunParts {
    pub id: String,
    pub token: RunToken,
    pub shape: String,
    pub model: Option<String>,
    pub grants: Grants,
    pub tools: Vec<ToolInfo>,
    pub prefixes: BTreeMap<Prefix, Arc<RunPrefix>>,
    pub files: RunFiles,
    pub dispatcher: Arc<Dispatcher>,
    pub idle: Duration,
    pub place: OwnedSemaphorePermit,
    pub exchange: PathBuf,
}

/// A handle to a run.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) inner: Arc<RunInner>,
}

impl RunInner {
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.get().is_some()
    }
}

impl Run {
    pub(crate) fn new(parts: RunParts) -> Run {
        let RunParts { id, token, shape, model, grants, tools, prefixes, files, dispatcher, idle, place, exchange } =
            parts;
        let activity = watch::Sender::new(Activity { n_calls: 0, last: Instant::now() });
        Run {
            inner: Arc::new(RunInner {
                id,
                token,
                shape,
                model,
                started_at: unix_ms(),
                grants,
                tools,
                prefixes,
                files,
                dispatcher,
                idle,
                cancel: CancellationToken::new(),
                ended: OnceLock::new(),
                activity,
                calls: TaskTracker::new(),
                place: Mutex::new(Some(place)),
                exchange,
            }),
        }
    }

    /// The run's id: `run_…`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// What opens this run and no other.
    #[must_use]
    pub fn token(&self) -> &RunToken {
        &self.inner.token
    }

    /// The tools that it may call.
    #[must_use]
    pub fn tools(&self) -> &[ToolInfo] {
        &self.inner.tools
    }

    /// What is known of it.
    #[must_use]
    pub fn info(&self) -> RunInfo {
        RunInfo {
            id: self.inner.id.clone(),
            shape: self.inner.shape.clone(),
            model: self.inner.model.clone(),
            tools: self.inner.grants.iter().map(ToString::to_string).collect(),
            started_at: self.inner.started_at,
            ended: self.ended(),
        }
    }

    /// Calls a tool by its full name.
    ///
    /// # Errors
    /// The tool's error, redacted.
    ///
    /// # Cancel safety
    /// Dropping the future takes the call back; its outcome is still written down.
    pub async fn call(&self, tool: &str, arguments: Value, options: CallOptions) -> CallResult {
        // A token of this call's own: the caller's may be good for its next call too.
        let cancel = options.cancel.child_token();
        let _taken_back = cancel.clone().drop_guard();
        let options = CallOptions { cancel, ..options };
        let redactor = self.inner.dispatcher.redactor.clone();
        let (run, tool) = (self.clone(), tool.to_owned());
        let task = self.inner.calls.spawn(async move {
            let _busy = Busy::enter(&run.inner);
            let result = run.inner.dispatcher.perform(&run.inner, &Caller::Model, &tool, &arguments, &options).await;
            if result.as_ref().is_err_and(|error| error.get().ends_run()) {
                // Not awaited: the end waits for calls, this one included.
                run.begin_end(EndReason::Failed);
            }
            result
        });
        task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a call's task was lost");
            Err(redactor.error(&ToolError::failed(
                transom_verbs::Reason::OutcomeUnknown,
                "the call was lost on the host: it may have happened",
            )))
        })
    }

    /// The run's files, oldest first. Their names and addresses come from sites, and have passed the redactor.
    #[must_use]
    pub fn files(&self) -> Vec<FileInfo> {
        self.inner.files.list().into_iter().map(|info| self.clean(info)).collect()
    }

    /// What a front end may show of a file: its texts without secrets.
    fn clean(&self, info: FileInfo) -> FileInfo {
        let redactor = &self.inner.dispatcher.redactor;
        FileInfo {
            name: redactor.owned(info.name).into_inner(),
            media_type: redactor.owned(info.media_type).into_inner(),
            source_url: info.source_url.map(|url| redactor.owned(url).into_inner()),
            ..info
        }
    }

    /// Opens a file for the person who fetches it.
    ///
    /// # Errors
    /// When the run holds no file of that handle.
    pub async fn read_file(&self, handle: &str) -> Result<RunFile, ToolError> {
        let (files, handle) = (self.inner.files.clone(), handle.to_owned());
        let opened = tokio::task::spawn_blocking(move || files.open(&handle)).await;
        let (info, file) =
            opened.unwrap_or_else(|_| Err(ToolError::new(ErrorCode::FileNotSaved, "the file could not be opened")))?;
        Ok(RunFile { info: self.clean(info), file: tokio::fs::File::from_std(file) })
    }

    /// Gives the run a file.
    ///
    /// # Errors
    /// When it can't be kept.
    pub async fn add_file(&self, given: GivenFile) -> Result<FileInfo, ToolError> {
        if self.inner.is_ended() {
            return Err(run_ended());
        }
        let files = self.inner.files.clone();
        let kept = tokio::task::spawn_blocking(move || {
            let GivenFile { name, bytes, media_type } = given;
            files.keep(NewFile { name, media_type, source_url: None }, &mut bytes.as_slice())
        })
        .await
        .unwrap_or_else(|_| Err(ToolError::new(ErrorCode::FileNotSaved, "the file could not be kept")))?;
        self.write(Kind::File, &json!({"given": kept})).await;
        Ok(self.clean(kept))
    }

    /// Why the run ended, when it has.
    #[must_use]
    pub fn ended(&self) -> Option<EndReason> {
        self.inner.ended.get().copied()
    }

    /// Resolves once the run has begun to end.
    pub async fn wait_ended(&self) {
        self.inner.cancel.cancelled().await;
    }

    /// Ends the run: cancels its calls, waits until each has written its outcome, and ends its browsers.
    pub async fn end(&self, why: EndReason) {
        self.begin_end(why);
        self.inner.calls.close();
        self.inner.calls.wait().await;
        for prefix in self.inner.prefixes.values() {
            prefix.session.end().await;
        }
        let was_first = self.inner.place.lock().unwrap_or_else(PoisonError::into_inner).take().is_some();
        if was_first {
            let why = self.ended().unwrap_or(why);
            self.write(Kind::RunEnded, &json!({"why": why})).await;
            if let Err(error) = tokio::fs::remove_dir_all(&self.inner.exchange).await {
                tracing::warn!(%error, run = self.inner.id, "the run's exchange folders could not be removed");
            }
        }
    }

    /// Removes the run's files. For a run that has ended and that nobody can ask for any more.
    pub(crate) async fn remove_files(&self) {
        let Some(folder) = self.inner.exchange.parent() else { return };
        if let Err(error) = tokio::fs::remove_dir_all(folder).await {
            tracing::warn!(%error, run = self.inner.id, "the run's files could not be removed");
        }
    }

    fn begin_end(&self, why: EndReason) {
        let _ = self.inner.ended.set(why);
        self.inner.cancel.cancel();
    }

    /// Ends the run when it has been idle too long, or once it has begun to end for another reason. The host's task for each run.
    pub(crate) async fn keep_until_idle(self) {
        let mut activity = self.inner.activity.subscribe();
        let why = loop {
            let now = *activity.borrow_and_update();
            let idle_at = now.last + self.inner.idle;
            tokio::select! {
                biased;
                () = self.inner.cancel.cancelled() => break EndReason::Caller,
                _ = activity.changed() => {}
                () = tokio::time::sleep_until(idle_at), if now.n_calls == 0 => break EndReason::Idle,
            }
        };
        self.end(why).await;
    }

    pub(crate) async fn write(&self, kind: Kind, detail: &Value) {
        let dispatcher = &self.inner.dispatcher;
        let record = Record {
            run: self.inner.id.clone(),
            call: None,
            caller: "host".into(),
            tool: None,
            kind,
            detail: dispatcher.redactor.value(detail),
        };
        if let Err(error) = dispatcher.journal.write(record).await {
            tracing::error!(%error, "the journal failed");
        }
    }
}

/// A call that is under way: while there is one, the run is not idle.
struct Busy<'a>(&'a RunInner);

impl<'a> Busy<'a> {
    fn enter(run: &'a RunInner) -> Busy<'a> {
        run.activity.send_modify(|activity| activity.n_calls += 1);
        Busy(run)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.activity.send_modify(|activity| {
            activity.n_calls -= 1;
            activity.last = Instant::now();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_matches_itself_only_and_is_not_shown() {
        let token = RunToken::new().unwrap();
        assert!(token.matches(token.reveal()));
        assert!(!token.matches(""));
        assert!(!token.matches(RunToken::new().unwrap().reveal()));
        assert!(!format!("{token:?}").contains(token.reveal()));
    }
}
