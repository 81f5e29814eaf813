use std::time::Duration;

use serde_json::json;
use transom_browser::DialogPolicy;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::{browser, browser_with};

const PAGE: &str = "<button id=c onclick=\"answers.push(confirm('Delete it?'))\">c</button>
  <button id=p onclick=\"answers.push(prompt('Your name?', 'Kim'))\">p</button>
  <button id=a onclick=\"alert('low'); answers.push('after')\">a</button>
  <button id=pr onclick=\"print(); answers.push('printed')\">pr</button><script>answers = []</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_confirm_ends_the_click_and_waits_for_its_answer() {
    let t = browser(&[("a/", PAGE)]).await;
    t.go("a/").await;
    let got = t.call("click", json!({"selector": "#c"})).await;
    assert_eq!(got["dialog"], json!({"kind": "confirm", "message": "Delete it?"}));
    let message = t.fail_for("evaluate", json!({"script": "1"}), Reason::DialogOpen).await;
    assert!(message.contains("Delete it?"), "{message}");
    for (verb, arguments) in
        [("snapshot", json!({})), ("click", json!({"selector": "#c"})), ("navigate", json!({"url": t.site.url("a/")}))]
    {
        t.fail_for(verb, arguments, Reason::DialogOpen).await;
    }
    t.call("tabs", json!({})).await;
    assert_eq!(t.call("dialog", json!({"accept": false})).await["kind"], "confirm");
    t.fail_for("dialog", json!({"accept": true}), Reason::NotFound).await;
    assert_eq!(t.eval("answers").await, json!([false]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_takes_a_text_and_a_dialog_of_a_script_is_told_too() {
    let t = browser(&[("a/", PAGE)]).await;
    t.go("a/").await;
    t.call("click", json!({"selector": "#p"})).await;
    t.call("dialog", json!({"accept": true, "text": "Robin"})).await;
    assert_eq!(t.eval("answers").await, json!(["Robin"]));
    let got = t.call("evaluate", json!({"script": "confirm('Sure?')"})).await;
    assert_eq!((&got["value"], &got["dialog"]["message"]), (&json!(null), &json!("Sure?")));
    assert_eq!(t.fail("dialog", json!({"accept": true, "text": "x"})).await.code, ErrorCode::InvalidInput);
    t.call("dialog", json!({"accept": true})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn alert_and_print_hold_nothing_and_are_told() {
    let t = browser(&[("a/", PAGE), ("a/load", "<title>Notice</title><script>alert('Stock is low')</script>")]).await;
    let got = t.go("a/load").await;
    assert_eq!(got["title"], "Notice");
    assert_eq!(got.state["dialogs"], json!([{"kind": "alert", "message": "Stock is low", "accepted": true}]));
    t.go("a/").await;
    let got = t.call("click", json!({"selector": "#a"})).await;
    assert_eq!(got.state["dialogs"][0]["kind"], "alert");
    let got = t.call("click", json!({"selector": "#pr"})).await;
    assert_eq!(got.state["dialogs"][0]["kind"], "print");
    assert_eq!(t.eval("answers").await, json!(["after", "printed"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_cannot_pretend_to_print() {
    let t = browser(&[("a/", PAGE)]).await;
    t.go("a/").await;
    let got =
        t.call("evaluate", json!({"script": "dispatchEvent(new Event('beforeprint')), typeof __transomPrint"})).await;
    assert_eq!((&got["value"], &got.state), (&json!("undefined"), &json!({})));
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_a_page_that_asks_first_works_and_is_told() {
    let t = browser(&[("a/", "<input><script>addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'x' })</script>"), ("a/next", "<title>Next</title>")]).await;
    t.go("a/").await;
    t.call("click", json!({"selector": "input"})).await;
    t.call("type", json!({"selector": "input", "text": "draft"})).await;
    let got = t.go("a/next").await;
    assert_eq!((&got["title"], &got.state["dialogs"][0]["kind"]), (&json!("Next"), &json!("beforeunload")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unanswered_dialog_is_dismissed_and_told() {
    let t = browser_with(&[("a/", PAGE)], |options| options.dialog_answer_within = Duration::from_millis(300)).await;
    t.go("a/").await;
    t.call("click", json!({"selector": "#c"})).await;
    let got = loop {
        match t.try_call("evaluate", json!({"script": "answers"})).await {
            Ok(got) => break got,
            Err(error) => assert!(error.is(Reason::DialogOpen), "{error:?}"),
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(got["value"], json!([false]));
    assert_eq!(got.state["dialogs"], json!([{"kind": "confirm", "message": "Delete it?", "accepted": false}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binding_can_have_every_dialog_answered() {
    for (policy, answer) in [(DialogPolicy::Accept, true), (DialogPolicy::Dismiss, false)] {
        let t = browser_with(&[("a/", PAGE)], |options| options.dialogs = policy).await;
        t.go("a/").await;
        let got = t.call("click", json!({"selector": "#c"})).await;
        assert_eq!((&got["dialog"], &got.state["dialogs"][0]["accepted"]), (&json!(null), &json!(answer)));
        assert_eq!(t.eval("answers").await, json!([answer]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_on_one_tab_leaves_the_others_alone() {
    let t = browser(&[("a/", PAGE)]).await;
    t.go("a/").await;
    t.call("click", json!({"selector": "#c"})).await;
    t.call("navigate", json!({"url": t.site.url("a/"), "new_tab": true})).await;
    assert_eq!(t.eval("answers").await, json!([]));
    t.call("dialog", json!({"tab": "t1", "accept": true})).await;
    t.call("close", json!({"tab": "t1"})).await;
}
