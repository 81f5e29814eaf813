//! Every call ends by its deadline, whatever the page does.

use serde_json::json;
use transom_verbs::error::Reason;

use crate::support::{Answer, browser};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_ends_in_a_timeout_and_the_tab_goes_on() {
    let t = browser(&[("a/", "<title>Shop</title><a href=/never>x</a>")]).await;
    t.site.answer("a/never", Answer::Never);
    let never = t.site.url("a/never");
    t.fail_for("navigate", json!({"url": never, "timeout_ms": 700}), Reason::Timeout).await;
    t.go("a/").await;
    t.fail_for("click", json!({"selector": "a", "timeout_ms": 700}), Reason::Timeout).await;
    for (verb, arguments) in [
        ("evaluate", json!({"script": "1", "timeout_ms": 400})),
        ("snapshot", json!({"timeout_ms": 400})),
        ("extract", json!({"timeout_ms": 400})),
    ] {
        // Chromium holds what is asked of a renderer that is about to go; either end is one, and in time.
        if let Err(error) = t.try_call(verb, arguments).await {
            assert!(error.is(Reason::Timeout), "{error:?}");
        }
    }
    assert_eq!(t.go("a/").await["title"], "Shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_busy_for_ever_times_out_every_verb_and_navigate_leads_out() {
    let t = browser(&[
        ("a/", "<title>Busy</title><button>b</button><input><script>setTimeout(() => { for (;;); }, 200)</script>"),
        ("b/", "<title>Free</title>"),
    ])
    .await;
    t.go("a/").await;
    t.call("wait", json!({"ms": 300})).await;
    for (verb, arguments) in [
        ("evaluate", json!({"script": "1"})),
        ("click", json!({"selector": "button"})),
        ("type", json!({"selector": "input", "text": "x"})),
        ("snapshot", json!({})),
        ("extract", json!({})),
        ("screenshot", json!({})),
        ("wait", json!({"text": "never"})),
        ("upload", json!({"selector": "input", "file": "file_01ARZ3NDEKTSV4RRFFQ69G5FAV"})),
        ("download", json!({"selector": "button"})),
    ] {
        let mut arguments = arguments;
        arguments["timeout_ms"] = json!(400);
        let error = t.fail(verb, arguments).await;
        assert!(error.is(Reason::Timeout) || error.is(Reason::NotEditable), "{verb}: {error:?}");
    }
    t.call("tabs", json!({})).await;
    assert_eq!(t.go("b/").await["title"], "Free");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_changes_in_every_frame_holds_nothing() {
    let t = browser(&[("a/", "<p id=p></p><button onclick='stop=1'>Stop</button><script>stop=0;(function tick(){document.querySelector('#p').innerHTML='<b>'+Math.random()+'</b>';if(!stop)requestAnimationFrame(tick)})()</script>")]).await;
    t.go("a/").await;
    assert!(t.snapshot().await.contains("Stop"));
    t.call("click", json!({"selector": "button"})).await;
    assert_eq!(t.eval("stop").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_half_way_leaves_the_tab_usable() {
    let t = browser(&[("a/", "<title>T</title><button onclick='n++'>b</button><script>n=0</script>")]).await;
    t.go("a/").await;
    for (verb, arguments) in [
        ("click", json!({"selector": "#none"})),
        ("snapshot", json!({})),
        ("evaluate", json!({"script": "await new Promise(() => {})"})),
    ] {
        let call = t.try_call(verb, arguments);
        let _ = tokio::time::timeout(std::time::Duration::from_millis(1), call).await;
    }
    t.call("click", json!({"selector": "button"})).await;
    assert_eq!(t.eval("n").await, 1);
    assert!(t.snapshot().await.contains("[ref="));
}
