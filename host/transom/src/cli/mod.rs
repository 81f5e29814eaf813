//! The command line: one file for each command, and what they share.
//!
//! A command reads its arguments, asks the host, and prints. It returns how it ended ([`Exit`]) or the one line that says why it could
//! not ([`Failure`]).

mod approvals;
mod args;
mod call;
mod caller;
mod completions;
mod config;
mod doctor;
mod journal;
mod logging;
mod mcp;
mod plugin;
mod run;
mod serve;
mod signals;
mod verbs;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{
    config::Environment,
    exit::{Exit, Failure},
};

/// Let agents and plugins use a real browser, through a small window that you control.
#[derive(Debug, Parser)]
#[command(
    name = "transom",
    version,
    max_term_width = 110,
    disable_help_subcommand = true,
    after_help = AFTER_HELP,
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The examples, then what every command ends with.
const AFTER_HELP: &str = "\
Start here:
  transom demo                     see it work: a shop, a plugin, a refusal, the journal
  transom config init              write a configuration to start from
  transom doctor                   is this machine ready?
  transom mcp --binding shop       serve one run to an MCP client over stdio

Exit codes:
  0    done
  1    the call, the script or a check failed
  2    wrong usage or configuration
  3    not there: no host to talk to, no such run, nothing that waits under this id
  130  interrupted

Environment:
  TRANSOM_CONFIG          the configuration file, as --config
  TRANSOM_OPERATOR_TOKEN  the operator's token, instead of the one in the state folder
  TRANSOM_LOG             what to log to standard error, as in \"info\" or \"transom_runs=debug\"
  NO_COLOR                no colours";

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Mcp(mcp::Args),
    Call(call::Args),
    Run(run::Args),
    Approvals(approvals::Args),
    Plugin(plugin::Args),
    Verbs(verbs::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Journal(journal::Args),
    Demo(crate::demo::Args),
    Completions(completions::Args),
}

/// Parses the process's arguments and does what they say.
pub(crate) fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let environment = Environment::of_process();
    let done = match command {
        // These need no runtime, so they start none.
        Command::Verbs(args) => verbs::run(&args),
        Command::Config(args) => config::run(&args, &environment),
        Command::Journal(args) => journal::run(&args, &environment),
        Command::Completions(args) => completions::run(&args),
        command => match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => {
                let exit = runtime.block_on(run(command, environment));
                // A read of standard input can't be taken back: without this the process would wait for one more line.
                runtime.shutdown_background();
                return exit;
            }
            Err(error) => Err(Failure::failed(format!("the system gave no threads: {error}"))),
        },
    };
    finish(done)
}

async fn run(command: Command, environment: Environment) -> ExitCode {
    if let Command::Demo(args) = command {
        logging::start(logging::Level::Quiet, logging::Form::Text);
        return crate::demo::run(args).await.unwrap_or_else(|error| finish(Err(Failure::failed(format!("{error:#}")))));
    }
    let level = if matches!(command, Command::Serve(_)) { logging::Level::Talkative } else { logging::Level::Quiet };
    let form = match &command {
        Command::Serve(args) if args.json => logging::Form::Json,
        _ => logging::Form::Text,
    };
    logging::start(level, form);
    finish(match command {
        Command::Serve(args) => serve::run(args, &environment).await,
        Command::Mcp(args) => mcp::run(args, &environment).await,
        Command::Call(args) => call::run(args, &environment).await,
        Command::Run(args) => run::run(args, &environment).await,
        Command::Approvals(args) => approvals::run(args, &environment).await,
        Command::Plugin(args) => plugin::run(args).await,
        Command::Doctor(args) => doctor::run(args, &environment).await,
        // Done above.
        Command::Verbs(_) | Command::Config(_) | Command::Journal(_) | Command::Completions(_) | Command::Demo(_) => {
            Ok(Exit::Ok)
        }
    })
}

fn finish(done: Result<Exit, Failure>) -> ExitCode {
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

#[cfg(test)]
mod tests;
