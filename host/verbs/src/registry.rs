//! The list of verbs, and how a call comes from a name and JSON arguments.
//!
//! [`Verb`], [`Input`] and [`Outcome`] have a variant for each file in [`crate::verb`]; the macro below is the only place that
//! lists them. A [`Call`] has passed every check that needs no browser and no policy: its verb exists, its arguments have the
//! declared form and bounds, nothing unknown came along.

use std::{fmt, sync::LazyLock, time::Duration};

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    error::{ErrorCode, Reason, ToolError},
    ids::TabId,
    limits::{CALL_DEADLINE, TIMEOUT_MS_MAX},
    verb::{self, wait::Condition},
};

/// Whether a verb changes something on the site, as callers are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It looks.
    Read,
    /// It acts.
    Write,
}

/// Whether the host may repeat a call by itself after a lost connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Retry {
    /// Repeating changes nothing.
    Safe,
    /// A repeat acts again: it is sent once, and its end may be unknown.
    Never,
}

/// The capability that a plugin needs for a verb: one WIT interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    /// Opening pages and tabs.
    Navigate,
    /// Reading pages.
    Read,
    /// Acting on pages.
    Act,
    /// Running scripts in pages.
    Script,
    /// Run files.
    Files,
}

impl Interface {
    /// The interface's name in `wit/`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Interface::Navigate => "navigate",
            Interface::Read => "read",
            Interface::Act => "act",
            Interface::Script => "script",
            Interface::Files => "files",
        }
    }
}

/// Everything that is declared about a verb.
#[derive(Debug)]
pub struct Spec {
    /// The verb's name, as in `<prefix>.<name>`.
    pub name: &'static str,
    /// One sentence, for people.
    pub summary: &'static str,
    /// What a model reads; `{prefix}` stands for the binding's prefix.
    pub description: &'static str,
    /// Whether it changes something on the site.
    pub effect: Effect,
    /// Whether the host may repeat it.
    pub retry: Retry,
    /// The capability that a plugin needs for it.
    pub interface: Interface,
    /// What comes back, in one sentence.
    pub returns: &'static str,
    /// Error codes beyond those that any call can have.
    pub errors: &'static [ErrorCode],
    /// Reasons of [`ErrorCode::Failed`] beyond those that any call can have.
    pub reasons: &'static [Reason],
    /// Whether it waits for a person unless the binding says otherwise.
    pub asks_person: bool,
    /// Makes the JSON Schema of the arguments. See [`Verb::input_schema`] for one that is made once.
    pub input: fn() -> Value,
    /// Makes the JSON Schema of the result. See [`Verb::output_schema`].
    pub output: fn() -> Value,
    /// Arguments of a typical call, as JSON.
    pub example: &'static str,
}

/// Error codes that any call can end with, beside those of its verb.
pub const COMMON_ERRORS: &[ErrorCode] = &[
    ErrorCode::ModelUnsupported,
    ErrorCode::BrowserUnavailable,
    ErrorCode::NotGranted,
    ErrorCode::InvalidInput,
    ErrorCode::Failed,
    ErrorCode::ApprovalRejected,
    ErrorCode::ApprovalTimedOut,
];

/// Reasons of [`ErrorCode::Failed`] that any call can end with, beside those of its verb.
pub const COMMON_REASONS: &[Reason] = &[Reason::Timeout, Reason::Cancelled, Reason::RunEnded];

macro_rules! registry {
    ($($variant:ident => $module:ident,)*) => {
        /// A built-in browser operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Verb { $(#[doc = concat!("See [`crate::verb::", stringify!($module), "`].")] $variant,)* }

        /// The typed arguments of a call.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Input { $(#[doc = concat!("See [`crate::verb::", stringify!($module), "`].")] $variant(verb::$module::Input),)* }

        /// The typed result of a call.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Outcome { $(#[doc = concat!("See [`crate::verb::", stringify!($module), "`].")] $variant(verb::$module::Output),)* }

        impl Verb {
            /// Every verb, in the order of the contract.
            pub const ALL: &[Verb] = &[$(Verb::$variant,)*];

            /// What is declared about this verb.
            #[must_use]
            pub const fn spec(self) -> &'static Spec {
                match self { $(Verb::$variant => &verb::$module::SPEC,)* }
            }

            fn parse_input(self, arguments: Value) -> Result<Input, ToolError> {
                match self { $(Verb::$variant => parse_typed::<verb::$module::Input>(arguments).map(Input::$variant),)* }
            }
        }

        impl Input {
            /// The verb that these are the arguments of.
            #[must_use]
            pub const fn verb(&self) -> Verb {
                match self { $(Input::$variant(_) => Verb::$variant,)* }
            }

            /// The arguments as JSON, defaults filled in.
            #[must_use]
            pub fn to_json(&self) -> Value {
                match self { $(Input::$variant(input) => serde_json::to_value(input).unwrap_or_default(),)* }
            }
        }
    };
}

registry! {
    Navigate => navigate,
    Back => back,
    Forward => forward,
    Reload => reload,
    Click => click,
    Type => type_text,
    Upload => upload,
    Download => download,
    Screenshot => screenshot,
    Snapshot => snapshot,
    Extract => extract,
    Evaluate => evaluate,
    Wait => wait,
    Tabs => tabs,
    Open => open,
    Switch => switch,
    Close => close,
    Dialog => dialog,
}

impl Verb {
    /// The verb's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The verb of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Verb> {
        Verb::ALL.iter().copied().find(|verb| verb.name() == name)
    }

    /// The JSON Schema of the arguments.
    #[must_use]
    pub fn input_schema(self) -> &'static Value {
        &self.schemas().0
    }

    /// The JSON Schema of the result.
    #[must_use]
    pub fn output_schema(self) -> &'static Value {
        &self.schemas().1
    }

    fn schemas(self) -> &'static (Value, Value) {
        static SCHEMAS: LazyLock<Vec<(Value, Value)>> =
            LazyLock::new(|| Verb::ALL.iter().map(|verb| ((verb.spec().input)(), (verb.spec().output)())).collect());
        static NONE: (Value, Value) = (Value::Null, Value::Null);
        SCHEMAS.get(self as usize).unwrap_or(&NONE)
    }

    /// What a model reads about the verb under this prefix.
    #[must_use]
    pub fn description(self, prefix: &str) -> String {
        self.spec().description.replace("{prefix}", prefix)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A call whose verb exists and whose arguments have the declared form.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tab that it is for; none: the active one.
    pub tab: Option<TabId>,
    /// How long it may take, where the caller said so.
    pub timeout: Option<Duration>,
    /// The verb's own arguments.
    pub input: Input,
}

impl Call {
    /// Parses the arguments of `verb`.
    ///
    /// `null` counts as no arguments. An argument whose value is `null` counts as left out.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidInput`] with one line that names the argument, what is wrong with it, and what to write.
    pub fn parse(verb: Verb, arguments: &Value) -> Result<Call, ToolError> {
        let mut arguments: Map<String, Value> = match arguments {
            Value::Null => Map::new(),
            Value::Object(object) => {
                object.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect()
            }
            other => {
                return Err(ToolError::invalid(format!(
                    "the arguments of `{verb}` are a JSON object, not {}",
                    kind_of(other)
                )));
            }
        };
        check_names(verb, &arguments)?;
        let tab = match arguments.remove("tab") {
            None => None,
            Some(value) => Some(argument::<TabId>("tab", value)?),
        };
        let timeout = match arguments.remove("timeout_ms") {
            None => None,
            Some(value) => match value.as_u64() {
                Some(ms) if (1..=u64::from(TIMEOUT_MS_MAX)).contains(&ms) => Some(Duration::from_millis(ms)),
                _ => {
                    return Err(ToolError::invalid(format!(
                        "`timeout_ms` is a whole number from 1 to {TIMEOUT_MS_MAX}"
                    )));
                }
            },
        };
        let input = verb.parse_input(Value::Object(arguments))?;
        let call = Call { tab, timeout, input };
        call.check_together()?;
        Ok(call)
    }

    /// The verb of this call.
    #[must_use]
    pub const fn verb(&self) -> Verb {
        self.input.verb()
    }

    /// How long the call may take in all.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        let needed = match &self.input {
            Input::Wait(wait) => wait.ms.map(|ms| Duration::from_millis(u64::from(ms)) + Duration::from_secs(5)),
            _ => None,
        };
        self.timeout.or(needed).unwrap_or(CALL_DEADLINE).max(needed.unwrap_or_default())
    }

    /// Verbs that the caller has to hold as well, for these arguments.
    #[must_use]
    pub fn also_needs(&self) -> &'static [Verb] {
        match &self.input {
            Input::Wait(wait) if wait.script.is_some() => &[Verb::Evaluate],
            Input::Navigate(navigate) if navigate.snapshot => &[Verb::Snapshot],
            _ => &[],
        }
    }

    /// Whether the host may repeat this call by itself.
    #[must_use]
    pub fn retry(&self) -> Retry {
        match &self.input {
            Input::Wait(wait) if wait.script.is_some() => Retry::Never,
            Input::Download(download) if download.url.is_none() => Retry::Never,
            _ => self.verb().spec().retry,
        }
    }

    /// Rules between arguments, which no schema says.
    fn check_together(&self) -> Result<(), ToolError> {
        match &self.input {
            Input::Wait(wait) => wait.condition().map(|_: Condition<'_>| ()),
            Input::Download(download) => download.source().map(|_| ()),
            Input::Type(type_text) => type_text.effective_mode().map(|_| ()),
            Input::Screenshot(screenshot) if screenshot.full_page && screenshot.target.0.is_some() => {
                Err(ToolError::invalid("`full_page` and a target contradict each other: give one of them"))
            }
            Input::Switch(_) if self.tab.is_none() => {
                Err(ToolError::invalid("`tab` is missing: the tab to switch to, as `tabs` lists it"))
            }
            _ => Ok(()),
        }
    }
}

fn argument<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, ToolError> {
    serde_json::from_value(value).map_err(|error| ToolError::invalid(format!("`{name}`: {error}")))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The name of `known` that `name` most likely meant: the nearest within one slip of the keyboard for every three letters.
#[must_use]
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let slips_allowed = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|each| (strsim::damerau_levenshtein(name, each), each))
        .filter(|(slips, _)| *slips <= slips_allowed)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, each)| each)
}

/// The longest unknown name that is repeated in a message, in characters.
const NAME_SHOWN_CHARS: usize = 40;

fn check_names(verb: Verb, arguments: &Map<String, Value>) -> Result<(), ToolError> {
    let schema = verb.input_schema();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(()) };
    if let Some(unknown) = arguments.keys().find(|name| !properties.contains_key(*name)) {
        let shown: String = unknown.chars().filter(|c| !c.is_control()).take(NAME_SHOWN_CHARS).collect();
        let error = ToolError::invalid(format!("`{verb}` takes no argument `{shown}`"));
        return Err(match closest(unknown, properties.keys().map(String::as_str)) {
            Some(meant) => error.with_hint(format!("did you mean `{meant}`?")),
            None => {
                let names: Vec<String> = properties.keys().map(|name| format!("`{name}`")).collect();
                error.with_hint(format!("it takes {}", names.join(", ")))
            }
        });
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !arguments.contains_key(name) {
            let about =
                properties.get(name).and_then(|p| p.get("description")).and_then(Value::as_str).unwrap_or_default();
            let first = about.split(". ").next().unwrap_or_default().trim_end_matches('.');
            return Err(ToolError::invalid(format!("`{verb}` needs the argument `{name}`: {}", lower_first(first))));
        }
    }
    Ok(())
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

fn parse_typed<T: DeserializeOwned + Validate<Context = ()>>(arguments: Value) -> Result<T, ToolError> {
    let input: T = serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner().to_string();
        ToolError::invalid(if path.is_empty() || path == "." || path == "?" {
            inner
        } else {
            format!("`{path}`: {inner}")
        })
    })?;
    input.validate().map_err(|report| {
        let lines: Vec<String> = report.iter().map(|(path, error)| format!("`{path}`: {error}")).collect();
        ToolError::invalid(lines.join("; "))
    })?;
    Ok(input)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(verb: &str, arguments: Value) -> Result<Call, ToolError> {
        Call::parse(Verb::from_name(verb).unwrap(), &arguments)
    }

    fn message(verb: &str, arguments: Value) -> String {
        let error = parse(verb, arguments).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidInput);
        format!("{}{}", error.message, error.hint.map(|hint| format!(" | {hint}")).unwrap_or_default())
    }

    #[test]
    fn names_are_unique_and_lead_back_to_their_verb() {
        for verb in Verb::ALL {
            assert_eq!(Verb::from_name(verb.name()), Some(*verb));
        }
        let mut names: Vec<&str> = Verb::ALL.iter().map(|verb| verb.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Verb::ALL.len());
    }

    #[test]
    fn every_example_is_a_valid_call() {
        for verb in Verb::ALL {
            let arguments: Value = serde_json::from_str(verb.spec().example).unwrap();
            let call = Call::parse(*verb, &arguments).unwrap_or_else(|error| panic!("{verb}: {error}"));
            let again = call.input.to_json();
            if *verb != Verb::Switch {
                Call::parse(*verb, &again).unwrap_or_else(|error| panic!("{verb}: {again}: {error}"));
            }
        }
    }

    #[test]
    fn every_schema_is_one_flat_object_without_references() {
        for verb in Verb::ALL {
            for schema in [verb.input_schema(), verb.output_schema()] {
                let text = schema.to_string();
                assert_eq!(schema["type"], "object", "{verb}");
                for banned in ["$ref", "$defs", "$schema", "allOf", "oneOf\":[{\"properties"] {
                    assert!(!text.contains(banned), "{verb} has {banned}: {text}");
                }
            }
            let input = verb.input_schema();
            assert!(!input.to_string().contains("anyOf"), "{verb}: {input}");
            for (name, property) in input["properties"].as_object().unwrap() {
                assert!(property.get("description").is_some(), "{verb}.{name} has no description: {property}");
            }
        }
    }

    #[test]
    fn a_wrong_argument_gets_one_line_that_says_which_and_what_to_write() {
        assert_eq!(message("navigate", json!({})), "`navigate` needs the argument `url`: the full address to open");
        assert_eq!(
            message("navigate", json!({"ulr": "x"})),
            "`navigate` takes no argument `ulr` | did you mean `url`?"
        );
        assert_eq!(message("navigate", json!([])), "the arguments of `navigate` are a JSON object, not an array");
        assert_eq!(message("navigate", json!({"url": ""})), "`url`: length is lower than 1");
        assert_eq!(message("click", json!({"ref": "e1", "count": 4})), "`count`: greater than 3");
        assert_eq!(message("click", json!({})), "no target: give one of `ref`, `selector`, or `x` and `y`");
        assert_eq!(
            message("click", json!({"ref": "12"})),
            "a ref looks like `e12`, as a snapshot shows it in `[ref=e12]`"
        );
        assert_eq!(message("wait", json!({"ms": 30_001})), "`ms`: greater than 30000");
        assert_eq!(
            message("wait", json!({"timeout_ms": 0, "ms": 1})),
            "`timeout_ms` is a whole number from 1 to 120000"
        );
        assert!(message("click", json!({"ref": "e1", "button": "lef"})).starts_with("`button`: unknown variant `lef`"));
        assert!(message("type", json!({"text": 7})).contains("invalid type: integer `7`, expected a string"));
    }

    #[test]
    fn null_counts_as_left_out() {
        assert_eq!(parse("tabs", Value::Null).unwrap().verb(), Verb::Tabs);
        assert!(parse("navigate", json!({"url": "http://a.test/", "tab": null, "snapshot": null})).is_ok());
        assert!(parse("navigate", json!({"url": null})).is_err());
    }

    #[test]
    fn only_what_is_safe_is_repeated() {
        for verb in Verb::ALL {
            assert!(
                verb.spec().effect == Effect::Read || verb.spec().retry == Retry::Never,
                "{verb} writes and is repeated"
            );
        }
        for verb in ["back", "forward", "open"] {
            assert_eq!(Verb::from_name(verb).unwrap().spec().retry, Retry::Never);
        }
        assert_eq!(parse("wait", json!({"script": "1"})).unwrap().retry(), Retry::Never);
        assert_eq!(parse("wait", json!({"text": "1"})).unwrap().retry(), Retry::Safe);
        assert_eq!(parse("download", json!({"ref": "e1"})).unwrap().retry(), Retry::Never);
        assert_eq!(parse("download", json!({"url": "http://a.test/", "ref": "e1"})).unwrap().retry(), Retry::Safe);
    }

    #[test]
    fn typing_replaces_with_a_target_and_inserts_without() {
        use verb::type_text::Mode;
        let mode = |arguments| match parse("type", arguments).unwrap().input {
            Input::Type(input) => input.effective_mode().unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(mode(json!({"selector": "#a", "text": "x"})), Mode::Replace);
        assert_eq!(mode(json!({"text": "x"})), Mode::Insert);
        assert_eq!(mode(json!({"selector": "#a", "text": "x", "append": true})), Mode::Append);
        assert!(parse("type", json!({"text": "x", "append": true, "mode": "replace"})).is_err());
    }
}
