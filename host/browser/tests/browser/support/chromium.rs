//! Chromium for tests: unprivileged, its own sandbox on, a profile of its own, and no jail.

use std::{
    os::fd::{AsRawFd, OwnedFd},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Mutex,
};

use rustix::io::{FdFlags, fcntl_setfd};
use transom_browser::chromium::{self, ChromiumOptions, PROFILE};

/// Held while descriptors can be inherited, so that no other Chromium gets them too.
static SPAWNING: Mutex<()> = Mutex::new(());

pub(crate) struct Chromium {
    child: Child,
    folder: tempfile::TempDir,
    pipe: Option<(OwnedFd, OwnedFd)>,
}

impl Chromium {
    pub(crate) fn start() -> Chromium {
        let binary = chromium::find().expect("Chromium is installed");
        let folder = tempfile::tempdir().unwrap();
        open_to_all(folder.path());
        for name in ["downloads", "uploads"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            open_to_all(&folder.path().join(name));
        }
        let profile = folder.path().join("profile");
        let options = ChromiumOptions { proxied: false, ..ChromiumOptions::default() };
        let arguments = chromium::arguments(&options)
            .into_iter()
            .map(|argument| argument.to_str().unwrap().replace(PROFILE, profile.to_str().unwrap()));

        let (commands, ours) = std::io::pipe().unwrap();
        let (theirs, answers) = std::io::pipe().unwrap();
        let spawning = SPAWNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        fcntl_setfd(&commands, FdFlags::empty()).unwrap();
        fcntl_setfd(&answers, FdFlags::empty()).unwrap();
        let mut command = Command::new("setpriv");
        command.arg("--no-new-privs");
        if rustix::process::geteuid().is_root() {
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        }
        let redirect = format!(r#"exec "$@" 3<&{} 4>&{}"#, commands.as_raw_fd(), answers.as_raw_fd());
        command.args(["bash", "-c", &redirect, "bash"]).arg(binary).args(arguments);
        command.env_clear().env("HOME", folder.path()).env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8");
        let log = std::fs::File::create(folder.path().join("stderr")).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        drop((commands, answers));
        drop(spawning);
        Chromium { child, folder, pipe: Some((theirs.into(), ours.into())) }
    }

    pub(crate) fn downloads(&self) -> PathBuf {
        self.folder.path().join("downloads")
    }

    pub(crate) fn uploads(&self) -> PathBuf {
        self.folder.path().join("uploads")
    }

    pub(crate) fn into_parts(mut self) -> (Chromium, OwnedFd, OwnedFd) {
        let (read, write) = self.pipe.take().unwrap();
        (self, read, write)
    }

    /// Ends it as the system would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits until it has ended by itself.
    pub(crate) fn wait(&mut self) {
        self.child.wait().unwrap();
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}
