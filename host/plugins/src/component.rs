//! A component's bytes: what it imports, whether its manifest asks for that, and its compiled form.
//!
//! | import | allowed |
//! |---|---|
//! | `transom:plugin/types`, `…/call` | always |
//! | `transom:plugin/X` of 0.1 | where the manifest's `needs.interfaces` has `X` |
//! | `wasi:{cli,clocks,filesystem,io,random,sockets}/…` of 0.2 | always; it gives nothing (`wasi.rs`) |
//! | anything else | never |
//!
//! The check is made on the component's type, before anything of it runs.
//!
//! Not here yet: compiling in a child that can be killed, and the cache on disk.

use std::{collections::BTreeSet, fmt};

use wasmtime::{Engine, component::Component};

use crate::{interface::Interface, manifest::Needs};

/// Largest component, in bytes. Python's have 18 to 35 MB; compiling takes memory and time in proportion.
pub(crate) const COMPONENT_BYTES_MAX: usize = 64 << 20;

/// The package of our interfaces.
const PACKAGE: &str = "transom:plugin";
/// The version of our interfaces that is linked; 0.1.x are compatible.
const VERSION: &str = "0.1";
/// The interface that a plugin exports.
const TOOLS: &str = "tools";
/// Packages of WASI that are linked.
const WASI_PACKAGES: &[&str] = &["cli", "clocks", "filesystem", "io", "random", "sockets"];
/// The version of WASI that is linked.
const WASI_VERSION: &str = "0.2";

/// What a component's bytes are known by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(blake3::Hash);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Digest {
        Digest(blake3::hash(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blake3:{}", self.0.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a component imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imports {
    interfaces: BTreeSet<Interface>,
    has_wasi: bool,
}

impl Imports {
    /// The capabilities among them: our interfaces but for `types` and `call`, which are none.
    #[must_use]
    pub fn interfaces(&self) -> &BTreeSet<Interface> {
        &self.interfaces
    }

    /// Their names, in the words of `policy`.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        self.interfaces.iter().map(|interface| interface.name().to_owned()).collect()
    }

    /// Whether it imports something of WASI.
    #[must_use]
    pub fn has_wasi(&self) -> bool {
        self.has_wasi
    }
}

/// Why a component was refused.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// More bytes than any real one has.
    #[error("a component has at most {} MiB", COMPONENT_BYTES_MAX >> 20)]
    TooLarge,
    /// A core module, or no WebAssembly at all, or one that uses what is not supported.
    #[error("this is no component that can be loaded: {0:#}")]
    Invalid(wasmtime::Error),
    /// It imports more than its manifest says.
    #[error(
        "the component imports {}, which its manifest does not ask for; if it should, write `interfaces = {}` under [needs]",
        list(.missing), quoted(.line)
    )]
    BeyondManifest {
        /// What the manifest lacks.
        missing: Vec<Interface>,
        /// What the manifest's list would have to be.
        line: Vec<Interface>,
    },
    /// It imports something that no plugin gets.
    #[error(
        "the component imports `{import}`; plugins may import {PACKAGE} {VERSION} and WASI {WASI_VERSION}, nothing else"
    )]
    Foreign {
        /// As the component names it.
        import: String,
    },
    /// It exports no tools.
    #[error("the component does not export `{PACKAGE}/{TOOLS}@{VERSION}`")]
    NoTools,
    /// Its imports have other types than ours: it was built against another `wit/`.
    #[error("the component was built against another version of the interfaces: {0:#}")]
    Link(wasmtime::Error),
    /// The compiler ended without an answer.
    #[error("compiling the component did not end")]
    Compiler,
}

fn list(interfaces: &[Interface]) -> String {
    let names: Vec<String> = interfaces.iter().map(|interface| format!("`{interface}`")).collect();
    names.join(", ")
}

fn quoted(interfaces: &[Interface]) -> String {
    let names: Vec<String> = interfaces.iter().map(|interface| format!("\"{interface}\"")).collect();
    format!("[{}]", names.join(", "))
}

/// Compiles a component. Takes seconds for a large one: call it where that is all right.
pub(crate) fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, ComponentError> {
    if bytes.len() > COMPONENT_BYTES_MAX {
        return Err(ComponentError::TooLarge);
    }
    Component::from_binary(engine, bytes).map_err(ComponentError::Invalid)
}

/// Holds a component's imports against its manifest.
pub(crate) fn check(engine: &Engine, component: &Component, needs: &Needs) -> Result<Imports, ComponentError> {
    let kind = component.component_type();
    let imports = classify(kind.imports(engine).map(|(name, _)| name))?;
    let missing: Vec<Interface> = imports.interfaces.difference(&needs.interfaces).copied().collect();
    if !missing.is_empty() {
        let line = needs.interfaces.union(&imports.interfaces).copied().collect();
        return Err(ComponentError::BeyondManifest { missing, line });
    }
    let exports_tools = kind
        .exports(engine)
        .any(|(name, _)| ImportName::parse(name).is_some_and(|name| name.is_ours() && name.interface == TOOLS));
    if exports_tools { Ok(imports) } else { Err(ComponentError::NoTools) }
}

fn classify<'a>(names: impl Iterator<Item = &'a str>) -> Result<Imports, ComponentError> {
    let mut imports = Imports::default();
    for import in names {
        let foreign = || ComponentError::Foreign { import: import.chars().take(200).collect() };
        let name = ImportName::parse(import).ok_or_else(foreign)?;
        if name.is_ours() {
            match Interface::from_name(name.interface) {
                Some(Interface::Call) => {}
                Some(interface) => {
                    imports.interfaces.insert(interface);
                }
                None if name.interface == "types" => {}
                None => return Err(foreign()),
            }
        } else if name.is_wasi() {
            imports.has_wasi = true;
        } else {
            return Err(foreign());
        }
    }
    Ok(imports)
}

/// `transom:plugin/read@0.1.0`, taken apart.
struct ImportName<'a> {
    package: &'a str,
    interface: &'a str,
    version: &'a str,
}

impl<'a> ImportName<'a> {
    fn parse(name: &'a str) -> Option<ImportName<'a>> {
        let (path, version) = name.split_once('@')?;
        let (package, interface) = path.split_once('/')?;
        Some(ImportName { package, interface, version })
    }

    fn is_ours(&self) -> bool {
        self.package == PACKAGE && is_version(self.version, VERSION)
    }

    fn is_wasi(&self) -> bool {
        let package = self.package.strip_prefix("wasi:");
        package.is_some_and(|package| WASI_PACKAGES.contains(&package)) && is_version(self.version, WASI_VERSION)
    }
}

/// Whether `version` is `series` and a patch number.
fn is_version(version: &str, series: &str) -> bool {
    let patch = version.strip_prefix(series).and_then(|rest| rest.strip_prefix('.'));
    patch.is_some_and(|patch| !patch.is_empty() && patch.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_interfaces_and_wasi_are_told_apart_from_the_rest() {
        let good = [
            "transom:plugin/types@0.1.0",
            "transom:plugin/call@0.1.0",
            "transom:plugin/read@0.1.7",
            "wasi:io/poll@0.2.9",
        ];
        let imports = classify(good.into_iter()).unwrap();
        assert_eq!(imports.interfaces().iter().copied().collect::<Vec<_>>(), [Interface::Read]);
        assert!(imports.has_wasi());
        for foreign in [
            "transom:plugin/read@0.2.0",
            "transom:plugin/read@0.10.0",
            "transom:plugin/read",
            "transom:plugin/everything@0.1.0",
            "transom:plugin/tools@0.1.0",
            "evil:plugin/read@0.1.0",
            "wasi:http/outgoing-handler@0.2.0",
            "wasi:io/poll@0.3.0",
            "wasi:io/poll@0.2.0-rc-2023",
            "host-function",
        ] {
            assert!(matches!(classify([foreign].into_iter()), Err(ComponentError::Foreign { .. })), "{foreign}");
        }
    }

    #[test]
    fn a_component_beyond_its_manifest_is_told_the_line_to_write() {
        let error = ComponentError::BeyondManifest {
            missing: vec![Interface::Script],
            line: vec![Interface::Read, Interface::Script],
        };
        assert_eq!(
            error.to_string(),
            "the component imports `script`, which its manifest does not ask for; if it should, write \
             `interfaces = [\"read\", \"script\"]` under [needs]"
        );
    }
}
