//! `transom completions`: for the shell.

use clap::CommandFactory as _;

use super::Cli;
use crate::exit::{Exit, Failure};

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  transom completions bash > ~/.local/share/bash-completion/completions/transom")]
pub(super) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    // By way of memory: the generator panics when its writer fails, and a closed pipe is no reason to.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "transom", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(Exit::Ok)
}
