//! `plugin.toml`: what an author says about a plugin and asks for.
//!
//! A manifest only ever narrows: what a call may do is its component's imports ∩ this manifest ∩ the binding's grant. It is
//! read strictly, since an operator reviews it: an unknown key is an error with a suggestion, a limit out of its bounds is
//! refused and never clamped, and every message names the file's line.
//!
//! | key | form |
//! |---|---|
//! | `plugin.name` | `[a-z][a-z0-9_]*`, up to 32: tools are `<prefix>.<name>_<tool>` |
//! | `plugin.version` | `1.2.3`, with an optional `-suffix` |
//! | `plugin.component` | a file beside the manifest, by a relative path without `..` |
//! | `plugin.description` | one line for people |
//! | `needs.interfaces` | WIT interfaces by name, see [`Interface`]; `call` is always there |
//! | `needs.verbs` | verbs by name; each one's interface has to be listed too |
//! | `needs.hosts` | host entries as in a binding; left out: wherever the binding is |
//! | `limits.deadline` | `"15s"`: for a whole call, the host's part included |
//! | `limits.memory` | `"64MiB"`: the sum of a call's memories |
//! | `limits.instance` | `"call"`: a fresh instance for every call |
//!
//! Not here: the component itself (`component.rs`), and what a binding grants (`policy`).

use std::{
    collections::BTreeSet,
    fmt,
    path::{Component as PathPart, Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use toml::Spanned;
use transom_policy::{grant::PluginNeeds, hosts::HostRules};
use transom_verbs::{Verb, registry::closest};

/// Largest manifest that is read, in bytes. A real one has under a kilobyte; the cap keeps a wrong path (a component, a
/// device) from being slurped.
pub const MANIFEST_BYTES_MAX: usize = 64 * 1024;

/// Longest plugin name, in characters: with a prefix and a tool's name it has to fit the 128 that MCP clients allow a tool.
pub const NAME_CHARS_MAX: usize = 32;

/// Longest description, in characters: it is one line of `plugin check`.
pub const DESCRIPTION_CHARS_MAX: usize = 500;

/// The deadline of a call unless the manifest says otherwise: long enough for a few page loads.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// The deadlines that a manifest may set. Below a tenth of a second no page loads; above ten minutes a caller has long gone.
pub const DEADLINE_BOUNDS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(600));

/// The memory of a call unless the manifest says otherwise, in bytes: a Python component needs about 40 MiB.
pub const MEMORY: u64 = 64 << 20;

/// The memory that a manifest may ask for, in bytes. The least is four Wasm pages, with which nothing real starts; the most
/// is what one pooled slot holds (see `engine.rs`).
pub const MEMORY_BOUNDS: (u64, u64) = (256 << 10, 512 << 20);

/// One capability: a WIT interface that a component may import.
///
/// Besides these, `types` and `call` are always allowed: the first does nothing, the second tells about the call itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// Going to pages and choosing among tabs.
    Navigate,
    /// Reading pages.
    Read,
    /// Acting on pages.
    Act,
    /// Running JavaScript in pages.
    Script,
    /// Downloads and uploads.
    Files,
    /// Typing secrets.
    Secrets,
    /// Lines for the operator.
    Log,
    /// The call itself; allowed without being listed.
    Call,
}

impl Interface {
    /// All of them, in the order of `wit/world.wit`.
    pub const ALL: &[Interface] = &[
        Interface::Call,
        Interface::Navigate,
        Interface::Read,
        Interface::Act,
        Interface::Script,
        Interface::Files,
        Interface::Secrets,
        Interface::Log,
    ];

    /// The name in `wit/` and in a manifest.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Interface::Navigate => "navigate",
            Interface::Read => "read",
            Interface::Act => "act",
            Interface::Script => "script",
            Interface::Files => "files",
            Interface::Secrets => "secrets",
            Interface::Log => "log",
            Interface::Call => "call",
        }
    }

    /// The interface of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Interface> {
        Interface::ALL.iter().copied().find(|interface| interface.name() == name)
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A manifest that was accepted as a whole.
#[derive(Clone, Debug)]
pub struct Manifest {
    name: String,
    version: String,
    description: String,
    component: PathBuf,
    needs: Needs,
    limits: Limits,
}

/// What an author asks for.
#[derive(Clone, Debug)]
pub struct Needs {
    /// The interfaces that the component may import.
    pub interfaces: BTreeSet<Interface>,
    /// The verbs that it may call.
    pub verbs: BTreeSet<&'static str>,
    /// The hosts that it may be used on; `None`: those of the binding.
    pub hosts: Option<HostRules>,
}

/// What one call may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the whole call, the host's part included.
    pub deadline: Duration,
    /// For the sum of a call's memories, in bytes.
    pub memory: u64,
}

impl Manifest {
    /// Reads a manifest's text.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn parse(text: &str) -> Result<Manifest, ManifestError> {
        let at = |offset: usize, problem: Problem| ManifestError { line: line_of(text, offset), problem };
        if text.len() > MANIFEST_BYTES_MAX {
            return Err(at(0, Problem::TooLong));
        }
        check_keys(text)?;
        let raw: RawManifest = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            at(offset, Problem::Form(one_line(error.message())))
        })?;
        raw.check().map_err(|(offset, problem)| at(offset, problem))
    }

    /// The plugin's name: its tools are `<prefix>.<name>_<tool>`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// One line for people.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The component's path, relative to the manifest's folder and below it.
    #[must_use]
    pub fn component(&self) -> &Path {
        &self.component
    }

    /// What the author asks for.
    #[must_use]
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// The same in the words of `policy`, which joins it with the imports and the binding's grant.
    #[must_use]
    pub fn policy_needs(&self) -> PluginNeeds {
        let names = self.needs.interfaces.iter().map(|interface| interface.name().to_owned()).collect();
        let verbs = self.needs.verbs.iter().map(|verb| (*verb).to_owned()).collect();
        PluginNeeds { interfaces: names, verbs, hosts: self.needs.hosts.clone() }
    }

    /// What one call may use up.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }
}

/// Why a manifest was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ManifestError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong with a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file is no manifest at all.
    #[error("a manifest has at most {MANIFEST_BYTES_MAX} bytes")]
    TooLong,
    /// Not TOML, a missing key, or a value of another type.
    #[error("{0}")]
    Form(String),
    /// A key that means nothing.
    #[error("unknown key `{key}`{}", suggest(.meant))]
    UnknownKey {
        /// The key with its table.
        key: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    /// A value that is none of a list.
    #[error("`{value}` is no {what}{}", suggest(.meant))]
    Unknown {
        /// What it should be.
        what: &'static str,
        /// As written.
        value: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    /// A value of the wrong form.
    #[error("{key}: {why}")]
    Value {
        /// The key with its table.
        key: &'static str,
        /// What to write.
        why: String,
    },
    /// A verb whose interface is not asked for can never be called.
    #[error("the verb `{verb}` is called through the interface `{interface}`: add \"{interface}\" to needs.interfaces")]
    VerbWithoutInterface {
        /// The verb.
        verb: &'static str,
        /// Its interface.
        interface: &'static str,
    },
}

fn suggest(meant: &Option<String>) -> String {
    meant.as_ref().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}

/// The keys of each table; anything else is a mistake worth a suggestion.
const KEYS: &[(&str, &[&str])] = &[
    ("plugin", &["name", "version", "component", "description"]),
    ("needs", &["interfaces", "verbs", "hosts"]),
    ("limits", &["deadline", "memory", "instance"]),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    plugin: RawPlugin,
    #[serde(default)]
    needs: RawNeeds,
    #[serde(default)]
    limits: RawLimits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPlugin {
    name: Spanned<String>,
    version: Spanned<String>,
    component: Spanned<String>,
    description: Spanned<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNeeds {
    #[serde(default)]
    interfaces: Vec<Spanned<String>>,
    #[serde(default)]
    verbs: Vec<Spanned<String>>,
    hosts: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimits {
    deadline: Option<Spanned<String>>,
    memory: Option<Spanned<String>>,
    instance: Option<Spanned<String>>,
}

/// Where in the text, and what.
type Found<T> = Result<T, (usize, Problem)>;

impl RawManifest {
    fn check(self) -> Found<Manifest> {
        let RawPlugin { name, version, component, description } = self.plugin;
        Ok(Manifest {
            component: check_component(&component)?,
            name: check_name(name)?,
            version: check_version(version)?,
            description: check_description(description)?,
            needs: self.needs.check()?,
            limits: self.limits.check()?,
        })
    }
}

fn value_error<T>(at: &Spanned<T>, key: &'static str, why: impl Into<String>) -> (usize, Problem) {
    (at.span().start, Problem::Value { key, why: why.into() })
}

fn check_name(name: Spanned<String>) -> Found<String> {
    let text = name.get_ref();
    let fits = text.len() <= NAME_CHARS_MAX
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if fits {
        return Ok(name.into_inner());
    }
    let why = format!("write lower-case letters, digits and `_`, a letter first, at most {NAME_CHARS_MAX}");
    Err(value_error(&name, "plugin.name", why))
}

fn check_version(version: Spanned<String>) -> Found<String> {
    let text = version.get_ref();
    let core = text.split_once('-').map_or(text.as_str(), |(core, _)| core);
    let is_number = |part: &str| (1..=9).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let is_plain = text.len() <= 64 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
    if is_plain && core.split('.').count() == 3 && core.split('.').all(is_number) {
        return Ok(version.into_inner());
    }
    Err(value_error(&version, "plugin.version", "write three numbers, as in `1.2.3`"))
}

fn check_description(description: Spanned<String>) -> Found<String> {
    let text = description.get_ref();
    let n_chars = text.chars().count();
    if text.trim().is_empty() || n_chars > DESCRIPTION_CHARS_MAX || text.chars().any(char::is_control) {
        let why = format!("write one line of at most {DESCRIPTION_CHARS_MAX} characters");
        return Err(value_error(&description, "plugin.description", why));
    }
    Ok(description.into_inner())
}

fn check_component(component: &Spanned<String>) -> Found<PathBuf> {
    let path = Path::new(component.get_ref());
    let is_below = path.components().all(|part| matches!(part, PathPart::Normal(_)));
    if is_below && path.extension().is_some_and(|extension| extension == "wasm") {
        return Ok(path.to_owned());
    }
    Err(value_error(
        component,
        "plugin.component",
        "write a `.wasm` file in the manifest's folder, as in `orders.wasm`",
    ))
}

impl RawNeeds {
    fn check(self) -> Found<Needs> {
        let mut interfaces = BTreeSet::new();
        for name in &self.interfaces {
            let known = || Interface::ALL.iter().map(|interface| interface.name());
            let interface = Interface::from_name(name.get_ref()).ok_or_else(|| unknown(name, "interface", known()))?;
            interfaces.insert(interface);
        }
        let mut verbs = BTreeSet::new();
        for name in &self.verbs {
            let known = || Verb::ALL.iter().map(|verb| verb.name());
            let verb = Verb::from_name(name.get_ref()).ok_or_else(|| unknown(name, "verb", known()))?;
            let ways = interfaces_of(verb);
            if let (Some(first), false) = (ways.first(), ways.iter().any(|way| interfaces.contains(way))) {
                let problem = Problem::VerbWithoutInterface { verb: verb.name(), interface: first.name() };
                return Err((name.span().start, problem));
            }
            verbs.insert(verb.name());
        }
        let hosts = self.hosts.map(|hosts| check_hosts(&hosts)).transpose()?;
        Ok(Needs { interfaces, verbs, hosts })
    }
}

/// The interfaces through which a verb can be called: its own, and those that are narrower permissions for the same verb.
fn interfaces_of(verb: Verb) -> Vec<Interface> {
    let own = Interface::from_name(verb.spec().interface.name());
    let other = match verb {
        Verb::Type => Some(Interface::Secrets),
        Verb::Wait => Some(Interface::Script),
        _ => None,
    };
    own.into_iter().chain(other).collect()
}

fn check_hosts(hosts: &Spanned<Vec<Spanned<String>>>) -> Found<HostRules> {
    if hosts.get_ref().is_empty() {
        let why = "an empty list allows no page at all; leave the key out for the hosts of the binding";
        return Err(value_error(hosts, "needs.hosts", why));
    }
    for entry in hosts.get_ref() {
        HostRules::parse(&[entry.get_ref()]).map_err(|error| value_error(entry, "needs.hosts", error.to_string()))?;
    }
    let entries: Vec<&str> = hosts.get_ref().iter().map(|entry| entry.get_ref().as_str()).collect();
    HostRules::parse(&entries).map_err(|error| value_error(hosts, "needs.hosts", error.to_string()))
}

fn unknown<'a>(name: &Spanned<String>, what: &'static str, known: impl Iterator<Item = &'a str>) -> (usize, Problem) {
    let meant = closest(name.get_ref(), known).map(str::to_owned);
    (name.span().start, Problem::Unknown { what, value: one_line(name.get_ref()), meant })
}

impl RawLimits {
    fn check(self) -> Found<Limits> {
        if let Some(instance) = &self.instance {
            match instance.get_ref().as_str() {
                "call" => {}
                "run" => {
                    let why =
                        "`run` (one instance for a whole run) is not there yet; write `call`, or leave the key out";
                    return Err(value_error(instance, "limits.instance", why));
                }
                _ => return Err(value_error(instance, "limits.instance", "write `call`")),
            }
        }
        let deadline = self.deadline.map_or(Ok(DEADLINE), |text| {
            let (least, most) = DEADLINE_BOUNDS;
            let why = format!("write a time from {} to {}, as in `15s`", show(least), show(most));
            match humantime::parse_duration(text.get_ref()) {
                Ok(deadline) if (least..=most).contains(&deadline) => Ok(deadline),
                _ => Err(value_error(&text, "limits.deadline", why)),
            }
        })?;
        let memory = self.memory.map_or(Ok(MEMORY), |text| {
            let (least, most) = MEMORY_BOUNDS;
            let why = format!("write a size from {}KiB to {}MiB, as in `64MiB`", least >> 10, most >> 20);
            match text.get_ref().parse::<bytesize::ByteSize>() {
                Ok(size) if (least..=most).contains(&size.as_u64()) => Ok(size.as_u64()),
                _ => Err(value_error(&text, "limits.memory", why)),
            }
        })?;
        Ok(Limits { deadline, memory })
    }
}

fn show(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// Finds the first key that means nothing. Done on the tree and before the types, so that a slip gets a suggestion instead
/// of "missing field".
fn check_keys(text: &str) -> Result<(), ManifestError> {
    let found = |offset: usize, key: String, meant: Option<String>| ManifestError {
        line: line_of(text, offset),
        problem: Problem::UnknownKey { key: one_line(&key), meant },
    };
    // What is no TOML is reported by the typed reading, with its line.
    let Ok(document) = toml::de::DeTable::parse(text) else { return Ok(()) };
    for (table, value) in document.get_ref() {
        let name = table.get_ref();
        let Some((table_name, keys)) = KEYS.iter().find(|(known, _)| known == name) else {
            let meant = closest(name, KEYS.iter().map(|(known, _)| *known)).map(str::to_owned);
            return Err(found(table.span().start, name.to_string(), meant));
        };
        let toml::de::DeValue::Table(entries) = value.get_ref() else { continue };
        for key in entries.keys() {
            if !keys.contains(&key.get_ref().as_ref()) {
                let meant = closest(key.get_ref(), keys.iter().copied()).map(str::to_owned);
                return Err(found(key.span().start, format!("{table_name}.{}", key.get_ref()), meant));
            }
        }
    }
    Ok(())
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// Longest piece of a manifest that a message repeats, in characters.
const SHOWN_CHARS: usize = 200;

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"[plugin]
name = "orders"
version = "0.3.1"
component = "orders.wasm"
description = "Reads a shop's order list"

[needs]
interfaces = ["navigate", "read", "act", "secrets", "log"]
verbs = ["navigate", "snapshot", "extract", "click"]
hosts = ["shop.example.com"]

[limits]
deadline = "15s"
memory = "64MiB"
instance = "call"
"#;

    fn refused(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        Manifest::parse(&GOOD.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn a_manifest_as_the_design_shows_it_is_taken() {
        let manifest = Manifest::parse(GOOD).unwrap();
        assert_eq!(manifest.name(), "orders");
        assert_eq!(manifest.component(), Path::new("orders.wasm"));
        assert_eq!(manifest.limits(), Limits { deadline: Duration::from_secs(15), memory: 64 << 20 });
        assert_eq!(manifest.needs().verbs.len(), 4);
        assert_eq!(manifest.needs().interfaces.len(), 5);
        assert_eq!(manifest.needs().hosts.as_ref().unwrap().entries().len(), 1);
    }

    #[test]
    fn limits_and_needs_may_be_left_out() {
        let (head, _) = GOOD.split_once("[needs]").unwrap();
        let manifest = Manifest::parse(head).unwrap();
        assert_eq!(manifest.limits(), Limits { deadline: DEADLINE, memory: MEMORY });
        assert!(manifest.needs().interfaces.is_empty());
        assert!(manifest.needs().hosts.is_none());
    }

    #[test]
    fn an_unknown_key_gets_its_line_and_a_suggestion() {
        assert_eq!(refused("deadline", "deadlin"), "line 13: unknown key `limits.deadlin`; did you mean `deadline`?");
        assert_eq!(refused("[needs]", "[need]"), "line 7: unknown key `need`; did you mean `needs`?");
        assert_eq!(refused("version", "colour"), "line 3: unknown key `plugin.colour`");
        assert_eq!(refused("[plugin]\n", "name = 1\n[plugin]\n"), "line 1: unknown key `name`");
    }

    #[test]
    fn an_unknown_verb_or_interface_gets_a_suggestion() {
        assert_eq!(refused("\"click\"", "\"clik\""), "line 9: `clik` is no verb; did you mean `click`?");
        assert_eq!(refused("\"log\"", "\"logs\""), "line 8: `logs` is no interface; did you mean `log`?");
    }

    #[test]
    fn a_verb_that_no_interface_reaches_is_refused() {
        let message = refused("\"act\", ", "");
        assert_eq!(
            message,
            "line 9: the verb `click` is called through the interface `act`: add \"act\" to needs.interfaces"
        );
        // `type` has two ways: typing at large, and typing secrets only.
        let secrets_only = GOOD.replace("\"act\", ", "").replace("\"click\"", "\"type\"");
        assert!(Manifest::parse(&secrets_only).is_ok());
    }

    #[test]
    fn a_limit_out_of_its_bounds_is_refused_and_not_clamped() {
        let deadline = "line 13: limits.deadline: write a time from 100ms to 10m, as in `15s`";
        for wrong in ["1h", "1ms", "15", "-1s", "soon"] {
            assert_eq!(refused("15s", wrong), deadline, "{wrong}");
        }
        let memory = "line 14: limits.memory: write a size from 256KiB to 512MiB, as in `64MiB`";
        for wrong in ["1GiB", "1KiB", "lots", "-1MiB"] {
            assert_eq!(refused("64MiB", wrong), memory, "{wrong}");
        }
        assert!(Manifest::parse(&GOOD.replace("64MiB", "512MiB").replace("15s", "10m")).is_ok());
    }

    #[test]
    fn one_instance_per_run_says_that_it_is_not_there_yet() {
        assert!(refused("\"call\"", "\"run\"").contains("not there yet"));
        assert!(refused("\"call\"", "\"always\"").contains("write `call`"));
    }

    #[test]
    fn a_component_outside_the_folder_is_refused() {
        for wrong in ["../orders.wasm", "/tmp/orders.wasm", "a/../../orders.wasm", "orders", "", "./orders.wasm"] {
            assert!(refused("orders.wasm", wrong).contains("in the manifest's folder"), "{wrong}");
        }
        assert!(Manifest::parse(&GOOD.replace("orders.wasm", "build/orders.wasm")).is_ok());
    }

    #[test]
    fn names_and_versions_have_a_form() {
        for wrong in ["Orders", "1orders", "or-ders", "", "a.b", &"a".repeat(33)] {
            assert!(refused("\"orders\"", &format!("\"{wrong}\"")).starts_with("line 2: plugin.name"), "{wrong}");
        }
        for wrong in ["1", "1.2", "v1.2.3", "1.2.3.4", "1.2.x"] {
            assert!(refused("0.3.1", wrong).starts_with("line 3: plugin.version"), "{wrong}");
        }
        assert!(Manifest::parse(&GOOD.replace("0.3.1", "0.3.1-rc.1")).is_ok());
    }

    #[test]
    fn an_empty_host_list_says_what_to_do() {
        assert!(refused("hosts = [\"shop.example.com\"]", "hosts = []").contains("leave the key out"));
        assert!(
            refused("\"shop.example.com\"", "\"https://shop.example.com/orders\"")
                .starts_with("line 10: needs.hosts: ")
        );
    }

    #[test]
    fn what_is_no_toml_and_what_lacks_a_key_says_where() {
        assert!(refused("name = \"orders\"", "name = ").starts_with("line 2: "));
        assert!(refused("component = \"orders.wasm\"\n", "").contains("component"));
        assert!(Manifest::parse(&"#".repeat(MANIFEST_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn every_interface_has_one_name() {
        for interface in Interface::ALL {
            assert_eq!(Interface::from_name(interface.name()), Some(*interface));
        }
    }
}
