//! What a plugin's call can ask for: verbs under its own narrower grants, the names of secrets that it may type, a line for the log.
//!
//! Each verb goes through the dispatcher like any other call, with the plugin as its caller.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use transom_plugins::{Host, LogLevel};
use transom_policy::{grant::Prefix, redact::Redacted};
use transom_verbs::ToolError;

use crate::{
    bound_plugin::BoundPlugin,
    caller::Caller,
    dispatcher::{CallOptions, Dispatcher},
    run::RunInner,
};

#[derive(Debug)]
pub(crate) struct PluginCaller {
    dispatcher: Arc<Dispatcher>,
    run: Arc<RunInner>,
    prefix: Prefix,
    plugin: Arc<BoundPlugin>,
    cancel: CancellationToken,
}

impl PluginCaller {
    pub(crate) fn new(
        dispatcher: Arc<Dispatcher>,
        run: Arc<RunInner>,
        prefix: Prefix,
        plugin: Arc<BoundPlugin>,
        cancel: CancellationToken,
    ) -> PluginCaller {
        PluginCaller { dispatcher, run, prefix, plugin, cancel }
    }
}

#[async_trait]
impl Host for PluginCaller {
    async fn verb(
        &self,
        interface: &'static str,
        verb: &'static str,
        arguments: Value,
    ) -> Result<Redacted<Value>, Redacted<ToolError>> {
        let caller = Caller::Plugin { plugin: self.plugin.clone(), interface };
        let tool = format!("{}.{verb}", self.prefix);
        let options = CallOptions { cancel: self.cancel.clone(), progress: None };
        // Boxed: performing a plugin's tool performs its verbs.
        Box::pin(self.dispatcher.perform(&self.run, &caller, &tool, &arguments, &options)).await
    }

    fn secret_names(&self) -> Vec<String> {
        self.plugin.capabilities.secrets().map(str::to_owned).collect()
    }

    fn log(&self, level: LogLevel, line: &str) {
        let line = self.dispatcher.redactor.text(line);
        let (plugin, run, line) = (&self.plugin.name, &self.run.id, line.get());
        match level {
            LogLevel::Debug => tracing::debug!(plugin, run, "{line}"),
            LogLevel::Info => tracing::info!(plugin, run, "{line}"),
            LogLevel::Warn => tracing::warn!(plugin, run, "{line}"),
            LogLevel::Error => tracing::error!(plugin, run, "{line}"),
        }
    }
}
