//! A host inside this process, as `serve`, `mcp`, `call`, `run` and `demo` have one.
//!
//! Besides the host itself it has a control socket, so that `transom approvals` in another terminal reaches what waits here.
//!
//! Not here: what the host does (`transom-runs`), the listener of `serve`.

use std::path::PathBuf;

use transom_runs::{Host, HostOptions, StartError, binding::SecretValues, settings::Settings};

use crate::{
    config::{Config, Environment},
    control::{self, ControlSocket},
    exit::Failure,
    http::{Api, Door, router},
};

/// A host that runs in this process. Call [`HostProcess::stop`] in the end: it ends the runs and waits for the journal.
#[derive(Debug)]
pub struct HostProcess {
    /// The host.
    pub host: Host,
    /// Where its state is.
    pub state: PathBuf,
    control: ControlSocket,
}

/// Where a host keeps its state and what its settings are relative to.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder of all state.
    pub state: PathBuf,
    /// What relative paths in the settings are relative to.
    pub base_dir: PathBuf,
}

/// Why a host did not start in this process.
#[derive(Debug, thiserror::Error)]
pub enum HostProcessError {
    /// The host refused its settings, or the machine.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The control socket.
    #[error(transparent)]
    Control(#[from] control::ControlError),
    /// The system does not say where our binary is.
    #[error("the system does not say where this program is, which the jail needs: {0}")]
    OwnBinary(std::io::Error),
}

impl HostProcess {
    /// Starts a host with these settings.
    ///
    /// # Errors
    /// One line each: what can't stand, or what is missing on this machine.
    pub async fn start(
        settings: Settings,
        secrets: SecretValues,
        places: Places,
    ) -> Result<HostProcess, HostProcessError> {
        let Places { state, base_dir } = places;
        let launcher = std::env::current_exe().map_err(HostProcessError::OwnBinary)?;
        let host = Host::start(settings, secrets, HostOptions { launcher, state: state.clone(), base_dir }).await?;
        let control = ControlSocket::serve(&state, router(Api::new(host.clone(), Door::Control)))?;
        Ok(HostProcess { host, state, control })
    }

    /// Starts a host with what a configuration file says.
    ///
    /// # Errors
    /// A secret without a value, or whatever [`HostProcess::start`] fails with; a binding that was refused is shown at its place in the
    /// file.
    pub async fn start_configured(config: &Config, environment: &Environment) -> Result<HostProcess, Failure> {
        let secrets = config.secrets(environment).map_err(Failure::usage)?;
        let places = Places { state: config.state(environment).map_err(Failure::usage)?, base_dir: config.base_dir() };
        HostProcess::start(config.settings.clone(), secrets, places).await.map_err(|error| match &error {
            HostProcessError::Start(StartError::Binding(binding)) => Failure::usage(config.place_of(binding)),
            HostProcessError::Start(StartError::Journal(_) | StartError::PluginEngine(_)) => Failure::failed(error),
            HostProcessError::Start(_) | HostProcessError::Control(_) => Failure::usage(error),
            HostProcessError::OwnBinary(_) => Failure::failed(error),
        })
    }

    /// Ends the runs, waits for the journal's last row, and takes the control socket away.
    pub async fn stop(self) {
        self.host.shutdown().await;
        self.control.stop().await;
    }
}
