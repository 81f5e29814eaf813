use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::{Answer, browser};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_opened_and_its_address_title_and_status_are_told() {
    let t = browser(&[("a/", "<title>Shop</title>Welcome")]).await;
    t.site.answer(
        "a/gone",
        Answer::Full(404, vec![("content-type".into(), "text/html".into())], b"<title>Gone</title>".into()),
    );
    let got = t.go("a/").await;
    assert_eq!(
        (got["url"].as_str(), got["title"].as_str(), got["status"].as_u64()),
        (Some(&*t.site.url("a/")), Some("Shop"), Some(200))
    );
    let got = t.go("a/gone").await;
    assert_eq!((got["title"].as_str(), got["status"].as_u64()), (Some("Gone"), Some(404)));
    assert_eq!(t.browser.live_url(None), Some(t.site.url("a/gone")));
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed_and_the_address_is_that_of_the_end() {
    let t = browser(&[("b/end", "<title>End</title>")]).await;
    t.site.answer("a/go", Answer::status(302).with("location", &t.site.url("b/hop")));
    t.site.answer("b/hop", Answer::status(307).with("location", "/end"));
    let got = t.go("a/go").await;
    assert_eq!((got["url"].as_str(), got["status"].as_u64()), (Some(&*t.site.url("b/end")), Some(200)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_goes_on_before_it_has_loaded_is_followed() {
    let t =
        browser(&[("a/", "<script>location.replace('/next')</script>first"), ("a/next", "<title>Next</title>second")])
            .await;
    let got = t.go("a/").await;
    assert_eq!((got["url"].as_str(), got["title"].as_str()), (Some(&*t.site.url("a/next")), Some("Next")));
}

#[tokio::test(flavor = "multi_thread")]
async fn back_forward_and_reload_move_in_the_history() {
    let t = browser(&[("a/1", "<title>One</title>"), ("a/2", "<title>Two</title>")]).await;
    t.go("a/1").await;
    t.fail_for("forward", json!({}), Reason::NotFound).await;
    t.go("a/2").await;
    let got = t.call("back", json!({})).await;
    assert_eq!((got["title"].as_str(), got["status"].as_u64()), (Some("One"), Some(200)));
    assert_eq!(t.call("forward", json!({})).await["title"], "Two");
    let before = t.site.hits("a/2");
    assert_eq!(t.call("reload", json!({})).await["title"], "Two");
    assert_eq!(t.site.hits("a/2"), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn back_within_a_document_and_a_move_to_a_fragment_need_no_request() {
    let t = browser(&[("a/", "<title>One</title><p id=x>x")]).await;
    t.go("a/").await;
    let hits = t.site.hits("a/");
    assert_eq!(t.go("a/#x").await["url"], t.site.url("a/#x"));
    assert_eq!(t.call("back", json!({})).await["url"], t.site.url("a/"));
    assert_eq!(t.site.hits("a/"), hits);
}

#[tokio::test(flavor = "multi_thread")]
async fn until_says_how_far_a_page_has_to_come() {
    let t = browser(&[("a/", "<title>Slow</title><img src=/never>")]).await;
    t.site.answer("a/never", Answer::Never);
    let url = t.site.url("a/");
    let got = t.call("navigate", json!({"url": url, "until": "domcontentloaded"})).await;
    assert_eq!(got["title"], "Slow");
    t.call("navigate", json!({"url": url, "until": "none"})).await;
    let error = t.fail("navigate", json!({"url": url, "timeout_ms": 1500})).await;
    assert!(error.is(Reason::Timeout) && error.message.contains("did not finish loading"), "{error:?}");
    assert_eq!(t.eval("document.title").await, "Slow");
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_comes_in_spite_of_an_event_stream() {
    let t = browser(&[(
        "a/",
        "<title>Live</title><script>new EventSource('/events'); setTimeout(() => fetch('/data'), 50)</script>",
    )])
    .await;
    let headers = vec![("content-type".into(), "text/event-stream".into())];
    t.site.answer("a/events", Answer::Endless(headers, b"data: 1\n\n".into()));
    t.call("navigate", json!({"url": t.site.url("a/"), "until": "idle"})).await;
    assert_eq!(t.site.hits("a/data"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_gives_no_page_says_why() {
    let t = browser(&[("a/", "<title>Shop</title>")]).await;
    t.site.answer("a/204", Answer::Full(204, vec![], vec![]));
    t.go("a/").await;
    let message = t.fail_for("navigate", json!({"url": t.site.url("a/204")}), Reason::Navigation).await;
    assert!(message.contains("204"), "{message}");
    assert_eq!(t.eval("document.title").await, "Shop");
    let message = t.fail_for("navigate", json!({"url": "http://nowhere.invalid/"}), Reason::Navigation).await;
    assert!(message.contains("ERR_NAME_NOT_RESOLVED"), "{message}");
    for bad in ["shop", "//evil.localhost/", "javascript:alert(1)"] {
        let error = t.fail("navigate", json!({"url": bad})).await;
        assert_eq!(error.code, ErrorCode::InvalidInput, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_page_reads_as_empty_and_back_leads_out_of_it() {
    let t = browser(&[("a/", "<title>Shop</title>Welcome")]).await;
    t.go("a/").await;
    t.fail("navigate", json!({"url": "http://nowhere.invalid/"})).await;
    assert_eq!(t.text().await, "");
    assert_eq!(t.snapshot().await, "");
    assert_eq!(t.browser.live_url(None), None);
    assert_eq!(t.call("back", json!({})).await["title"], "Shop");
    assert!(t.text().await.contains("Welcome"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_a_file_is_kept_as_one_and_the_page_stays() {
    let t = browser(&[("a/", "<title>Shop</title>")]).await;
    t.site.answer("a/f", Answer::typed("text/csv", "a,b").with("content-disposition", "attachment; filename=x.csv"));
    t.go("a/").await;
    let got = t.go("a/f").await;
    assert_eq!((got["download"]["name"].as_str(), got["download"]["type"].as_str()), (Some("x.csv"), Some("text/csv")));
    assert_eq!(got["url"], t.site.url("a/"));
    assert_eq!(got.state, json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_navigation_can_bring_the_snapshot_along() {
    let t = browser(&[("a/", "<button>Go</button>")]).await;
    let got = t.call("navigate", json!({"url": t.site.url("a/"), "snapshot": true})).await;
    assert!(got["snapshot"].as_str().unwrap().contains("button \"Go\" [ref="), "{got:?}");
}
