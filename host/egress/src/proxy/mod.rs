//! The jail's single exit: an HTTP proxy that lets through what the gate admits, and nothing else.
//!
//! ```text
//! Chromium ─► accept ─► http1 ─┬─ GET http://host/…            http.rs     judged by URL, Host rewritten, one connection each
//!                              ├─ GET … Upgrade: websocket     http.rs     judged as ws, then bytes both ways
//!                              └─ CONNECT host:port            connect.rs  first bytes are read before any is sent on:
//!                                                                          TLS whose server name is the host, or a WebSocket
//! ```
//!
//! Each connection is one task of [`serve`], which owns them all: they end when it ends, when the gate's rules change, or
//! when nothing has moved for five minutes. Every request is judged anew, also the later ones of a connection; a redirect
//! is followed by Chromium, so it comes through here like any other request.
//!
//! Parsing is hyper's, in and out: a request is read by one parser and written again from what that parser understood, with
//! one framing, so that no two readers can disagree about where it ends.
//!
//! Not here: the rules (`gate`), addresses (`dns`), reading a ClientHello (`sni`).

mod answer;
mod connect;
mod http;
mod idle;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::gate::Gate;
use idle::Idle;

/// The largest head of a request or an answer, in bytes. Browsers and servers stop at 8 to 256 KiB, most at 16; cookies
/// alone may have 4 KiB each. Past it a request is answered with 431 and an answer is an error.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The most header fields of a request or an answer: hyper's own default.
pub(crate) const HEADERS_MAX: usize = 100;

/// How long a head, or the first bytes of a tunnel, may take to arrive. They come from a process on this machine.
const HEAD_WITHIN: Duration = Duration::from_secs(15);

/// How long a connection may stand without a byte in either direction. Chromium itself drops an unused connection after
/// five minutes, and whoever keeps a WebSocket open sends something every minute or so.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(5 * 60);

/// How many connections over the limit are told so at a time, instead of being dropped without a word.
const TURNED_AWAY_MAX: usize = 32;

/// How long one of them may take to read that.
const TURNED_AWAY_WITHIN: Duration = Duration::from_secs(1);

/// How long accepting pauses when the system can't accept (out of descriptors), unless a connection ends before.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// What a connection over the limit is told.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nx-transom-refused: too-many\r\nconnection: close\r\n\
                          content-type: text/plain\r\ncontent-length: 21\r\n\r\ntoo many connections\n";

/// Serves the proxy on what `listener` accepts, until `stop`. All connections end with it, also when it is dropped.
pub async fn serve(listener: TcpListener, gate: Arc<Gate>, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    let turned_away = Arc::new(Semaphore::new(TURNED_AWAY_MAX));
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => match Arc::clone(&gate.connections).try_acquire_owned() {
                Ok(permit) => {
                    let (gate, epoch) = (Arc::clone(&gate), gate.epoch());
                    connections.spawn(async move {
                        epoch.run_until_cancelled(serve_connection(stream, &gate)).await;
                        drop(permit);
                    });
                }
                Err(_) => {
                    gate.record_over_limit();
                    if let Ok(permit) = Arc::clone(&turned_away).try_acquire_owned() {
                        connections.spawn(async move {
                            tokio::time::timeout(TURNED_AWAY_WITHIN, turn_away(stream)).await.ok();
                            drop(permit);
                        });
                    }
                }
            },
            Err(error) => {
                tracing::warn!(%error, "the proxy can't accept a connection");
                tokio::time::timeout(ACCEPT_AGAIN_AFTER, connections.join_next()).await.ok();
            }
        }
    }
    connections.shutdown().await;
}

/// What a connection becomes once hyper has let go of it: set by a request that was answered with an upgrade.
#[derive(Clone, Default)]
pub(crate) struct Next(Arc<Mutex<Option<Continuation>>>);

pub(crate) enum Continuation {
    Tunnel(Box<connect::Tunnel>),
    Socket(http::Socket),
}

impl Next {
    pub(crate) fn set(&self, continuation: Continuation) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(continuation);
    }

    pub(crate) fn take(&self) -> Option<Continuation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

async fn serve_connection(stream: TcpStream, gate: &Arc<Gate>) {
    stream.set_nodelay(true).ok();
    let next = Next::default();
    let service = service_fn(|request| {
        let (gate, next) = (Arc::clone(gate), next.clone());
        async move {
            let answer = match *request.method() == hyper::Method::CONNECT {
                true => connect::open(request, &gate, &next).await,
                false => http::forward(request, &gate, &next).await,
            };
            Ok::<_, std::convert::Infallible>(answer.unwrap_or_else(answer::refuse))
        }
    });
    let connection = server().serve_connection(TokioIo::new(Idle::new(stream, IDLE_MAX)), service);
    // An error here is the browser's: it hung up, or sent what is not HTTP and was told so.
    connection.with_upgrades().await.ok();
    match next.take() {
        Some(Continuation::Tunnel(tunnel)) => tunnel.run(gate).await,
        Some(Continuation::Socket(socket)) => socket.run().await,
        None => {}
    }
}

/// How requests are read, whoever sends them.
pub(crate) fn server() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    builder.max_headers(HEADERS_MAX).max_header_size(HEAD_BYTES_MAX).max_buf_size(HEAD_BYTES_MAX);
    builder
}

/// Says why and reads on until the other side has closed: a close with bytes unread would take the answer back.
async fn turn_away(mut stream: TcpStream) {
    if stream.write_all(TOO_MANY).await.is_ok() && stream.shutdown().await.is_ok() {
        let mut ignored = [0; 1024];
        while let Ok(1..) = stream.read(&mut ignored).await {}
    }
}
