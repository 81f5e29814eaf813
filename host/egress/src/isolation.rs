//! How strongly Chromium is separated from the host, and that nobody weakens it in silence.
//!
//! The level is chosen by the operator and never lowered by the host: where the chosen one can't be had, the launch fails
//! with a line that says what to do.
//!
//! Not here: how a level is put into practice (`jail`).

use serde::{Deserialize, Serialize};

/// How strongly Chromium is separated from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Namespaces of its own: no network but the proxy's listener, no host files, no host processes. Linux only.
    #[default]
    Jail,
    /// Flags only: Chromium is told to use the proxy, and could go around it if it were compromised. An operator has to
    /// ask for this by name.
    Proxy,
}

impl Isolation {
    /// The name that configuration, `doctor` and the journal use.
    pub fn as_str(self) -> &'static str {
        match self {
            Isolation::Jail => "jail",
            Isolation::Proxy => "proxy",
        }
    }
}

impl std::fmt::Display for Isolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Isolation;

    #[test]
    fn the_default_is_the_strong_level_and_an_unknown_level_is_an_error() {
        assert_eq!(Isolation::default(), Isolation::Jail);
        assert_eq!(serde_json::from_str::<Isolation>("\"jail\"").unwrap(), Isolation::Jail);
        assert_eq!(serde_json::from_str::<Isolation>("\"proxy\"").unwrap(), Isolation::Proxy);
        assert!(serde_json::from_str::<Isolation>("\"none\"").is_err());
    }
}
