//! Pages that are large, strange or unkind: nothing hangs, nothing is held, nothing grows.

use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::{Answer, browser, browser_with};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_beyond_the_message_cap_fails_its_call_and_nothing_else() {
    let t = browser_with(&[("a/", "<title>T</title>")], |options| options.message_cap = 100_000).await;
    t.go("a/").await;
    t.fail_for("evaluate", json!({"script": "'x'.repeat(500_000)"}), Reason::Quota).await;
    assert_eq!(t.eval("document.title").await, "T");
    assert_eq!(t.browser.skipped().oversized, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_beyond_the_message_cap_is_refused_and_one_below_it_goes_through() {
    let page = "<form method=post action=/post><textarea name=t id=t></textarea><button>go</button></form>
        <script>fill = n => { t.value = 'x'.repeat(n); return n }</script>";
    let t = browser_with(&[("a/", page), ("a/post", "<title>Posted</title>")], |options| options.message_cap = 100_000)
        .await;
    t.go("a/").await;
    t.eval("fill(300_000)").await;
    let got = t.call("click", json!({"selector": "button", "timeout_ms": 5000})).await;
    assert!(got.state["refused"][0]["message"].as_str().unwrap().contains("could not be judged"), "{got:?}");
    assert!(t.browser.skipped().oversized > 0);
    assert_eq!(t.site.hits("a/post"), 0);
    t.eval("fill(1000)").await;
    t.call("click", json!({"selector": "button"})).await;
    assert_eq!(t.eval("document.title").await, "Posted");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_of_every_kind_are_released() {
    let page = "<script>
        done = [];
        const reply = name => e => done.push(name + e.data);
        new Worker('/w.js').onmessage = reply('worker');
        const shared = new SharedWorker('/s.js'); shared.port.onmessage = reply('shared');
        navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(r => { navigator.serviceWorker.onmessage = reply('service'); r.active.postMessage(1) });
    </script>";
    let t = browser(&[("a/", page)]).await;
    let script = |text: &str| Answer::typed("text/javascript", text);
    t.site.answer("a/w.js", script("new Worker('/inner.js').onmessage = e => postMessage(e.data)"));
    t.site.answer("a/inner.js", script("postMessage(' inside')"));
    t.site.answer("a/s.js", script("onconnect = e => e.ports[0].postMessage('')"));
    t.site.answer("a/sw.js", script("onmessage = e => e.source.postMessage('')"));
    t.go("a/").await;
    t.call("wait", json!({"script": "done.length === 3"})).await;
    assert_eq!(t.eval("done.sort()").await, json!(["service", "shared", "worker inside"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_opens_dialogs_and_tabs_without_end_fills_a_counter_and_no_more() {
    let t = browser(&[("a/", "<button>go</button><script>document.querySelector('button').onclick = () => { for (let n = 0; n < 60; n++) alert(n) }</script>")]).await;
    t.go("a/").await;
    let got = t.call("click", json!({"selector": "button"})).await;
    assert_eq!((got.state["dialogs"].as_array().unwrap().len(), got.state["more"].as_u64()), (20, Some(40)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_cannot_touch_the_script_that_reads_it() {
    let page = "<button id=b>Real</button><script>
        Object.prototype.toJSON = () => 'evil'; Array.prototype.map = () => ['evil']; Element.prototype.getBoundingClientRect = () => ({});
        document.querySelector = () => null; JSON.stringify = () => 'evil'; window.__transom = { snapshot: () => ({ ok: 'evil' }) };
    </script>";
    let t = browser(&[("a/", page)]).await;
    t.go("a/").await;
    let snapshot = t.snapshot().await;
    assert!(snapshot.contains("button \"Real\"") && !snapshot.contains("evil"), "{snapshot}");
    t.call("click", json!({"selector": "#b"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_for_a_password_of_its_own_is_an_error_and_holds_nothing() {
    let t = browser(&[("a/", "<title>T</title>")]).await;
    t.site.answer("a/auth", Answer::status(401).with("www-authenticate", "Basic realm=x"));
    t.go("a/").await;
    t.fail_for("navigate", json!({"url": t.site.url("a/auth"), "timeout_ms": 5000}), Reason::Navigation).await;
    assert_eq!(t.go("a/").await["title"], "T");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_calls_at_once_on_one_tab_do_not_take_each_others_aim() {
    let t = browser(&[("a/", "<button id=x onclick='x1++'>x</button><button id=y onclick='y1++'>y</button><input id=i><script>x1=0;y1=0</script>")]).await;
    t.go("a/").await;
    for _ in 0..10 {
        tokio::join!(
            t.call("click", json!({"selector": "#x"})),
            t.call("click", json!({"selector": "#y"})),
            t.call("type", json!({"selector": "#i", "text": "typed"})),
        );
    }
    assert_eq!(t.eval("[x1, y1, document.querySelector('#i').value]").await, json!([10, 10, "typed"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_tab_is_no_tab() {
    let t = browser(&[("a/", "one")]).await;
    t.go("a/").await;
    for id in ["t0", "t99"] {
        let error = t.fail("close", json!({"tab": id})).await;
        assert!(error.is(Reason::NotFound), "{error:?}");
    }
    assert_eq!(t.fail("close", json!({"tab": "x"})).await.code, ErrorCode::InvalidInput);
}
