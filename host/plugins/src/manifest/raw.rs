//! From the file's text to checked values: the TOML as it stands, its keys, and what each value may be.
//!
//! Every refusal is an offset in the text and a problem; `manifest.rs` makes a line of the offset.

use std::{
    collections::BTreeSet,
    path::{Component as PathPart, Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use toml::Spanned;
use transom_policy::hosts::HostRules;
use transom_verbs::{Verb, registry::closest};

use super::{
    DEADLINE, DEADLINE_BOUNDS, DESCRIPTION_CHARS_MAX, Limits, MEMORY, MEMORY_BOUNDS, Manifest, NAME_CHARS_MAX, Needs,
    Problem,
};
use crate::interface::Interface;

/// The keys of each table; anything else is a mistake worth a suggestion.
const KEYS: &[(&str, &[&str])] = &[
    ("plugin", &["name", "version", "component", "description"]),
    ("needs", &["interfaces", "verbs", "hosts"]),
    ("limits", &["deadline", "memory", "instance"]),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawManifest {
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
pub(super) type Found<T> = Result<T, (usize, Problem)>;

impl RawManifest {
    pub(super) fn check(self) -> Found<Manifest> {
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
pub(super) fn check_keys(text: &str) -> Found<()> {
    let found = |offset: usize, key: String, meant: Option<String>| {
        (offset, Problem::UnknownKey { key: one_line(&key), meant })
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

/// Longest piece of a manifest that a message repeats, in characters.
const SHOWN_CHARS: usize = 200;

pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN_CHARS).collect()
}
