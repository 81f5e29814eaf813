use serde_json::json;
use transom_verbs::error::ErrorCode;

use crate::support::{Answer, browser};

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_hop_ends_the_navigation_names_only_its_host_and_is_never_asked() {
    let t = browser(&[("a/", "<title>Shop</title>")]).await;
    t.site.answer("a/go", Answer::status(302).with("location", &t.site.url("evil/x?token=private")));
    t.go("a/").await;
    for url in [t.site.url("a/go"), t.site.url("evil/x")] {
        let error = t.fail("navigate", json!({"url": url})).await;
        assert_eq!(error.code, ErrorCode::SiteBlocked);
        assert!(error.message.contains("evil.localhost") && error.message.contains("refused"), "{error:?}");
        assert!(!error.message.contains("private") && !error.message.contains("/x"), "{error:?}");
    }
    assert_eq!(t.eval("document.title").await, "Shop", "the page that was there stays");
    assert_eq!(t.site.hits_of_host("evil"), 0);
    let documents = t.hooks.documents.lock().unwrap().clone();
    assert!(documents.contains(&(t.site.url("evil/x?token=private"), true)), "every hop is asked for: {documents:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_that_leads_to_a_refused_host_fails_and_the_page_stays() {
    let t = browser(&[("a/", "<a href=http://evil.localhost:{port}/x>x</a><form method=post action=http://evil.localhost:{port}/p><input name=q id=q><button>send</button></form>")]).await;
    t.go("a/").await;
    let error = t.fail("click", json!({"selector": "a"})).await;
    assert_eq!(error.code, ErrorCode::SiteBlocked);
    let error = t.fail("click", json!({"selector": "button"})).await;
    assert_eq!(error.code, ErrorCode::SiteBlocked);
    let error = t.fail("type", json!({"selector": "#q", "text": "private", "submit": true})).await;
    assert_eq!(error.code, ErrorCode::SiteBlocked);
    assert_eq!(t.eval("document.querySelector('#q').value").await, "private");
    assert_eq!(t.site.hits_of_host("evil"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_popups_first_request_is_judged_and_told_in_the_state() {
    let t = browser(&[("a/", "<a target=_blank href=http://evil.localhost:{port}/x>x</a><button onclick=\"window.open('http://evil.localhost:{port}/y')\">y</button>")]).await;
    t.go("a/").await;
    for selector in ["a", "button"] {
        let got = t.call("click", json!({"selector": selector})).await;
        let refused = got.state["refused"][0]["message"].as_str().unwrap_or_else(|| panic!("{got:?}"));
        assert!(refused.starts_with("refused") && refused.contains("evil.localhost"), "{refused}");
    }
    assert_eq!(t.site.hits_of_host("evil"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_begins_by_itself_is_refused_and_told_later() {
    let t = browser(&[
        ("a/", "<title>Shop</title><iframe src=http://evil.localhost:{port}/frame></iframe><iframe src=/ok></iframe><script>setTimeout(() => location.href = 'http://evil.localhost:{port}/later', 200)</script>"),
        ("a/ok", "fine"),
    ]).await;
    let mut refused = Vec::new();
    let mut got = t.go("a/").await;
    loop {
        refused.extend(got.state["refused"].as_array().cloned().unwrap_or_default());
        if refused.len() == 2 {
            break;
        }
        got = t.call("wait", json!({"ms": 20})).await;
    }
    let told = |n: usize| (refused[n]["message"].as_str().unwrap(), refused[n]["tab"].as_str());
    assert!(told(0).0.contains("a frame from evil.localhost"), "{refused:?}");
    assert!(told(1).0.contains("a page on evil.localhost"), "{refused:?}");
    assert_eq!(told(1).1, Some("t1"));
    assert_eq!(t.eval("document.title").await, "Shop");
    assert_eq!(t.site.hits_of_host("evil"), 0);
    assert_eq!(t.site.hits("a/ok"), 1);
    let documents = t.hooks.documents.lock().unwrap().clone();
    assert!(documents.contains(&(t.site.url("a/ok"), false)), "sub-frames are told apart: {documents:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_blob_counts_as_its_creators() {
    let t = browser(&[("a/", "<button onclick=\"location.href = window.URL.createObjectURL(new Blob(['<title>B</title>'], {type: 'text/html'}))\">b</button>")]).await;
    t.go("a/").await;
    t.call("click", json!({"selector": "button"})).await;
    assert_eq!(t.eval("document.title").await, "B");
    assert_eq!(t.browser.live_url(None), Some(t.site.url("a/")));
}
