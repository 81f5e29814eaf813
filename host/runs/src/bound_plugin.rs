//! A plugin in a binding: its tools' full names, and what its calls may do there.
//!
//! What is effective is imports ∩ manifest ∩ the binding's grant; a grant that reaches beyond the manifest is refused at load, since
//! somebody believes that it holds. A tool that is named like a verb or like another tool of the prefix is refused too: a
//! name has one meaning.
//!
//! Not here: loading and running components (`transom-plugins`).

use std::{collections::BTreeSet, path::Path, sync::Arc};

use serde_json::Value;
use tokio::time::Instant;
use transom_plugins::{LoadError, Plugin, PluginHost, ToolSpec};
use transom_policy::{
    grant::{Capabilities, Layer, PluginGrant},
    hosts::HostRules,
};
use transom_verbs::{TabId, ToolError, Verb};

use crate::{binding::Binding, plugin_caller::PluginCaller, settings::PluginSettings};

/// Why a plugin can't be used in a binding, as one line.
#[derive(Debug, thiserror::Error)]
#[error("binding \"{binding}\", plugin {manifest}: {problem}")]
pub struct BoundPluginError {
    binding: String,
    manifest: String,
    problem: String,
}

/// A plugin of a binding.
#[derive(Debug)]
pub struct BoundPlugin {
    /// The name that its tools begin with.
    pub(crate) name: String,
    plugin: Plugin,
    pub(crate) capabilities: Capabilities,
}

impl BoundPlugin {
    /// Loads the plugin and joins the three layers of what it may do.
    pub(crate) async fn load(
        host: &PluginHost,
        settings: &PluginSettings,
        binding: &Binding,
        base_dir: &Path,
        earlier: &[Arc<BoundPlugin>],
    ) -> Result<BoundPlugin, BoundPluginError> {
        let wrong = |problem: String| BoundPluginError {
            binding: binding.prefix.to_string(),
            manifest: settings.manifest.display().to_string(),
            // What the engine says of an invalid component comes with line breaks.
            problem: problem.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        let plugin =
            host.load(&base_dir.join(&settings.manifest)).await.map_err(|error: LoadError| wrong(error.to_string()))?;
        let manifest = plugin.manifest();
        let name = settings.name.clone().unwrap_or_else(|| manifest.name().to_owned());
        let rules = |hosts: &Option<Vec<String>>| {
            hosts
                .as_ref()
                .map(|entries| HostRules::parse(entries).map_err(|error| wrong(format!("hosts: {error}"))))
                .transpose()
        };
        let secrets: BTreeSet<String> = settings.secrets.iter().cloned().collect();
        if let Some(unknown) = secrets.iter().find(|secret| !binding.secrets.knows(secret)) {
            return Err(wrong(format!(
                "the binding has no secret \"{unknown}\": add it under [binding.secrets], or take it out here"
            )));
        }
        let capabilities = Capabilities::effective(
            &name,
            binding.prefix.clone(),
            plugin.imports().names(),
            manifest.policy_needs(),
            PluginGrant {
                interfaces: settings.interfaces.as_ref().map(|each| each.iter().cloned().collect()),
                verbs: settings.verbs.iter().cloned().collect(),
                hosts: rules(&settings.hosts)?,
                secrets,
            },
        );
        if let Some(excess) = capabilities.excess().first() {
            let who = if excess.layer == Layer::Binding { "the binding grants" } else { "the component imports" };
            return Err(wrong(format!(
                "{who} more than the manifest asks for, which would have no effect: {}",
                excess.line
            )));
        }
        let bound = BoundPlugin { name, plugin, capabilities };
        for tool in bound.tool_names() {
            if Verb::from_name(&tool).is_some() {
                return Err(wrong(format!(
                    "its tool \"{tool}\" is named like a verb: give the plugin another `name` in the binding"
                )));
            }
            if earlier.iter().any(|other| other.tool_names().contains(&tool)) {
                return Err(wrong(format!(
                    "the binding has a tool \"{tool}\" already: give one of the plugins another `name`"
                )));
            }
        }
        Ok(bound)
    }

    /// A tool's name under the prefix: `orders_list`.
    pub(crate) fn tool_name(&self, own: &str) -> String {
        format!("{}_{own}", self.name)
    }

    /// The names of all its tools under the prefix.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.plugin.tools().iter().map(|tool| self.tool_name(&tool.name)).collect()
    }

    /// The plugin's own name of a tool, from its name under the prefix.
    pub(crate) fn own_name<'a>(&self, name: &'a str) -> Option<&'a str> {
        let own = name.strip_prefix(self.name.as_str())?.strip_prefix('_')?;
        self.describe(own).map(|_| own)
    }

    /// What a tool of its own name is.
    pub(crate) fn describe(&self, own: &str) -> Option<&ToolSpec> {
        self.plugin.tools().iter().find(|tool| tool.name == own)
    }

    /// Calls a tool by its own name, within the plugin's own deadline.
    pub(crate) async fn call(
        &self,
        own: &str,
        arguments: Value,
        tab: Option<TabId>,
        caller: Arc<PluginCaller>,
    ) -> Result<Value, ToolError> {
        // The caller sets no deadline of its own: the plugin's has to be the nearer one, so that its end is told as the plugin's limit.
        let deadline = Instant::now() + 2 * self.plugin.manifest().limits().deadline;
        let result = self.plugin.call(own, arguments, tab, caller, deadline).await?;
        Ok(result.into_json())
    }
}
