//! What is allowed: pure decisions, made before anything is done.
//!
//! | module | the question that it answers |
//! |---|---|
//! | [`address`] | is this IP address on the public internet, and what is it otherwise? |
//! | [`filename`] | under which name is this download kept? |
//! | [`grant`] | which tools may this run call, and what may the calls of this plugin do? |
//! | [`hosts`] | may this URL be reached under this host list? |
//! | [`redact`] | what of this text or value is a secret and must not leave? |
//! | [`template`] | which secrets does this text name, and may they be typed on this host? |
//!
//! What holds for the whole crate:
//!
//! - No I/O, no clock, no environment, no async, no state that changes: the same question has the same answer, so that every
//!   rule can be tested with nothing but its arguments.
//! - Whatever an operator wrote is parsed once, at load, into a type that cannot hold a wrong rule; nothing is parsed
//!   again when a call is judged.
//! - A default denies. An error says in one line what is wrong and what to write instead.

pub mod address;
mod capability;
mod entry;
pub mod filename;
pub mod grant;
pub mod hosts;
pub mod redact;
mod secret;
pub mod template;
