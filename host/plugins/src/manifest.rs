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
//! | `needs.interfaces` | WIT interfaces by name, see [`Interface`](crate::Interface); `call` is always there |
//! | `needs.verbs` | verbs by name; each one's interface has to be listed too |
//! | `needs.hosts` | host entries as in a binding; left out: wherever the binding is |
//! | `limits.deadline` | `"15s"`: for a whole call, the host's part included |
//! | `limits.memory` | `"64MiB"`: the sum of a call's memories |
//! | `limits.instance` | `"call"`: a fresh instance for every call |
//!
//! Not here: how the text is read (`manifest/raw.rs`), the component itself (`component.rs`), and what a binding grants (`policy`).

mod error;
mod raw;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use transom_policy::{grant::PluginNeeds, hosts::HostRules};

pub use self::error::{ManifestError, Problem};
use self::raw::{RawManifest, check_keys, one_line};
use crate::interface::Interface;

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
        let read = || {
            check_keys(text)?;
            let raw: RawManifest = toml::from_str(text).map_err(|error| {
                let offset = error.span().map_or(0, |span| span.start);
                (offset, Problem::Form(one_line(error.message())))
            })?;
            raw.check()
        };
        read().map_err(|(offset, problem)| at(offset, problem))
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

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
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
