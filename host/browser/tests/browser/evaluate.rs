use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::browser;

#[tokio::test(flavor = "multi_thread")]
async fn a_script_is_an_expression_or_the_body_of_a_function() {
    let t = browser(&[("a/", "<title>T</title><p id=p>hi</p><script>let hidden = 7; n = 0</script>")]).await;
    t.go("a/").await;
    for (script, value) in [
        ("1 + 1", json!(2)),
        ("document.title", json!("T")),
        ("document.title;", json!("T")),
        ("({a: [1, null]})", json!({"a": [1, null]})),
        ("{ a: 1 }", json!({"a": 1})),
        ("await Promise.resolve(3)", json!(3)),
        ("const a = 2; return a * hidden", json!(14)),
        ("n++; return n // once", json!(1)),
        ("undefined", json!(null)),
        ("const f = document.querySelector('#p'); f.textContent = 'x'; return f.textContent", json!("x")),
    ] {
        assert_eq!(t.eval(script).await, value, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_script_is_told_and_nothing_runs_twice() {
    let t = browser(&[("a/", "<script>n = 0</script>")]).await;
    t.go("a/").await;
    let message = t.fail_for("evaluate", json!({"script": "throw new Error('bad luck')"}), Reason::Script).await;
    assert!(message.contains("bad luck") && !message.contains(" at "), "{message}");
    t.fail_for("evaluate", json!({"script": "(n++, JSON.parse('{'))"}), Reason::Script).await;
    assert_eq!(t.eval("n").await, 1);
    t.fail_for("evaluate", json!({"script": "1 +"}), Reason::Script).await;
    for script in ["window", "() => 1", "10n", "NaN"] {
        t.fail_for("evaluate", json!({"script": script}), Reason::Script).await;
    }
    let message = t.fail_for("evaluate", json!({"script": "'x'.repeat(2_000_000)"}), Reason::Script).await;
    assert!(message.contains("bytes"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_element_can_be_given() {
    let t = browser(&[("a/", "<b id=x data-a=1>hi</b>")]).await;
    t.go("a/").await;
    let got = t.call("evaluate", json!({"script": "element.dataset.a + this.textContent", "selector": "#x"})).await;
    assert_eq!(got["value"], "1hi");
    let got = t.call("evaluate", json!({"script": "element === document.querySelector('#x')", "selector": "#x"})).await;
    assert_eq!(got["value"], true, "the page's own object");
    t.fail_for("evaluate", json!({"script": "1", "selector": "#y", "timeout_ms": 300}), Reason::NotFound).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_without_an_end_is_stopped_and_the_page_can_be_used_again() {
    let t = browser(&[("a/", "<title>T</title>")]).await;
    t.go("a/").await;
    t.fail_for("evaluate", json!({"script": "while (true) {}", "timeout_ms": 700}), Reason::Timeout).await;
    assert_eq!(t.eval("document.title").await, "T");
    t.fail_for("evaluate", json!({"script": "await new Promise(() => {})", "timeout_ms": 300}), Reason::Timeout).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_navigation_that_a_script_starts_is_waited_for() {
    let t = browser(&[("a/", "one"), ("a/two", "<title>Two</title>")]).await;
    t.go("a/").await;
    t.call("evaluate", json!({"script": "location.href = '/two'; return 7"})).await;
    assert_eq!(t.eval("document.title").await, "Two");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_secret_was_typed_scripts_are_refused_until_the_next_page() {
    let t = browser(&[("a/", "<input id=pw>"), ("a/2", "two")]).await;
    t.go("a/").await;
    t.eval("1").await;
    t.call("type", json!({"selector": "#pw", "text": "{{secret:pw}}"})).await;
    for (verb, script) in [("evaluate", "pw.value"), ("wait", "true")] {
        let error = t.fail(verb, json!({"script": script})).await;
        assert_eq!(error.code, ErrorCode::NotGranted);
    }
    t.go("a/2").await;
    t.eval("1").await;
}
