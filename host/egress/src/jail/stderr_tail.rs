//! The last lines that Chromium wrote, kept for the case that it fails to start.
//!
//! Chromium's output never reaches ours: a page can make it write whatever it likes, at any rate.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio_util::task::AbortOnDropHandle;

/// How many lines are kept: enough for bubblewrap's one line or the head of a crash report.
const LINES_MAX: usize = 40;
/// How much of a line is kept, in bytes; the rest is dropped.
const LINE_BYTES_MAX: usize = 400;

/// Reads a pipe to its end and keeps the last lines. Dropping it stops the reading.
#[derive(Debug)]
pub(super) struct StderrTail {
    lines: Arc<Mutex<Lines>>,
    reader: AbortOnDropHandle<()>,
}

#[derive(Debug, Default)]
struct Lines {
    whole: VecDeque<String>,
    current: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                b'\n' => self.end_line(),
                _ if self.current.len() < LINE_BYTES_MAX => self.current.push(byte),
                _ => {}
            }
        }
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.current).trim().to_owned();
        self.current.clear();
        if line.is_empty() {
            return;
        }
        if self.whole.len() == LINES_MAX {
            self.whole.pop_front();
        }
        self.whole.push_back(line);
    }
}

impl StderrTail {
    /// Begins to read. Needs a tokio runtime with I/O.
    pub(super) fn read(pipe: OwnedFd) -> std::io::Result<StderrTail> {
        let mut pipe = pipe::Receiver::from_owned_fd(pipe)?;
        let lines = Arc::new(Mutex::new(Lines::default()));
        let kept = Arc::clone(&lines);
        let reader = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(n_read @ 1..) = pipe.read(&mut buffer).await {
                let bytes = buffer.get(..n_read).unwrap_or_default();
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
            }
            kept.lock().unwrap_or_else(PoisonError::into_inner).end_line();
        }));
        Ok(StderrTail { lines, reader })
    }

    /// The lines up to now, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).whole.iter().cloned().collect()
    }

    /// All lines, once every writer is gone or `within` has passed.
    pub(super) async fn finish(mut self, within: std::time::Duration) -> Vec<String> {
        // A writer that outlives the deadline costs us its last words, nothing more.
        tokio::time::timeout(within, &mut self.reader).await.ok();
        self.lines()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept_and_a_long_line_is_cut() {
        let mut lines = Lines::default();
        for n in 0..1000 {
            lines.push(format!("line {n}\n\n").as_bytes());
        }
        lines.push(&[b'x'; 10_000]);
        lines.end_line();
        assert_eq!(lines.whole.len(), LINES_MAX);
        assert_eq!(lines.whole[0], "line 961");
        assert_eq!(lines.whole[LINES_MAX - 1].len(), LINE_BYTES_MAX);
    }
}
