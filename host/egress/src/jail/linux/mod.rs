//! Linux: the jail by bubblewrap, the weaker level by a plain child process, and what this machine allows.
//!
//! | file | what |
//! |---|---|
//! | `bubblewrap` | the arguments that are the jail: namespaces, mounts, capabilities |
//! | `remedy` | which setting of the machine stands in the way, and what to do |
//! | `probe` | the report for `doctor` |

mod bubblewrap;
mod probe;
mod remedy;

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{
    DOWNLOADS_IN_JAIL, HOME_IN_JAIL, JailError, LaunchSpec, Listen, PROFILE_IN_JAIL, PROXY_IN_JAIL, Plan,
    UPLOADS_IN_JAIL, exchange, scratch::Scratch,
};
use crate::isolation::Isolation;

pub use probe::probe;

/// Our own binary, which [`process`](super::process) puts on standard input. Executed by descriptor, it need not be
/// visible in the jail, its folders need not be open to the browser's user, and an upgrade may have replaced it on disk.
const LAUNCHER: &str = "/proc/self/fd/0";

/// Linux, with both levels of isolation.
pub(super) struct Platform;

impl super::Platform for Platform {
    fn plan(&self, spec: &LaunchSpec) -> Result<Plan, JailError> {
        let program = real_chromium(&spec.program)?;
        match spec.isolation {
            Isolation::Jail => plan_jail(spec, program),
            Isolation::Proxy => plan_proxy(spec, program),
        }
    }

    fn explain(&self, output: &[String]) -> Option<JailError> {
        remedy::explain(output)
    }
}

fn plan_jail(spec: &LaunchSpec, program: PathBuf) -> Result<Plan, JailError> {
    let bwrap = bubblewrap::find()?;
    let paths = exchange::open(&spec.exchange, DOWNLOADS_IN_JAIL.into(), UPLOADS_IN_JAIL.into())?;
    let mut command = Command::new(bwrap);
    command.env_clear();
    command.args(bubblewrap::namespaces(rustix::process::geteuid().is_root()));
    command.args(bubblewrap::files(Path::new("/")));
    command.args(bubblewrap::chromium_folder(&program)?);
    command.args(bubblewrap::exchange(&paths));
    command.args(bubblewrap::seal()).args(["--", LAUNCHER]);
    Ok(Plan {
        command,
        listen: Listen::Inside(PROXY_IN_JAIL),
        home: HOME_IN_JAIL.into(),
        profile: PROFILE_IN_JAIL.into(),
        program,
        paths,
        scratch: None,
    })
}

fn plan_proxy(spec: &LaunchSpec, program: PathBuf) -> Result<Plan, JailError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|source| JailError::system("binding the proxy's listener", source))?;
    let scratch = Scratch::new().map_err(|source| JailError::system("making a profile folder", source))?;
    let paths = exchange::open_on_the_host(&spec.exchange, scratch.passable())?;
    let mut command = Command::new(LAUNCHER);
    command.env_clear();
    Ok(Plan {
        command,
        listen: Listen::OnHost(listener),
        home: scratch.browsers().join("home"),
        profile: scratch.browsers().join("profile"),
        program,
        paths,
        scratch: Some(scratch),
    })
}

/// Resolves links and refuses what is not a binary: a wrapper script would run with arguments of its own, and the jail has
/// no shell configuration for it.
fn real_chromium(program: &Path) -> Result<PathBuf, JailError> {
    use std::io::Read;
    let missing = |_| JailError::ChromiumMissing { program: program.to_owned() };
    let real = program.canonicalize().map_err(missing)?;
    let mut magic = [0; 4];
    let is_binary =
        std::fs::File::open(&real).and_then(|mut file| file.read_exact(&mut magic)).map(|()| &magic == b"\x7fELF");
    match is_binary {
        Ok(true) => Ok(real),
        Ok(false) => Err(JailError::ChromiumScript { program: real }),
        Err(_) => Err(JailError::ChromiumMissing { program: real }),
    }
}
