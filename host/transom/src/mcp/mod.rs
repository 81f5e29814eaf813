//! MCP: a run's tools, as the Model Context Protocol offers tools.
//!
//! The protocol is rmcp's trade (framing, revisions, sessions); this folder only translates. Names, schemas and refusals are the
//! run's.
//!
//! | file | the one question that it answers |
//! |---|---|
//! | [`server`] | what does a client see of a run? |
//! | [`render`] | what text does a model read for a result or an error? |
//! | [`stdio`] | how is one run served to the process that started us? |
//! | [`http`] | how is each run served at its own address? |
//!
//! Not here: whether a call is performed (`transom-runs`), tokens (`crate::http`).

pub mod http;
pub mod render;
pub mod server;
pub mod stdio;
#[cfg(test)]
mod tests;

pub use server::{Options, OptionsError, RunServer};
