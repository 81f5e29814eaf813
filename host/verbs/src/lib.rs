//! What a browser verb is: its name, typed input and result, effect, retry rule, errors and the text that a model reads.
//!
//! This crate is the one place where a verb is declared. Tool schemas, the HTTP API, the command line, the reference page and
//! the plugin interfaces derive from it or are tested against it.
//!
//! - [`registry`]: the list of verbs and how a call is parsed.
//! - [`verb`]: one file for each verb.
//! - [`target`], [`ids`]: how a call names an element, a tab, a run file.
//! - [`error`]: the closed set of error codes and reasons.
//! - [`state`]: what changed in the browser since the caller's last result.
//! - [`reference`]: the reference page, rendered from the registry.
//!
//! Invariants: plain data, no I/O, no async, no knowledge of CDP, of policy or of any caller. Adding a verb is adding a file
//! to [`verb`] and a line to [`registry`].

pub mod error;
pub mod ids;
pub mod limits;
pub mod reference;
pub mod registry;
pub mod schema;
pub mod state;
pub mod target;
pub mod verb;

pub use error::{ErrorCode, Reason, ToolError};
pub use ids::{FileId, RefId, TabId};
pub use registry::{Call, Effect, Interface, Outcome, Retry, Spec, Verb};
pub use state::State;
pub use target::{OptionalTarget, Target};
