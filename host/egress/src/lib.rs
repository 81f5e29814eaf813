//! The only way out: a browser that lives in a network jail, and the filtering proxy that is the jail's single exit.
//!
//! ```text
//! jail::launch ─► Chromium, in namespaces of its own ─► a listener on the jail's loopback ─► proxy::serve ─► Gate ─► dns ─► host
//! ```
//!
//! | module | the one question that it answers |
//! |---|---|
//! | [`isolation`] | how strongly is Chromium separated from the host? |
//! | [`jail`] | how is Chromium started so that nothing but the listener leads out, and nothing outlives the host? |
//! | [`gate`] | may this host be reached, by these rules, for this purpose? What became of each request? |
//! | [`proxy`] | how does a request get from the listener to the gate and out, or get a refusal? |
//! | [`dns`] | which addresses has a name, and may all of them be dialled? |
//! | `dial`, `sni` | which of them answers? Which server does a TLS client ask for? |
//!
//! Not here: what a host entry means and which addresses are public (`transom-policy`), which arguments Chromium gets and
//! what is said to it (`transom-browser`), who may do what (`transom-runs`).

mod dial;
pub mod dns;
pub mod gate;
pub mod isolation;
pub mod jail;
pub mod proxy;
mod sni;

pub use isolation::Isolation;
pub use jail::{JailError, LaunchSpec, Launched, launch, launcher_main, probe};
