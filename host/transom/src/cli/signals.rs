//! The end that comes from outside: SIGINT and SIGTERM.

use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Failure;

/// Which signal came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// `kill`, or a service manager.
    Terminate,
}

/// Starts listening at once; the future resolves at the first signal.
pub(super) fn stop_signal() -> Result<impl Future<Output = Signal>, Failure> {
    let failed = |error| Failure::failed(format!("signals can't be handled: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => Signal::Interrupt,
            _ = terminate.recv() => Signal::Terminate,
        }
    })
}
