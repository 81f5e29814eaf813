//! One Chromium: its arguments, its CDP session layer, tabs, snapshots and actions.
#![allow(dead_code, reason = "being built")]

mod cdp;
