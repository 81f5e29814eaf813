//! The capabilities: one for each interface of `wit/` that does something.

use std::fmt;

/// One capability: a WIT interface that a component may import.
///
/// Besides these, `types` and `call` are always allowed: the first does nothing, the second tells about the call itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// Going to pages and choosing among tabs.
    Navigate,
    /// Reading pages.
    Read,
    /// Acting on pages.
    Act,
    /// Running JavaScript in pages.
    Script,
    /// Downloads and uploads.
    Files,
    /// Typing secrets.
    Secrets,
    /// Lines for the operator.
    Log,
    /// The call itself; allowed without being listed.
    Call,
}

impl Interface {
    /// All of them, in the order of `wit/world.wit`.
    pub const ALL: &[Interface] = &[
        Interface::Call,
        Interface::Navigate,
        Interface::Read,
        Interface::Act,
        Interface::Script,
        Interface::Files,
        Interface::Secrets,
        Interface::Log,
    ];

    /// The name in `wit/` and in a manifest.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Interface::Navigate => "navigate",
            Interface::Read => "read",
            Interface::Act => "act",
            Interface::Script => "script",
            Interface::Files => "files",
            Interface::Secrets => "secrets",
            Interface::Log => "log",
            Interface::Call => "call",
        }
    }

    /// The interface of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Interface> {
        Interface::ALL.iter().copied().find(|interface| interface.name() == name)
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
