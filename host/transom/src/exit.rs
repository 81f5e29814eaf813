//! How a command ends: its exit code, and the one line that says why.
//!
//! Not here: usage errors, which clap reports itself (with the same code, 2).

use std::{fmt, process::ExitCode};

use transom_policy::redact::Redacted;
use transom_verbs::ToolError;

use crate::output;

/// How a command ended. `transom --help` lists the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Ok,
    /// The call, the script or a check failed.
    Failed,
    /// Wrong usage or configuration.
    Usage,
    /// What the command is about is not there.
    NotThere,
    /// The person at the keyboard ended it.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotThere => 3,
            // What a shell reports for a command that SIGINT ended.
            Exit::Interrupted => 130,
        })
    }
}

/// Why a command did not do what it was asked: one line, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Failure {
    /// The call, the script or a check failed.
    #[must_use]
    pub fn failed(message: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Failed, message: one_line(&message.to_string()), hint: None }
    }

    /// Wrong usage or configuration.
    #[must_use]
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Usage, ..Failure::failed(message) }
    }

    /// What the command is about is not there.
    #[must_use]
    pub fn not_there(message: impl fmt::Display) -> Failure {
        Failure { exit: Exit::NotThere, ..Failure::failed(message) }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl fmt::Display) -> Failure {
        self.hint = Some(hint.to_string());
        self
    }

    /// Prints the failure to standard error.
    pub fn print(&self) {
        if self.exit != Exit::Ok {
            output::error(&self.message, self.hint.as_deref());
        }
    }
}

/// A library's account of several lines (a parser's, a compiler's) as the one line that was promised.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Failure {
        let reason = error.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        Failure { exit: Exit::Failed, message: format!("{}{reason}: {}", error.code, error.message), hint: error.hint }
    }
}

impl From<Redacted<ToolError>> for Failure {
    fn from(error: Redacted<ToolError>) -> Failure {
        Failure::from(error.into_inner())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        // Whoever read us has enough (`transom verbs | head`): no failure, and nothing more to say.
        let exit = if error.kind() == std::io::ErrorKind::BrokenPipe { Exit::Ok } else { Exit::Failed };
        Failure { exit, ..Failure::failed(error) }
    }
}

#[cfg(test)]
mod tests {
    use transom_verbs::Reason;

    use super::*;

    #[test]
    fn a_failure_is_one_line_whoever_wrote_it() {
        assert_eq!(Failure::failed("bad number - expected=[\n    0x0,\n]\n").message, "bad number - expected=[ 0x0, ]");
    }

    #[test]
    fn a_tools_error_keeps_its_code_and_reason() {
        let failure = Failure::from(ToolError::failed(Reason::StaleRef, "e1 is gone").with_hint("take a new snapshot"));
        assert_eq!(failure.message, "computer_use_failed (stale_ref): e1 is gone");
        assert_eq!((failure.exit, failure.hint.as_deref()), (Exit::Failed, Some("take a new snapshot")));
    }
}
