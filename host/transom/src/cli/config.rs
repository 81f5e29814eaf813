//! `transom config`: a file to start from, and what is wrong in one.

use std::path::PathBuf;

use transom_runs::binding::Binding;

use super::args::ConfigFile;
use crate::{
    config::{self, Environment},
    exit::{Exit, Failure},
    output,
};

/// Write a configuration to start from, or check one
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write a commented configuration to start from
    #[command(after_help = "Example:\n  transom config init && $EDITOR transom.toml && transom config check")]
    Init {
        /// Where to
        #[arg(default_value = "transom.toml")]
        path: PathBuf,
        /// Replace a file that is there
        #[arg(long)]
        force: bool,
    },
    /// Say what is wrong in a configuration: keys, values, bindings and secrets
    ///
    /// The first mistake is one line with file, line and column. Plugins are checked by `transom plugin check`, the machine by
    /// `transom doctor`.
    Check {
        #[command(flatten)]
        config: ConfigFile,
    },
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    match &args.command {
        Command::Init { path, force } => {
            config::init(path, *force).map_err(Failure::usage)?;
            output::line(&format!(
                "wrote {}: set `prefix`, `hosts` and `start`, then `transom config check`",
                path.display()
            ))?;
        }
        Command::Check { config } => {
            let config = config.load(environment)?;
            super::serve::check_listen(config.settings.host.listen)?;
            let secrets = config.secrets(environment).map_err(Failure::usage)?;
            for binding in &config.settings.binding {
                Binding::check(binding, &secrets).map_err(|error| Failure::usage(config.place_of(&error)))?;
            }
            let names: Vec<&str> = config.settings.binding.iter().map(|binding| binding.prefix.as_str()).collect();
            let bindings =
                if names.is_empty() { "no bindings yet".to_owned() } else { format!("bindings: {}", names.join(", ")) };
            output::line(&format!("{} is in order ({bindings})", config.path.display()))?;
        }
    }
    Ok(Exit::Ok)
}
