//! One run for the process that started us, over standard input and output.
//!
//! Standard output carries the protocol and nothing else; logs go to standard error. The run ends with the input: a client that
//! goes away takes its browser along.
//!
//! Not here: the host and the run, which the command makes (`cli/mcp.rs`).

use rmcp::{
    RoleServer,
    service::{QuitReason, ServerInitializeError, serve_server},
    transport::{IntoTransport, stdio_pipes},
};
use transom_runs::{EndReason, Run};

use super::server::{Options, OptionsError, RunServer};

/// Why a run was not served to its end.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The run can't be offered so.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// What came first was not MCP.
    #[error("the client did not begin as an MCP client does: {0}")]
    Handshake(String),
    /// The task that serves was lost.
    #[error("serving the run failed: {0}")]
    Lost(tokio::task::JoinError),
}

/// Serves `run` on standard input and output until the input ends, and ends the run then.
///
/// Calls that are under way at that moment get some seconds to finish, so that `printf … | transom mcp` gets its answers.
///
/// # Errors
/// When the client does not speak MCP, or two tools would have one name.
///
/// # Cancel safety
/// Dropping the future stops serving; the run is the caller's to end then. Where standard input is not a pipe, a read of it may
/// still be under way on the runtime's blocking threads: shut the runtime down without waiting for them.
pub async fn run(run: Run, options: &Options) -> Result<(), StdioError> {
    serve(run, options, stdio_pipes()).await
}

/// The same over any transport.
///
/// # Errors
/// As [`run`].
pub async fn serve<T, E, A>(run: Run, options: &Options, transport: T) -> Result<(), StdioError>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let server = RunServer::new(run.clone(), options)?;
    let served = match serve_server(server, transport).await {
        Ok(service) => service.waiting().await.map_err(StdioError::Lost),
        // A client that came and went, as a probe does.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(QuitReason::Closed),
        Err(error) => Err(StdioError::Handshake(error.to_string())),
    };
    run.end(EndReason::Caller).await;
    match served? {
        QuitReason::JoinError(error) => Err(StdioError::Lost(error)),
        _ => Ok(()),
    }
}
