//! `transom journal`: what happened.

use std::path::PathBuf;

use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use transom_runs::journal::{Entry, Journal, JournalFilter};

use super::args::ConfigFile;
use crate::{
    config::Environment,
    exit::{Exit, Failure},
    output,
};

/// The journal's file in the state folder.
const FILE: &str = "journal.sqlite";

/// Show what runs did
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show entries, oldest first
    #[command(after_help = "Examples:
  transom journal show --run run_01J…
  transom journal show --json | jq 'select(.kind == \"refusal\")'")]
    Show(Show),
}

#[derive(Debug, clap::Args)]
struct Show {
    #[command(flatten)]
    place: StatePlace,
    /// Only this run's
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Only those after this number
    #[arg(long, value_name = "SEQ")]
    after: Option<i64>,
    /// At most so many, the newest ones
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: usize,
    /// One JSON object for each entry and line
    #[arg(long)]
    json: bool,
}

/// Which state folder: by configuration, or named.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct StatePlace {
    #[command(flatten)]
    pub(super) config: ConfigFile,
    /// The state folder [default: that of the configuration]
    #[arg(long, value_name = "FOLDER", conflicts_with = "path", global = true)]
    pub(super) state: Option<PathBuf>,
}

impl StatePlace {
    /// The state folder. Without any configuration it is the user's.
    pub(super) fn find(&self, environment: &Environment) -> Result<PathBuf, Failure> {
        if let Some(state) = &self.state {
            return Ok(state.clone());
        }
        match crate::config::Config::load(self.config.path.as_deref(), environment) {
            Ok(config) => config.state(environment).map_err(Failure::usage),
            Err(crate::config::ConfigError::NotFound { .. }) => {
                crate::config::state_folder(None, std::path::Path::new("."), environment).map_err(Failure::usage)
            }
            Err(error) => Err(Failure::usage(error)),
        }
    }
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let Command::Show(show) = &args.command;
    let path = show.place.find(environment)?.join(FILE);
    if !path.exists() {
        return Err(Failure::not_there(format!(
            "no journal at {}: no host has run with this state folder",
            path.display()
        )));
    }
    let filter = JournalFilter { run: show.run.clone(), after: show.after, limit: Some(show.limit) };
    let entries = Journal::read_file(&path, &filter).map_err(Failure::failed)?;
    if entries.is_empty()
        && let Some(run) = &show.run
    {
        return Err(Failure::not_there(format!("the journal has no entries of \"{run}\"")));
    }
    for entry in &entries {
        if show.json {
            output::json_line(entry)?;
        } else {
            output::line(&line(entry))?;
        }
    }
    Ok(Exit::Ok)
}

/// An entry on one line: when, in which run, who, what, and the rest.
fn line(entry: &Entry) -> String {
    let (dim, kind) = (output::DIM, colour(&entry.kind));
    let tool = entry.tool.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
    let detail = match &entry.detail {
        Value::Null => String::new(),
        detail => format!(" {detail}"),
    };
    let text = |text: &str| output::printable(text);
    format!(
        "{dim}{} {}{dim:#} {kind}{}{kind:#} {dim}{}{dim:#}{}{dim}{}{dim:#}",
        when(entry.at),
        text(&entry.run),
        text(&entry.kind),
        text(&entry.caller),
        text(&tool),
        text(&detail)
    )
}

fn colour(kind: &str) -> anstyle::Style {
    match kind {
        "refusal" | "egress" => output::RED,
        "approval" => output::YELLOW,
        _ => output::GREEN,
    }
}

fn when(unix_ms: i64) -> String {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(unix_ms) * 1_000_000)
        .ok()
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_else(|| unix_ms.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_one_line_that_cannot_drive_the_terminal() {
        let entry = Entry {
            seq: 1,
            at: 1_700_000_000_123,
            run: "run_1".into(),
            call: None,
            caller: "model".into(),
            tool: Some("shop.click".into()),
            kind: "intent".into(),
            detail: json!({"text": "a\u{9b}b\nc"}),
        };
        let plain = anstream::adapter::strip_str(&line(&entry)).to_string();
        assert_eq!(plain, "2023-11-14T22:13:20.123Z run_1 intent model shop.click {\"text\":\"a\u{fffd}b\\nc\"}");
    }
}
