//! `wit/` is written by hand for people; here it is held to the registry of verbs.
//!
//! Every verb is a function of the interface that the registry names, and the function's arguments are the verb's. What is
//! on purpose otherwise is in two tables, which fail as well once they are stale.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use transom_plugins::Interface;
use transom_verbs::Verb;
use wit_parser::{Function, Resolve, Type, TypeDefKind};

/// Functions that are no verb of their own name: what they are instead.
const OTHER_FUNCTIONS: &[(&str, &str)] = &[
    ("types.[method]tab.id", "about the handle itself"),
    ("call.tab", "about the call itself"),
    ("call.tool", "about the call itself"),
    ("call.time-left", "about the call itself"),
    ("script.wait-for", "the verb `wait` with a script, which needs the permission `script`"),
    ("secrets.names", "what may be typed"),
    ("secrets.type-secret", "the verb `type` with the placeholder of a secret"),
    ("log.write", "the plugin's own log"),
];

/// Arguments of verbs that their functions leave out, and why.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("navigate", "new_tab", "`open` gives the new tab's handle, without which it could not be used"),
    ("navigate", "snapshot", "a permission of its own: `read.snapshot`"),
    ("type", "append", "short for `mode`, for people and models"),
    ("wait", "script", "a permission of its own: `script.wait-for`"),
    ("tabs", "tab", "lists all of them"),
    ("tabs", "timeout_ms", "answers at once"),
    ("open", "tab", "makes one"),
    ("switch", "timeout_ms", "answers at once"),
    ("close", "timeout_ms", "answers at once"),
    ("dialog", "timeout_ms", "answers at once"),
];

struct Wit {
    resolve: Resolve,
    /// `navigate.open` → its function.
    functions: BTreeMap<String, Function>,
}

impl Wit {
    fn read() -> Wit {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")).unwrap();
        let mut functions = BTreeMap::new();
        for (interface, id) in &resolve.packages[package].interfaces {
            for (name, function) in &resolve.interfaces[*id].functions {
                functions.insert(format!("{interface}.{name}"), function.clone());
            }
        }
        Wit { resolve, functions }
    }

    /// The verb's arguments that a function's parameters stand for.
    fn arguments(&self, function: &Function) -> BTreeSet<String> {
        function.params.iter().flat_map(|param| self.argument(&param.name, &param.ty)).collect()
    }

    fn argument(&self, name: &str, ty: &Type) -> Vec<String> {
        let Type::Id(id) = ty else { return vec![name.replace('-', "_")] };
        let def = &self.resolve.types[*id];
        match (&def.kind, def.name.as_deref()) {
            (TypeDefKind::Option(inner), _) => self.argument(name, inner),
            (TypeDefKind::Type(inner), _) => self.argument(name, inner),
            (_, Some("target")) => ["ref", "selector", "x", "y"].map(str::to_owned).to_vec(),
            (TypeDefKind::Record(record), _) => {
                record.fields.iter().flat_map(|field| self.argument(&field.name, &field.ty)).collect()
            }
            (TypeDefKind::Variant(variant), _) => {
                let of_case = |case: &wit_parser::Case| case.ty.map_or(Vec::new(), |ty| self.argument(&case.name, &ty));
                variant.cases.iter().flat_map(of_case).collect()
            }
            _ => vec![name.replace('-', "_")],
        }
    }
}

fn schema_arguments(verb: Verb) -> BTreeSet<String> {
    verb.input_schema()["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn every_verb_is_a_function_of_its_interface_with_the_verbs_arguments() {
    let wit = Wit::read();
    for verb in Verb::ALL {
        let name = format!("{}.{}", verb.spec().interface.name(), verb.name());
        let function = wit.functions.get(&name).unwrap_or_else(|| panic!("wit/ has no function `{name}`"));
        let left_out =
            LEFT_OUT.iter().filter(|(of, _, _)| *of == verb.name()).map(|(_, argument, _)| (*argument).to_owned());
        let left_out: BTreeSet<String> = left_out.collect();
        let declared = schema_arguments(*verb);
        let stale: Vec<_> = left_out.difference(&declared).collect();
        assert!(stale.is_empty(), "`{verb}` has no argument {stale:?}: take it out of LEFT_OUT");
        let expected: BTreeSet<String> = declared.difference(&left_out).cloned().collect();
        assert_eq!(wit.arguments(function), expected, "`{name}` in wit/ (left) and the registry (right) differ");
    }
}

#[test]
fn every_other_function_is_one_that_is_meant() {
    let wit = Wit::read();
    let verbs: BTreeSet<String> =
        Verb::ALL.iter().map(|verb| format!("{}.{}", verb.spec().interface.name(), verb.name())).collect();
    let meant: BTreeSet<String> = OTHER_FUNCTIONS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let exported = |name: &&String| !name.starts_with("tools.");
    let others: BTreeSet<String> =
        wit.functions.keys().filter(exported).filter(|name| !verbs.contains(*name)).cloned().collect();
    assert_eq!(others, meant);
}

#[test]
fn the_world_imports_exactly_the_interfaces_that_a_manifest_can_ask_for() {
    let wit = Wit::read();
    let (_, world) = wit.resolve.worlds.iter().find(|(_, world)| world.name == "plugin").unwrap();
    let name_of = |key: &wit_parser::WorldKey| match key {
        wit_parser::WorldKey::Interface(id) => wit.resolve.interfaces[*id].name.clone().unwrap(),
        wit_parser::WorldKey::Name(name) => name.clone(),
    };
    let imports: BTreeSet<String> = world.imports.keys().map(name_of).filter(|name| name != "types").collect();
    let known: BTreeSet<String> = Interface::ALL.iter().map(|interface| interface.name().to_owned()).collect();
    assert_eq!(imports, known);
    let exports: Vec<String> = world.exports.keys().map(name_of).collect();
    assert_eq!(exports, ["tools"]);
}

/// Enums of `wit/` are the registry's values: a spelling that differed would be refused at each call.
#[test]
fn enums_have_the_values_that_the_schemas_list() {
    let wit = Wit::read();
    for (verb, argument, enum_name) in [
        ("navigate", "until", "until"),
        ("wait", "state", "load-state"),
        ("click", "button", "button"),
        ("type", "mode", "type-mode"),
        ("extract", "format", "extract-format"),
        ("screenshot", "format", "image-format"),
    ] {
        let schema = &Verb::from_name(verb).unwrap().input_schema()["properties"][argument];
        let mut listed = BTreeSet::new();
        strings_in(schema, &mut listed);
        let (_, def) = wit.resolve.types.iter().find(|(_, def)| def.name.as_deref() == Some(enum_name)).unwrap();
        let TypeDefKind::Enum(cases) = &def.kind else { panic!("`{enum_name}` is no enum") };
        let cases: BTreeSet<String> = cases.cases.iter().map(|case| case.name.clone()).collect();
        assert_eq!(cases, listed, "{verb}.{argument}");
    }
}

/// The values of `enum` and `const` in a schema, however it lists them.
fn strings_in(schema: &serde_json::Value, into: &mut BTreeSet<String>) {
    if let Some(values) = schema["enum"].as_array() {
        into.extend(values.iter().filter_map(|value| value.as_str().map(str::to_owned)));
    }
    into.extend(schema["const"].as_str().map(str::to_owned));
    for list in ["oneOf", "anyOf"] {
        for each in schema[list].as_array().into_iter().flatten() {
            strings_in(each, into);
        }
    }
}
