//! `transom serve`: the daemon.

use std::net::SocketAddr;

use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{args::ConfigFile, signals};
use crate::{
    config::Environment,
    exit::{Exit, Failure},
    host_process::HostProcess,
    http::{Api, Door, OperatorToken, access, router, server},
    output,
};

/// Serve runs over HTTP and MCP on this machine, until SIGINT or SIGTERM
///
/// Once it is ready it prints one line with its address. An operator's token makes runs; each run has its own URL and token. The
/// operator's token is in the state folder (`operator-token`, readable by you only), or in TRANSOM_OPERATOR_TOKEN.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  transom serve --config transom.toml
  curl -H \"Authorization: Bearer $(cat ~/.local/state/transom/operator-token)\" \\
       -H 'Content-Type: application/json' -d '{\"binding\": \"shop\"}' http://127.0.0.1:7411/v1/runs")]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Where to listen, on loopback; port 0 takes a free one [default: `listen` of the configuration, 127.0.0.1:7411]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// The line with the address, and the logs, as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: Args, environment: &Environment) -> Result<Exit, Failure> {
    let config = args.config.load(environment)?;
    let listen = args.listen.unwrap_or(config.settings.host.listen);
    check_listen(listen)?;
    let listener = TcpListener::bind(listen).await.map_err(|error| {
        let failure = Failure::usage(format!("can't listen on {listen}: {error}"));
        if error.kind() == std::io::ErrorKind::AddrInUse {
            failure.with_hint("is a host running there? --listen takes another port")
        } else {
            failure
        }
    })?;
    let address = listener.local_addr()?;
    let process = HostProcess::start_configured(&config, environment).await?;
    let operator = match environment.get(access::TOKEN_VARIABLE) {
        Some(token) => OperatorToken::parse(&token.to_string_lossy(), access::TOKEN_VARIABLE),
        None => OperatorToken::of_state(&process.state),
    };
    let operator = match operator {
        Ok(operator) => operator,
        Err(error) => {
            process.stop().await;
            return Err(Failure::usage(error));
        }
    };
    let router = router(Api::new(process.host.clone(), Door::Tcp { operator, port: address.port() }));
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server::serve(listener, router, stop.clone()));
    // From here on: while it starts there is nothing to end well, and a signal ends the process at once.
    let stop_signal = signals::stop_signal()?;
    let url = format!("http://{address}");
    if args.json {
        output::json_line(&json!({"event": "ready", "url": url, "pid": std::process::id()}))?;
    } else {
        output::line(&format!("transom is ready at {url}"))?;
    }
    let signal = stop_signal.await;
    tracing::info!(?signal, "stopping");
    stop.cancel();
    // Ending the runs ends their calls, so that what is asked right now is answered before its connection closes.
    process.stop().await;
    if let Err(error) = serving.await {
        tracing::warn!(%error, "the server did not end well");
    }
    Ok(Exit::Ok)
}

/// Refuses to listen where others could read along.
pub(super) fn check_listen(listen: SocketAddr) -> Result<(), Failure> {
    if listen.ip().is_loopback() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{listen} is not a loopback address, and this host has no TLS yet to be safe anywhere else"
    ))
    .with_hint("listen on 127.0.0.1 or [::1]; for other machines put a tunnel or a proxy with TLS in front"))
}
