//! One guest crate: its name, its component's place, and the step from a core module to a component.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, de::DeserializeOwned};
use wit_component::{ComponentEncoder, DecodedWasm};
use wit_parser::WorldKey;

/// A folder with a `Cargo.toml` and a `plugin.toml`.
pub(crate) struct Guest {
    pub(crate) folder: PathBuf,
    pub(crate) package: String,
    component: PathBuf,
}

#[derive(Deserialize)]
struct CargoToml {
    package: Named,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Of `plugin.toml` only what the build needs; the host reads it strictly.
#[derive(Deserialize)]
struct PluginToml {
    plugin: WithComponent,
}

#[derive(Deserialize)]
struct WithComponent {
    component: PathBuf,
}

impl Guest {
    pub(crate) fn read(folder: PathBuf) -> Result<Guest> {
        let cargo: CargoToml = read_toml(&folder.join("Cargo.toml"))?;
        let plugin: PluginToml = read_toml(&folder.join("plugin.toml"))?;
        let component = folder.join(plugin.plugin.component);
        Ok(Guest { folder, package: cargo.package.name, component })
    }

    /// What cargo calls the module.
    pub(crate) fn module_name(&self) -> String {
        format!("{}.wasm", self.package.replace('-', "_"))
    }

    /// Makes the component of the module, unless there is one that is newer. Says in one line what was done; paths are shown
    /// from `root`.
    pub(crate) fn componentize(&self, module: &Path, root: &Path) -> Result<String> {
        let shown = self.component.strip_prefix(root).unwrap_or(&self.component).display();
        if is_newer(&self.component, module)? {
            return Ok(format!("{shown} is up to date"));
        }
        let bytes = fs::read(module).with_context(|| format!("{}", module.display()))?;
        let component = ComponentEncoder::default()
            .validate(true)
            .module(&bytes)
            .and_then(|encoder| encoder.encode())
            .context("the module is no component")?;
        let imports = imports(&component)?.join(", ");
        // Whole or not at all: a host may be loading it.
        let part = self.component.with_extension("wasm.part");
        fs::write(&part, &component).with_context(|| format!("{}", part.display()))?;
        fs::rename(&part, &self.component).with_context(|| format!("{shown}"))?;
        Ok(format!("{shown}: {} KiB, imports {imports}", component.len() / 1024))
    }
}

fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{}", path.display()))
}

fn is_newer(component: &Path, module: &Path) -> Result<bool> {
    let Ok(component) = component.metadata() else { return Ok(false) };
    let module = module.metadata().with_context(|| format!("{}", module.display()))?;
    Ok(component.modified()? >= module.modified()?)
}

/// The interfaces that a component imports: ours by their names, others with their package.
fn imports(component: &[u8]) -> Result<Vec<String>> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("the encoder gave no component");
    };
    let imports = resolve.worlds.get(world).map(|world| &world.imports).into_iter().flatten();
    Ok(imports
        .map(|(key, _)| {
            let name = match key {
                WorldKey::Name(name) => name.clone(),
                WorldKey::Interface(id) => resolve.id_of(*id).unwrap_or_default(),
            };
            let short = name.split_once('@').map_or(name.as_str(), |(path, _)| path);
            short.strip_prefix("transom:plugin/").unwrap_or(short).to_owned()
        })
        .collect())
}
