//! Where there is no jail: every system but Linux. `isolation = "jail"` is an error that says so.
//!
//! `isolation = "proxy"` works as on Linux but for one thing: nothing kills Chromium when the host is killed; it exits by
//! itself when its CDP pipe ends.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use super::{JailError, JailReport, LaunchSpec, Listen, Plan, UNPRIVILEGED, exchange, scratch::Scratch};
use crate::isolation::Isolation;

/// A system without namespaces.
pub(super) struct Platform;

impl super::Platform for Platform {
    fn plan(&self, spec: &LaunchSpec) -> Result<Plan, JailError> {
        if spec.isolation == Isolation::Jail {
            return Err(JailError::Unsupported { isolation: spec.isolation });
        }
        let program = spec.program.canonicalize();
        let program = program.map_err(|_| JailError::ChromiumMissing { program: spec.program.clone() })?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|source| JailError::system("binding the proxy's listener", source))?;
        let scratch = Scratch::new().map_err(|source| JailError::system("making a profile folder", source))?;
        let paths = exchange::open_on_the_host(&spec.exchange, scratch.passable())?;
        let mut command = Command::new(&spec.launcher);
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

    fn explain(&self, _output: &[String]) -> Option<JailError> {
        None
    }
}

/// Says that there is no jail here.
pub async fn probe() -> JailReport {
    let said = JailError::Unsupported { isolation: Isolation::Jail }.to_string();
    let host_uid = rustix::process::geteuid().as_raw();
    JailReport {
        chromium: None,
        bubblewrap: None,
        host_uid,
        browser_uid: if host_uid == 0 { UNPRIVILEGED } else { host_uid },
        jail: Err(said.clone()),
        sandbox: Err(said),
    }
}
