use serde_json::json;
use transom_verbs::error::Reason;

use crate::support::{Answer, browser};

#[tokio::test(flavor = "multi_thread")]
async fn each_condition_is_waited_for_and_times_out() {
    let t = browser(&[("a/", "<p id=p>Loading</p><script>setTimeout(() => { p.textContent = 'Ready now'; p.className = 'done'; history.pushState(0, '', '/step2'); x = 1 }, 400)</script>")]).await;
    let url = t.site.url("a/");
    for condition in [
        json!({"text": "Ready"}),
        json!({"text_gone": "Loading"}),
        json!({"selector": ".done"}),
        json!({"url": "/step2"}),
        json!({"script": "globalThis.x === 1"}),
        json!({"script": "document.querySelector('.done')"}),
    ] {
        t.call("navigate", json!({"url": url})).await;
        t.call("wait", condition).await;
    }
    for condition in [
        json!({"text": "never"}),
        json!({"text_gone": "Ready"}),
        json!({"selector": ".none"}),
        json!({"url": "nowhere"}),
        json!({"script": "false"}),
    ] {
        let mut condition = condition;
        condition["timeout_ms"] = json!(300);
        t.fail_for("wait", condition, Reason::Timeout).await;
    }
    t.fail_for("wait", json!({"script": "missing.x"}), Reason::Script).await;
    let got = t.call("wait", json!({"ms": 50})).await;
    assert!(got["waited_ms"].as_u64().unwrap() >= 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_goes_on_over_a_navigation() {
    let t = browser(&[
        ("a/", "<script>setTimeout(() => location.href = 'http://b.localhost:{port}/pay', 200)</script>one"),
        ("b/pay", "<p>Pay page</p><script>paying = 1</script>"),
    ])
    .await;
    for condition in [json!({"text": "Pay page"}), json!({"selector": "p"}), json!({"script": "globalThis.paying"})] {
        t.go("a/").await;
        assert_eq!(t.call("wait", condition).await["url"], t.site.url("b/pay"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn load_states_are_waited_for() {
    let t = browser(&[("a/", "<img src=/slow><script>new EventSource('/events')</script>")]).await;
    t.site.answer("a/slow", Answer::Never);
    t.site.answer(
        "a/events",
        Answer::Endless(vec![("content-type".into(), "text/event-stream".into())], b"data: 1\n\n".into()),
    );
    t.call("navigate", json!({"url": t.site.url("a/"), "until": "none"})).await;
    t.call("wait", json!({"state": "domcontentloaded"})).await;
    t.fail_for("wait", json!({"state": "load", "timeout_ms": 400}), Reason::Timeout).await;
    t.eval("document.querySelector('img').remove(); return 1").await;
    t.call("navigate", json!({"url": t.site.url("a/missing")})).await;
    t.call("wait", json!({"state": "load"})).await;
    t.call("wait", json!({"state": "idle"})).await;
}
