//! TOML to [`Settings`], where every mistake is one line with its place and, where one can be guessed, what was meant.
//!
//! Serde says what is wrong and TOML where; this file puts both into the operator's words. It reads serde's messages only to word
//! them better: one that it doesn't know is shown as it is.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde_path_to_error::{Path as KeyPath, Segment};
use toml::de::{DeTable, DeValue};
use transom_runs::settings::Settings;
use transom_verbs::registry::closest;

use super::ConfigError;

/// A place in a file: `transom.toml:12:3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    /// Line and column, from 1; none where the place is the file as a whole.
    at: Option<(usize, usize)>,
}

impl Place {
    fn of_offset(path: &Path, text: &str, offset: Option<usize>) -> Place {
        let before = offset.and_then(|offset| text.get(..offset));
        let at = before.map(|before| {
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            (line, column)
        });
        Place { path: path.to_owned(), at }
    }

    /// The place of a key of the binding with this prefix, else of the binding, else of the file.
    pub(super) fn of_key(path: &Path, text: &str, binding: &str, key: &str) -> Place {
        Place::of_offset(path, text, find_key(text, binding, key))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.path.display()),
            None => write!(f, "{}", self.path.display()),
        }
    }
}

/// Reads the text of a configuration file; `path` is only shown.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse(path: &Path, text: &str) -> Result<Settings, ConfigError> {
    let wrong = |offset, problem| ConfigError::Wrong { place: Place::of_offset(path, text, offset), problem };
    let deserializer = toml::Deserializer::parse(text)
        .map_err(|error| wrong(error.span().map(|span| span.start), format!("not TOML: {}", error.message())))?;
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let key_path = error.path().clone();
        let error = error.into_inner();
        wrong(error.span().map(|span| span.start), reword(text, &key_path, error.message()))
    })
}

/// What serde said at `key_path`, in the operator's words.
fn reword(text: &str, key_path: &KeyPath, said: &str) -> String {
    let (table, key) = name_of(text, key_path);
    let said = said.lines().next().unwrap_or_default();
    if let Some((unknown, expected)) = unknown(said, "unknown field ") {
        let known: Vec<&str> = quoted(expected).collect();
        return format!("{table}unknown key `{unknown}`{}", meant(unknown, &known));
    }
    let about = key.map(|key| format!("`{key}`: ")).unwrap_or_default();
    if let Some((unknown, expected)) = unknown(said, "unknown variant ") {
        let known: Vec<&str> = quoted(expected).collect();
        return format!("{table}{about}\"{unknown}\" is not one of its values{}", meant(unknown, &known));
    }
    if let Some(missing) = said.strip_prefix("missing field ") {
        return format!("{table}{missing} is missing");
    }
    if said.contains("untagged enum HostSetting") {
        return format!(
            "{table}{about}a host is \"shop.example.com\" or {{ host = \"shop.example.com\", private = true }}"
        );
    }
    if said == "invalid socket address syntax" {
        return format!("{table}{about}an address is written with its port, as in \"127.0.0.1:7411\"");
    }
    let said = said
        .replace("a sequence", "a list")
        .replace("a map", "a table")
        .replace("a boolean", "true or false")
        .replace("invalid type: sequence", "invalid type: a list")
        .replace("invalid type: map", "invalid type: a table")
        .replace("expected usize", "expected a whole number from 0")
        .replace("expected u64", "expected a whole number from 0");
    let said =
        said.split_once("expected struct ").map_or(said.clone(), |(before, _)| format!("{before}expected a table"));
    format!("{table}{about}{said}")
}

/// The unknown name and the rest of "unknown field `a`, expected one of …".
fn unknown<'a>(said: &'a str, prefix: &str) -> Option<(&'a str, &'a str)> {
    said.strip_prefix(prefix)?.strip_prefix('`')?.split_once('`')
}

/// The names in backticks of "expected one of `a`, `b`".
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn meant(unknown: &str, known: &[&str]) -> String {
    match closest(unknown, known.iter().copied()) {
        Some(meant) => format!(": did you mean `{meant}`?"),
        None if known.is_empty() => String::new(),
        None => format!(": there is `{}`", known.join("`, `")),
    }
}

/// The table that a path is in ("[limits]: ", "binding \"shop\": "), and the key in it.
fn name_of(text: &str, key_path: &KeyPath) -> (String, Option<String>) {
    let segments: Vec<&Segment> = key_path.iter().collect();
    match segments.as_slice() {
        [Segment::Map { key: first }, Segment::Seq { index }, rest @ ..] if first == "binding" => {
            let table = match prefix_of(text, *index) {
                Some(prefix) => format!("binding \"{prefix}\": "),
                None => format!("[[binding]] number {}: ", index + 1),
            };
            (table, dotted(rest))
        }
        [Segment::Map { key: first }, rest @ ..] if !rest.is_empty() => (format!("[{first}]: "), dotted(rest)),
        other => (String::new(), dotted(other)),
    }
}

fn dotted(segments: &[&Segment]) -> Option<String> {
    let mut name = String::new();
    for segment in segments {
        match segment {
            Segment::Map { key } if name.is_empty() => name.push_str(key),
            Segment::Map { key } => name.push_str(&format!(".{key}")),
            Segment::Seq { index } => name.push_str(&format!("[{index}]")),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    (!name.is_empty()).then_some(name)
}

/// The prefix of the binding at `index`, as far as it has one.
fn prefix_of(text: &str, index: usize) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let bindings = document.get_ref().get("binding")?.get_ref().as_array()?;
    Some(bindings.get(index)?.get_ref().as_table()?.get("prefix")?.get_ref().as_str()?.to_owned())
}

/// The offset of `key` (its first word: `hosts`, `secrets.password`) in the binding with this prefix, else that of its prefix.
fn find_key(text: &str, binding: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let bindings = document.get_ref().get("binding")?.get_ref().as_array()?;
    let table = bindings.iter().find_map(|each| {
        let table = each.get_ref().as_table()?;
        (table.get("prefix")?.get_ref().as_str()? == binding).then_some(table)
    })?;
    let mut place = table.get_key_value("prefix").map(|(key, _)| key.span().start)?;
    let mut inside = Some(table);
    for word in key.split(['.', '[', ' ']).map(|word| word.trim_matches(['`', '"', ']'])) {
        let Some((name, value)) = inside.and_then(|table| table.get_key_value(word)) else { break };
        place = name.span().start;
        inside = match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => None,
        };
    }
    Some(place)
}
