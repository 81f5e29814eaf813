//! The demo shows all that it promises, and says so by its exit code.

use std::{process::Stdio, time::Duration};

use anyhow::{Context, ensure};
use tokio::process::Command;
use transom_tests::program;

/// How long the demo may take before the test fails.
const WITHIN: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_shows_every_step_and_exits_0() -> anyhow::Result<()> {
    let demo = Command::new(program::path()?)
        .arg("demo")
        .current_dir(program::repository())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(WITHIN, demo).await.context("the demo did not end in time")??;
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}\n{said}\n{errors}", output.status);
    for holds in ["orders_list", "orders.csv", "file_", "approv", "computer_use_site_blocked", "intent", "outcome"] {
        ensure!(said.contains(holds), "no {holds} in:\n{said}");
    }
    ensure!(!said.contains("\u{1b}["), "no colours where there is no terminal");
    Ok(())
}
