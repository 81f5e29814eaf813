//! A run ends by itself when nothing is called, says so, and gives its place back; its files can be fetched by a person until then.

use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use serde_json::json;
use tokio::io::AsyncReadExt;
use transom_runs::{EndReason, RunSpec, Tools};
use transom_tests::{
    site::{Page, Site},
    world::Spec,
};
use transom_verbs::Reason;

/// How long an idle run may take to end before the test fails.
const ENDS_WITHIN: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_run_ends_and_one_that_ended_takes_no_call() -> anyhow::Result<()> {
    let shop = Site::start([("/", Page::html("<title>Shop</title>"))]).await?;
    let world = Spec::shop(&shop).start().await?;
    let spec = RunSpec {
        tools: Tools::Binding("shop".into()),
        files: Vec::new(),
        model: None,
        shape: "test".into(),
        idle: Some(Duration::from_millis(300)),
    };
    let run = world.host.create_run(spec).await.map_err(|error| anyhow!("{error:?}"))?;
    // Longer than the idle time: a call that is under way is no idleness.
    let waited = run.call("shop.wait", json!({"ms": 600}), transom_runs::CallOptions::default()).await;
    ensure!(waited.is_ok(), "{waited:?}");
    tokio::time::timeout(ENDS_WITHIN, run.wait_ended()).await.context("the run did not end")?;
    ensure!(run.ended() == Some(EndReason::Idle), "{:?}", run.ended());
    let after = run.call("shop.tabs", json!({}), transom_runs::CallOptions::default()).await;
    ensure!(after.as_ref().is_err_and(|error| error.get().reason == Some(Reason::RunEnded)), "{after:?}");
    // The other run of the same host goes on.
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_the_run_was_given_or_downloaded_is_fetched_whole_and_gone_with_the_host() -> anyhow::Result<()> {
    let shop = Site::start([
        ("/", Page::html("<title>Shop</title>")),
        (
            "/orders.csv",
            Page::text("text/csv", "a,b\n1,2\n").header("content-disposition", "attachment; filename=\"orders.csv\""),
        ),
    ])
    .await?;
    let world = Spec::shop(&shop).file("given.txt", "given").start().await?;
    let kept = world.call("shop.download", json!({"url": "http://shop.localhost/orders.csv"})).await?;
    ensure!(kept["file"]["name"] == "orders.csv" && kept["file"]["size"] == 8, "{kept}");
    for (id, wanted) in [
        (kept["file"]["id"].as_str().context("an id")?.to_owned(), "a,b\n1,2\n"),
        (world.run.files()[0].id.to_string(), "given"),
    ] {
        let mut file = world.run.read_file(&id).await.map_err(|error| anyhow!("{error:?}"))?;
        let mut text = String::new();
        file.file.read_to_string(&mut text).await?;
        ensure!(text == wanted, "{id}: {text}");
    }
    let error = world.run.read_file("../journal.sqlite").await.err();
    ensure!(error.is_some(), "a path is no handle");
    let folder = world.state.join("runs").join(world.run.id());
    ensure!(folder.exists(), "while the run lives, its files are there");
    world.host.shutdown().await;
    ensure!(!folder.exists(), "nothing of the run is left on disk");
    Ok(())
}
