//! The program `transom`, as a library so that tests can use its parts. Thin: it translates, it decides nothing.
//!
//! | module | what |
//! |---|---|
//! | [`cli`] | one file for each command |
//! | [`config`] | the configuration file, its mistakes, its secrets |
//! | [`host_process`] | a host inside this process, with its control socket |
//! | [`http`] | the API over HTTP |
//! | [`mcp`] | MCP over stdio and HTTP |
//! | [`control`] | how `transom approvals` finds and reaches every host of this user |
//! | [`client`] | the API from the other side |
//! | [`demo`] | a shop to try it on |
//! | [`output`], [`exit`] | what a command prints, and how it ends |
//!
//! Invariants: every call goes to a [`transom_runs::Run`], and what it gives is passed on as it is. Only this crate reads arguments, the
//! environment and configuration files.

pub mod cli;
pub mod client;
pub mod config;
pub mod control;
pub mod demo;
pub mod exit;
pub mod host_process;
pub mod http;
pub mod mcp;
pub mod output;

use std::process::ExitCode;

/// The program: its arguments are the process's.
#[must_use]
pub fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    // Inside a jail our binary is only the launcher: nothing else of it may run there, least of all a thread.
    if args.next().is_some_and(|first| first == "jail-launcher") {
        return transom_egress::launcher_main(args);
    }
    cli::main()
}
