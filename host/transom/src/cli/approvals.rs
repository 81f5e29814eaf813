//! `transom approvals`: what waits for a person, in every host of this user, and the person's answer.

use std::{collections::BTreeSet, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{journal::StatePlace, signals};
use crate::{
    client::{Client, ClientError},
    config::Environment,
    control,
    exit::{Exit, Failure},
    output,
};

/// How often `watch` looks for hosts that have started since. What waits in a known host is told at once.
const LOOK_FOR_HOSTS_EVERY: Duration = Duration::from_secs(1);

/// See what waits for a person, and answer
///
/// Finds every host of yours that uses the same state folder, whether it is `serve`, `mcp`, `call`, `run` or `demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  transom approvals                     what waits?
  transom approvals approve appr_01J…
  transom approvals watch               tell of each as it comes")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    place: StatePlace,

    /// Ask a daemon at its address instead
    #[arg(long, value_name = "URL", global = true, requires = "token")]
    url: Option<String>,

    /// The operator's token, with --url
    #[arg(long, value_name = "TOKEN", env = "TRANSOM_OPERATOR_TOKEN", hide_env_values = true, global = true)]
    token: Option<String>,

    /// As JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List what waits [the default]
    List,
    /// Let a call go on
    Approve {
        /// Which: `appr_…`
        id: String,
    },
    /// Refuse a call
    Reject {
        /// Which: `appr_…`
        id: String,
    },
    /// Tell of each call that begins to wait, until interrupted
    Watch,
}

/// What the API says of a call that waits.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Waiting {
    id: String,
    run: String,
    tool: String,
    what: String,
    arguments: Value,
    asked_at: i64,
    deadline: i64,
}

#[derive(Debug, Deserialize)]
struct Answered {
    version: u64,
    approvals: Vec<Waiting>,
}

pub(super) async fn run(args: Args, environment: &Environment) -> Result<Exit, Failure> {
    match args.command.as_ref().unwrap_or(&Command::List) {
        Command::List => list(&args, environment).await,
        Command::Approve { id } => answer(&args, environment, id, "approve").await,
        Command::Reject { id } => answer(&args, environment, id, "reject").await,
        Command::Watch => watch(&args, environment).await,
    }
}

/// Every host that can be asked, by a name.
async fn hosts(args: &Args, environment: &Environment) -> Result<Vec<(String, Client)>, Failure> {
    if let Some(url) = &args.url {
        return Ok(vec![(url.clone(), Client::of_url(url, args.token.clone())?)]);
    }
    let state = args.place.find(environment)?;
    let live =
        control::live_hosts(&state).await.map_err(|error| Failure::usage(format!("{}: {error}", state.display())))?;
    live.into_iter().map(|host| Ok((format!("process {}", host.pid), Client::of_socket(&host.path)?))).collect()
}

async fn hosts_or_failure(args: &Args, environment: &Environment) -> Result<Vec<(String, Client)>, Failure> {
    let hosts = hosts(args, environment).await?;
    if hosts.is_empty() {
        return Err(Failure::not_there("no host is running with this state folder")
            .with_hint("name another by --config or --state, or a daemon by --url"));
    }
    Ok(hosts)
}

async fn pending(client: &Client, since: Option<u64>) -> Result<Answered, Failure> {
    let path = since.map_or("/v1/approvals".to_owned(), |since| format!("/v1/approvals?since={since}"));
    let answer = client.get(&path).await?;
    serde_json::from_value(answer).map_err(|_| Failure::not_there("what answered is another version of Transom"))
}

async fn list(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let mut waiting = Vec::new();
    for (_, client) in hosts_or_failure(args, environment).await? {
        match pending(&client, None).await {
            Ok(answered) => waiting.extend(answered.approvals),
            // It ended between being found and being asked.
            Err(failure) if args.url.is_none() && failure.exit == Exit::NotThere => {}
            Err(failure) => return Err(failure),
        }
    }
    if args.json {
        output::json(&waiting)?;
    } else if waiting.is_empty() {
        output::note("nothing waits for a person");
    } else {
        let rows = waiting.iter().map(|each| vec![each.id.clone(), each.what.clone(), left(each.deadline)]).collect();
        output::table(&["id", "what", "time left"], rows)?;
    }
    Ok(Exit::Ok)
}

async fn answer(args: &Args, environment: &Environment, id: &str, word: &str) -> Result<Exit, Failure> {
    let is_id = id.starts_with("appr_") && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_id {
        return Err(Failure::usage(format!(
            "\"{}\" is no id of an approval: it looks like appr_…, as `transom approvals` lists it",
            output::printable(id)
        )));
    }
    for (_, client) in hosts_or_failure(args, environment).await? {
        match client.post(&format!("/v1/approvals/{id}"), &json!({"answer": word})).await {
            Ok(answer) => {
                let what = answer.pointer("/approval/what").and_then(Value::as_str).unwrap_or_default();
                if args.json {
                    output::json(&answer)?;
                } else {
                    output::line(&format!(
                        "{}: {}",
                        if word == "approve" { "approved" } else { "rejected" },
                        output::printable(what)
                    ))?;
                }
                return Ok(Exit::Ok);
            }
            // Another host's, or a host that has just ended.
            Err(ClientError::Refused(refusal)) if refusal.is_not_there() => {}
            Err(ClientError::Unreachable { .. }) if args.url.is_none() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::not_there(format!(
        "nothing waits under {id}: it was answered already, its time ran out, or there never was one"
    )))
}

async fn watch(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let stop_signal = signals::stop_signal()?;
    tokio::pin!(stop_signal);
    let mut look = tokio::time::interval(LOOK_FOR_HOSTS_EVERY);
    let mut watching: BTreeSet<String> = BTreeSet::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    // One request for each host is under way at a time; it is answered at its next change.
    let mut requests: JoinSet<(String, Client, Result<Answered, Failure>)> = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stop_signal => return Ok(Exit::Interrupted),
            _ = look.tick() => {
                for (name, client) in hosts(args, environment).await? {
                    if watching.insert(name.clone()) {
                        requests.spawn(async move { let answered = pending(&client, None).await; (name, client, answered) });
                    }
                }
            }
            Some(Ok((name, client, answered))) = requests.join_next() => match answered {
                Ok(Answered { version, approvals }) => {
                    for waiting in approvals {
                        if told.insert(waiting.id.clone()) {
                            tell(&waiting, args.json)?;
                        }
                    }
                    requests.spawn(async move { let answered = pending(&client, Some(version)).await; (name, client, answered) });
                }
                Err(failure) if args.url.is_some() => return Err(failure),
                // The host has ended; should its name come again, it is another one.
                Err(_) => { watching.remove(&name); }
            },
        }
    }
}

fn tell(waiting: &Waiting, as_json: bool) -> Result<(), Failure> {
    if as_json {
        output::json_line(waiting)?;
    } else {
        let (id, what) = (output::printable(&waiting.id), output::printable(&waiting.what));
        output::line(&format!("{id}  {what}  ({} left)", left(waiting.deadline)))?;
    }
    Ok(())
}

/// How much time is left, in seconds.
fn left(deadline_ms: i64) -> String {
    let now_ms = time::OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000;
    let seconds = (i128::from(deadline_ms) - now_ms).max(0) / 1_000;
    humantime::format_duration(Duration::from_secs(u64::try_from(seconds).unwrap_or_default())).to_string()
}
