//! What all runs of one host process share: bindings, plugins, the journal, the approvals, the list of runs.
//!
//! Not here: one run's life (`run.rs`); reading the configuration (the binary).

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;
use transom_browser::chromium;
use transom_egress::isolation::Isolation;
use transom_plugins::{PluginHost, PluginHostConfig, PluginHostError};
use transom_policy::{
    grant::{Grants, Prefix, ToolName},
    redact::{Redactor, RedactorError, Secret},
};
use transom_verbs::{ErrorCode, ToolError, Verb, registry::closest};

use crate::{
    approvals::Approvals,
    binding::{Binding, BindingError, SecretValues},
    bound_plugin::{BoundPlugin, BoundPluginError},
    dispatcher::Dispatcher,
    egress_rows::EgressRows,
    files::{Quota, RunFiles},
    journal::{Journal, JournalError, JournalThread, Kind},
    run::{EndReason, Run, RunInfo, RunParts, RunPrefix, RunSpec, RunToken, ToolInfo, Tools},
    session::{Session, SessionSpec},
    settings::{LimitSettings, Settings},
};

/// Ended runs whose files a person can still fetch. The oldest go first.
const ENDED_RUNS_KEPT: usize = 100;

/// How long a host that stops waits for its runs to end. Chromium closes in well under a second; what is left then is killed.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// What the binary adds to the settings.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Our own binary: it is run inside a jail as its launcher.
    pub launcher: PathBuf,
    /// The folder of all state. It is made if it isn't there.
    pub state: PathBuf,
    /// What relative paths in the settings are relative to.
    pub base_dir: PathBuf,
}

/// Why a host could not start, as one line.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A binding that can't stand.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// A plugin of a binding that can't be used there.
    #[error(transparent)]
    Plugin(#[from] BoundPluginError),
    /// The same prefix twice.
    #[error("binding \"{0}\" is there twice: give each binding a prefix of its own")]
    PrefixTwice(String),
    /// A secret that can't be redacted.
    #[error("a secret can't be used: {0}")]
    Secret(#[from] RedactorError),
    /// The engine for plugins.
    #[error("plugins can't be run on this machine: {0}")]
    PluginEngine(#[from] PluginHostError),
    /// The state folder.
    #[error("the state folder {path} can't be used: {source}")]
    State {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// No Chromium.
    #[error("no Chromium was found: install it (`just setup`), or name it by `chromium` under [host]")]
    NoChromium,
}

/// What is known of a binding from outside.
#[derive(Clone, Debug, Serialize)]
pub struct BindingInfo {
    /// Its prefix.
    pub prefix: String,
    /// Hosts that may be opened.
    pub hosts: Vec<String>,
    /// Verbs that may be granted.
    pub verbs: Vec<&'static str>,
    /// Tools of its plugins.
    pub tools: Vec<String>,
    /// How strongly Chromium is shut in.
    pub isolation: Isolation,
}

/// A host: the owner of every run. A cheap handle.
#[derive(Clone, Debug)]
pub struct Host {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Bound {
    binding: Arc<Binding>,
    plugins: Vec<Arc<BoundPlugin>>,
}

#[derive(Debug)]
struct Inner {
    bindings: BTreeMap<Prefix, Bound>,
    trusted_models: Vec<String>,
    limits: LimitSettings,
    chromium: PathBuf,
    options: HostOptions,
    dispatcher: Arc<Dispatcher>,
    places: Arc<Semaphore>,
    runs: Mutex<BTreeMap<String, Run>>,
    /// One task for each run that has not ended.
    keepers: TaskTracker,
    journal_thread: Mutex<Option<JournalThread>>,
    _plugin_host: PluginHost,
}

impl Host {
    /// Checks the settings, loads the plugins and opens the journal.
    ///
    /// # Errors
    /// The first thing that can't stand, as one line.
    pub async fn start(settings: Settings, secrets: SecretValues, options: HostOptions) -> Result<Host, StartError> {
        let state = |source| StartError::State { path: options.state.clone(), source };
        make_private(&options.state).map_err(state)?;
        make_private(&options.state.join("runs")).map_err(state)?;
        let chromium = settings.host.chromium.clone().or_else(chromium::find).ok_or(StartError::NoChromium)?;
        let plugin_host = PluginHost::new(PluginHostConfig::default())?;
        let mut bindings = BTreeMap::new();
        let mut all_secrets: Vec<Secret> = Vec::new();
        for binding_settings in &settings.binding {
            let binding = Arc::new(Binding::check(binding_settings, &secrets)?);
            all_secrets.extend(binding.secrets.all().cloned());
            let mut plugins: Vec<Arc<BoundPlugin>> = Vec::new();
            for plugin_settings in &binding_settings.plugin {
                let plugin =
                    BoundPlugin::load(&plugin_host, plugin_settings, &binding, &options.base_dir, &plugins).await?;
                plugins.push(Arc::new(plugin));
            }
            check_rules(&binding, &plugins)?;
            let prefix = binding.prefix.clone();
            if bindings.insert(prefix, Bound { binding, plugins }).is_some() {
                return Err(StartError::PrefixTwice(binding_settings.prefix.clone()));
            }
        }
        // One redactor for all: a secret of one binding has no business in the results of another.
        let redactor = Redactor::new(all_secrets)?;
        let (journal, thread) = Journal::open(&options.state.join("journal.sqlite"), settings.journal.sync)?;
        Ok(Host {
            inner: Arc::new(Inner {
                bindings,
                trusted_models: settings.host.trusted_models,
                places: Arc::new(Semaphore::new(settings.limits.runs.min(Semaphore::MAX_PERMITS))),
                limits: settings.limits,
                chromium,
                options,
                dispatcher: Arc::new(Dispatcher { redactor, journal, approvals: Approvals::default() }),
                runs: Mutex::default(),
                keepers: TaskTracker::new(),
                journal_thread: Mutex::new(Some(thread)),
                _plugin_host: plugin_host,
            }),
        })
    }

    /// The bindings.
    #[must_use]
    pub fn bindings(&self) -> Vec<BindingInfo> {
        let info = |bound: &Bound| BindingInfo {
            prefix: bound.binding.prefix.to_string(),
            hosts: bound.binding.documents.entries().iter().map(ToString::to_string).collect(),
            verbs: bound.binding.verbs.iter().map(|verb| verb.name()).collect(),
            tools: bound.plugins.iter().flat_map(|plugin| plugin.tool_names()).collect(),
            isolation: bound.binding.isolation,
        };
        self.inner.bindings.values().map(info).collect()
    }

    /// The calls that wait for a person, of all runs.
    #[must_use]
    pub fn approvals(&self) -> Approvals {
        self.inner.dispatcher.approvals.clone()
    }

    /// The journal.
    #[must_use]
    pub fn journal(&self) -> Journal {
        self.inner.dispatcher.journal.clone()
    }

    /// Takes every secret out of a text, for what a front end itself writes.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.inner.dispatcher.redactor
    }

    fn runs_map(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Run>> {
        self.inner.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run by its id, ended ones included as long as they are kept.
    #[must_use]
    pub fn run(&self, id: &str) -> Option<Run> {
        self.runs_map().get(id).cloned()
    }

    /// All runs, oldest first.
    #[must_use]
    pub fn runs(&self) -> Vec<RunInfo> {
        self.runs_map().values().map(Run::info).collect()
    }

    /// Makes a run.
    ///
    /// # Errors
    /// [`ErrorCode::NotGranted`] or [`ErrorCode::InvalidInput`] for tools that don't exist or can't be granted,
    /// [`ErrorCode::ModelUnsupported`], quota when too many runs are under way, [`ErrorCode::FileNotSaved`] for a file that can't be
    /// kept.
    pub async fn create_run(&self, spec: RunSpec) -> Result<Run, ToolError> {
        let inner = &self.inner;
        self.check_model(spec.model.as_deref())?;
        let grants = self.grants(&spec.tools)?;
        if grants.is_empty() {
            return Err(ToolError::invalid("the run is granted no tool: list at least one, as in \"shop.navigate\""));
        }
        let place = inner.places.clone().try_acquire_owned().map_err(|_| {
            ToolError::failed(
                transom_verbs::Reason::Quota,
                format!("{} runs are under way, which is all that the host allows", inner.limits.runs),
            )
            .with_hint("end a run, or raise `runs` under [limits] in the host's configuration")
        })?;
        let id = format!("run_{}", ulid::Ulid::new());
        let token = RunToken::new().map_err(|error| {
            tracing::error!(%error, "no randomness");
            ToolError::new(ErrorCode::BrowserUnavailable, "the host could not make a token for the run")
        })?;
        let folder = inner.options.state.join("runs").join(&id);
        let (files, exchange) = make_folders(&folder, &inner.limits).map_err(|error| {
            tracing::error!(%error, "a run's folder could not be made");
            ToolError::new(ErrorCode::FileNotSaved, "the host could not make a folder for the run's files")
        })?;
        let prefixes = self.prefixes(&id, &grants, &files, &exchange)?;
        let tools = describe_tools(&grants, &prefixes, inner.dispatcher.redactor.clone());
        let run = Run::new(RunParts {
            id: id.clone(),
            token,
            shape: spec.shape,
            model: spec.model,
            grants,
            tools,
            prefixes,
            files,
            dispatcher: inner.dispatcher.clone(),
            idle: spec.idle.unwrap_or(inner.limits.idle).min(inner.limits.idle),
            place,
            exchange,
        });
        run.write(Kind::RunStarted, &serde_json::to_value(run.info()).unwrap_or_default()).await;
        for given in spec.files {
            run.add_file(given).await?;
        }
        self.keep(run.clone());
        inner.keepers.spawn(run.clone().keep_until_idle());
        Ok(run)
    }

    fn keep(&self, run: Run) {
        let mut runs = self.runs_map();
        runs.insert(run.id().to_owned(), run);
        // Ids count up with time, so the first ended one is the oldest.
        let ended: Vec<String> =
            runs.values().filter(|run| run.ended().is_some()).map(|run| run.id().to_owned()).collect();
        for id in ended.iter().take(ended.len().saturating_sub(ENDED_RUNS_KEPT)) {
            runs.remove(id);
        }
    }

    /// Ends every run and waits until the journal has its last row.
    pub async fn shutdown(&self) {
        let runs: Vec<Run> = self.runs_map().values().cloned().collect();
        let ending = futures::future::join_all(runs.iter().map(|run| run.end(EndReason::HostStopped)));
        if tokio::time::timeout(STOP_WITHIN, ending).await.is_err() {
            tracing::warn!("some runs did not end in time");
        }
        // Their files were there for as long as somebody could fetch them.
        for run in &runs {
            run.remove_files().await;
        }
        self.inner.keepers.close();
    }

    fn check_model(&self, model: Option<&str>) -> Result<(), ToolError> {
        let trusted = &self.inner.trusted_models;
        if trusted.is_empty() || model.is_some_and(|model| trusted.iter().any(|each| each == model)) {
            return Ok(());
        }
        let message = match model {
            Some(model) => format!("the model \"{model}\" is not one that this host trusts with a browser"),
            None => "the run names no model, and this host trusts only some with a browser".to_owned(),
        };
        Err(ToolError::new(ErrorCode::ModelUnsupported, message)
            .with_hint("an operator lists models in `trusted_models` under [host]"))
    }

    fn grants(&self, tools: &Tools) -> Result<Grants, ToolError> {
        match tools {
            Tools::Binding(prefix) => {
                let (prefix, bound) = self.bound(prefix)?;
                let verbs = bound.binding.verbs.iter().map(|verb| verb.name().to_owned());
                let names = verbs.chain(bound.plugins.iter().flat_map(|plugin| plugin.tool_names()));
                let full: Vec<String> = names.map(|name| format!("{prefix}.{name}")).collect();
                Grants::parse(&full).map_err(|error| ToolError::invalid(error.to_string()))
            }
            Tools::Named(names) => {
                let grants = Grants::parse(names).map_err(|error| ToolError::invalid(error.to_string()))?;
                for name in grants.iter() {
                    self.check_grantable(name)?;
                }
                Ok(grants)
            }
        }
    }

    fn bound(&self, prefix: &str) -> Result<(&Prefix, &Bound), ToolError> {
        let found = self.inner.bindings.iter().find(|(each, _)| each.as_str() == prefix);
        found.ok_or_else(|| {
            let error = ToolError::new(ErrorCode::NotGranted, format!("there is no binding \"{prefix}\""));
            let names: Vec<&str> = self.inner.bindings.keys().map(Prefix::as_str).collect();
            match closest(prefix, names.iter().copied()) {
                Some(meant) => error.with_hint(format!("did you mean \"{meant}\"?")),
                None => error.with_hint(format!("there are: {}", names.join(", "))),
            }
        })
    }

    fn check_grantable(&self, name: &ToolName) -> Result<(), ToolError> {
        let (_, bound) = self.bound(name.prefix().as_str())?;
        let tools: BTreeSet<String> = bound.plugins.iter().flat_map(|plugin| plugin.tool_names()).collect();
        match Verb::from_name(name.name()) {
            Some(verb) if bound.binding.verbs.contains(&verb) => Ok(()),
            Some(verb) => Err(ToolError::new(
                ErrorCode::NotGranted,
                format!("`{name}` can't be granted: the binding does not list \"{verb}\""),
            )
            .with_hint(format!("an operator can add \"{verb}\" to `verbs` of the binding \"{}\"", name.prefix()))),
            None if tools.contains(name.name()) => Ok(()),
            None => {
                let error = ToolError::new(ErrorCode::NotGranted, format!("there is no tool `{name}`"));
                let known = bound.binding.verbs.iter().map(|verb| verb.name()).chain(tools.iter().map(String::as_str));
                Err(match closest(name.name(), known) {
                    Some(meant) => error.with_hint(format!("did you mean `{}.{meant}`?", name.prefix())),
                    None => {
                        error.with_hint("`transom verbs` lists the verbs; a plugin's tools are named `<plugin>_<tool>`")
                    }
                })
            }
        }
    }

    fn prefixes(
        &self,
        run: &str,
        grants: &Grants,
        files: &RunFiles,
        exchange: &Path,
    ) -> Result<BTreeMap<Prefix, Arc<RunPrefix>>, ToolError> {
        let mut prefixes = BTreeMap::new();
        for prefix in grants.prefixes() {
            let (_, bound) = self.bound(prefix.as_str())?;
            let folder = exchange.join(prefix.as_str());
            std::fs::create_dir_all(&folder).map_err(|error| {
                tracing::error!(%error, "an exchange folder could not be made");
                ToolError::new(ErrorCode::FileNotSaved, "the host could not make a folder for the run's browser")
            })?;
            let session = Session::new(SessionSpec {
                binding: bound.binding.clone(),
                chromium: self.inner.chromium.clone(),
                launcher: self.inner.options.launcher.clone(),
                folder,
                files: files.clone(),
                egress_rows: EgressRows { run: run.to_owned(), dispatcher: self.inner.dispatcher.clone() },
            });
            let parts = RunPrefix { binding: bound.binding.clone(), plugins: bound.plugins.clone(), session };
            prefixes.insert(prefix.clone(), Arc::new(parts));
        }
        Ok(prefixes)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The thread ends by itself when the last handle to the journal is gone; it is not waited for here, since a front end
        // may still hold one.
        drop(self.journal_thread.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Approval rules for what does not exist would be believed and never applied.
fn check_rules(binding: &Binding, plugins: &[Arc<BoundPlugin>]) -> Result<(), BindingError> {
    let tools: Vec<String> = plugins.iter().flat_map(|plugin| plugin.tool_names()).collect();
    let known = || Verb::ALL.iter().map(|verb| verb.name()).chain(tools.iter().map(String::as_str));
    for name in binding.approvals.names() {
        if !known().any(|each| each == name) {
            let meant = closest(name, known()).map(|meant| format!(": did you mean \"{meant}\"?")).unwrap_or_default();
            return Err(BindingError {
                binding: binding.prefix.to_string(),
                key: "approvals".into(),
                problem: format!("\"{name}\" is no verb and no tool of this binding{meant}"),
            });
        }
    }
    Ok(())
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

fn make_folders(folder: &Path, limits: &LimitSettings) -> std::io::Result<(RunFiles, PathBuf)> {
    make_private(folder)?;
    let exchange = folder.join("exchange");
    make_private(&exchange)?;
    let files = RunFiles::create(&folder.join("files"), Quota { bytes: limits.run_bytes, files: limits.run_files })?;
    Ok((files, exchange))
}

fn describe_tools(grants: &Grants, prefixes: &BTreeMap<Prefix, Arc<RunPrefix>>, redactor: Redactor) -> Vec<ToolInfo> {
    let describe = |name: &ToolName| {
        let prefix = prefixes.get(name.prefix())?;
        if let Some(verb) = Verb::from_name(name.name()) {
            return Some(ToolInfo {
                name: name.to_string(),
                description: verb.description(name.prefix().as_str()),
                input_schema: verb.input_schema().clone(),
                output_schema: Some(verb.output_schema().clone()),
                effect: verb.spec().effect,
            });
        }
        let (plugin, own) = prefix.tool(name.name())?;
        let tool = plugin.describe(own)?;
        // What a plugin wrote is a stranger's text, also here.
        Some(ToolInfo {
            name: name.to_string(),
            description: redactor.text(&tool.description).into_inner(),
            input_schema: redactor.value(&tool.input_schema).into_inner(),
            output_schema: tool.output_schema.as_ref().map(|schema| redactor.value(schema).into_inner()),
            effect: tool.effect,
        })
    };
    grants.iter().filter_map(describe).collect()
}
