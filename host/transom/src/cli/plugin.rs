//! `transom plugin check`: what a plugin is, what it asks for, and what keeps it from being loaded.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use transom_plugins::{Plugin, PluginHost, PluginHostConfig};

use crate::{
    exit::{Exit, Failure},
    output,
};

/// Look at a plugin before it is used
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check a plugin as a host would load it: manifest, component, imports, tools
    ///
    /// The component is compiled and asked for its tools, with no browser and no binding. What keeps it from being loaded is one
    /// line, with the line to write.
    #[command(after_help = "Examples:
  transom plugin check plugins/orders
  transom plugin check plugins/orders/plugin.toml --json")]
    Check {
        /// Its plugin.toml, or the folder that holds it
        path: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(args: Args) -> Result<Exit, Failure> {
    let Command::Check { path, json } = args.command;
    let path = if path.is_dir() { path.join("plugin.toml") } else { path };
    let host = PluginHost::new(PluginHostConfig::default())
        .map_err(|error| Failure::failed(format!("plugins can't be run on this machine: {error}")))?;
    let plugin = match host.load(&path).await {
        Ok(plugin) => plugin,
        Err(error) => {
            if json {
                output::json(&json!({"ok": false, "problem": error.to_string()}))?;
            }
            return Err(Failure::failed(error));
        }
    };
    let notes = notes(&plugin);
    if json {
        output::json(&report(&plugin, &notes))?;
    } else {
        print(&plugin, &path, &notes)?;
    }
    Ok(Exit::Ok)
}

/// What is allowed and still worth a look.
fn notes(plugin: &Plugin) -> Vec<String> {
    let asked = &plugin.manifest().needs().interfaces;
    let unused = asked.difference(plugin.imports().interfaces());
    unused.map(|interface| format!("asks for the interface \"{interface}\", which the component does not import: take it out of `interfaces` under [needs]")).collect()
}

fn report(plugin: &Plugin, notes: &[String]) -> Value {
    let manifest = plugin.manifest();
    let needs = manifest.policy_needs();
    let limits = manifest.limits();
    let tools: Vec<Value> = plugin
        .tools()
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "effect": tool.effect,
                "input_schema": tool.input_schema,
                "output_schema": tool.output_schema,
            })
        })
        .collect();
    json!({
        "ok": true,
        "name": manifest.name(),
        "version": manifest.version(),
        "description": manifest.description(),
        "digest": plugin.digest().to_string(),
        "imports": plugin.imports().names(),
        "imports_wasi": plugin.imports().has_wasi(),
        "needs": {
            "interfaces": needs.interfaces,
            "verbs": needs.verbs,
            "hosts": needs.hosts.map(|hosts| hosts.entries().iter().map(ToString::to_string).collect::<Vec<_>>()),
        },
        "limits": {"deadline": humantime::format_duration(limits.deadline).to_string(), "memory": limits.memory},
        "tools": tools,
        "notes": notes,
    })
}

fn print(plugin: &Plugin, path: &Path, notes: &[String]) -> Result<(), Failure> {
    let manifest = plugin.manifest();
    let needs = manifest.policy_needs();
    let limits = manifest.limits();
    let joined = |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let (dim, green, yellow) = (output::DIM, output::GREEN, output::YELLOW);
    output::line(&format!(
        "{green}{} {}{green:#}: {}",
        manifest.name(),
        manifest.version(),
        output::printable(manifest.description())
    ))?;
    output::line(&format!("{dim}digest{dim:#}   {}", plugin.digest()))?;
    let wasi = if plugin.imports().has_wasi() { " (and WASI, which gives it nothing)" } else { "" };
    output::line(&format!("{dim}imports{dim:#}  {}{wasi}", joined(plugin.imports().names().into_iter().collect())))?;
    output::line(&format!("{dim}asks{dim:#}     verbs: {}", joined(needs.verbs.iter().cloned().collect())))?;
    let hosts = match &needs.hosts {
        Some(hosts) => joined(hosts.entries().iter().map(ToString::to_string).collect()),
        None => "wherever the binding is".to_owned(),
    };
    output::line(&format!("         hosts: {hosts}"))?;
    output::line(&format!(
        "{dim}limits{dim:#}   {} for a call, {} of memory",
        humantime::format_duration(limits.deadline),
        bytesize::ByteSize(limits.memory)
    ))?;
    for tool in plugin.tools() {
        let effect = serde_json::to_value(tool.effect)
            .ok()
            .and_then(|effect| effect.as_str().map(str::to_owned))
            .unwrap_or_default();
        let first = tool.description.lines().next().unwrap_or_default();
        output::line(&format!(
            "{dim}tool{dim:#}     {}_{} ({effect}): {}",
            manifest.name(),
            tool.name,
            output::printable(first)
        ))?;
    }
    for note in notes {
        output::line(&format!("{yellow}note{yellow:#}     {note}"))?;
    }
    output::line(&format!(
        "\nTo use it, add to a [[binding]]:\n\n{}",
        binding_lines(path, &needs.verbs.iter().cloned().collect::<Vec<_>>())
    ))?;
    Ok(())
}

fn binding_lines(path: &Path, verbs: &[String]) -> String {
    let verbs: Vec<String> = verbs.iter().map(|verb| format!("\"{verb}\"")).collect();
    format!(
        "[[binding.plugin]]\nmanifest = {}\nverbs = [{}]",
        toml::Value::from(path.display().to_string()),
        verbs.join(", ")
    )
}
