//! One Chromium's pipe: calls go out, answers and events come in.
//!
//! Two tasks own the two ends. The reader hands each event to the [`EventSink`] *before* it looks at the next message, so whoever
//! gets an answer finds everything applied that Chromium said before it: "which events came before this answer" is the order of
//! the pipe, never a race between channels. The price is that a sink must not wait; it reduces the event and may send commands.
//!
//! When the pipe is lost, every call that waits is answered [`CallError::Lost`] at once, and every later one too. Calls of one
//! session can be failed apart ([`Connection::fail_session`]), as a crashed renderer never answers.
//!
//! Bounds: the queue of commands holds [`OUTBOX`]; when Chromium has stopped reading, the next command is refused
//! ([`CallError::Busy`]) instead of waiting. Events are not queued at all.
//!
//! Not here: deadlines (each caller has one), and what any command or event means.

use std::{
    collections::HashMap,
    fmt,
    os::fd::OwnedFd,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use chromiumoxide_types::Command;
use futures::{SinkExt, StreamExt};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::{
    net::unix::pipe,
    sync::{mpsc, oneshot},
};
use tokio_util::{
    codec::{FramedRead, FramedWrite},
    sync::CancellationToken,
    task::AbortOnDropHandle,
};

use super::{
    codec::{Inbound, Oversized, PipeCodec},
    session::SessionId,
};

/// Commands that may wait for the pipe. Chromium reads them on a thread of its own within microseconds; a thousand waiting ones
/// mean that it has stopped.
const OUTBOX: usize = 1024;

/// Room for what is read at once, in bytes: most messages fit, and a screenshot takes few reads.
const READ_BUFFER: usize = 256 * 1024;

/// Why a call has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum CallError {
    /// The pipe is gone, and with it the browser.
    #[error("the browser is gone")]
    Lost,
    /// Chromium has stopped reading commands.
    #[error("the browser takes no more commands ({OUTBOX} are waiting)")]
    Busy,
    /// The renderer that the call was for crashed.
    #[error("the page crashed")]
    Crashed,
    /// The target that the call was for is closed.
    #[error("the target is closed")]
    Closed,
    /// Chromium answered with an error.
    #[error("{method}: {message}")]
    Refused {
        /// The command.
        method: String,
        /// Chromium's error code.
        code: i64,
        /// Chromium's message.
        message: String,
    },
    /// The answer was longer than a message may be.
    #[error("{method}: the answer of {length} bytes is longer than a message may be")]
    TooLong {
        /// The command.
        method: String,
        /// The answer's length in bytes.
        length: u64,
    },
    /// The answer, or the command, is not of the declared form.
    #[error("{method}: the message is not of the expected form: {problem}")]
    Form {
        /// The command.
        method: String,
        /// What is wrong, without the message's content.
        problem: String,
    },
}

/// Takes every event, in the pipe's order, on the reader's task. It must not block or wait.
pub(crate) trait EventSink: Send + 'static {
    /// An event for `session`; `params` is its JSON. Returns whether anybody listens to it.
    fn event(&mut self, connection: &Connection, session: Option<&str>, method: &str, params: &str) -> bool;

    /// An event that was too long to keep, of which `request` may be the request that it holds.
    fn oversized(&mut self, connection: &Connection, session: Option<&str>, method: &str, request: Option<&str>);

    /// The connection is lost; no more events come.
    fn lost(&mut self);
}

/// What came in and was of no use, for diagnosis.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    /// Events that nobody listens to.
    pub(crate) unheard: AtomicU64,
    /// Messages beyond the cap.
    pub(crate) oversized: AtomicU64,
    /// Messages that are no CDP.
    pub(crate) malformed: AtomicU64,
}

struct Waiting {
    method: &'static str,
    session: Option<SessionId>,
    answer: oneshot::Sender<Result<Bytes, CallError>>,
}

struct Inner {
    next_id: AtomicU64,
    /// `None` once the connection is lost.
    waiting: Mutex<Option<HashMap<u64, Waiting>>>,
    outbox: mpsc::Sender<Bytes>,
    lost: CancellationToken,
    skipped: Skipped,
}

/// A handle to one Chromium's pipe. Clones are the same connection.
#[derive(Clone)]
pub(crate) struct Connection {
    inner: Arc<Inner>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("lost", &self.inner.lost.is_cancelled()).finish_non_exhaustive()
    }
}

/// The tasks of a connection: dropping this ends them, closes both descriptors and loses the connection.
#[derive(Debug)]
pub(crate) struct ConnectionTasks {
    _reader: AbortOnDropHandle<()>,
    _writer: AbortOnDropHandle<()>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a, C> {
    id: u64,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    params: &'a C,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl Connection {
    /// Takes over the pipe's two ends and starts to read. Messages of up to `cap` bytes are kept.
    ///
    /// # Errors
    /// When a descriptor is no end of a pipe.
    pub(crate) fn open(
        read: OwnedFd,
        write: OwnedFd,
        cap: usize,
        sink: impl EventSink,
    ) -> std::io::Result<(Connection, ConnectionTasks)> {
        let read = pipe::Receiver::from_owned_fd(read)?;
        let write = pipe::Sender::from_owned_fd(write)?;
        let (outbox, queue) = mpsc::channel(OUTBOX);
        let lost = CancellationToken::new();
        let connection = Connection {
            inner: Arc::new(Inner {
                next_id: AtomicU64::new(1),
                waiting: Mutex::new(Some(HashMap::new())),
                outbox,
                lost: lost.clone(),
                skipped: Skipped::default(),
            }),
        };
        let reader = tokio::spawn(read_all(read, cap, connection.clone(), sink));
        let writer = tokio::spawn(write_all(write, queue, lost));
        let tasks =
            ConnectionTasks { _reader: AbortOnDropHandle::new(reader), _writer: AbortOnDropHandle::new(writer) };
        Ok((connection, tasks))
    }

    /// Sends `command` now; see [`super::Session::send`].
    pub(crate) fn send<C: Command>(&self, session: Option<&SessionId>, command: &C) -> Reply {
        let id = self.inner.next_id.fetch_add(1, Ordering::Relaxed);
        let method = method_of(command);
        let (answer, result) = oneshot::channel();
        let reply = Reply { id, method, connection: self.clone(), result };
        match self.waiting().as_mut() {
            None => {
                let _ = answer.send(Err(CallError::Lost));
                return reply;
            }
            Some(waiting) => {
                waiting.insert(id, Waiting { method, session: session.cloned(), answer });
            }
        }
        if let Err(error) = self.enqueue(id, method, session, command) {
            self.answer(id, Err(error));
        }
        reply
    }

    /// Sends `command`, whose answer nobody needs.
    pub(crate) fn post<C: Command>(&self, session: Option<&SessionId>, command: &C) {
        let id = self.inner.next_id.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = self.enqueue(id, method_of(command), session, command) {
            tracing::debug!(%error, "a command was not sent");
        }
    }

    /// Answers every waiting call of `session` with `error`.
    pub(crate) fn fail_session(&self, session: &str, error: &CallError) {
        let failed: Vec<Waiting> = match self.waiting().as_mut() {
            None => Vec::new(),
            Some(waiting) => waiting
                .extract_if(|_, call| call.session.as_ref().is_some_and(|id| id.as_str() == session))
                .map(|(_, call)| call)
                .collect(),
        };
        for call in failed {
            let _ = call.answer.send(Err(error.clone()));
        }
    }

    /// Resolves when the connection is lost.
    pub(crate) async fn lost(&self) {
        self.inner.lost.cancelled().await;
    }

    /// Whether the connection is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.inner.lost.is_cancelled()
    }

    /// What came in and was of no use.
    pub(crate) fn skipped(&self) -> &Skipped {
        &self.inner.skipped
    }

    fn enqueue<C: Command>(
        &self,
        id: u64,
        method: &'static str,
        session: Option<&SessionId>,
        command: &C,
    ) -> Result<(), CallError> {
        let request = Request { id, method, session_id: session.map(SessionId::as_str), params: command };
        let message = serde_json::to_vec(&request)
            .map_err(|error| CallError::Form { method: method.into(), problem: error.to_string() })?;
        self.inner.outbox.try_send(message.into()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => CallError::Busy,
            mpsc::error::TrySendError::Closed(_) => CallError::Lost,
        })
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, Waiting>>> {
        // The map is whole between any two statements, so a panic elsewhere leaves nothing half done.
        self.inner.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, id: u64, result: Result<Bytes, CallError>) {
        let call = self.waiting().as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(call) = call {
            // The caller may have left; the answer is then nobody's.
            let _ = call.answer.send(result);
        }
    }

    fn method_waiting(&self, id: u64) -> Option<&'static str> {
        self.waiting().as_ref().and_then(|waiting| waiting.get(&id)).map(|call| call.method)
    }

    fn receive(&self, message: &Bytes, sink: &mut impl EventSink) {
        let envelope: Envelope<'_> = match serde_json::from_slice(message) {
            Ok(envelope) => envelope,
            Err(error) => {
                self.inner.skipped.malformed.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(%error, "a message that is no CDP");
                return;
            }
        };
        if let Some(id) = envelope.id {
            let result = match (envelope.error, envelope.result) {
                (Some(refusal), _) => match self.method_waiting(id) {
                    None => return,
                    Some(method) => Err(CallError::Refused {
                        method: method.to_owned(),
                        code: refusal.code,
                        message: refusal.message,
                    }),
                },
                (None, Some(result)) => Ok(message.slice_ref(result.get().as_bytes())),
                (None, None) => Ok(Bytes::from_static(b"{}")),
            };
            self.answer(id, result);
        } else if let Some(method) = envelope.method {
            let params = envelope.params.map_or("{}", RawValue::get);
            if !sink.event(self, envelope.session_id.as_deref(), &method, params) {
                self.inner.skipped.unheard.fetch_add(1, Ordering::Relaxed);
            }
        } else {
            self.inner.skipped.malformed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn receive_oversized(&self, message: &Oversized, sink: &mut impl EventSink) {
        self.inner.skipped.oversized.fetch_add(1, Ordering::Relaxed);
        if let Some(id) = message.reply_id() {
            let method = self.method_waiting(id).unwrap_or_default().to_owned();
            self.answer(id, Err(CallError::TooLong { method, length: message.length }));
        } else if let Some((method, session, request)) = message.event() {
            sink.oversized(self, session.as_deref(), &method, request.as_deref());
        }
    }

    fn lose(&self) {
        self.inner.lost.cancel();
        let failed = self.waiting().take();
        for (_, call) in failed.into_iter().flatten() {
            let _ = call.answer.send(Err(CallError::Lost));
        }
    }
}

fn method_of<C: Command>(command: &C) -> &'static str {
    match command.identifier() {
        std::borrow::Cow::Borrowed(method) => method,
        // The generated types all borrow; a command that doesn't is not one of them.
        std::borrow::Cow::Owned(_) => "",
    }
}

/// Loses the connection however the reader ends: at the end of the pipe, by an error, or by being aborted.
struct LoseOnDrop<S: EventSink> {
    connection: Connection,
    sink: S,
}

impl<S: EventSink> Drop for LoseOnDrop<S> {
    fn drop(&mut self) {
        self.connection.lose();
        self.sink.lost();
    }
}

/// Owns the reading end. Ends at the end of the pipe.
async fn read_all(read: pipe::Receiver, cap: usize, connection: Connection, sink: impl EventSink) {
    let mut state = LoseOnDrop { connection, sink };
    let mut messages = FramedRead::with_capacity(read, PipeCodec::new(cap), READ_BUFFER);
    while let Some(message) = messages.next().await {
        match message {
            Ok(Inbound::Message(message)) => state.connection.receive(&message, &mut state.sink),
            Ok(Inbound::Oversized(message)) => state.connection.receive_oversized(&message, &mut state.sink),
            Err(error) => {
                tracing::debug!(%error, "reading from the browser failed");
                break;
            }
        }
    }
}

/// Owns the writing end. Ends when the connection is lost, or when writing fails; the latter makes the reader see the end too,
/// since Chromium exits once its reading end is closed.
async fn write_all(write: pipe::Sender, mut queue: mpsc::Receiver<Bytes>, lost: CancellationToken) {
    let mut sink = FramedWrite::new(write, PipeCodec::new(0));
    let work = async {
        while let Some(message) = queue.recv().await {
            sink.feed(message).await?;
            // Everything that is already queued goes out in one write.
            while let Ok(next) = queue.try_recv() {
                sink.feed(next).await?;
            }
            sink.flush().await?;
        }
        Ok::<(), std::io::Error>(())
    };
    tokio::select! {
        () = lost.cancelled() => {}
        done = work => if let Err(error) = done {
            tracing::debug!(%error, "writing to the browser failed");
        },
    }
}

/// The answer to a command that was sent. Dropping it forgets the call; the command is not taken back.
#[derive(Debug)]
pub(crate) struct Reply {
    id: u64,
    method: &'static str,
    connection: Connection,
    result: oneshot::Receiver<Result<Bytes, CallError>>,
}

impl Reply {
    /// The answer as `T`.
    pub(crate) async fn parsed<T: DeserializeOwned>(self) -> Result<T, CallError> {
        let method = self.method;
        let result = self.await?;
        serde_json::from_slice(&result)
            .map_err(|error| CallError::Form { method: method.to_owned(), problem: error.to_string() })
    }
}

impl Future for Reply {
    type Output = Result<Bytes, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.result).poll(context).map(|result| result.unwrap_or(Err(CallError::Lost)))
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(waiting) = self.connection.waiting().as_mut() {
            waiting.remove(&self.id);
        }
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
