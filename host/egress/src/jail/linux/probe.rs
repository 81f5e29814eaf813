//! What this machine allows, found by doing it: `true` is run in the jail, and a user namespace is made as the browser's user.
//!
//! Not here: how the report is shown (`doctor`).

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::super::{JailReport, UNPRIVILEGED};
use super::{bubblewrap, remedy};

/// Where distributions put the real Chromium or Chrome binary.
const CHROMIUM_PLACES: [&str; 6] = [
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium/chromium",
    "/opt/google/chrome/chrome",
    "/opt/chromium.org/chromium/chromium",
];

/// How long each attempt may take. `true` in a jail takes 10 ms; this is for a machine that is very busy.
const ATTEMPT_WITHIN: Duration = Duration::from_secs(10);

/// The real Chromium binary of this machine, in the places where distributions put it.
pub(super) fn find_chromium() -> Option<PathBuf> {
    CHROMIUM_PLACES.iter().map(PathBuf::from).find(|path| path.is_file())
}

/// Finds out what `isolation = "jail"` would meet here. Starts short-lived processes and no Chromium.
pub async fn probe() -> JailReport {
    let is_root = rustix::process::geteuid().is_root();
    let host_uid = rustix::process::geteuid().as_raw();
    let bwrap = bubblewrap::find();
    let version = match &bwrap {
        Ok(path) => {
            let mut command = Command::new(path);
            command.arg("--version");
            attempt(command).await.map(|text| text.trim().trim_start_matches("bubblewrap ").to_owned()).ok()
        }
        Err(_) => None,
    };
    let jail = match &bwrap {
        Ok(path) => {
            let mut command = Command::new(path);
            command.args(bubblewrap::namespaces(is_root)).args(bubblewrap::files(Path::new("/")));
            command.args(bubblewrap::seal()).args(["--", "/usr/bin/true"]);
            attempt(command).await.map(drop).map_err(|said| explained(&said))
        }
        Err(missing) => Err(missing.to_string()),
    };
    let sandbox = {
        let mut command = Command::new("/usr/bin/unshare");
        command.args(["--user", "/usr/bin/true"]);
        if is_root {
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        attempt(command).await.map(drop).map_err(|said| explained(&said))
    };
    JailReport {
        chromium: find_chromium(),
        bubblewrap: bwrap.ok().map(|path| (path, version.unwrap_or_else(|| "unknown version".to_owned()))),
        host_uid,
        browser_uid: if is_root { UNPRIVILEGED } else { host_uid },
        jail,
        sandbox,
    }
}

fn explained(said: &str) -> String {
    format!("{said}: {}", remedy::remedy(Path::new("/proc/sys")))
}

/// Runs a command to its end: what it wrote, or the first line of why it failed.
async fn attempt(mut command: Command) -> Result<String, String> {
    command.env_clear().stdin(Stdio::null());
    let mut command = tokio::process::Command::from(command);
    command.kill_on_drop(true);
    match tokio::time::timeout(ATTEMPT_WITHIN, command.output()).await {
        Err(_) => Err(format!("no answer within {ATTEMPT_WITHIN:?}")),
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(output)) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(said.lines().next().map_or_else(|| output.status.to_string(), str::to_owned))
        }
    }
}
