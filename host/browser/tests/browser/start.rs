use serde_json::json;
use transom_verbs::error::ErrorCode;

use crate::support::browser_with;

#[tokio::test(flavor = "multi_thread")]
async fn the_first_call_loads_the_start_page_and_later_ones_do_not() {
    let t =
        browser_with(&[("a/start", "<title>Start</title>hello")], |options| options.start_url = Some("a/start".into()))
            .await;
    assert_eq!(t.site.hits("a/start"), 0);
    assert_eq!(t.text().await, "hello");
    t.text().await;
    assert_eq!(t.site.hits("a/start"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_call_that_opens_a_page_itself_does_not_load_the_start_page() {
    let t = browser_with(&[("a/start", "start"), ("a/", "<title>Other</title>")], |options| {
        options.start_url = Some("a/start".into())
    })
    .await;
    let got = t.call("navigate", json!({"url": t.site.url("a/"), "new_tab": true})).await;
    assert_eq!((got["title"].as_str(), got["tab"].as_str()), (Some("Other"), Some("t1")));
    assert_eq!(t.site.hits("a/start"), 0);
    let got = t.call("open", json!({})).await;
    assert_eq!(got["tabs"][1]["url"], t.site.url("a/start"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_page_that_is_refused_is_told() {
    let t = browser_with(&[], |options| options.start_url = Some("evil/start".into())).await;
    let error = t.fail("snapshot", json!({})).await;
    assert_eq!(error.code, ErrorCode::SiteBlocked);
    assert!(error.message.contains("start page"), "{error:?}");
    assert_eq!(t.site.hits_of_host("evil"), 0);
}
