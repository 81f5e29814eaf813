//! Why a Chromium could not be started, each in one line that says what to do about it.
//!
//! For the operator: a line may name paths of the host. What a caller is told is made from the variant, elsewhere.

use std::path::PathBuf;
use std::time::Duration;

use crate::isolation::Isolation;

/// Why a launch failed. `Display` is one line for the operator: what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JailError {
    /// There is no Chromium at the path that was given.
    #[error("no Chromium at {}: install it (`apt-get install chromium`) or give the path of its real binary", .program.display())]
    ChromiumMissing {
        /// The path that was tried.
        program: PathBuf,
    },
    /// What was given as Chromium is a script that starts it.
    #[error("{} is not a binary: give the real one (Debian's is /usr/lib/chromium/chromium)", .program.display())]
    ChromiumScript {
        /// The path that was given.
        program: PathBuf,
    },
    /// Chromium is outside `/usr` and its folder is not only Chromium's.
    #[error(
        "{} is not in a folder of Chromium's own (one that holds icudtl.dat), and the jail shows the whole folder: install Chromium below /usr or /opt",
        .program.display()
    )]
    ChromiumPlace {
        /// The path that was given.
        program: PathBuf,
    },
    /// `bwrap` is not in any of the usual folders.
    #[error("bubblewrap is missing: `apt-get install bubblewrap` (isolation = \"jail\" needs its `bwrap`)")]
    BubblewrapMissing,
    /// The kernel, or a container around us, forbids what the jail is made of.
    #[error("the kernel forbids the jail's namespaces ({detail}): {remedy}")]
    NamespacesForbidden {
        /// What bubblewrap or the kernel said.
        detail: String,
        /// What to do.
        remedy: String,
    },
    /// The level of isolation does not exist on this operating system.
    #[error(
        "isolation = \"{isolation}\" exists on Linux only: write isolation = \"proxy\" if its weaker promise is enough"
    )]
    Unsupported {
        /// The level that was asked for.
        isolation: Isolation,
    },
    /// A shared folder can't be made or handed to the browser's user.
    #[error("the exchange folder {} can't be used: {source}", .path.display())]
    Exchange {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Our own binary can't be opened to run as the launcher.
    #[error("the launcher {} can't be opened: {source}", .path.display())]
    LauncherMissing {
        /// The path that was given.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The launcher ran and could not do its part.
    #[error("the jail's launcher failed: {0}")]
    Launcher(String),
    /// The process ended before Chromium was executed.
    #[error("the jail ended before Chromium was started ({status}): {last_line}")]
    Ended {
        /// How it ended.
        status: String,
        /// The last line that it wrote.
        last_line: String,
    },
    /// Chromium was not executed in time.
    #[error("Chromium was not started within {within:?}: is the machine overloaded?")]
    NotReady {
        /// The limit.
        within: Duration,
    },
    /// A system call failed that should not.
    #[error("{doing} failed: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl JailError {
    pub(crate) fn system(doing: &'static str, source: impl Into<std::io::Error>) -> JailError {
        JailError::System { doing, source: source.into() }
    }
}
