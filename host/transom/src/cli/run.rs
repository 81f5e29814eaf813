//! `transom run`: a script of calls in one run.

use std::{io::Cursor, path::Path};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader};

use super::{
    args::full_name,
    caller::{Caller, Which},
    signals,
};
use crate::{
    config::Environment,
    exit::{Exit, Failure},
    output,
};

/// Run a script: one call on each line, all in one run
///
/// A line is a JSON object `{"tool": NAME, "args": {…}}`; empty lines and lines that begin with `#` are skipped. Each call's result is one line
/// of JSON: `{"line", "tool", "result"}` or `{"line", "tool", "error"}`. The first failing call ends the script.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  transom run orders.jsonl --binding shop --files ./downloads
  echo '{\"tool\": \"snapshot\"}' | transom run - --binding shop | jq -r .result.snapshot")]
pub(super) struct Args {
    /// The script, or `-` for standard input
    script: String,

    #[command(flatten)]
    which: Which,

    /// Go on after a call that failed; the exit code still says so
    #[arg(long)]
    keep_going: bool,
}

/// One line of a script.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    tool: String,
    #[serde(default)]
    args: Value,
}

pub(super) async fn run(args: Args, environment: &Environment) -> Result<Exit, Failure> {
    let binding = args.which.new.binding.as_deref();
    let script: Box<dyn AsyncBufRead + Unpin> = if args.script == "-" {
        Box::new(BufReader::new(tokio::io::stdin()))
    } else {
        Box::new(Cursor::new(read_script(Path::new(&args.script), binding)?))
    };
    let caller = Caller::open(&args.which, environment).await?;
    let stop_signal = signals::stop_signal()?;
    let done = tokio::select! {
        done = play(&caller, script, binding, args.keep_going) => done,
        _ = stop_signal => Ok(Exit::Interrupted),
    };
    let saved = match &args.which.save {
        Some(folder) => caller.save_files(folder).await,
        None => Ok(()),
    };
    caller.close().await;
    let exit = done?;
    saved?;
    Ok(exit)
}

/// A script's text, every line of which is in order: a mistake at its end is told before anything is done.
fn read_script(path: &Path, binding: Option<&str>) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    for (index, line) in text.lines().enumerate() {
        parse_step(line, binding)
            .map_err(|problem| Failure::usage(format!("{}:{}: {problem}", path.display(), index + 1)))?;
    }
    Ok(text)
}

async fn play(
    caller: &Caller,
    script: impl AsyncBufRead + Unpin,
    binding: Option<&str>,
    keep_going: bool,
) -> Result<Exit, Failure> {
    let mut lines = script.lines();
    let mut exit = Exit::Ok;
    let mut number = 0_usize;
    while let Some(line) = lines.next_line().await? {
        number += 1;
        let step = parse_step(&line, binding).map_err(|problem| Failure::usage(format!("line {number}: {problem}")))?;
        let Some(Step { tool, args }) = step else { continue };
        match caller.call(&tool, args).await {
            Ok(result) => output::json_line(&json!({"line": number, "tool": tool, "result": result}))?,
            Err(error) => {
                output::json_line(&json!({"line": number, "tool": tool, "error": error.json}))?;
                if !keep_going {
                    return Err(Failure {
                        message: format!("line {number}: {tool}: {}", error.failure.message),
                        ..error.failure
                    });
                }
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}

/// A line's call with its full name; none on an empty line and a comment.
fn parse_step(line: &str, binding: Option<&str>) -> Result<Option<Step>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let Step { tool, args } = serde_json::from_str(line)
        .map_err(|error| format!("not a call as {{\"tool\": NAME, \"args\": {{…}}}}: {}", without_place(&error)))?;
    let tool = full_name(&tool, binding).map_err(|failure| failure.message)?;
    Ok(Some(Step { tool, args }))
}

/// Serde's message without "at line 1": the line is ours to count.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_call_or_nothing_or_one_clear_problem() {
        let step = |line: &str| parse_step(line, Some("shop"));
        assert_eq!(
            step(r#"{"tool": "click", "args": {"ref": "e1"}}"#),
            Ok(Some(Step { tool: "shop.click".into(), args: json!({"ref": "e1"}) }))
        );
        assert_eq!(step(r#"{"tool": "bank.tabs"}"#), Ok(Some(Step { tool: "bank.tabs".into(), args: Value::Null })));
        assert_eq!(step("  "), Ok(None));
        assert_eq!(step("# log in"), Ok(None));
        assert_eq!(
            step(r#"{"tool": "click", "arguments": {}}"#).unwrap_err(),
            "not a call as {\"tool\": NAME, \"args\": {…}}: unknown field `arguments`, expected `tool` or `args`"
        );
        assert!(step("click e1").unwrap_err().starts_with("not a call as "));
    }
}
