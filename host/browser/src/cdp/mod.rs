//! Talking to Chromium: messages, calls and events, and nothing about pages.
//!
//! - [`codec`]: bytes of the pipe to messages, with a cap.
//! - [`connection`]: calls and their answers; who reads, who writes, and what happens when the pipe is lost.
//! - [`session`]: the flattened sessions that a call can be for.
//! - [`events`]: the events that this crate listens to, and how each is decoded.
//!
//! The commands are `chromiumoxide_cdp`'s generated types, so a misspelt name doesn't compile. What Chromium *sends* is decoded
//! into small structs of our own: the generated enums are closed, and a value that a newer Chromium adds must not turn an event
//! that holds a request or a target into one that nobody releases.

pub(crate) mod codec;
pub(crate) mod connection;
pub(crate) mod events;
pub(crate) mod session;

pub(crate) use connection::{CallError, Connection, EventSink, Reply};
pub(crate) use session::{Session, SessionId};
