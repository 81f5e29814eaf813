//! A run that `call` and `run` drive: one of this process, or one of a daemon by its URL and token.
//!
//! Not here: what is called (`call.rs`, `run.rs`).

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio_util::task::AbortOnDropHandle;
use transom_runs::{CallOptions, EndReason, Host, Run, RunSpec};

use super::args::{ConfigFile, NewRun};
use crate::{
    client::{Client, ClientError},
    config::Environment,
    exit::Failure,
    host_process::HostProcess,
    output,
};

/// Which run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Which {
    #[command(flatten)]
    pub(super) config: ConfigFile,

    #[command(flatten)]
    pub(super) new: NewRun,

    /// Use a daemon's run, by the `url` that it was made with
    #[arg(long = "run", value_name = "URL", conflicts_with_all = ["binding", "tools", "files", "model"], requires = "token")]
    pub(super) url: Option<String>,

    /// The run's token, with --run
    #[arg(long, value_name = "TOKEN", env = "TRANSOM_RUN_TOKEN", hide_env_values = true)]
    pub(super) token: Option<String>,

    /// Save the run's files here in the end
    #[arg(long = "files", value_name = "FOLDER")]
    pub(super) save: Option<PathBuf>,
}

/// A run that is driven.
pub(super) enum Caller {
    /// A run of this process. Its host ends with it.
    Local {
        process: HostProcess,
        run: Run,
        /// Tells the person what waits for them.
        _notices: AbortOnDropHandle<()>,
    },
    /// A run of a daemon.
    Remote(Client),
}

/// A call that failed: for people, and as JSON.
pub(super) struct CallError {
    pub(super) failure: Failure,
    pub(super) json: Value,
}

impl Caller {
    /// Makes the run, or finds it.
    pub(super) async fn open(which: &Which, environment: &Environment) -> Result<Caller, Failure> {
        if let Some(url) = &which.url {
            return Ok(Caller::Remote(Client::of_url(url, which.token.clone())?));
        }
        let (prefixes, tools) = which.new.grants()?;
        let files = which.new.given_files()?;
        let config = which.config.load(environment)?;
        let config = config.only(prefixes.iter().map(String::as_str)).map_err(Failure::usage)?;
        let process = HostProcess::start_configured(&config, environment).await?;
        let notices =
            AbortOnDropHandle::new(tokio::spawn(tell_what_waits(process.host.clone(), which.config.path.clone())));
        let spec = RunSpec { tools, files, model: which.new.model.clone(), shape: "cli".to_owned(), idle: None };
        match process.host.create_run(spec).await {
            Ok(run) => Ok(Caller::Local { process, run, _notices: notices }),
            Err(error) => {
                process.stop().await;
                Err(Failure { exit: crate::exit::Exit::Usage, ..Failure::from(error) })
            }
        }
    }

    /// The tool's input schema, where the run has the tool.
    pub(super) async fn input_schema(&self, tool: &str) -> Result<Option<Value>, Failure> {
        match self {
            Caller::Local { run, .. } => {
                Ok(run.tools().iter().find(|each| each.name == tool).map(|each| each.input_schema.clone()))
            }
            Caller::Remote(client) => {
                let answer = client.get("/tools").await?;
                let tools = answer.get("tools").and_then(Value::as_array);
                let found =
                    tools.into_iter().flatten().find(|each| each.get("name").and_then(Value::as_str) == Some(tool));
                Ok(found.and_then(|each| each.get("input_schema")).cloned())
            }
        }
    }

    /// Calls a tool by its full name.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, CallError> {
        match self {
            Caller::Local { run, .. } => {
                let result = run.call(tool, arguments, CallOptions::default()).await;
                result.map(|value| value.into_inner()).map_err(|error| {
                    let error = error.into_inner();
                    CallError { json: serde_json::to_value(&error).unwrap_or_default(), failure: Failure::from(error) }
                })
            }
            Caller::Remote(client) => {
                let answer = client.post("/calls", &json!({"tool": tool, "arguments": arguments})).await;
                answer
                    .map(|mut answer| answer.get_mut("result").map(Value::take).unwrap_or_default())
                    .map_err(|error: ClientError| CallError { json: error.to_json(), failure: Failure::from(error) })
            }
        }
    }

    /// Saves every file of the run to `folder`, under its name; a name that is taken gets the file's handle in front.
    pub(super) async fn save_files(&self, folder: &Path) -> Result<(), Failure> {
        fs::create_dir_all(folder).map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
        let files = match self {
            Caller::Local { run, .. } => serde_json::to_value(run.files()).unwrap_or_default(),
            Caller::Remote(client) => client.get("/files").await?.get_mut("files").map(Value::take).unwrap_or_default(),
        };
        for file in files.as_array().into_iter().flatten() {
            let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
            let (id, name) = (text("id"), text("name"));
            let (path, target) = create(folder, id, name)?;
            self.copy(id, target).await?;
            output::note(&format!("saved {}", path.display()));
        }
        Ok(())
    }

    async fn copy(&self, id: &str, mut target: fs::File) -> Result<(), Failure> {
        match self {
            Caller::Local { run, .. } => {
                let mut source = run.read_file(id).await?.file;
                let mut buffer = vec![0; 64 << 10];
                loop {
                    let n_read = source.read(&mut buffer).await?;
                    let Some(chunk) = buffer.get(..n_read).filter(|chunk| !chunk.is_empty()) else { break };
                    target.write_all(chunk)?;
                }
            }
            Caller::Remote(client) => {
                let mut response = client.download(&format!("/files/{id}")).await?;
                let broken = |error: reqwest::Error| Failure::failed(format!("{id} did not come whole: {error}"));
                while let Some(chunk) = response.chunk().await.map_err(broken)? {
                    target.write_all(&chunk)?;
                }
            }
        }
        Ok(())
    }

    /// Ends what this process started; a daemon's run goes on.
    pub(super) async fn close(self) {
        if let Caller::Local { process, run, .. } = self {
            run.end(EndReason::Caller).await;
            process.stop().await;
        }
    }
}

/// Makes the file that a run file is saved to. Names are made safe by the run already; what came over a network is looked at again.
fn create(folder: &Path, id: &str, name: &str) -> Result<(PathBuf, fs::File), Failure> {
    let is_component = |text: &str| {
        Path::new(text).components().count() == 1 && Path::new(text).file_name().is_some_and(|own| own == text)
    };
    let name = if is_component(name) { name } else { "file" };
    if !is_component(id) {
        return Err(Failure::failed("the run has a file whose handle is none"));
    }
    let mut last = None;
    for candidate in [name.to_owned(), format!("{id}-{name}")] {
        let path = folder.join(candidate);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) => last = Some(format!("{}: {error}", path.display())),
        }
    }
    Err(Failure::failed(last.unwrap_or_default()))
}

/// Says, once for each call that waits, what waits and how to answer.
async fn tell_what_waits(host: Host, config: Option<PathBuf>) {
    let option = config.map(|path| format!(" --config {}", path.display())).unwrap_or_default();
    let approvals = host.approvals();
    let mut changes = approvals.changes();
    let mut told: BTreeSet<String> = BTreeSet::new();
    loop {
        changes.borrow_and_update();
        let pending = approvals.pending();
        for approval in &pending {
            if told.insert(approval.id.clone()) {
                output::note(&format!("waiting for a person: {}", approval.what.get()));
                output::note(&format!(
                    "  answer with: transom approvals approve {0}{option}, or reject {0}",
                    approval.id
                ));
            }
        }
        told.retain(|id| pending.iter().any(|approval| approval.id == *id));
        if changes.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_file_stays_in_its_folder_and_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let saved =
            |name: &str| create(folder.path(), "file_1", name).map(|(path, _)| path.file_name().unwrap().to_owned());
        assert_eq!(saved("orders.csv").unwrap(), "orders.csv");
        assert_eq!(saved("orders.csv").unwrap(), "file_1-orders.csv");
        assert!(saved("orders.csv").is_err());
        assert_eq!(saved("../escape").unwrap(), "file");
        assert_eq!(saved("..").unwrap(), "file_1-file");
        assert!(create(folder.path(), "../x", "a").is_err());
    }
}
