use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::browser;

#[tokio::test(flavor = "multi_thread")]
async fn text_replaces_appends_or_is_inserted() {
    let t = browser(&[("a/", "<input id=t value=old><input id=e type=email value=a@b.c><input id=n type=number value=1><textarea id=a>old</textarea><div id=c contenteditable>old</div><input id=d type=date>
        <script>log=[];for(const k of ['input','change'])addEventListener(k,e=>log.push(k+':'+e.target.id))</script>")]).await;
    t.go("a/").await;
    for (id, text, kept) in [
        ("t", "new", "new"),
        ("e", "x@example.org", "x@example.org"),
        ("n", "42", "42"),
        ("a", "two\nlines", "two\nlines"),
        ("d", "2027-03-14", "2027-03-14"),
    ] {
        t.call("type", json!({"selector": format!("#{id}"), "text": text})).await;
        assert_eq!(t.eval(&format!("document.querySelector('#{id}').value")).await, kept);
    }
    t.call("type", json!({"selector": "#c", "text": "new"})).await;
    t.call("type", json!({"selector": "#c", "text": ", more", "append": true})).await;
    assert_eq!(t.eval("c.innerText.trim()").await, "new, more");
    t.call("type", json!({"selector": "#t", "text": " more", "mode": "append"})).await;
    assert_eq!(t.eval("t.value").await, "new more");
    t.call("type", json!({"selector": "#t", "text": ""})).await;
    assert_eq!(t.eval("t.value").await, "");
    let log = t.eval("log").await;
    for event in ["input:t", "change:t", "input:d", "change:d", "input:c"] {
        assert!(log.as_array().unwrap().contains(&json!(event)), "{event} in {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_target_text_goes_where_the_focus_is() {
    let t = browser(&[("a/", "<input id=t value=ad>")]).await;
    t.go("a/").await;
    t.fail_for("type", json!({"text": "x"}), Reason::NotEditable).await;
    t.eval("t.focus(); t.setSelectionRange(1, 1); return 1").await;
    t.call("type", json!({"text": "bc"})).await;
    assert_eq!(t.eval("t.value").await, "abcd");
}

#[tokio::test(flavor = "multi_thread")]
async fn submit_presses_enter_and_waits_for_where_it_leads() {
    let t = browser(&[("a/", "<form action=/found><input id=q name=q></form><input id=s onkeydown=\"if (event.key === 'Enter') sent = this.value\">"), ("a/found", "<title>Found</title>")]).await;
    t.go("a/").await;
    t.call("type", json!({"selector": "#s", "text": "x", "submit": true})).await;
    assert_eq!(t.eval("sent").await, "x");
    let got = t.call("type", json!({"selector": "#q", "text": "tea", "submit": true})).await;
    assert_eq!(got["url"], t.site.url("a/found?q=tea"));
}

#[tokio::test(flavor = "multi_thread")]
async fn slowly_sends_a_key_for_each_character() {
    let t = browser(&[("a/", "<input id=t><script>keys='';t.onkeydown=e=>keys+=e.key</script>")]).await;
    t.go("a/").await;
    t.call("type", json!({"selector": "#t", "text": "aB3 é!", "slowly": true})).await;
    assert_eq!(t.eval("[keys, t.value]").await, json!(["aB3 é!", "aB3 é!"]));
    let long = "x".repeat(300);
    t.call("type", json!({"selector": "#t", "text": long, "slowly": true})).await;
    assert_eq!(t.eval("t.value.length").await, 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_take_or_keep_no_text_say_so() {
    let t = browser(&[("a/", "<input id=ro readonly value=old><input id=dis disabled value=old><p id=p>words</p><input id=max maxlength=3><input id=bad type=date><input id=own oninput=\"this.value=''\">")]).await;
    t.go("a/").await;
    let to = |id: &str, text: &str| json!({"selector": id, "text": text, "timeout_ms": 400});
    t.fail_for("type", to("#ro", "new"), Reason::ReadOnly).await;
    t.fail_for("type", to("#dis", "new"), Reason::Disabled).await;
    t.fail_for("type", to("#p", "new"), Reason::NotEditable).await;
    t.fail_for("type", to("#max", "too long"), Reason::ValueRefused).await;
    t.fail_for("type", to("#bad", "not a date"), Reason::ValueRefused).await;
    t.fail_for("type", to("#own", "gone"), Reason::ValueRefused).await;
    assert_eq!(t.eval("[ro.value, dis.value, p.textContent]").await, json!(["old", "old", "words"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_typed_by_the_host_on_its_own_hosts_only() {
    let t = browser(&[
        ("a/", "<input id=pw type=password oninput=\"n = this.value.length\"><script>n=0</script>"),
        ("b/", "<input id=pw value=before>"),
    ])
    .await;
    t.go("a/").await;
    let got = t.call("type", json!({"selector": "#pw", "text": "{{secret:pw}}"})).await;
    assert!(!format!("{got:?}").contains("horse"));
    assert!(!t.snapshot().await.contains("horse"), "the value of a password field is not read");
    t.go("b/").await;
    assert_eq!(t.fail("type", json!({"selector": "#pw", "text": "{{secret:pw}}"})).await.code, ErrorCode::NotGranted);
    assert_eq!(t.eval("document.querySelector('#pw').value").await, "before");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_that_typing_opens_is_told() {
    let t = browser(&[("a/", "<input id=t oninput=\"confirm('Really?')\">")]).await;
    t.go("a/").await;
    assert_eq!(t.call("type", json!({"selector": "#t", "text": "x"})).await["dialog"]["message"], "Really?");
    t.call("dialog", json!({"accept": true})).await;
}
