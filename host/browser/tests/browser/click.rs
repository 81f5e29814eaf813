use serde_json::json;
use transom_verbs::error::Reason;

use crate::support::{Answer, browser};

#[tokio::test(flavor = "multi_thread")]
async fn a_click_presses_the_element_by_selector_ref_or_point() {
    let t = browser(&[("a/", "<button style='position:absolute;left:10px;top:10px;width:80px;height:30px' onclick='n++'>Go</button><script>n=0</script>")]).await;
    t.go("a/").await;
    t.call("click", json!({"selector": "button"})).await;
    let id = t.ref_of("button \"Go\"").await;
    let got = t.call("click", json!({"ref": id})).await;
    assert_eq!((got["url"].as_str(), &got.state), (Some(&*t.site.url("a/")), &json!({})));
    t.call("click", json!({"x": 50, "y": 25})).await;
    assert_eq!(t.eval("n").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_a_link_answers_with_the_new_page() {
    let t = browser(&[("a/", "<a href=/two>two</a>"), ("a/two", "<title>Two</title><p>second")]).await;
    t.go("a/").await;
    let got = t.call("click", json!({"selector": "a"})).await;
    assert_eq!(got["url"], t.site.url("a/two"));
    assert_eq!(t.eval("document.title").await, "Two");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_waits_for_a_slow_page_and_a_form_and_a_script_that_lead_elsewhere() {
    let t = browser(&[
        ("a/", "<form action=/two><button id=f>send</button></form><button id=s onclick=\"location.href='/two'\">go</button><button id=p onclick=\"history.pushState(0,'','/pushed')\">push</button>"),
        ("a/two", "<title>Two</title>"),
    ]).await;
    for id in ["#f", "#s"] {
        t.go("a/").await;
        let url = t.call("click", json!({"selector": id})).await["url"].clone();
        assert!(url.as_str().unwrap().starts_with(&t.site.url("a/two")), "{id} {url}");
    }
    t.go("a/").await;
    assert_eq!(t.call("click", json!({"selector": "#p"})).await["url"], t.site.url("a/pushed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn links_that_lead_nowhere_do_not_hold_a_click() {
    let t = browser(&[("a/", "<a id=h href=#x>hash</a> <a id=n href=/204>none</a> <a id=d href='data:text/html,x'>data</a> <a id=j href='javascript:void(0)'>script</a><p id=x>")]).await;
    t.site.answer("a/204", Answer::Full(204, vec![], vec![]));
    t.go("a/").await;
    assert_eq!(t.call("click", json!({"selector": "#h"})).await["url"], t.site.url("a/#x"));
    for id in ["#n", "#d", "#j"] {
        assert_eq!(
            t.call("click", json!({"selector": id, "timeout_ms": 5000})).await["url"],
            t.site.url("a/#x"),
            "{id}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_a_click_opens_is_told_and_loaded_but_not_active() {
    let t = browser(&[
        ("a/", "<title>One</title><a target=_blank href=/two>two</a><button onclick=\"window.open('/three')\">three</button>"),
        ("a/two", "<title>Two</title>second"),
        ("a/three", "<title>Three</title>third"),
    ])
    .await;
    t.go("a/").await;
    let got = t.call("click", json!({"selector": "a"})).await;
    assert_eq!((got["opened_tab"].as_str(), &got.state), (Some("t2"), &json!({})));
    assert_eq!(t.eval("document.title").await, "One");
    assert_eq!(t.call("extract", json!({"tab": "t2"})).await["text"], "second");
    assert_eq!(t.call("click", json!({"selector": "button"})).await["opened_tab"], "t3");
    assert_eq!(t.call("evaluate", json!({"tab": "t3", "script": "document.title"})).await["value"], "Three");
}

#[tokio::test(flavor = "multi_thread")]
async fn clicks_have_a_count_a_button_and_keys() {
    let t = browser(&[("a/", "<button>b</button><script>log=[];const b=document.querySelector('button');for(const k of ['click','dblclick','contextmenu','auxclick'])b.addEventListener(k,e=>log.push(k+e.detail+(e.shiftKey?'S':'')+(e.ctrlKey?'C':'')))</script>")]).await;
    t.go("a/").await;
    t.call("click", json!({"selector": "button", "count": 2})).await;
    t.call("click", json!({"selector": "button", "button": "right"})).await;
    t.call("click", json!({"selector": "button", "modifiers": ["Shift", "Control"]})).await;
    assert_eq!(t.eval("log").await, json!(["click1", "click2", "dblclick2", "contextmenu0", "auxclick1", "click1SC"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_clicked_says_why_and_is_not() {
    let t = browser(&[("a/", "<div style='position:fixed;inset:0' id=veil hidden></div><button id=b disabled onclick='n++'>b</button><button id=h style='display:none'>h</button><button id=c onclick='n++'>c</button><script>n=0</script>")]).await;
    t.go("a/").await;
    let quick = |selector: &str| json!({"selector": selector, "timeout_ms": 400});
    t.fail_for("click", quick("#none"), Reason::NotFound).await;
    t.fail_for("click", quick("#b"), Reason::Disabled).await;
    t.fail_for("click", quick("#h"), Reason::NotVisible).await;
    t.eval("veil.hidden = false; return 1").await;
    let message = t.fail_for("click", quick("#c"), Reason::Covered).await;
    assert!(message.contains("veil"), "{message}");
    assert_eq!(t.eval("n").await, 0);
    t.eval("veil.hidden = true; setTimeout(() => { document.querySelector('#b').disabled = false }, 300); return 1")
        .await;
    t.call("click", json!({"selector": "#b"})).await;
    assert_eq!(t.eval("n").await, 1, "an action waits until its target can be acted on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ref_is_stale_when_its_element_or_its_document_is_gone() {
    let t = browser(&[("a/", "<button onclick='this.remove()'>Dismiss</button>"), ("a/2", "<button>Dismiss</button>")])
        .await;
    t.go("a/").await;
    let id = t.ref_of("Dismiss").await;
    t.call("click", json!({"ref": id})).await;
    t.fail_for("click", json!({"ref": id}), Reason::StaleRef).await;
    t.go("a/").await;
    let id = t.ref_of("Dismiss").await;
    t.go("a/2").await;
    t.fail_for("click", json!({"ref": id}), Reason::StaleRef).await;
    t.fail_for("click", json!({"ref": "e99999"}), Reason::NotFound).await;
    t.fail_for("click", json!({"ref": "f7e1"}), Reason::NotFound).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_that_closes_its_own_tab_succeeds() {
    let t = browser(&[
        ("a/", "<a target=_blank rel=opener href=/two>two</a>"),
        ("a/two", "<button onclick='window.close()'>x</button>"),
    ])
    .await;
    t.go("a/").await;
    t.call("click", json!({"selector": "a"})).await;
    t.call("click", json!({"tab": "t2", "selector": "button"})).await;
    t.call("wait", json!({"ms": 100})).await;
    let message = t.fail_for("click", json!({"tab": "t2", "selector": "button"}), Reason::NotFound).await;
    assert!(message.contains("closed"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_that_starts_a_download_tells_of_the_file() {
    let t = browser(&[
        ("a/", "<a id=a href=/f>f</a> <a id=b target=_blank href=/f>f</a> <a id=c download=n.txt href=/plain>p</a>"),
        ("a/plain", "plain"),
    ])
    .await;
    t.site.answer("a/f", Answer::typed("text/csv", "a,b").with("content-disposition", "attachment; filename=x.csv"));
    t.go("a/").await;
    for (id, name) in [("#a", "x.csv"), ("#b", "x.csv"), ("#c", "n.txt")] {
        let got = t.call("click", json!({"selector": id})).await;
        assert_eq!(got["download"]["name"], name, "{id}");
        assert_eq!((got["opened_tab"].as_str(), &got.state), (None, &json!({})), "{id}");
    }
}
