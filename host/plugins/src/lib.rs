//! Plugins: WebAssembly components with a manifest, each call in a fresh instance that can do what its imports allow.
//!
//! A plugin is loaded once ([`PluginHost::load`]): its manifest is read strictly, its component is compiled, its imports
//! are held against the manifest, and the tools that it describes are checked. Then each [`Plugin::call`] makes an instance,
//! gives it one tab and one deadline, and throws it away.
//!
//! | file | the question that it answers |
//! |---|---|
//! | `manifest.rs` | what does the author ask for? |
//! | `component.rs` | what does the component import, and may it be loaded? |
//! | `describe.rs` | are the tools that it describes in order? |
//! | `engine.rs`, `ticker.rs` | how does guest code run, and how is it stopped? |
//! | `limits.rs`, `budget.rs` | what may one call use up? |
//! | `call.rs` | how does one call go, and what does its caller see of its end? |
//! | `state.rs` | what does the host know about the call that an instance belongs to? |
//! | `host/X.rs` | what does an import of `wit/X.wit` do? |
//! | `wasi.rs`, `log.rs` | what do Python's and JavaScript's own imports get? (nothing; their output is logged) |
//!
//! What holds for the whole crate:
//!
//! - It knows wasmtime and is the only crate that does. It knows no browser, no policy and no run: every verb goes to the
//!   [`Host`] trait, behind which `runs` judges it. The one rule that is decided here is the ceiling: imports ∩ manifest.
//! - A guest never ends the host: traps, limits and deadlines end its instance, and the next call has a new one.
//! - Nothing that a guest says is trusted: descriptions, results, handles and sizes are checked where they come in.
//! - A caller sees which limit was hit, never a backtrace; the operator's log has that.

mod bindings;
mod budget;
mod call;
mod component;
mod describe;
mod engine;
mod host;
mod interface;
mod limits;
mod log;
pub mod manifest;
mod plugin;
mod state;
mod ticker;
mod wasi;

use async_trait::async_trait;
use serde_json::Value;
use transom_policy::redact::Redacted;
use transom_verbs::ToolError;

pub use budget::CallBudget;
pub use call::ToolResult;
pub use component::{ComponentError, Digest, Imports};
pub use describe::{DescribeError, ToolSpec};
pub use engine::PluginHostError;
pub use interface::Interface;
pub use limits::Limit;
pub use manifest::{Manifest, ManifestError};
pub use plugin::{LoadError, Plugin, PluginHost, PluginHostConfig};

/// What a plugin's call reaches the world through: one per call, made by whoever makes the call.
#[async_trait]
pub trait Host: Send + Sync {
    /// Performs one verb on behalf of this call.
    ///
    /// `interface` is the WIT interface whose function was called (`act`, `secrets`, …), `args` the verb's JSON arguments.
    /// What the plugin may do (imports ∩ manifest ∩ the binding's grant) is judged behind this, and a denial comes back
    /// as an error. With the interface `secrets`, `verb` is `type` and the text is one placeholder, `{{secret:NAME}}`,
    /// whose name is one of [`Host::secret_names`].
    ///
    /// # Errors
    /// What the verb ends with; the guest sees it as a value.
    ///
    /// # Cancel safety
    /// The future is dropped when the call's deadline passes.
    async fn verb(
        &self,
        interface: &'static str,
        verb: &'static str,
        args: Value,
    ) -> Result<Redacted<Value>, Redacted<ToolError>>;

    /// The names of the secrets that this plugin may type here.
    fn secret_names(&self) -> Vec<String>;

    /// Takes one line of the plugin's log. It has no control characters; volume is limited before it comes here. It is the
    /// plugin's text: redact it before it is kept.
    fn log(&self, level: LogLevel, line: &str);
}

/// How much a line of a plugin's log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for whoever works on the plugin.
    Debug,
    /// What happened; also what a component writes to its standard output.
    Info,
    /// Not as expected, and coped with; also what a component writes to its standard error.
    Warn,
    /// An operator should look at it.
    Error,
}
