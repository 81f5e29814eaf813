//! Logs, to standard error: for a terminal or as JSON lines.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// The variable that says what to log.
const VARIABLE: &str = "TRANSOM_LOG";

/// How much is logged unless the environment says otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    /// Warnings: what a command does it prints itself.
    Quiet,
    /// What a daemon does.
    Talkative,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Text,
    Json,
}

pub(super) fn start(level: Level, form: Form) {
    let default = match level {
        Level::Quiet => "warn",
        // rmcp tells of every session and of all that a client says about itself.
        Level::Talkative => "info,rmcp=warn",
    };
    let filter = EnvFilter::try_from_env(VARIABLE).unwrap_or_else(|_| EnvFilter::new(default));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    // Fails only when there is a subscriber already, as in a test.
    let _ = match form {
        Form::Text => logs.compact().try_init(),
        Form::Json => logs.json().try_init(),
    };
}
