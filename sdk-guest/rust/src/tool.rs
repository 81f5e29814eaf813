//! A tool: a name, a text for the model, and a function with typed arguments.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Answer, Call, Error,
    bindings::{
        exports::transom::plugin::tools::{self, Effect},
        transom::plugin::types,
    },
    error::Result,
};

type Handler = Box<dyn Fn(Call, &str) -> Result<Answer>>;

/// One tool of a plugin. `export_tools!` takes a list of them.
pub struct Tool {
    name: &'static str,
    description: &'static str,
    effect: Effect,
    input_schema: fn() -> String,
    output_schema: Option<fn() -> String>,
    hosts: Vec<String>,
    ends_sequence: bool,
    handler: Handler,
}

impl Tool {
    /// A tool that changes nothing.
    ///
    /// `name` is `[a-z0-9_]+` and no verb's name; callers see `<prefix>.<plugin>_<name>`. Arguments are declared by their
    /// type: doc comments become the descriptions of the schema that the model reads and the host checks.
    pub fn read<A, R>(name: &'static str, description: &'static str, function: fn(Call, A) -> Result<R>) -> Tool
    where
        A: DeserializeOwned + JsonSchema + 'static,
        R: Into<Answer> + 'static,
    {
        Tool::of(Effect::Read, name, description, function)
    }

    /// A tool that changes something.
    pub fn write<A, R>(name: &'static str, description: &'static str, function: fn(Call, A) -> Result<R>) -> Tool
    where
        A: DeserializeOwned + JsonSchema + 'static,
        R: Into<Answer> + 'static,
    {
        Tool::of(Effect::Write, name, description, function)
    }

    fn of<A, R>(
        effect: Effect,
        name: &'static str,
        description: &'static str,
        function: fn(Call, A) -> Result<R>,
    ) -> Tool
    where
        A: DeserializeOwned + JsonSchema + 'static,
        R: Into<Answer> + 'static,
    {
        let handler: Handler = Box::new(move |call, arguments| {
            // The host checked the arguments against the schema; what it can't say there (formats, custom types) ends here.
            let arguments = serde_json::from_str(arguments).map_err(|e| Error::invalid(format!("arguments: {e}")))?;
            function(call, arguments).map(Into::into)
        });
        Tool {
            name,
            description,
            effect,
            input_schema: schema_of::<A>,
            output_schema: None,
            hosts: Vec::new(),
            ends_sequence: false,
            handler,
        }
    }

    /// Declares what [`Answer::structured`] holds.
    #[must_use]
    pub fn gives<T: Serialize + JsonSchema>(mut self) -> Tool {
        self.output_schema = Some(schema_of::<T>);
        self
    }

    /// Limits the tool to these hosts, in the form of a binding's entries.
    #[must_use]
    pub fn only_on(mut self, hosts: &[&str]) -> Tool {
        self.hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        self
    }

    /// A caller that sends several calls at once should stop after this one.
    #[must_use]
    pub fn ends_sequence(mut self) -> Tool {
        self.ends_sequence = true;
        self
    }
}

/// All tools of a plugin; what `export_tools!` makes. Not for use by hand.
pub struct Tools(#[doc(hidden)] pub Vec<Tool>);

impl Tools {
    #[doc(hidden)]
    #[must_use]
    pub fn describe(self) -> Vec<tools::Tool> {
        self.0
            .into_iter()
            .map(|tool| tools::Tool {
                name: tool.name.into(),
                description: tool.description.into(),
                input_schema: (tool.input_schema)(),
                output_schema: tool.output_schema.map(|schema| schema()),
                effect: tool.effect,
                hosts: tool.hosts,
                ends_sequence: tool.ends_sequence,
            })
            .collect()
    }

    #[doc(hidden)]
    pub fn call(self, name: &str, arguments: &str) -> std::result::Result<tools::ToolResult, types::Error> {
        match self.0.iter().find(|tool| tool.name == name) {
            Some(tool) => (tool.handler)(Call(()), arguments).map(|answer| answer.0).map_err(|error| error.0),
            None => Err(Error::invalid(format!("no tool `{name}` here")).0),
        }
    }
}

/// The schema of a type, whole: no `$ref` to elsewhere, and the one key that says how to read it left out, since models
/// pay for it by the token.
fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.remove("title");
    if schema.get("type").is_some_and(|t| t == "object") && schema.get("additionalProperties").is_none() {
        // An argument that the tool doesn't know is a mistake of the caller, and better said than dropped.
        schema.insert("additionalProperties".into(), false.into());
    }
    schema.to_value().to_string()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    struct Nested {
        /// How many
        #[schemars(range(min = 1))]
        n: u32,
    }

    #[derive(Deserialize, JsonSchema)]
    struct Args {
        /// Who
        name: String,
        nested: Option<Nested>,
    }

    fn greet(_: Call, args: Args) -> Result<Answer> {
        let n = args.nested.map_or(1, |nested| nested.n);
        Ok(Answer::text(format!("hello {} x{n}", args.name)))
    }

    fn tools() -> Tools {
        Tools(vec![Tool::read("greet", "Greets", greet)])
    }

    #[test]
    fn a_schema_is_whole_and_takes_nothing_unknown() {
        let schema: Value = serde_json::from_str(&schema_of::<Args>()).unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["name"]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["name"]["description"], "Who");
        let text = schema.to_string();
        assert!(text.contains("\"minimum\":1"), "{text}");
        for absent in ["$ref", "$defs", "$schema", "\"title\""] {
            assert!(!text.contains(absent), "{absent} in {text}");
        }
    }

    #[test]
    fn a_call_gets_its_typed_arguments() {
        let result = tools().call("greet", r#"{"name": "Ada", "nested": {"n": 2}}"#).unwrap();
        assert_eq!(result.content, "hello Ada x2");
        assert!(result.success && !result.is_done);
    }

    #[test]
    fn what_does_not_fit_is_invalid_input() {
        for (tool, arguments) in [("greet", "{}"), ("greet", "["), ("nope", "{}")] {
            let error = tools().call(tool, arguments).unwrap_err();
            assert_eq!((error.code.as_str(), error.reason), ("computer_use_invalid_input", None), "{tool} {arguments}");
        }
    }

    #[test]
    fn tools_are_described_as_they_were_written() {
        let tool = Tool::write("buy", "Buys", greet).gives::<NestedOut>().only_on(&["shop.test"]).ends_sequence();
        let described = Tools(vec![tool]).describe().remove(0);
        assert_eq!((described.name.as_str(), described.effect), ("buy", Effect::Write));
        assert!(described.ends_sequence);
        assert_eq!(described.hosts, ["shop.test"]);
        assert!(described.output_schema.unwrap().contains("\"n\""));
    }

    #[derive(Serialize, JsonSchema)]
    struct NestedOut {
        n: u32,
    }
}
