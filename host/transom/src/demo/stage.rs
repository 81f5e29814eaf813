//! What the demo plays on: the shop, the server outside, a host with one binding, and a run of it.
//!
//! The binding is written as an operator would write it and read as any other, so that what the demo shows can be copied.
//!
//! Not here: what is played (`story.rs`).

use std::path::Path;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use transom_runs::{
    CallOptions, CallResult, EndReason, Run, RunSpec, Tools, binding::SecretValues, settings::Settings,
};

use super::shop::{Outside, SHOP_HOST, Shop};
use crate::{
    exit::{Exit, Failure},
    host_process::{HostProcess, Places},
};

/// The binding's prefix.
const PREFIX: &str = "shop";

/// The name of the binding's secret.
pub(super) const SECRET: &str = "password";

/// Everything that runs while the demo does.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) shop: Shop,
    pub(super) outside: Outside,
    pub(super) process: HostProcess,
    pub(super) run: Run,
    /// The binding, as it was read.
    pub(super) binding: String,
    state: TempDir,
}

impl Stage {
    /// Starts it all, with the plugin of this manifest. Its state is kept in a folder that goes with the stage.
    pub(super) async fn set(manifest: &Path) -> Result<Stage, Failure> {
        let shop = Shop::start().await.map_err(Failure::failed)?;
        let outside = Outside::start().await.map_err(Failure::failed)?;
        let state = tempfile::Builder::new()
            .prefix("transom-demo-")
            .tempdir()
            .map_err(|error| Failure::failed(format!("no folder for the demo's state could be made: {error}")))?;
        let binding = binding(&shop, &outside, manifest);
        let settings: Settings =
            toml::from_str(&binding).map_err(|error| Failure::failed(format!("the demo's binding: {error}")))?;
        let mut secrets = SecretValues::new();
        secrets.insert(PREFIX, SECRET, shop.password().to_owned());
        let places = Places { state: state.path().to_owned(), base_dir: state.path().to_owned() };
        let process = HostProcess::start(settings, secrets, places).await.map_err(Failure::usage)?;
        let spec = RunSpec {
            tools: Tools::Binding(PREFIX.to_owned()),
            files: Vec::new(),
            model: None,
            shape: "demo".to_owned(),
            idle: None,
        };
        match process.host.create_run(spec).await {
            Ok(run) => Ok(Stage { shop, outside, process, run, binding, state }),
            Err(error) => {
                process.stop().await;
                Err(Failure { exit: Exit::Failed, ..Failure::from(error) })
            }
        }
    }

    /// Calls a tool as a model would.
    pub(super) async fn call(&self, tool: &str, arguments: serde_json::Value) -> CallResult {
        self.run.call(tool, arguments, CallOptions { cancel: CancellationToken::new(), progress: None }).await
    }

    /// The folder of the host's state.
    pub(super) fn state(&self) -> &Path {
        self.state.path()
    }

    /// Ends the run, the host and the servers, and removes the state.
    pub(super) async fn strike(self) {
        self.run.end(EndReason::Caller).await;
        self.process.stop().await;
        if let Err(error) = self.state.close() {
            tracing::warn!(%error, "the demo's folder could not be removed");
        }
    }
}

/// The configuration. The outside server has a name and an address here and stands in no list of hosts: whoever tries to go there is
/// refused by the rules, and not because the name leads nowhere.
fn binding(shop: &Shop, outside: &Outside, manifest: &Path) -> String {
    let value = |text: &str| toml::Value::from(text).to_string();
    format!(
        r#"[[binding]]
prefix = "{PREFIX}"
hosts = ["{SHOP_HOST}"]
start = {start}
approvals = {{ upload = "ask", timeout = "5m" }}
resolve = {{ "{SHOP_HOST}" = "{shop_addr}", "{outside_host}" = "{outside_addr}" }}

[binding.secrets]
{SECRET} = {{ env = "SHOP_PASSWORD", hosts = ["{SHOP_HOST}"] }}

[[binding.plugin]]
manifest = {manifest}
verbs = ["tabs", "navigate", "extract", "click", "type"]
secrets = ["{SECRET}"]
"#,
        start = value(&shop.url("/")),
        shop_addr = shop.addr(),
        outside_host = Outside::HOST,
        outside_addr = outside.addr(),
        manifest = value(&manifest.display().to_string()),
    )
}
