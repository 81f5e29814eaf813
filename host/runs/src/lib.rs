//! Runs, and the one dispatcher that every call passes.
//!
//! ```text
//! model ─► front end ─┐                                       ┌► browser (a session for each prefix of a run)
//!                     ├► Dispatcher::perform(caller, tool) ──┤
//! plugin ─► its call ─┘      grant → input → approval → intent └► plugin (its calls come back with a narrower caller)
//!                            → act → live page → redact → outcome
//! ```
//!
//! | module | the one question that it answers |
//! |---|---|
//! | [`settings`] | what did the operator write? |
//! | [`binding`] | what do the settings of a binding mean? |
//! | [`bound_plugin`] | what may a plugin do in a binding? |
//! | [`host`] | which runs are there, and what do they share? |
//! | [`run`] | what does one run hold, and when does it end? |
//! | [`dispatcher`] | may this call be performed, and what is said and written down about it? |
//! | `session` | where is the browser of one prefix of a run, and what if it is lost? |
//! | `hooks` | what does the browser layer have to ask? |
//! | `plugin_caller` | what can a plugin's call ask for? |
//! | [`approvals`] | what waits for a person? |
//! | [`files`] | which bytes does a run hold? |
//! | [`journal`] | what happened? |
//!
//! Invariants:
//!
//! - Nothing reaches a browser or a plugin but through [`dispatcher`], and nothing leaves but as [`transom_policy::redact::Redacted`].
//! - `browser`, `egress` and `plugins` don't know each other; only this crate joins them.
//! - A call that is journalled as an intent has an outcome row, also when its caller has gone away.

mod admission;
pub mod approvals;
pub mod binding;
pub mod bound_plugin;
mod caller;
mod cut;
pub mod dispatcher;
mod egress_rows;
pub mod files;
mod hooks;
pub mod host;
pub mod journal;
mod mixing;
mod plugin_caller;
mod question;
pub mod run;
mod session;
pub mod settings;

pub use dispatcher::{CallOptions, CallResult, Progress};
pub use host::{BindingInfo, Host, HostOptions, StartError};
pub use run::{EndReason, GivenFile, Run, RunFile, RunInfo, RunSpec, RunToken, ToolInfo, Tools};
