//! `transom mcp`: one run for one MCP client, over standard input and output.

use transom_runs::{EndReason, RunSpec};

use super::{
    args::{ConfigFile, NewRun},
    signals,
};
use crate::{
    config::Environment,
    exit::{Exit, Failure},
    host_process::HostProcess,
};

/// Serve one run to an MCP client over stdio
///
/// The client starts this command itself; the run ends with it. Tools are named PREFIX.VERB. What waits for a person is answered
/// by `transom approvals`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example, in an MCP client's configuration:
  {\"mcpServers\": {\"shop\": {
    \"command\": \"transom\",
    \"args\": [\"mcp\", \"--config\", \"/etc/transom.toml\", \"--binding\", \"shop\"]}}}")]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,

    #[command(flatten)]
    new: NewRun,

    /// What stands between prefix and name, for clients that forbid dots in tool names
    #[arg(long, value_name = "TEXT", default_value = ".", value_parser = [".", "_", "-", "__"])]
    separator: String,
}

pub(super) async fn run(args: Args, environment: &Environment) -> Result<Exit, Failure> {
    let (prefixes, tools) = args.new.grants()?;
    let files = args.new.given_files()?;
    let config = args.config.load(environment)?.only(prefixes.iter().map(String::as_str)).map_err(Failure::usage)?;
    let process = HostProcess::start_configured(&config, environment).await?;
    let spec = RunSpec { tools, files, model: args.new.model, shape: "mcp".to_owned(), idle: None };
    let run = match process.host.create_run(spec).await {
        Ok(run) => run,
        Err(error) => {
            process.stop().await;
            return Err(Failure { exit: Exit::Usage, ..Failure::from(error) });
        }
    };
    let stop_signal = signals::stop_signal()?;
    let options = crate::mcp::Options { separator: args.separator };
    let done = tokio::select! {
        done = crate::mcp::stdio::run(run.clone(), &options) => done.map(|()| Exit::Ok).map_err(Failure::failed),
        _ = stop_signal => Ok(Exit::Interrupted),
    };
    run.end(EndReason::Caller).await;
    process.stop().await;
    done
}
