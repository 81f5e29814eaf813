//! An upload waits for a person: attached once they agree, and not at all when they don't or don't answer.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use transom_runs::{CallOptions, approvals::Answer};
use transom_tests::{
    site::{Page, Site},
    world::{Spec, World},
};
use transom_verbs::{ErrorCode, ToolError};

/// How long a question may take to appear.
const ASKED_WITHIN: Duration = Duration::from_secs(30);

async fn world(more: &str) -> anyhow::Result<(Site, World, String)> {
    let shop = Site::start([(
        "/",
        Page::html("<title>Up</title><input type=file id=f onchange='changes++'><script>changes = 0</script>"),
    )])
    .await?;
    let world = Spec::shop(&shop).with(more).file("report.csv", "a,b\n1,2\n").start().await?;
    let file = world.run.files().first().context("the run was given a file")?.id.to_string();
    Ok((shop, world, file))
}

async fn upload_and_answer(
    world: &World,
    file: &str,
    answer: Option<Answer>,
) -> anyhow::Result<Result<Value, ToolError>> {
    let run = world.run.clone();
    let arguments = json!({"selector": "#f", "file": file});
    let call = tokio::spawn(async move { run.call("shop.upload", arguments, CallOptions::default()).await });
    if let Some(answer) = answer {
        let approvals = world.host.approvals();
        let mut changes = approvals.changes();
        let waiting = async {
            loop {
                if let Some(approval) = approvals.pending().into_iter().next() {
                    return Ok::<_, anyhow::Error>(approval);
                }
                changes.changed().await?;
            }
        };
        let approval = tokio::time::timeout(ASKED_WITHIN, waiting).await.context("nobody was asked")??;
        ensure!(
            approval.what.as_str().contains("report.csv") && approval.what.as_str().contains("8 bytes"),
            "{approval:?}"
        );
        ensure!(attached(world).await? == json!([0, 0]), "nothing is attached before the answer");
        approvals.answer(&approval.id, answer, "test")?;
        ensure!(approvals.answer(&approval.id, answer, "test").is_err(), "an answer counts once");
    }
    Ok(call.await?.map(|value| value.into_inner()).map_err(|error| error.into_inner()))
}

async fn attached(world: &World) -> anyhow::Result<Value> {
    Ok(world.call("shop.evaluate", json!({"script": "[f.files.length, changes]"})).await?["value"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_is_attached_once_a_person_agrees() -> anyhow::Result<()> {
    let (_shop, world, file) = world("").await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    let result = upload_and_answer(&world, &file, Some(Answer::Approve)).await?;
    ensure!(result.as_ref().is_ok_and(|value| value["file"]["name"] == "report.csv"), "{result:?}");
    ensure!(attached(&world).await? == json!([1, 1]), "{:?}", attached(&world).await?);
    let content = world
        .call("shop.evaluate", json!({"script": "return f.files[0].name + ':' + await f.files[0].text()"}))
        .await?;
    ensure!(content["value"] == "report.csv:a,b\n1,2\n", "{content}");
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_that_is_rejected_or_not_answered_attaches_nothing() -> anyhow::Result<()> {
    let (_shop, world, file) = world("approvals = { timeout = \"2s\" }").await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    for (answer, code) in [(Some(Answer::Reject), ErrorCode::UploadRejected), (None, ErrorCode::UploadTimedOut)] {
        let result = upload_and_answer(&world, &file, answer).await?;
        ensure!(result.as_ref().is_err_and(|error| error.code == code), "{result:?}");
        ensure!(attached(&world).await? == json!([0, 0]), "{code}");
        ensure!(world.host.approvals().pending().is_empty(), "{code}");
    }
    let journal = world.journal_text().await?;
    ensure!(journal.contains("\"answer\": \"reject\"") && journal.contains("\"answer\": null"), "{journal}");
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_verb_can_wait_and_a_denied_one_is_refused_at_once() -> anyhow::Result<()> {
    let (_shop, world, _) = world("approvals = { click = \"ask\", reload = \"deny\", timeout = \"1s\" }").await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    let error = world.call_fails("shop.click", json!({"selector": "#f"})).await?;
    ensure!(error.code == ErrorCode::ApprovalTimedOut, "{error:?}");
    let error = world.call_fails("shop.reload", json!({})).await?;
    ensure!(error.code == ErrorCode::NotGranted && error.message.contains("deny"), "{error:?}");
    world.end().await;
    Ok(())
}
