//! WASI 0.2, which Python's and JavaScript's components import whether they use it or not, and which gives nothing.
//!
//! No folders, no sockets, no names, no environment, no arguments, an input that is at its end. There are clocks and
//! randomness. What a component writes to its output and error goes to its log. A component that imports no WASI has
//! none of this made for its calls.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::{
    WasiCtx,
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

use crate::{
    LogLevel,
    log::{CallLog, Lines},
};

/// Most random bytes in one go: the host fills them, so a guest must not order gigabytes.
const RANDOM_BYTES_MAX: u64 = 64 * 1024;

/// Most bytes that a stream takes in one go.
const WRITE_BYTES_MAX: usize = 64 * 1024;

/// The context of one call.
pub(crate) fn context(log: &Arc<CallLog>) -> WasiCtx {
    WasiCtx::builder()
        .stdout(LogStream::new(log, LogLevel::Info))
        .stderr(LogStream::new(log, LogLevel::Warn))
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .allow_blocking_current_thread(false)
        .max_random_size(RANDOM_BYTES_MAX)
        .build()
}

/// A standard stream as lines of the log. It takes everything at once and never blocks.
#[derive(Clone)]
struct LogStream {
    level: LogLevel,
    lines: Arc<Mutex<Lines>>,
    log: Arc<CallLog>,
}

impl LogStream {
    fn new(log: &Arc<CallLog>, level: LogLevel) -> LogStream {
        LogStream { level, lines: Arc::default(), log: Arc::clone(log) }
    }

    fn lines(&self, use_them: impl FnOnce(&mut Lines, &mut dyn FnMut(&str))) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        use_them(&mut lines, &mut |line| self.log.write(self.level, line));
    }
}

impl Drop for LogStream {
    fn drop(&mut self) {
        // The last one that goes gives out the line that was not ended.
        if Arc::strong_count(&self.lines) == 1 {
            self.lines(|lines, give| lines.finish(give));
        }
    }
}

impl IsTerminal for LogStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LogStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    // The default would start a task for each stream, and lose what is still on its way when the call ends.
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for LogStream {
    async fn ready(&mut self) {}
}

impl OutputStream for LogStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.lines(|lines, give| lines.push(&bytes, give));
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES_MAX)
    }
}

impl AsyncWrite for LogStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.lines(|lines, give| lines.push(bytes, give));
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
