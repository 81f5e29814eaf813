//! `transom verbs`: what there is to call.

use serde_json::{Value, json};
use transom_verbs::{Verb, reference};

use crate::{
    exit::{Exit, Failure},
    output,
};

/// List the verbs that a binding can grant
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  transom verbs                        one line for each
  transom verbs --json | jq '.[].name' all that is declared, with JSON Schemas
  transom verbs --markdown             the reference page")]
pub(super) struct Args {
    /// Everything that is declared, as JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// The reference page
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.json {
        output::json(&Verb::ALL.iter().map(|verb| declared(*verb)).collect::<Vec<_>>())?;
    } else if args.markdown {
        output::line(reference::page().trim_end())?;
    } else {
        let rows = Verb::ALL.iter().map(|verb| row(*verb)).collect();
        output::table(&["verb", "arguments", "effect", "what it does"], rows)?;
    }
    Ok(Exit::Ok)
}

fn row(verb: Verb) -> Vec<String> {
    let spec = verb.spec();
    let effect = serde_json::to_value(spec.effect)
        .ok()
        .and_then(|effect| effect.as_str().map(str::to_owned))
        .unwrap_or_default();
    vec![spec.name.to_owned(), arguments(verb), effect, spec.summary.to_owned()]
}

/// The verb's own arguments, the required ones first and the others with a question mark.
fn arguments(verb: Verb) -> String {
    let schema = verb.input_schema();
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let optional = properties.into_iter().flat_map(|properties| properties.keys()).map(String::as_str);
    let optional = optional.filter(|name| !required.contains(name) && !matches!(*name, "tab" | "timeout_ms"));
    let names: Vec<String> =
        required.iter().map(|name| (*name).to_owned()).chain(optional.map(|name| format!("{name}?"))).collect();
    names.join(" ")
}

fn declared(verb: Verb) -> Value {
    let spec = verb.spec();
    json!({
        "name": spec.name,
        "summary": spec.summary,
        "description": verb.description("<prefix>"),
        "effect": spec.effect,
        "retry": spec.retry,
        "interface": spec.interface,
        "asks_person": spec.asks_person,
        "returns": spec.returns,
        "errors": spec.errors,
        "reasons": spec.reasons,
        "input_schema": verb.input_schema(),
        "output_schema": verb.output_schema(),
        "example": serde_json::from_str::<Value>(spec.example).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_listed_with_its_own_arguments() {
        let navigate = row(Verb::from_name("navigate").unwrap());
        assert_eq!(navigate[0], "navigate");
        assert!(navigate[1].starts_with("url "), "{navigate:?}");
        assert!(navigate[1].contains("new_tab?") && !navigate[1].contains("timeout_ms"), "{navigate:?}");
        assert_eq!(navigate[2], "read");
    }

    #[test]
    fn what_is_declared_is_there_as_data() {
        for verb in Verb::ALL {
            let declared = declared(*verb);
            assert_eq!(declared["name"], verb.name());
            assert!(declared["example"].is_object(), "{declared}");
        }
    }
}
