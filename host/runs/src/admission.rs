//! The checks that a call passes before anything is asked or done: is it granted, is it well-formed, may it go where it wants.
//!
//! Nothing here waits or acts. What comes out is [`Admitted`], which only [`admit`] makes.
//!
//! Not here: approvals, which wait for a person (`dispatcher.rs`); where a page leads by itself (the gate and the browser's hooks).

use std::sync::Arc;

use serde_json::Value;
use transom_policy::{
    grant::{Asked, CapabilityDenial, ToolName},
    template::Template,
};
use transom_verbs::{Call, ErrorCode, ToolError, Verb, registry::Input, registry::closest, verb::download};

use crate::{
    binding::Binding,
    bound_plugin::BoundPlugin,
    caller::Caller,
    question::AskedOn,
    run::{RunInner, RunPrefix},
    settings::ApprovalRule,
};

/// A call that may be performed, once a person agrees where one is asked.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub prefix: Arc<RunPrefix>,
    pub work: Work,
    /// Where the person who agreed was told that it would happen.
    pub asked_on: Option<AskedOn>,
}

#[derive(Debug)]
pub(crate) enum Work {
    Verb(Call),
    Tool { plugin: Arc<BoundPlugin>, tool: String, arguments: Value },
}

impl Admitted {
    pub(crate) fn verb(&self) -> Option<Verb> {
        match &self.work {
            Work::Verb(call) => Some(call.verb()),
            Work::Tool { .. } => None,
        }
    }

    /// The approval rule that holds, and the name that it is written for: the strictest of all that the call does, since a verb that
    /// brings another along is no way around that one's rule. Of equally strict ones, the call's own.
    pub(crate) fn rule(&self) -> (String, ApprovalRule) {
        let rules = &self.prefix.binding.approvals;
        match &self.work {
            Work::Verb(call) => {
                let own = (call.verb(), rules.of_verb(call.verb()));
                let along = verbs_of(call).map(|verb| (verb, rules.of_verb(verb)));
                let (verb, rule) =
                    along.fold(own, |strictest, next| if next.1 > strictest.1 { next } else { strictest });
                (verb.name().to_owned(), rule)
            }
            Work::Tool { plugin, tool, .. } => {
                let name = plugin.tool_name(tool);
                let rule = rules.of_tool(&name);
                (name, rule)
            }
        }
    }
}

/// The verbs whose rules a call falls under: its own, those that come along, and the click of a download by its control.
fn verbs_of(call: &Call) -> impl Iterator<Item = Verb> {
    let clicks = match &call.input {
        Input::Download(download) if download.url.is_none() => Some(Verb::Click),
        _ => None,
    };
    std::iter::once(call.verb()).chain(call.also_needs().iter().copied()).chain(clicks)
}

/// Judges one call of `tool` by `caller`.
pub(crate) fn admit(run: &RunInner, caller: &Caller, tool: &str, arguments: &Value) -> Result<Admitted, ToolError> {
    let name = ToolName::parse(tool).map_err(|error| not_granted(format!("refused: {error}")))?;
    let Some(prefix) = run.prefixes.get(name.prefix()) else {
        return Err(not_granted(format!("`{tool}` is not granted to this run")).with_hint(granted(run)));
    };
    if let Caller::Model = caller
        && !run.grants.allows(&name)
    {
        return Err(refused_tool(run, prefix, &name));
    }
    let work = match Verb::from_name(name.name()) {
        Some(verb) => {
            let call = Call::parse(verb, arguments)?;
            admit_verb(run, prefix, caller, &call)?;
            Work::Verb(call)
        }
        None => admit_tool(prefix, caller, &name, arguments)?,
    };
    Ok(Admitted { prefix: prefix.clone(), work, asked_on: None })
}

fn admit_verb(run: &RunInner, prefix: &RunPrefix, caller: &Caller, call: &Call) -> Result<(), ToolError> {
    let binding = &prefix.binding;
    match caller {
        Caller::Model => {
            for verb in call.also_needs() {
                let needed = ToolName::new(binding.prefix.clone(), verb.name())
                    .map_err(|error| not_granted(error.to_string()))?;
                if !run.grants.allows(&needed) {
                    return Err(refused_tool(run, prefix, &needed));
                }
            }
        }
        Caller::Plugin { plugin, interface } => {
            let ask = |verb: Verb| {
                plugin
                    .capabilities
                    .decide(Asked::Verb { interface: interface_of(verb, call, interface), verb: verb.name() })
            };
            ask(call.verb()).map_err(|denial| refused_capability(&denial))?;
            for verb in call.also_needs() {
                ask(*verb).map_err(|denial| refused_capability(&denial))?;
            }
        }
    }
    if let Some(address) = address_of(call) {
        binding.admit(address)?;
        caller.admit(address)?;
    }
    match &call.input {
        Input::Type(input) => admit_secrets(binding, caller, &input.text),
        Input::Upload(input) => run.files.info(&input.file).map(|_| ()),
        _ => Ok(()),
    }
}

/// The interface that a plugin has to hold for a verb: the one that it called by, or for a verb that comes along, the verb's own.
fn interface_of(verb: Verb, call: &Call, called_by: &'static str) -> &'static str {
    if verb == call.verb() { called_by } else { verb.spec().interface.name() }
}

/// The address that the call itself names.
fn address_of(call: &Call) -> Option<&str> {
    match &call.input {
        Input::Navigate(input) => Some(&input.url),
        Input::Open(input) => input.url.as_deref(),
        Input::Download(input) => match input.source() {
            Ok(download::Source::Url(url)) => Some(url),
            _ => None,
        },
        _ => None,
    }
}

/// Secrets are named, known and, for a plugin, granted; on which host they may be typed is asked when the frame is known.
fn admit_secrets(binding: &Binding, caller: &Caller, text: &str) -> Result<(), ToolError> {
    let template = Template::parse(text).map_err(|error| ToolError::invalid(format!("`text`: {error}")))?;
    for name in template.secrets() {
        if let Caller::Plugin { plugin, .. } = caller {
            plugin.capabilities.decide(Asked::Secret(name)).map_err(|denial| refused_capability(&denial))?;
        }
        if !binding.secrets.knows(name) {
            return Err(not_granted(format!("refused: the binding \"{}\" has no secret \"{name}\"", binding.prefix))
                .with_hint(format!("an operator can add `{name} = {{ env = \"…\" }}` under [binding.secrets]")));
        }
    }
    Ok(())
}

fn admit_tool(prefix: &RunPrefix, caller: &Caller, name: &ToolName, arguments: &Value) -> Result<Work, ToolError> {
    if let Caller::Plugin { .. } = caller {
        return Err(not_granted(format!(
            "refused: a plugin can't call the tool `{name}`; it can perform the verbs that it is granted"
        )));
    }
    let (plugin, tool) = prefix.tool(name.name()).ok_or_else(|| unknown_tool(prefix, name))?;
    let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments.clone() };
    Ok(Work::Tool { plugin: plugin.clone(), tool: tool.to_owned(), arguments })
}

fn not_granted(message: String) -> ToolError {
    ToolError::new(ErrorCode::NotGranted, message)
}

fn refused_capability(denial: &CapabilityDenial) -> ToolError {
    let error = not_granted(denial.to_string());
    match denial.line() {
        Some(line) => error.with_hint(line),
        None => error,
    }
}

fn granted(run: &RunInner) -> String {
    let names: Vec<String> = run.grants.iter().map(ToString::to_string).collect();
    format!("granted are: {}", names.join(", "))
}

fn refused_tool(run: &RunInner, prefix: &RunPrefix, name: &ToolName) -> ToolError {
    let known = Verb::from_name(name.name());
    if known.is_none() && prefix.tool(name.name()).is_none() {
        return unknown_tool(prefix, name);
    }
    let error = not_granted(format!("`{name}` is not granted to this run"));
    match known {
        Some(verb) if !prefix.binding.verbs.contains(&verb) => error.with_hint(format!(
            "an operator can add \"{verb}\" to `verbs` of the binding \"{}\"",
            prefix.binding.prefix
        )),
        _ => error.with_hint(format!("list \"{name}\" among the run's tools; {}", granted(run))),
    }
}

fn unknown_tool(prefix: &RunPrefix, name: &ToolName) -> ToolError {
    let tools = prefix.tool_names();
    let known = Verb::ALL.iter().map(|verb| verb.name()).chain(tools.iter().map(String::as_str));
    let error = not_granted(format!("there is no tool `{name}`"));
    match closest(name.name(), known) {
        Some(meant) => error.with_hint(format!("did you mean `{}.{meant}`?", name.prefix())),
        None => error.with_hint("`tools` of the run lists what there is"),
    }
}
