//! How Chromium is started so that nothing but one listener leads out, and nothing outlives the host.
//!
//! ```text
//! host process                                        the jail (bubblewrap: own net, pid, mount, ipc, uts namespaces)
//!   thread "chromium": spawn ───────────────────────►  bwrap ─► launcher (our own binary, `jail-launcher`)
//!     │  control socket: the two ends of the CDP pipe ──────►     │ takes them as descriptors 3 and 4
//!     │  control socket: the proxy's listener ◄─────────────      │ binds 127.0.0.1:3128 of the jail, becomes unprivileged
//!     │  verdict socket: end of file ◄──────────────────────      │ execs Chromium
//!     └─ waits for the end; whatever is left is killed
//! ```
//!
//! *Nothing outlives the host.* The kernel's parent-death signal, which `bwrap --die-with-parent` uses, fires when the
//! *thread* that spawned ends, not the process. So each Chromium is spawned by a thread of its own that then waits for it:
//! the thread's life encloses the child's, and the death of the host is the death of that thread (see `process`).
//!
//! *As root*, bubblewrap starts as root and the launcher, inside, becomes uid 65534 before Chromium exists. Dropping first
//! would lock bubblewrap out of what only root can reach, such as an exchange folder below `/root`; this way the folder may
//! stay where other users of uid 65534 can't look. bubblewrap keeps two capabilities for that step, `SETUID` and `SETGID`,
//! and the launcher refuses to go on while it is root.
//!
//! What is particular to Linux is in the folder `linux`, behind the trait `Platform`. Elsewhere only `isolation = "proxy"` exists.
//!
//! Not here: Chromium's arguments and CDP (`transom-browser`), what the listener's connections may reach (the proxy).

mod descriptors;
mod error;
mod exchange;
mod handshake;
mod launcher;
#[cfg(target_os = "linux")]
mod linux;
mod process;
mod scratch;
mod stderr_tail;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use tokio::net::TcpListener;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use unsupported as platform;

pub use error::JailError;
pub use exchange::{Exchange, ExchangePaths, SharedFolder};
pub use launcher::launcher_main;
pub use platform::probe;
pub use process::ChromiumProcess;

use crate::isolation::Isolation;

/// Where the proxy listens inside a jail. The network namespace is the jail's own, so the port is always free; 3128 is
/// what proxies have used since Squid.
pub const PROXY_IN_JAIL: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128));

/// Where the jail shows the exchange folder that Chromium may write: downloads.
pub const DOWNLOADS_IN_JAIL: &str = "/transom/downloads";

/// Where the jail shows the exchange folder that Chromium may only read: uploads.
pub const UPLOADS_IN_JAIL: &str = "/transom/uploads";

/// Chromium's user data directory inside a jail: on the jail's tmpfs, so it is new for every launch and ends with it.
pub const PROFILE_IN_JAIL: &str = "/tmp/profile";

/// Chromium's HOME inside a jail, for what it keeps outside its profile (font caches, NSS).
const HOME_IN_JAIL: &str = "/tmp/home";

/// The user and group that Chromium gets when the host runs as root: `nobody`, which owns no file by convention.
pub const UNPRIVILEGED: u32 = 65534;

/// What [`launch`] starts, and how.
#[derive(Debug, Clone)]
pub struct LaunchSpec {
    /// The real Chromium binary, not a wrapper script. Outside `/usr` its folder is shown in the jail read-only and has to
    /// be Chromium's own.
    pub program: PathBuf,
    /// Chromium's arguments. `{proxy}`, `{downloads}`, `{uploads}` and `{profile}` in them become what is right for the
    /// level of isolation; braces are otherwise left alone.
    pub args: Vec<OsString>,
    /// The level that the operator chose.
    pub isolation: Isolation,
    /// A binary whose `jail-launcher` subcommand calls [`launcher_main`]: our own.
    pub launcher: PathBuf,
    /// The two folders that host and Chromium share.
    pub exchange: Exchange,
    /// How long it may take until Chromium has been executed. Its first CDP reply is the caller's to wait for.
    pub ready_within: Duration,
}

/// A Chromium that was executed, with everything that the host holds of it.
#[derive(Debug)]
pub struct Launched {
    /// The process tree. Dropping it kills the tree.
    pub process: ChromiumProcess,
    /// What Chromium writes: CDP messages, each ended by a NUL byte.
    pub cdp_out: OwnedFd,
    /// What Chromium reads, likewise. When it is closed, Chromium exits.
    pub cdp_in: OwnedFd,
    /// The only way out of the jail. Nothing is answered on it until it is given to the proxy.
    pub listener: TcpListener,
    /// The address of `listener` as Chromium sees it.
    pub proxy: SocketAddr,
    /// The shared folders, as each side sees them.
    pub paths: ExchangePaths,
}

/// What `doctor` says about the jail on this machine.
#[derive(Debug, Clone, serde::Serialize)]
pub struct JailReport {
    /// The Chromium binary that was found, if any.
    pub chromium: Option<PathBuf>,
    /// bubblewrap's path and version, if it was found.
    pub bubblewrap: Option<(PathBuf, String)>,
    /// The uid that the host has.
    pub host_uid: u32,
    /// The uid that Chromium would have.
    pub browser_uid: u32,
    /// Whether a program ran in the jail; otherwise why not and what to do.
    pub jail: Result<(), String>,
    /// Whether that uid may make the user namespaces of Chromium's own sandbox; otherwise why not and what to do.
    pub sandbox: Result<(), String>,
}

impl JailReport {
    /// Whether `isolation = "jail"` will work here.
    pub fn is_ready(&self) -> bool {
        self.chromium.is_some() && self.bubblewrap.is_some() && self.jail.is_ok() && self.sandbox.is_ok()
    }
}

/// What one level of isolation decided before anything is started.
struct Plan {
    /// Starts the launcher, isolated; its standard streams are set by [`process`].
    command: Command,
    /// What the launcher is told after `jail-launcher`, without Chromium and its arguments.
    listen: Listen,
    home: PathBuf,
    profile: PathBuf,
    /// Chromium's real path.
    program: PathBuf,
    paths: ExchangePaths,
    /// Deleted when Chromium has ended.
    scratch: Option<scratch::Scratch>,
}

/// Who makes the listener that Chromium's proxy address leads to.
enum Listen {
    /// The launcher, inside the jail.
    Inside(SocketAddr),
    /// The host: there is no network namespace to be inside of.
    OnHost(std::net::TcpListener),
}

/// What differs between operating systems.
trait Platform {
    /// Plans a launch at `spec.isolation`, or says why that level can't be had. Starts nothing.
    fn plan(&self, spec: &LaunchSpec) -> Result<Plan, JailError>;
    /// What a failed start's output says about the machine, as an error that names the remedy.
    fn explain(&self, output: &[String]) -> Option<JailError>;
}

/// Starts Chromium at the given level of isolation.
///
/// When it returns, Chromium has been executed with the CDP pipe on its descriptors 3 and 4, unprivileged, and the listener
/// exists. Needs a tokio runtime with I/O.
///
/// # Errors
/// Each is one line that says what to do; none lowers the level of isolation.
///
/// # Cancel safety
/// Dropping the future kills whatever was started.
pub async fn launch(spec: LaunchSpec) -> Result<Launched, JailError> {
    let platform = platform::Platform;
    let plan = {
        let spec = spec.clone();
        tokio::task::spawn_blocking(move || platform::Platform.plan(&spec))
            .await
            .map_err(|error| JailError::system("planning the launch", std::io::Error::other(error)))??
    };
    let proxy = match &plan.listen {
        Listen::Inside(address) => *address,
        Listen::OnHost(listener) => {
            listener.local_addr().map_err(|source| JailError::system("reading the proxy's address", source))?
        }
    };
    let proxy_text = proxy.to_string();
    let values: [(&str, &OsStr); 4] = [
        ("{proxy}", OsStr::new(&proxy_text)),
        ("{downloads}", plan.paths.downloads.browser.as_os_str()),
        ("{uploads}", plan.paths.uploads.browser.as_os_str()),
        ("{profile}", plan.profile.as_os_str()),
    ];
    let args: Vec<OsString> = spec.args.iter().map(|arg| fill_in(arg, &values)).collect();

    let order = launcher::Order {
        listen: match &plan.listen {
            Listen::Inside(address) => Some(*address),
            Listen::OnHost(_) => None,
        },
        drop_to: rustix::process::geteuid().is_root().then_some(UNPRIVILEGED),
        home: plan.home.clone(),
        profile: plan.profile.clone(),
        program: plan.program.clone(),
        args,
    };
    let mut command = plan.command;
    command.args(order.to_args());
    let started = process::start(command, &spec.launcher, plan.scratch, spec.ready_within).await;
    let started = match started {
        Ok(started) => started,
        Err(process::StartError { error, output }) => {
            for line in &output {
                tracing::warn!(target: "transom::chromium", "{line}");
            }
            return Err(match error {
                JailError::Ended { .. } => platform.explain(&output).unwrap_or(error),
                error => error,
            });
        }
    };
    let listener = match (plan.listen, started.listener) {
        (Listen::OnHost(listener), _) | (Listen::Inside(_), Some(listener)) => listener,
        (Listen::Inside(_), None) => return Err(JailError::Launcher("it handed over no listener".to_owned())),
    };
    let listener = listener
        .set_nonblocking(true)
        .and_then(|()| TcpListener::from_std(listener))
        .map_err(|source| JailError::system("taking over the proxy's listener", source))?;
    Ok(Launched {
        process: started.process,
        cdp_out: started.cdp_out,
        cdp_in: started.cdp_in,
        listener,
        proxy,
        paths: plan.paths,
    })
}

/// Replaces each `{name}` in `arg` by its value, in one pass: a value is never searched again.
fn fill_in(arg: &OsStr, values: &[(&str, &OsStr)]) -> OsString {
    let mut rest = arg.as_bytes();
    let mut filled = Vec::with_capacity(rest.len());
    while let Some((&first, tail)) = rest.split_first() {
        match values.iter().find_map(|(name, value)| rest.strip_prefix(name.as_bytes()).map(|after| (after, value))) {
            Some((after, value)) => {
                filled.extend_from_slice(value.as_bytes());
                rest = after;
            }
            None => {
                filled.push(first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_once_and_other_braces_stay() {
        let values = [("{proxy}", OsStr::new("127.0.0.1:1")), ("{profile}", OsStr::new("/x/{proxy}"))];
        let filled = |arg: &str| fill_in(OsStr::new(arg), &values).into_string().unwrap();
        assert_eq!(filled("--proxy-server={proxy}"), "--proxy-server=127.0.0.1:1");
        assert_eq!(filled("--user-data-dir={profile}"), "--user-data-dir=/x/{proxy}", "a value is not searched again");
        assert_eq!(filled("--x={\"a\":{unknown}}"), "--x={\"a\":{unknown}}");
        assert_eq!(filled("{proxy}{proxy}"), "127.0.0.1:1127.0.0.1:1");
    }
}
