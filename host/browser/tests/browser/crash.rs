use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::browser;

#[tokio::test(flavor = "multi_thread")]
async fn a_crashed_page_fails_its_calls_at_once_and_navigate_brings_the_tab_back() {
    let t = browser(&[("a/", "<title>Shop</title><button onclick='n=1'>b</button>")]).await;
    t.go("a/").await;
    let endless = t.try_call("evaluate", json!({"script": "await new Promise(() => {})"}));
    let crash = async {
        // The script is in the page before the page goes.
        t.call("wait", json!({"ms": 300})).await;
        t.browser.command_for_tests("Page.crash", json!({})).await;
    };
    let (ended, ()) = tokio::join!(endless, crash);
    assert!(ended.as_ref().is_err_and(|error| error.is(Reason::PageCrashed)), "{ended:?}");
    for (verb, arguments) in [
        ("evaluate", json!({"script": "1"})),
        ("snapshot", json!({})),
        ("click", json!({"selector": "button"})),
        ("screenshot", json!({})),
    ] {
        t.fail_for(verb, arguments, Reason::PageCrashed).await;
    }
    let tabs = t.call("tabs", json!({})).await;
    assert_eq!(tabs["tabs"][0]["tab"], "t1");
    assert_eq!(t.go("a/").await["title"], "Shop");
    t.call("click", json!({"selector": "button"})).await;
    assert_eq!(t.eval("n").await, 1);
    t.snapshot().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reload_brings_a_crashed_tab_back_too() {
    let t = browser(&[("a/", "<title>Shop</title>")]).await;
    t.go("a/").await;
    t.browser.command_for_tests("Page.crash", json!({})).await;
    t.fail_for("evaluate", json!({"script": "1"}), Reason::PageCrashed).await;
    assert_eq!(t.call("reload", json!({})).await["title"], "Shop");
    assert_eq!(t.eval("document.title").await, "Shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_browser_fails_every_call_at_once() {
    let mut t = browser(&[("a/", "<title>Shop</title>")]).await;
    t.go("a/").await;
    let browser = t.browser.clone();
    t.chromium.kill();
    browser.closed().await;
    let error = t.fail("evaluate", json!({"script": "1"})).await;
    assert_eq!(error.code, ErrorCode::BrowserUnavailable);
    assert!(error.ends_run());
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_or_dropping_a_browser_ends_chromium() {
    let mut t = browser(&[]).await;
    t.browser.close().await;
    tokio::task::block_in_place(|| t.chromium.wait());

    let t = browser(&[]).await;
    let (browser, mut chromium) = (t.browser, t.chromium);
    drop(browser);
    tokio::task::block_in_place(|| chromium.wait());
}
