//! A secret is typed and never read: not in a refusal, not by a script that came first, not in a file's name, not in the journal.

use anyhow::ensure;
use serde_json::json;
use transom_runs::CallOptions;
use transom_tests::{
    site::{Page, Site},
    world::Spec,
};
use transom_verbs::{ErrorCode, Reason};

const SECRET: &str = "k9-Vellum-ash-42";

async fn shop() -> anyhow::Result<Site> {
    Site::start([
        (
            "/",
            Page::html(
                "<title>Login</title><input id=pw type=password><input id=day type=date><p id=o></p><a id=get>Get</a>
                 <script>pw.oninput = () => {
                    o.textContent = 'You wrote ' + pw.value; document.title = 'Login ' + pw.value; history.replaceState(null, '', '#' + pw.value)
                    get.href = '/file.csv?as=' + pw.value; get.download = pw.value + '.csv'
                 }</script>",
            ),
        ),
        ("/file.csv", Page::text("text/csv", "a,b\n")),
        ("/other", Page::html("<title>Other</title>")),
    ])
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_echoes_a_secret_everywhere_shows_it_nowhere() -> anyhow::Result<()> {
    let shop = shop().await?;
    let world = Spec::shop(&shop).secret("pw", SECRET).start().await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    let mut seen = String::new();
    seen.push_str(&world.call("shop.type", json!({"selector": "#pw", "text": "{{secret:pw}}"})).await?.to_string());
    for (tool, arguments) in [
        ("shop.snapshot", json!({})),
        ("shop.extract", json!({"selector": "#o"})),
        ("shop.extract", json!({"format": "html", "selector": "body"})),
        ("shop.extract", json!({"selector": "#o", "max_chars": 14})),
        ("shop.tabs", json!({})),
        ("shop.download", json!({"selector": "#get"})),
    ] {
        let result = world.call(tool, arguments).await?;
        seen.push_str(&result.to_string());
    }
    // 46 characters before it: a text that is cut before it is redacted would keep the secret's beginning.
    let padded = format!("{}{{{{secret:pw}}}}", "x".repeat(46));
    let error = world.call_fails("shop.type", json!({"selector": "#day", "text": padded})).await?;
    ensure!(error.reason == Some(Reason::ValueRefused), "{error:?}");
    seen.push_str(&format!("{error:?}"));
    seen.push_str(&serde_json::to_string(&world.run.files())?);
    seen.push_str(&world.journal_text().await?);
    ensure!(seen.contains("You wrote [secret:pw]"), "{seen}");
    ensure!(!seen.contains("k9-Vell"), "a piece of the secret was seen: {seen}");
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_and_secrets_do_not_meet_in_one_browser_unless_the_binding_says_so() -> anyhow::Result<()> {
    let shop = shop().await?;
    for (first, second) in [("evaluate", "type"), ("type", "evaluate")] {
        let world = Spec::shop(&shop).secret("pw", SECRET).start().await?;
        world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
        let arguments = |verb: &str| match verb {
            "type" => json!({"selector": "#pw", "text": "{{secret:pw}}"}),
            _ => {
                json!({"script": "pw.addEventListener('input', () => localStorage.x = [...pw.value].reverse().join('-')); 1"})
            }
        };
        world.call(&format!("shop.{first}"), arguments(first)).await?;
        world.call("shop.navigate", json!({"url": "http://shop.localhost/other"})).await?;
        world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
        let error = world.call_fails(&format!("shop.{second}"), arguments(second)).await?;
        ensure!(error.code == ErrorCode::NotGranted, "{first}, {second}: {error:?}");
        ensure!(error.hint.clone().unwrap_or_default().contains("evaluate_with_secrets"), "{error:?}");
        // Text without a secret is still typed, after a script too.
        world.call("shop.type", json!({"selector": "#pw", "text": "plain"})).await?;
        world.end().await;
    }
    let world = Spec::shop(&shop).secret("pw", SECRET).with("evaluate_with_secrets = true").start().await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    world.call("shop.type", json!({"selector": "#pw", "text": "{{secret:pw}}"})).await?;
    ensure!(
        world.call("shop.evaluate", json!({"script": "pw.value.length"})).await?["value"] == 16,
        "the binding allows it"
    );
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_verb_that_brings_another_along_is_no_way_around_its_rule() -> anyhow::Result<()> {
    let shop = shop().await?;
    let world = Spec::shop(&shop)
        .with("approvals = { evaluate = \"deny\", snapshot = \"deny\", click = \"deny\" }")
        .start()
        .await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    for (tool, arguments, rule) in [
        ("shop.wait", json!({"script": "document.title = 'x'"}), "evaluate"),
        ("shop.navigate", json!({"url": "http://shop.localhost/", "snapshot": true}), "snapshot"),
        ("shop.download", json!({"selector": "#get"}), "click"),
        ("shop.click", json!({"selector": "#get"}), "click"),
    ] {
        let error = world.call_fails(tool, arguments).await?;
        ensure!(error.code == ErrorCode::NotGranted && error.message.contains("deny"), "{tool}: {error:?}");
        let hint = error.hint.clone().unwrap_or_default();
        ensure!(hint.contains(&format!("`{rule} = ")), "the hint names the rule that refused: {error:?}");
    }
    world.call("shop.wait", json!({"selector": "#pw"})).await?;
    world.call("shop.download", json!({"url": "http://shop.localhost/file.csv"})).await?;
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_agreed_to_on_one_site_is_not_done_on_another() -> anyhow::Result<()> {
    let (shop, friend) = (shop().await?, shop().await?);
    let world =
        Spec::shop(&shop).allows("friend.localhost", &friend).with("approvals = { click = \"ask\" }").start().await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    let run = world.run.clone();
    let asking =
        tokio::spawn(async move { run.call("shop.click", json!({"selector": "#pw"}), CallOptions::default()).await });
    let approvals = world.host.approvals();
    let mut changes = approvals.changes();
    while approvals.pending().is_empty() {
        tokio::time::timeout(std::time::Duration::from_secs(30), changes.changed()).await??;
    }
    let approval = approvals.pending().remove(0);
    ensure!(approval.what.as_str().contains("shop.localhost"), "{approval:?}");
    world.call("shop.navigate", json!({"url": "http://friend.localhost/"})).await?;
    approvals.answer(&approval.id, transom_runs::approvals::Answer::Approve, "test")?;
    let error = asking.await?.err().map(|error| error.into_inner());
    ensure!(error.as_ref().is_some_and(|error| error.reason == Some(Reason::Navigation)), "{error:?}");
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_agreed_to_may_lead_to_another_site_of_the_binding() -> anyhow::Result<()> {
    let (shop, friend) = (shop().await?, shop().await?);
    shop.set("/out", Page::html("<title>Out</title><a id=go href='http://friend.localhost/other'>Go</a>"));
    let world =
        Spec::shop(&shop).allows("friend.localhost", &friend).with("approvals = { click = \"ask\" }").start().await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/out"})).await?;
    let run = world.run.clone();
    let asking =
        tokio::spawn(async move { run.call("shop.click", json!({"selector": "#go"}), CallOptions::default()).await });
    let approvals = world.host.approvals();
    let mut changes = approvals.changes();
    while approvals.pending().is_empty() {
        tokio::time::timeout(std::time::Duration::from_secs(30), changes.changed()).await??;
    }
    approvals.answer(&approvals.pending().remove(0).id, transom_runs::approvals::Answer::Approve, "test")?;
    let clicked = asking.await?.map_err(|error| anyhow::anyhow!("{error:?}"))?;
    ensure!(clicked.get()["url"] == "http://friend.localhost/other", "{clicked:?}");
    world.end().await;
    Ok(())
}
