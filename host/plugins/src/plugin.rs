//! Loading a plugin, and the plugin that comes of it.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use async_trait::async_trait;
use serde_json::Value;
use tokio::{sync::Semaphore, time::Instant};
use transom_policy::redact::{Redacted, Redactor};
use transom_verbs::{ErrorCode, TabId, ToolError};
use wasmtime::component::{Component, Linker};

use crate::{
    Host, LogLevel,
    bindings::PluginPre,
    budget::CallBudget,
    call::{self, Ended, ToolResult},
    component::{self, COMPONENT_BYTES_MAX, ComponentError, Digest, Imports},
    describe::{self, DescribeError, ToolSpec},
    engine::{CALLS_AT_ONCE, PluginEngine, PluginHostError},
    host,
    manifest::{MANIFEST_BYTES_MAX, Manifest, ManifestError},
    state::State,
};

/// How long a component may take to say what its tools are. Python's takes a few milliseconds; it is a constant answer.
const DESCRIBE_DEADLINE: Duration = Duration::from_secs(5);

/// Components that are compiled at once: each takes every core there is.
const COMPILED_AT_ONCE: usize = 1;

/// The figures of a [`PluginHost`].
#[derive(Clone, Copy, Debug)]
pub struct PluginHostConfig {
    /// Calls that run at once, of all plugins together; more wait. From 1.
    pub calls_at_once: u32,
    /// What one call may ask of the host.
    pub budget: CallBudget,
}

impl Default for PluginHostConfig {
    fn default() -> PluginHostConfig {
        PluginHostConfig { calls_at_once: CALLS_AT_ONCE, budget: CallBudget::default() }
    }
}

/// Runs plugins: one engine, and the components that are in use.
pub struct PluginHost {
    engine: Arc<PluginEngine>,
    budget: CallBudget,
    compiling: Semaphore,
    /// A component that two bindings use is compiled once; it is forgotten with its last plugin.
    compiled: Mutex<HashMap<Digest, Weak<Component>>>,
}

impl std::fmt::Debug for PluginHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginHost").field("budget", &self.budget).finish_non_exhaustive()
    }
}

impl PluginHost {
    /// Makes the engine: it reserves address space and starts one thread, which sleeps while no call runs.
    ///
    /// # Errors
    /// [`PluginHostError`] where the pool can't be reserved or no thread be started.
    pub fn new(config: PluginHostConfig) -> Result<PluginHost, PluginHostError> {
        Ok(PluginHost {
            engine: PluginEngine::new(config.calls_at_once)?,
            budget: config.budget,
            compiling: Semaphore::new(COMPILED_AT_ONCE),
            compiled: Mutex::default(),
        })
    }

    /// Loads a plugin: reads its manifest, compiles its component, holds its imports against the manifest, and asks for its
    /// tools. Compiling takes from milliseconds (Rust) to seconds (Python).
    ///
    /// # Errors
    /// [`LoadError`], with the file that is at fault.
    ///
    /// # Cancel safety
    /// Dropping the future loads nothing; a compilation that has begun goes on to its end on its own thread.
    pub async fn load(&self, manifest_path: &Path) -> Result<Plugin, LoadError> {
        let (manifest, component_path, bytes) = read(manifest_path.to_owned()).await?;
        let fault = |source| LoadError::Component { path: component_path.clone(), source };
        let digest = Digest::of(&bytes);
        let component = self.compile(digest, bytes).await.map_err(fault)?;
        let engine = self.engine.wasmtime();
        let imports = component::check(engine, &component, manifest.needs()).map_err(fault)?;

        let mut linker = Linker::<State>::new(engine);
        let exports = link(&mut linker, &imports)
            .and_then(|()| linker.instantiate_pre(&component))
            .and_then(PluginPre::new)
            .map_err(|error| fault(ComponentError::Link(error)))?;
        let mut loaded = Loaded {
            manifest,
            digest,
            imports,
            tools: Vec::new(),
            exports,
            engine: Arc::clone(&self.engine),
            budget: self.budget,
            _component: component,
        };
        let described = call::describe(&loaded, Arc::new(NoRun), DESCRIBE_DEADLINE).await;
        let described = described.map_err(|ended| {
            DescribeError::Call(match ended {
                Ended::Limit(limit) => limit.to_string(),
                Ended::Trap(error) => format!("{error:#}"),
            })
        });
        loaded.tools = described
            .and_then(|described| describe::check(loaded.manifest.name(), described))
            .map_err(|source| LoadError::Describe { path: component_path, source })?;
        Ok(Plugin(Arc::new(loaded)))
    }

    async fn compile(&self, digest: Digest, bytes: Vec<u8>) -> Result<Arc<Component>, ComponentError> {
        // Never closed; one that waited finds what the one before it compiled.
        let _turn = self.compiling.acquire().await.ok();
        let known = self.known().get(&digest).and_then(Weak::upgrade);
        if let Some(component) = known {
            return Ok(component);
        }
        let engine = self.engine.wasmtime().clone();
        let compiled = tokio::task::spawn_blocking(move || component::compile(&engine, &bytes)).await;
        let component = Arc::new(compiled.map_err(|_| ComponentError::Compiler)??);
        let mut known = self.known();
        known.retain(|_, component| component.strong_count() > 0);
        known.insert(digest, Arc::downgrade(&component));
        Ok(component)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Weak<Component>>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Links what a component imports and nothing else.
fn link(linker: &mut Linker<State>, imports: &Imports) -> wasmtime::Result<()> {
    host::link(linker, imports.interfaces().iter().copied())?;
    if imports.has_wasi() {
        wasmtime_wasi::p2::add_to_linker_async(linker)?;
    }
    Ok(())
}

/// A plugin that is ready to be called. Clones share it.
#[derive(Clone)]
pub struct Plugin(Arc<Loaded>);

/// What a plugin consists of.
pub(crate) struct Loaded {
    pub(crate) manifest: Manifest,
    pub(crate) digest: Digest,
    pub(crate) imports: Imports,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) exports: PluginPre<State>,
    pub(crate) engine: Arc<PluginEngine>,
    pub(crate) budget: CallBudget,
    /// Keeps the entry of the host's table alive.
    _component: Arc<Component>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Loaded { manifest, digest, tools, .. } = &*self.0;
        let (name, version) = (manifest.name(), manifest.version());
        f.debug_struct("Plugin")
            .field("name", &name)
            .field("version", &version)
            .field("digest", digest)
            .field("tools", tools)
            .finish_non_exhaustive()
    }
}

impl Plugin {
    /// What its author says and asks for.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// What its component's bytes are known by.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// What its component imports.
    #[must_use]
    pub fn imports(&self) -> &Imports {
        &self.0.imports
    }

    /// The tools that it offers, in its own order.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        &self.0.tools
    }

    /// Calls one tool in an instance of its own.
    ///
    /// `arguments` are checked against the tool's input schema; `null` counts as none. `tab` is the tab that `call.tab()`
    /// gives, and goes into the verbs' arguments as `tab`; without it they leave it out, which means the active one. The
    /// call ends at `deadline` or at that of its manifest, whichever is nearer; the host's part counts.
    ///
    /// # Errors
    /// As the table in `call.rs` has it. Messages hold text of the plugin's, so redact them like a result.
    ///
    /// # Cancel safety
    /// Dropping the future ends the guest there and then, and drops a verb that it waits for.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Value,
        tab: Option<TabId>,
        host: Arc<dyn Host>,
        deadline: Instant,
    ) -> Result<ToolResult, ToolError> {
        call::call(&self.0, tool, arguments, tab, host, deadline).await
    }
}

/// Why a plugin could not be loaded. For the operator: it names files.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file that can't be read.
    #[error("{}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A manifest that is wrong.
    #[error("{}: {source}", .path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Why.
        source: ManifestError,
    },
    /// A component that may not or can't be loaded.
    #[error("{}: {source}", .path.display())]
    Component {
        /// The component.
        path: PathBuf,
        /// Why.
        source: ComponentError,
    },
    /// Tools that are not in order.
    #[error("{}: {source}", .path.display())]
    Describe {
        /// The component.
        path: PathBuf,
        /// Why.
        source: DescribeError,
    },
    /// Reading did not end.
    #[error("reading the plugin did not end")]
    Reader,
}

/// The manifest, the component's path, and its bytes.
async fn read(path: PathBuf) -> Result<(Manifest, PathBuf, Vec<u8>), LoadError> {
    let reading = tokio::task::spawn_blocking(move || {
        let text = read_capped(&path, MANIFEST_BYTES_MAX)?;
        let text = String::from_utf8(text).map_err(|_| LoadError::Read {
            path: path.clone(),
            source: io::Error::new(io::ErrorKind::InvalidData, "a manifest is text in UTF-8"),
        })?;
        let manifest = Manifest::parse(&text).map_err(|source| LoadError::Manifest { path: path.clone(), source })?;
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let component_path = folder.join(manifest.component());
        let bytes = read_capped(&component_path, COMPONENT_BYTES_MAX)?;
        Ok((manifest, component_path, bytes))
    });
    reading.await.map_err(|_| LoadError::Reader)?
}

/// At most one byte more than `bytes_max`, so that whoever checks the size sees that it is too large.
fn read_capped(path: &Path, bytes_max: usize) -> Result<Vec<u8>, LoadError> {
    let fault = |source| LoadError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(fault)?;
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(fault)?;
    Ok(bytes)
}

/// The host of a component that is only asked for its tools.
struct NoRun;

#[async_trait]
impl Host for NoRun {
    async fn verb(
        &self,
        _interface: &'static str,
        _verb: &'static str,
        _args: Value,
    ) -> Result<Redacted<Value>, Redacted<ToolError>> {
        let error = ToolError::new(ErrorCode::NotGranted, "`tools.describe` has no browser");
        Err(Redactor::none().error(&error))
    }

    fn secret_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn log(&self, _level: LogLevel, line: &str) {
        tracing::debug!(line, "a plugin wrote while it described its tools");
    }
}
