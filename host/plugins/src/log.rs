//! A call's log: whole lines without control characters, up to a volume; what is beyond is counted and dropped.
//!
//! Lines come from `log.write` and from a component's standard output and error. They are text of a stranger: whoever keeps
//! them has to redact them (`runs` does).

use std::sync::{Arc, Mutex, PoisonError};

use crate::{Host, LogLevel};

/// Longest line that is kept, in bytes; the rest of it is left off. A log is read in a terminal.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// Takes the lines of one call. Dropping it says how many were dropped.
pub(crate) struct CallLog {
    host: Arc<dyn Host>,
    left: Mutex<Left>,
}

struct Left {
    bytes: usize,
    n_dropped: u64,
}

impl CallLog {
    pub(crate) fn new(host: Arc<dyn Host>, bytes: usize) -> CallLog {
        CallLog { host, left: Mutex::new(Left { bytes, n_dropped: 0 }) }
    }

    /// Takes one text as one line.
    pub(crate) fn write(&self, level: LogLevel, text: &str) {
        let line = one_line(text);
        let fits = {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            match left.bytes.checked_sub(line.len().max(1)) {
                Some(rest) => left.bytes = rest,
                None => left.n_dropped += 1,
            }
            left.n_dropped == 0
        };
        if fits {
            self.host.log(level, &line);
        }
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        let n_dropped = self.left.get_mut().unwrap_or_else(PoisonError::into_inner).n_dropped;
        if n_dropped > 0 {
            self.host.log(LogLevel::Warn, &format!("{n_dropped} more lines of the plugin's log were dropped"));
        }
    }
}

/// A line with its control characters as spaces, cut at [`LINE_BYTES_MAX`].
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LINE_BYTES_MAX));
    for c in text.trim_end().chars() {
        if line.len() + c.len_utf8() > LINE_BYTES_MAX {
            break;
        }
        line.push(if c.is_control() { ' ' } else { c });
    }
    line
}

/// Makes lines of the pieces that a component writes to a standard stream.
#[derive(Default)]
pub(crate) struct Lines {
    part: Vec<u8>,
}

impl Lines {
    /// Adds a piece and gives each line that it completes. A line longer than [`LINE_BYTES_MAX`] is given in parts, so
    /// that a stream without line ends holds no memory.
    pub(crate) fn push(&mut self, piece: &[u8], mut give: impl FnMut(&str)) {
        for byte in piece {
            if *byte != b'\n' {
                self.part.push(*byte);
            }
            if *byte == b'\n' || self.part.len() >= LINE_BYTES_MAX {
                give(&String::from_utf8_lossy(&self.part));
                self.part.clear();
            }
        }
    }

    /// Gives what is left.
    pub(crate) fn finish(&mut self, give: impl FnOnce(&str)) {
        if !self.part.is_empty() {
            give(&String::from_utf8_lossy(&self.part));
            self.part.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::Value;
    use transom_policy::redact::Redacted;
    use transom_verbs::ToolError;

    use super::*;

    #[derive(Default)]
    struct Kept(Mutex<Vec<String>>);

    #[async_trait]
    impl Host for Kept {
        async fn verb(
            &self,
            _: &'static str,
            _: &'static str,
            _: Value,
        ) -> Result<Redacted<Value>, Redacted<ToolError>> {
            unreachable!("a log calls no verb")
        }
        fn secret_names(&self) -> Vec<String> {
            Vec::new()
        }
        fn log(&self, _: LogLevel, line: &str) {
            self.0.lock().unwrap().push(line.to_owned());
        }
    }

    fn written(bytes: usize, lines: &[&str]) -> Vec<String> {
        let kept = Arc::new(Kept::default());
        let log = CallLog::new(kept.clone(), bytes);
        for line in lines {
            log.write(LogLevel::Info, line);
        }
        drop(log);
        kept.0.lock().unwrap().clone()
    }

    #[test]
    fn a_line_cannot_look_like_two() {
        assert_eq!(written(100, &["one\ntwo\u{1b}[31m\r\n"]), ["one two [31m"]);
    }

    #[test]
    fn what_is_beyond_the_volume_is_dropped_and_counted() {
        assert_eq!(
            written(7, &["abc", "abc", "abc", "abc"]),
            ["abc", "abc", "2 more lines of the plugin's log were dropped"]
        );
        assert_eq!(written(1_000, &["abc", "abc"]), ["abc", "abc"]);
    }

    #[test]
    fn empty_lines_use_the_volume_up_too() {
        assert_eq!(written(2, &["", "", "", ""]).len(), 3);
    }

    #[test]
    fn streams_are_cut_into_lines() {
        let (mut lines, mut given) = (Lines::default(), Vec::new());
        lines.push(b"one\ntw", |line| given.push(line.to_owned()));
        lines.push("o\nthr\u{e9}".as_bytes(), |line| given.push(line.to_owned()));
        lines.finish(|line| given.push(line.to_owned()));
        assert_eq!(given, ["one", "two", "thr\u{e9}"]);
        let mut n_parts = 0;
        lines.push(&vec![b'x'; 3 * LINE_BYTES_MAX], |_| n_parts += 1);
        assert_eq!(n_parts, 3);
    }
}
