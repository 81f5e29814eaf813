//! One Chromium and what can be done with it: its arguments, its CDP session layer, tabs, snapshots and actions.
//!
//! [`Browser::connect`] takes over a Chromium by the ends of its pipe; [`Browser::perform`] is the one way to ask something of it.
//! What the browser itself must not decide or keep it asks for through [`Hooks`].
//!
//! How a call goes: `browser.rs` finds the tab and the verb's file; the verb aims (`aim.rs`) by the script that lives in each document
//! (`page/`), sends input, and waits for what it started (`settle.rs`). Chromium's events change one model of the browser
//! (`world.rs`), in the order of the pipe, before any answer that came after them is seen.
//!
//! Invariants, mostly absences: no policy and no files here; no sleeps, and no polling where there is an event; no wait without a
//! deadline; no queue without a bound; no lock held over an await; every task is owned by the [`Browser`] and ends with it; what
//! Chromium holds for us (a request, a target, a dialog) is always let go, also when it can't be understood.

mod actions;
mod activity;
mod aim;
mod browser;
mod cdp;
pub mod chromium;
mod crash;
mod dialogs;
mod downloads;
mod evaluate;
mod extract;
mod failure;
mod fetch_gate;
mod frames;
mod hooks;
mod keeper;
mod motion;
mod navigation;
mod opening;
mod options;
mod page;
mod refs;
mod screenshot;
mod settle;
mod snapshot;
mod state;
mod tab_verbs;
mod tabs;
mod targets;
mod wait;
mod world;

pub use browser::{Browser, BrowserError, LivePage, Performed, Skipped};
pub use extract::REDACTION_OVERLAP;
pub use hooks::{DocumentVerdict, ExposedFile, Filled, FinishedDownload, Hooks, Picture};
pub use options::{BrowserOptions, DIALOG_ANSWER_WITHIN, DialogPolicy, MESSAGE_CAP, Viewport};
