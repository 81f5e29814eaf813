//! How a host is reached by its own operator: a Unix socket for each host process, `<state>/control/<pid>.sock`.
//!
//! The socket serves the operator's API without a token: its folder is open to the owner only, and each connection's user is asked of
//! the kernel. `transom approvals` looks at all sockets of the folder. One whose process died without taking it away is recognised (nobody
//! answers, and there is no such process) and removed.
//!
//! Not here: what is asked and answered (`http`).

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use axum::Router;
use rustix::process::{Pid, geteuid, test_kill_process};
use tokio::{
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::http::server::{self, Accept};

/// The folder in the state folder.
const FOLDER: &str = "control";

/// Longest path of a Unix socket on Linux, in bytes, without its final NUL (`sun_path`).
const SOCKET_PATH_BYTES: usize = 107;

/// Why there is no control socket. `Display` is one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The state folder is too deep.
    #[error("the state folder's path is too long for a Unix socket in it ({} is over {SOCKET_PATH_BYTES} bytes): set a shorter `state` under [host]", .0.display())]
    TooLong(PathBuf),
    /// The folder or the socket can't be made.
    #[error("the control socket {}: {source}", .path.display())]
    Socket {
        /// The folder or the socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The control socket of this process. It is served until [`ControlSocket::stop`] or drop, and taken away then.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    task: Option<JoinHandle<()>>,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

impl ControlSocket {
    /// Makes the socket of this process and serves `router` on it.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn serve(state: &Path, router: Router) -> Result<ControlSocket, ControlError> {
        let folder = state.join(FOLDER);
        let path = folder.join(format!("{}.sock", std::process::id()));
        if path.as_os_str().len() > SOCKET_PATH_BYTES {
            return Err(ControlError::TooLong(path));
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| ControlError::Socket { path, source }
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed(&folder))?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).map_err(failed(&folder))?;
        // Whoever had our process id before us is dead.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&path)(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(failed(&path))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed(&path))?;
        let stop = CancellationToken::new();
        let task = tokio::spawn(server::serve(OwnersOnly(listener), router, stop.clone()));
        Ok(ControlSocket { path, task: Some(task), _stop_on_drop: stop.clone().drop_guard(), stop })
    }

    /// Takes the socket away and waits until what was asked on it is answered.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            // The task ends by itself within the server's own limit; a panic in it is logged by tokio.
            let _ = task.await;
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "the control socket was gone already");
        }
    }
}

/// Accepts connections of our own user, and of root, who could become us anyway.
struct OwnersOnly(UnixListener);

impl Accept for OwnersOnly {
    type Stream = UnixStream;

    async fn accept(&mut self) -> io::Result<Option<UnixStream>> {
        let (stream, _) = self.0.accept().await?;
        let uid = stream.peer_cred()?.uid();
        let is_owner = uid == geteuid().as_raw() || uid == 0;
        if !is_owner {
            tracing::warn!(uid, "another user tried the control socket");
        }
        Ok(is_owner.then_some(stream))
    }
}

/// The socket of a live host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveHost {
    /// The host's process.
    pub pid: u32,
    /// Its socket.
    pub path: PathBuf,
}

/// The sockets of all live hosts with this state folder; those of dead ones are removed.
///
/// # Errors
/// When the folder can't be read. That it is not there is no error: no host was ever started.
pub async fn live_hosts(state: &Path) -> io::Result<Vec<LiveHost>> {
    let entries = match fs::read_dir(state.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut hosts = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let Some(pid) = pid_of(&path) else { continue };
        match UnixStream::connect(&path).await {
            Ok(_) => hosts.push(LiveHost { pid, path }),
            // Both have to hold: another container's processes are not seen, and a socket that is about to listen does not answer yet.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && !is_alive(pid) => {
                let _ = fs::remove_file(&path);
            }
            Err(_) => {}
        }
    }
    hosts.sort();
    Ok(hosts)
}

fn pid_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.strip_suffix(".sock")?.parse().ok()
}

fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    // EPERM: alive, and another user's.
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use axum::routing::get;

    use super::*;
    use crate::client::Client;

    #[tokio::test]
    async fn a_live_host_is_found_and_a_dead_ones_socket_is_removed() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(live_hosts(state.path()).await.unwrap(), []);

        let router = Router::new().route("/v1/health", get(async || r#"{"ok":true}"#));
        let socket = ControlSocket::serve(state.path(), router).unwrap();
        let folder = state.path().join(FOLDER);
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(&socket.path).unwrap().permissions().mode() & 0o777, 0o600);

        // Bound and closed, by a process whose id is beyond what the kernel gives.
        let dead = folder.join("2147483647.sock");
        drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
        assert!(dead.exists());

        let hosts = live_hosts(state.path()).await.unwrap();
        assert_eq!(hosts.iter().map(|host| host.pid).collect::<Vec<_>>(), [std::process::id()]);
        assert!(!dead.exists());

        let answer = Client::of_socket(&hosts[0].path).unwrap().get("/v1/health").await.unwrap();
        assert_eq!(answer["ok"], true);
        let path = socket.path.clone();
        socket.stop().await;
        assert!(!path.exists());
        assert_eq!(live_hosts(state.path()).await.unwrap(), []);
    }

    #[tokio::test]
    async fn a_state_folder_that_is_too_deep_is_one_clear_line() {
        let state = Path::new("/tmp").join("x".repeat(120));
        let error = ControlSocket::serve(&state, Router::new()).unwrap_err();
        assert!(matches!(error, ControlError::TooLong(_)), "{error}");
        assert!(!state.exists());
    }
}
