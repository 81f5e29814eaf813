//! What a component says about its tools, and whether that can be shown to models and held to.
//!
//! A description is a stranger's text in a model's prompt: names have one form and can't pass for a verb, everything has a
//! size, and schemas are compiled once, here, by an engine whose patterns take linear time.

use std::{fmt, sync::Arc};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use transom_policy::hosts::HostRules;
use transom_verbs::{Verb, registry::Effect};

use crate::bindings::exports::transom::plugin::tools;

/// Tools of one plugin. More would not fit a model's attention, let alone its list of tools.
pub(crate) const TOOLS_MAX: usize = 64;
/// Longest name of a tool, in characters: with a prefix and the plugin's name it has to fit the 128 that MCP clients allow.
pub(crate) const TOOL_NAME_CHARS_MAX: usize = 64;
/// Longest description, in characters: about a thousand tokens, paid at every turn of a model.
pub(crate) const TOOL_DESCRIPTION_CHARS_MAX: usize = 4_000;
/// Largest schema, in bytes of its JSON.
pub(crate) const SCHEMA_BYTES_MAX: usize = 32 * 1024;
/// Host entries of one tool.
pub(crate) const TOOL_HOSTS_MAX: usize = 64;
/// Largest compiled pattern of a schema, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Names of the contract's verbs. Those that are not built yet are taken too: a plugin that had one would break the day that
/// the verb comes.
const VERB_NAMES: &[&str] = &[
    "navigate",
    "back",
    "forward",
    "reload",
    "click",
    "hover",
    "scroll_to",
    "drag",
    "mouse",
    "type",
    "press",
    "set",
    "options",
    "select",
    "scroll",
    "upload",
    "download",
    "screenshot",
    "pdf",
    "snapshot",
    "text",
    "extract",
    "find",
    "search",
    "query",
    "evaluate",
    "wait",
    "tabs",
    "open",
    "switch",
    "close",
    "dialog",
    "console",
    "errors",
    "requests",
    "emulate",
    "file_write",
    "file_read",
    "file_replace",
    "files",
    "ask",
    "done",
];

/// One tool of a plugin, checked.
#[derive(Clone)]
pub struct ToolSpec {
    /// `[a-z0-9_]+`; callers see `<prefix>.<plugin>_<name>`, or the name that the binding gives.
    pub name: String,
    /// What a model reads.
    pub description: String,
    /// JSON Schema of the arguments; its type is `object`.
    pub input_schema: Value,
    /// JSON Schema of [`ToolResult::structured`](crate::ToolResult::structured).
    pub output_schema: Option<Value>,
    /// Whether it changes something on the site.
    pub effect: Effect,
    /// The hosts that it is for; `None`: those of the manifest.
    pub hosts: Option<HostRules>,
    /// A caller that sends several calls at once should stop after this one.
    pub ends_sequence: bool,
    input: Arc<Validator>,
    output: Option<Arc<Validator>>,
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSpec").field("name", &self.name).field("effect", &self.effect).finish_non_exhaustive()
    }
}

impl ToolSpec {
    /// What is wrong with these arguments, if anything: one line for each of the first few faults.
    pub(crate) fn faults_of_input(&self, arguments: &Value) -> Option<String> {
        faults(&self.input, arguments)
    }

    /// What is wrong with this structured result, if anything.
    pub(crate) fn faults_of_output(&self, structured: &Value) -> Option<String> {
        self.output.as_ref().and_then(|output| faults(output, structured))
    }
}

/// Faults that one message names. A caller fixes these first and sees the rest then.
const FAULTS_SHOWN: usize = 3;
/// Longest account of one fault, in characters: it repeats the value.
const FAULT_CHARS: usize = 200;

fn faults(validator: &Validator, value: &Value) -> Option<String> {
    let mut lines = Vec::new();
    for fault in validator.iter_errors(value).take(FAULTS_SHOWN) {
        let path = fault.instance_path().to_string();
        let place = path.trim_start_matches('/').replace('/', ".");
        let what: String = fault.to_string().chars().take(FAULT_CHARS).collect();
        lines.push(if place.is_empty() { what } else { format!("`{place}`: {what}") });
    }
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// Why what a component describes was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    /// `describe` itself ended badly.
    #[error("`tools.describe` failed: {0}")]
    Call(String),
    /// A plugin without tools, or with too many.
    #[error("a plugin describes from 1 to {TOOLS_MAX} tools, this one {n_tools}")]
    Count {
        /// How many it described.
        n_tools: usize,
    },
    /// A name of another form.
    #[error("`{name}` is no tool name: write `a` to `z`, digits and `_`, at most {TOOL_NAME_CHARS_MAX}")]
    Name {
        /// As described, shortened.
        name: String,
    },
    /// Two tools of one name.
    #[error("two tools are named `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
    /// A tool that could be taken for a verb.
    #[error("the tool `{name}` has the name of a verb (`{verb}`): give it another")]
    NamedLikeVerb {
        /// The tool's name.
        name: String,
        /// The verb.
        verb: String,
    },
    /// Anything else about one tool.
    #[error("tool `{name}`: {problem}")]
    Tool {
        /// The tool's name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// Checks what the plugin named `plugin` describes.
pub(crate) fn check(plugin: &str, described: Vec<tools::Tool>) -> Result<Vec<ToolSpec>, DescribeError> {
    if !(1..=TOOLS_MAX).contains(&described.len()) {
        return Err(DescribeError::Count { n_tools: described.len() });
    }
    let mut specs: Vec<ToolSpec> = Vec::with_capacity(described.len());
    for tool in described {
        check_name(plugin, &tool.name)?;
        if specs.iter().any(|spec| spec.name == tool.name) {
            return Err(DescribeError::Twice { name: tool.name });
        }
        let name = tool.name.clone();
        specs.push(check_tool(tool).map_err(|problem| DescribeError::Tool { name, problem })?);
    }
    Ok(specs)
}

fn check_name(plugin: &str, name: &str) -> Result<(), DescribeError> {
    let has_form = (1..=TOOL_NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if !has_form {
        let name = name.chars().filter(|c| !c.is_control()).take(TOOL_NAME_CHARS_MAX).collect();
        return Err(DescribeError::Name { name });
    }
    // A binding may give a tool its bare name, and callers otherwise see it with the plugin's: neither may be a verb's.
    for seen in [name.to_owned(), format!("{plugin}_{name}")] {
        if VERB_NAMES.contains(&seen.as_str()) || Verb::from_name(&seen).is_some() {
            return Err(DescribeError::NamedLikeVerb { name: name.to_owned(), verb: seen });
        }
    }
    Ok(())
}

fn check_tool(tool: tools::Tool) -> Result<ToolSpec, String> {
    let n_chars = tool.description.chars().count();
    if tool.description.trim().is_empty() || n_chars > TOOL_DESCRIPTION_CHARS_MAX {
        return Err(format!("its description has from 1 to {TOOL_DESCRIPTION_CHARS_MAX} characters"));
    }
    if tool.description.chars().any(|c| c.is_control() && c != '\n') {
        return Err("its description has control characters".to_owned());
    }
    let (input_schema, input) = check_schema("input", &tool.input_schema)?;
    let output = tool.output_schema.map(|schema| check_schema("output", &schema)).transpose()?;
    let (output_schema, output) = output.map_or((None, None), |(schema, output)| (Some(schema), Some(output)));
    Ok(ToolSpec {
        name: tool.name,
        description: tool.description,
        input_schema,
        output_schema,
        effect: match tool.effect {
            tools::Effect::Read => Effect::Read,
            tools::Effect::Write => Effect::Write,
        },
        hosts: check_hosts(&tool.hosts)?,
        ends_sequence: tool.ends_sequence,
        input,
        output,
    })
}

fn check_hosts(hosts: &[String]) -> Result<Option<HostRules>, String> {
    match hosts.len() {
        0 => Ok(None),
        1..=TOOL_HOSTS_MAX => HostRules::parse(hosts).map(Some).map_err(|error| error.to_string()),
        _ => Err(format!("it lists more than {TOOL_HOSTS_MAX} hosts")),
    }
}

fn check_schema(which: &str, text: &str) -> Result<(Value, Arc<Validator>), String> {
    if text.len() > SCHEMA_BYTES_MAX {
        return Err(format!("its {which} schema has more than {} KiB", SCHEMA_BYTES_MAX / 1024));
    }
    let schema: Value =
        serde_json::from_str(text).map_err(|error| format!("its {which} schema is no JSON: {error}"))?;
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(format!("its {which} schema has to be a JSON Schema with `\"type\": \"object\"`"));
    }
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let validator = jsonschema::options()
        .with_pattern_options(patterns)
        .build(&schema)
        .map_err(|error| format!("its {which} schema is no JSON Schema: {}", short(&error.to_string())))?;
    Ok((schema, Arc::new(validator)))
}

fn short(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(FAULT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> tools::Tool {
        tools::Tool {
            name: name.into(),
            description: "Lists".into(),
            input_schema: r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "additionalProperties": false}"#.into(),
            output_schema: None,
            effect: tools::Effect::Read,
            hosts: Vec::new(),
            ends_sequence: false,
        }
    }

    fn refused(change: impl FnOnce(&mut tools::Tool)) -> String {
        let mut tool = tool("list");
        change(&mut tool);
        check("orders", vec![tool]).unwrap_err().to_string()
    }

    #[test]
    fn a_tool_in_order_is_taken() {
        let specs = check("orders", vec![tool("list"), tool("list_2")]).unwrap();
        assert_eq!(specs[0].name, "list");
        assert_eq!(specs[0].hosts, None);
        assert_eq!(specs[1].effect, Effect::Read);
    }

    #[test]
    fn a_tool_named_like_a_verb_is_refused_bare_and_with_its_plugin() {
        assert!(refused(|tool| tool.name = "click".into()).contains("the name of a verb"));
        assert!(refused(|tool| tool.name = "hover".into()).contains("the name of a verb"));
        let error = check("file", vec![tool("read")]).unwrap_err();
        assert_eq!(error, DescribeError::NamedLikeVerb { name: "read".into(), verb: "file_read".into() });
        assert!(check("file", vec![tool("find_all")]).is_ok());
    }

    #[test]
    fn every_verb_of_the_registry_is_among_the_names_that_are_taken() {
        for verb in Verb::ALL {
            assert!(VERB_NAMES.contains(&verb.name()), "{verb}");
        }
    }

    #[test]
    fn names_have_one_form_and_are_unique() {
        for name in ["", "List", "a.b", "a-b", "a b", "é", &"a".repeat(65)] {
            assert!(refused(|tool| tool.name = name.into()).contains("is no tool name"), "{name}");
        }
        assert_eq!(check("orders", vec![tool("a"), tool("a")]).unwrap_err(), DescribeError::Twice { name: "a".into() });
        assert_eq!(check("orders", Vec::new()).unwrap_err(), DescribeError::Count { n_tools: 0 });
    }

    #[test]
    fn schemas_have_to_be_schemas_of_objects() {
        assert!(refused(|tool| tool.input_schema = "{".into()).contains("is no JSON"));
        assert!(refused(|tool| tool.input_schema = "{}".into()).contains("\"type\": \"object\""));
        assert!(refused(|tool| tool.input_schema = r#"{"type": "string"}"#.into()).contains("\"type\": \"object\""));
        let wrong = r#"{"type": "object", "properties": {"a": {"type": "nope"}}}"#;
        assert!(refused(|tool| tool.input_schema = wrong.into()).contains("is no JSON Schema"));
        assert!(refused(|tool| tool.output_schema = Some("[]".into())).contains("output schema"));
        assert!(refused(|tool| tool.input_schema = " ".repeat(SCHEMA_BYTES_MAX + 1)).contains("more than"));
    }

    #[test]
    fn a_schema_that_points_outside_itself_is_refused() {
        for reference in ["https://example.com/schema.json", "file:///etc/passwd"] {
            let schema = json!({"type": "object", "properties": {"a": {"$ref": reference}}}).to_string();
            assert!(refused(|tool| tool.input_schema = schema).contains("is no JSON Schema"), "{reference}");
        }
        let inside =
            json!({"type": "object", "$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}});
        assert!(check("orders", vec![tools::Tool { input_schema: inside.to_string(), ..tool("list") }]).is_ok());
    }

    #[test]
    fn a_pattern_that_backtracks_is_refused_and_a_slow_looking_one_is_quick() {
        let with_pattern =
            |pattern: &str| json!({"type": "object", "properties": {"a": {"pattern": pattern}}}).to_string();
        assert!(refused(|tool| tool.input_schema = with_pattern(r"(a)\1")).contains("is no JSON Schema"));
        let specs =
            check("orders", vec![tools::Tool { input_schema: with_pattern("^(a+)+$"), ..tool("list") }]).unwrap();
        let long = format!("{}b", "a".repeat(100_000));
        assert!(specs[0].faults_of_input(&json!({"a": long})).is_some());
    }

    #[test]
    fn faults_name_the_argument() {
        let specs = check("orders", vec![tool("list")]).unwrap();
        assert_eq!(specs[0].faults_of_input(&json!({"n": 1})), None);
        assert_eq!(specs[0].faults_of_input(&json!({"n": 0})).unwrap(), "`n`: 0 is less than the minimum of 1");
        assert!(specs[0].faults_of_input(&json!({"m": 1})).unwrap().contains("'m'"));
        assert!(specs[0].faults_of_input(&json!([])).is_some());
    }

    #[test]
    fn descriptions_and_hosts_are_checked() {
        assert!(refused(|tool| tool.description = " ".into()).contains("description"));
        assert!(refused(|tool| tool.description = "x".repeat(4_001)).contains("description"));
        assert!(refused(|tool| tool.description = "a\u{1b}[2J".into()).contains("control characters"));
        assert!(refused(|tool| tool.hosts = vec!["https://shop.test/path".into()]).starts_with("tool `list`: "));
        let specs = check("orders", vec![tools::Tool { hosts: vec!["shop.test".into()], ..tool("list") }]).unwrap();
        assert_eq!(specs[0].hosts.as_ref().unwrap().entries().len(), 1);
    }
}
