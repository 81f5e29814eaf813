//! `transom call`: one tool, once.

use serde_json::{Map, Value};

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

/// Call one tool and print its result
///
/// Without --run it starts a host and a run for this one call, which begins on the binding's start page.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  transom call shop.navigate url=https://shop.example.com/orders snapshot=true
  transom call extract format=markdown --binding shop --json
  transom call shop.screenshot full_page=true --files .
  transom call shop.click '{\"ref\": \"e12\"}' --run http://127.0.0.1:7411/v1/runs/run_01J… --token …")]
pub(super) struct Args {
    /// The tool: PREFIX.NAME, or NAME with --binding
    tool: String,

    /// Its arguments: one JSON object, `-` for one on standard input, or key=value for each
    #[arg(value_name = "JSON|KEY=VALUE")]
    arguments: Vec<String>,

    #[command(flatten)]
    which: Which,

    /// The result as JSON, exactly as a model gets it
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(mut args: Args, environment: &Environment) -> Result<Exit, Failure> {
    let tool = full_name(&args.tool, args.which.new.binding.as_deref())?;
    if args.which.url.is_none() && args.which.new.binding.is_none() && args.which.new.tools.is_empty() {
        // The full name says which binding it is.
        args.which.new.binding = Some(super::args::prefix_of(&tool).to_owned());
    }
    let caller = Caller::open(&args.which, environment).await?;
    let stop_signal = signals::stop_signal()?;
    let done = tokio::select! {
        done = call_and_print(&caller, &tool, &args) => done,
        _ = stop_signal => Ok(Exit::Interrupted),
    };
    caller.close().await;
    done
}

async fn call_and_print(caller: &Caller, tool: &str, args: &Args) -> Result<Exit, Failure> {
    let schema = caller.input_schema(tool).await?;
    let arguments = parse_arguments(&args.arguments, schema.as_ref())?;
    let result = caller.call(tool, arguments).await;
    if let Some(folder) = &args.which.save {
        caller.save_files(folder).await?;
    }
    match result {
        Ok(result) if args.json => output::json(&result)?,
        Ok(result) => output::result(&result)?,
        Err(error) => {
            if args.json {
                output::json(&serde_json::json!({"error": error.json}))?;
            }
            return Err(error.failure);
        }
    }
    Ok(Exit::Ok)
}

/// The arguments as JSON. `key=value` is read by the schema: a text stays a text, anything else is JSON.
fn parse_arguments(words: &[String], schema: Option<&Value>) -> Result<Value, Failure> {
    let object = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Failure::usage("the arguments have to be one JSON object, as in '{\"ref\": \"e12\"}'")),
        Err(error) => Err(Failure::usage(format!("the arguments are not JSON: {error}"))),
    };
    match words {
        [only] if only == "-" => return object(&std::io::read_to_string(std::io::stdin())?),
        [only] if only.trim_start().starts_with('{') => return object(only),
        _ => {}
    }
    let mut arguments = Map::new();
    for word in words {
        let (key, text) = word.split_once('=').ok_or_else(|| {
            Failure::usage(format!("\"{word}\" is no argument: write key=value, or one JSON object for all"))
        })?;
        let value = value_of(text, schema.and_then(|schema| schema.get("properties")?.get(key)));
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("the argument `{key}` is there twice")));
        }
    }
    Ok(Value::Object(arguments))
}

/// A value of `key=value`. What is no JSON where JSON is expected stays a text: the host then says what is wrong with it.
fn value_of(text: &str, property: Option<&Value>) -> Value {
    let may_be = |kind: &str| match property.and_then(|property| property.get("type")) {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(several)) => several.iter().any(|each| each == kind),
        _ => false,
    };
    if may_be("string") {
        return Value::String(text.to_owned());
    }
    match serde_json::from_str(text) {
        Ok(value) => value,
        // "a,b" for a list of words.
        Err(_) if may_be("array") => text.split(',').map(|item| Value::String(item.to_owned())).collect(),
        Err(_) => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use transom_verbs::Verb;

    use super::*;

    fn parse(verb: &str, words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        parse_arguments(&words, Some(Verb::from_name(verb).unwrap().input_schema())).map_err(|failure| failure.message)
    }

    #[test]
    fn arguments_are_read_by_the_tools_schema() {
        assert_eq!(
            parse("navigate", &["url=https://a.test/?x=1", "snapshot=true"]).unwrap(),
            json!({"url": "https://a.test/?x=1", "snapshot": true})
        );
        assert_eq!(parse("type", &["ref=e1", "text=123"]).unwrap(), json!({"ref": "e1", "text": "123"}));
        assert_eq!(
            parse("click", &["x=10", "y=20.5", "modifiers=Control,Shift"]).unwrap(),
            json!({"x": 10, "y": 20.5, "modifiers": ["Control", "Shift"]})
        );
        assert_eq!(parse("click", &["{\"ref\": \"e1\"}"]).unwrap(), json!({"ref": "e1"}));
        assert_eq!(parse("tabs", &[]).unwrap(), json!({}));
    }

    #[test]
    fn a_wrong_argument_is_one_line() {
        assert_eq!(
            parse("click", &["e1"]).unwrap_err(),
            "\"e1\" is no argument: write key=value, or one JSON object for all"
        );
        assert_eq!(parse("click", &["ref=e1", "ref=e2"]).unwrap_err(), "the argument `ref` is there twice");
        assert!(parse("click", &["{\"ref\": e1}"]).unwrap_err().starts_with("the arguments are not JSON: "));
    }
}
