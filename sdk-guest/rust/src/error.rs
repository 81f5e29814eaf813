//! One error for a whole plugin: the host's, which keep their code and hint, and the plugin's own.
//!
//! `?` works on both. Any [`std::error::Error`] becomes a `computer_use_failed` with the reason `plugin`. For that, [`Error`]
//! itself is no `std::error::Error` (the two conversions would overlap).

use std::fmt;

use crate::bindings::transom::plugin::types;

/// Why a tool could not do its work.
#[derive(Clone)]
pub struct Error(pub(crate) types::Error);

/// The result of everything here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of the plugin's own: what went wrong, in one line that a model can act upon.
    pub fn new(message: impl fmt::Display) -> Error {
        Error::of("computer_use_failed", message)
    }

    /// An argument is at fault in a way that its schema could not say.
    pub fn invalid(message: impl fmt::Display) -> Error {
        Error::of("computer_use_invalid_input", message)
    }

    fn of(code: &str, message: impl fmt::Display) -> Error {
        let reason = (code == "computer_use_failed").then(|| "plugin".into());
        Error(types::Error { code: code.into(), reason, message: message.to_string(), hint: None })
    }

    /// The same with the next call, or the setting, that would help.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Error {
        self.0.hint = Some(hint.to_string());
        self
    }

    /// The same with another code. The host lets only `computer_use_failed` and `computer_use_invalid_input` of a plugin's
    /// own pass, and makes the first of any other.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Error {
        self.0.code = code.into();
        self
    }

    /// The code, e.g. `computer_use_site_blocked`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// What the code leaves open, e.g. `not_found`.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.0.reason.as_deref()
    }

    /// Whether the reason is `reason`, e.g. `not_found` for an element that isn't there.
    #[must_use]
    pub fn is(&self, reason: &str) -> bool {
        self.reason() == Some(reason)
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Error {
        Error::new(error)
    }
}

/// What the host answered, with its errors as ours.
pub(crate) trait HostAnswer<T> {
    /// Keeps the code and the hint.
    fn into_ours(self) -> Result<T>;
}

impl<T> HostAnswer<T> for std::result::Result<T, types::Error> {
    fn into_ours(self) -> Result<T> {
        self.map_err(Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_error_becomes_one_of_the_plugins_own() {
        fn parse() -> Result<u32> {
            Ok("x".parse::<u32>()?)
        }
        let error = parse().unwrap_err();
        assert_eq!((error.code(), error.reason()), ("computer_use_failed", Some("plugin")));
        assert_eq!(error.message(), "invalid digit found in string");
    }

    #[test]
    fn the_hosts_errors_stay_what_they_are() {
        let host = types::Error {
            code: "computer_use_site_blocked".into(),
            reason: None,
            message: "refused".into(),
            hint: Some("add it to hosts".into()),
        };
        let error = Err::<(), _>(host).into_ours().unwrap_err();
        assert_eq!(error.code(), "computer_use_site_blocked");
        assert!(!error.is("not_found"));
        assert_eq!(error.0.hint.as_deref(), Some("add it to hosts"));
    }
}
