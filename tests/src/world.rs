//! A host with one binding, `shop`, and one run, as an operator's configuration would make them.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use anyhow::{Context, anyhow, bail};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use transom_runs::{
    CallOptions, GivenFile, Host, HostOptions, Run, RunSpec, Tools, binding::SecretValues, settings::Settings,
};
use transom_verbs::ToolError;

use crate::{program, site::Site};

/// How long one call of a test may take before the test fails: everything has a deadline of its own far below.
const CALL_WITHIN: Duration = Duration::from_secs(60);

/// A host with a run.
#[derive(Debug)]
pub struct World {
    /// The host.
    pub host: Host,
    /// The run.
    pub run: Run,
    /// Its state folder.
    pub state: PathBuf,
    _folder: tempfile::TempDir,
}

/// What a world is to be.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Sites by name: what the gate resolves the names to.
    sites: BTreeMap<String, std::net::SocketAddr>,
    hosts: Vec<String>,
    more: String,
    secrets: Vec<(String, String)>,
    tools: Option<Vec<String>>,
    files: Vec<GivenFile>,
}

impl Spec {
    /// A binding that allows only `shop.localhost`.
    #[must_use]
    pub fn shop(site: &Site) -> Spec {
        Spec { hosts: vec!["shop.localhost".into()], ..Spec::default() }.knows("shop.localhost", site)
    }

    /// A binding that allows only `name`, which leads to an address.
    #[must_use]
    pub fn of(name: &str, addr: std::net::SocketAddr) -> Spec {
        Spec { hosts: vec![name.to_owned()], sites: BTreeMap::from([(name.to_owned(), addr)]), ..Spec::default() }
    }

    /// A name that leads to a site, and that the binding does not allow.
    #[must_use]
    pub fn knows(mut self, name: &str, site: &Site) -> Spec {
        self.sites.insert(name.to_owned(), site.addr);
        self
    }

    /// A name that leads to a site, and that the binding allows.
    #[must_use]
    pub fn allows(mut self, name: &str, site: &Site) -> Spec {
        self.hosts.push(name.to_owned());
        self.knows(name, site)
    }

    /// A secret of the binding.
    #[must_use]
    pub fn secret(mut self, name: &str, value: &str) -> Spec {
        self.secrets.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Further lines of the binding, in TOML.
    #[must_use]
    pub fn with(mut self, lines: &str) -> Spec {
        self.more.push_str(lines);
        self.more.push('\n');
        self
    }

    /// Grants only these tools.
    #[must_use]
    pub fn grants(mut self, tools: &[&str]) -> Spec {
        self.tools = Some(tools.iter().map(|tool| (*tool).to_owned()).collect());
        self
    }

    /// Gives the run a file.
    #[must_use]
    pub fn file(mut self, name: &str, text: &str) -> Spec {
        self.files.push(GivenFile { name: name.to_owned(), bytes: text.as_bytes().to_vec(), media_type: None });
        self
    }

    /// The configuration as text.
    #[must_use]
    pub fn config(&self) -> String {
        let hosts: Vec<String> = self.hosts.iter().map(|host| format!("{host:?}")).collect();
        let mut text = format!(
            "[[binding]]\nprefix = \"shop\"\nhosts = [{}]\nstart = \"http://shop.localhost/\"\n{}\n[binding.resolve]\n",
            hosts.join(", "),
            self.more.split("[[").next().unwrap_or_default()
        );
        for (name, addr) in &self.sites {
            text.push_str(&format!("{name:?} = \"{addr}\"\n"));
        }
        if !self.secrets.is_empty() {
            text.push_str("[binding.secrets]\n");
            for (name, _) in &self.secrets {
                text.push_str(&format!("{name} = {{ env = \"SECRET_{}\" }}\n", name.to_uppercase()));
            }
        }
        // Tables of the binding come after its own keys.
        if let Some(at) = self.more.find("[[") {
            text.push_str(self.more.get(at..).unwrap_or_default());
        }
        text
    }

    /// Starts the host and the run.
    ///
    /// # Errors
    /// When either can't be started.
    pub async fn start(self) -> anyhow::Result<World> {
        let settings: Settings = toml::from_str(&self.config()).with_context(|| self.config())?;
        let mut secrets = SecretValues::new();
        for (name, value) in &self.secrets {
            secrets.insert("shop", name, value.clone());
        }
        let folder = tempfile::tempdir()?;
        let state = folder.path().join("state");
        let options = HostOptions { launcher: program::path()?, state: state.clone(), base_dir: program::repository() };
        let host = Host::start(settings, secrets, options).await?;
        let tools = self.tools.map_or_else(|| Tools::Binding("shop".into()), Tools::Named);
        let spec = RunSpec { tools, files: self.files, model: None, shape: "test".into(), idle: None };
        let run = host.create_run(spec).await.map_err(|error| anyhow!("{error:?}"))?;
        Ok(World { host, run, state, _folder: folder })
    }
}

impl World {
    /// Calls a tool.
    ///
    /// # Errors
    /// When the call does not end; a tool error is a value.
    pub async fn try_call(&self, tool: &str, arguments: Value) -> anyhow::Result<Result<Value, ToolError>> {
        let options = CallOptions { cancel: CancellationToken::new(), progress: None };
        let called = tokio::time::timeout(CALL_WITHIN, self.run.call(tool, arguments.clone(), options)).await;
        let result = called.with_context(|| format!("{tool} {arguments} did not end within {CALL_WITHIN:?}"))?;
        Ok(result.map(|value| value.into_inner()).map_err(|error| error.into_inner()))
    }

    /// Calls a tool that has to succeed.
    ///
    /// # Errors
    /// When it does not.
    pub async fn call(&self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        match self.try_call(tool, arguments.clone()).await? {
            Ok(value) => Ok(value),
            Err(error) => bail!("{tool} {arguments}: {error:?}"),
        }
    }

    /// Calls a tool that has to fail.
    ///
    /// # Errors
    /// When it succeeds.
    pub async fn call_fails(&self, tool: &str, arguments: Value) -> anyhow::Result<ToolError> {
        match self.try_call(tool, arguments.clone()).await? {
            Ok(value) => bail!("{tool} {arguments} should have failed, and gave {value}"),
            Err(error) => Ok(error),
        }
    }

    /// Everything that the journal holds, as one text.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn journal_text(&self) -> anyhow::Result<String> {
        let entries = self.host.journal().entries(transom_runs::journal::JournalFilter::default()).await?;
        Ok(serde_json::to_string_pretty(&entries)?)
    }

    /// Ends the host.
    pub async fn end(self) {
        self.host.shutdown().await;
    }
}
