use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::browser;

#[tokio::test(flavor = "multi_thread")]
async fn tabs_are_opened_switched_and_closed_by_ids_that_never_change() {
    let t = browser(&[("a/1", "<title>One</title>"), ("a/2", "<title>Two</title>"), ("a/3", "no title")]).await;
    t.go("a/1").await;
    let got = t.call("open", json!({"url": t.site.url("a/2")})).await;
    assert_eq!(
        got["tabs"],
        json!([
            {"tab": "t1", "title": "One", "url": t.site.url("a/1"), "active": false},
            {"tab": "t2", "title": "Two", "url": t.site.url("a/2"), "active": true},
        ])
    );
    assert_eq!(got.state, json!({}), "the result itself tells of the tab");
    assert_eq!(t.eval("document.title").await, "Two");
    t.call("switch", json!({"tab": "t1"})).await;
    assert_eq!(t.eval("document.title").await, "One");
    t.call("navigate", json!({"url": t.site.url("a/3"), "new_tab": true})).await;
    let got = t.call("tabs", json!({})).await;
    assert_eq!((got["tabs"][2]["tab"].as_str(), got["tabs"][2]["title"].as_str()), (Some("t3"), Some("")));
    let got = t.call("close", json!({})).await;
    assert_eq!(got["tabs"].as_array().unwrap().len(), 2);
    assert_eq!(got.state, json!({}));
    t.fail_for("switch", json!({"tab": "t3"}), Reason::NotFound).await;
    t.fail_for("evaluate", json!({"script": "1", "tab": "t9"}), Reason::NotFound).await;
    assert_eq!(t.fail("switch", json!({})).await.code, ErrorCode::InvalidInput);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_last_tab_closed_navigate_opens_another() {
    let t = browser(&[("a/", "<title>One</title>")]).await;
    t.go("a/").await;
    t.call("close", json!({})).await;
    t.fail_for("snapshot", json!({}), Reason::NotFound).await;
    assert_eq!(t.call("tabs", json!({})).await["tabs"], json!([]));
    assert_eq!(t.go("a/").await["title"], "One");
    assert_eq!(t.call("tabs", json!({})).await["tabs"][0]["tab"], "t2");
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_that_a_page_opens_and_closes_are_told_in_the_state() {
    let t = browser(&[
        ("a/", "<button onclick=\"setTimeout(() => { w = window.open('/2') }, 150)\">x</button>"),
        ("a/2", "<title>Two</title>"),
    ])
    .await;
    t.go("a/").await;
    t.call("click", json!({"selector": "button"})).await;
    let got = t.call("wait", json!({"ms": 800})).await;
    assert_eq!(got.state["opened"], json!(["t2"]));
    t.call("evaluate", json!({"script": "w.close()"})).await;
    let got = t.call("wait", json!({"ms": 300})).await;
    assert_eq!(got.state["closed"], json!(["t2"]), "{got:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_for_a_page_that_is_refused_is_not_left_behind() {
    let t = browser(&[("a/", "one")]).await;
    t.site.answer("a/go", crate::support::Answer::status(302).with("location", &t.site.url("evil/")));
    t.go("a/").await;
    for (verb, arguments) in [
        ("open", json!({"url": t.site.url("evil/")})),
        ("open", json!({"url": t.site.url("a/go")})),
        ("navigate", json!({"url": t.site.url("a/go"), "new_tab": true})),
    ] {
        assert_eq!(t.fail(verb, arguments).await.code, ErrorCode::SiteBlocked);
    }
    let got = t.call("tabs", json!({})).await;
    assert_eq!(got["tabs"].as_array().unwrap().len(), 1);
    assert_eq!(t.eval("document.body.textContent").await, "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_in_the_background_runs_like_one_in_front() {
    let t =
        browser(&[("a/", "<p>x</p><script>n=0;(function tick(){n++;requestAnimationFrame(tick)})()</script>")]).await;
    t.go("a/").await;
    t.call("navigate", json!({"url": t.site.url("a/"), "new_tab": true})).await;
    let script = "const before = n; await new Promise(done => setTimeout(done, 200)); return [n - before > 3, document.visibilityState, document.hasFocus()]";
    for tab in ["t1", "t2"] {
        assert_eq!(
            t.call("evaluate", json!({"tab": tab, "script": script})).await["value"],
            json!([true, "visible", true]),
            "{tab}"
        );
    }
}
