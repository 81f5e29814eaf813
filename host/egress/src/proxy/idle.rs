//! A stream that fails once nothing has moved on it, in either direction, for a while.
//!
//! One clock for both directions: a long download is silent in one of them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

pub(crate) struct Idle<S> {
    stream: S,
    limit: Duration,
    last: Instant,
    alarm: Pin<Box<Sleep>>,
}

impl<S> Idle<S> {
    pub(crate) fn new(stream: S, limit: Duration) -> Idle<S> {
        Idle { stream, limit, last: Instant::now(), alarm: Box::pin(tokio::time::sleep(limit)) }
    }

    /// Notes progress, or looks at the clock where there is none. Progress only writes down the time: the alarm is set
    /// again when it rings, not for every read.
    fn watch<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.last = Instant::now();
            return polled;
        }
        while self.alarm.as_mut().poll(cx).is_ready() {
            let deadline = self.last + self.limit;
            if deadline <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.alarm.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Idle<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_read(cx, buf);
        this.watch(cx, polled)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Idle<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.watch(cx, polled)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write_vectored(cx, bytes);
        this.watch(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_stream_on_which_nothing_moves_fails_at_the_limit() {
        let (stream, _peer) = tokio::io::duplex(64);
        let before = Instant::now();
        let error = Idle::new(stream, LIMIT).read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(before.elapsed(), LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_written_keeps_the_reading_side_alive() {
        let (stream, mut peer) = tokio::io::duplex(64);
        let (mut reader, mut writer) = tokio::io::split(Idle::new(stream, LIMIT));
        let reading = tokio::spawn(async move { reader.read_u8().await });
        for _ in 0..3 {
            tokio::time::sleep(LIMIT - Duration::from_secs(1)).await;
            writer.write_all(b"x").await.unwrap();
        }
        tokio::time::sleep(LIMIT - Duration::from_secs(1)).await;
        peer.write_all(b"y").await.unwrap();
        assert_eq!(reading.await.unwrap().unwrap(), b'y');
    }
}
