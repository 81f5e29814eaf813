//! The proxy over real sockets: what is allowed arrives as it should, and what is refused never touches its server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail where it stands"
)]

mod bounds;
mod plain;
mod support;
mod tunnels;
