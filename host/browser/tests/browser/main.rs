//! The browser against a real Chromium and small local sites. Each test has both for itself.
//!
//! Chromium has to be installed: a test that could not start it fails, it doesn't skip.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "tests"
)]

mod support;

mod click;
mod crash;
mod deadlines;
mod dialogs;
mod download;
mod evaluate;
mod floor;
mod forgery;
mod frames;
mod gate;
mod hostile;
mod navigate;
mod oracle;
mod page_script;
mod read;
mod screenshot;
mod start;
mod tabs;
mod type_text;
mod upload;
mod wait;
