use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::{Fixture, browser};

const INNER: &str = "<title>in</title><input id=i><button onclick=\"this.textContent='hit'; parent.postMessage('pay', '*')\">Pay now</button>";

async fn shop() -> Fixture {
    let outer = "<title>out</title><div style='height:2000px'></div><iframe style='margin:20px;border:3px solid;padding:5px' src=http://b.localhost:{port}/in></iframe>
        <iframe src=/same></iframe><script>paid=0;onmessage=()=>paid++</script>";
    browser(&[("a/", outer), ("b/in", INNER), ("a/same", "<button onclick='parent.same=1'>Same</button>")]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_of_other_origins_are_in_the_snapshot_and_their_refs_press_their_own_elements() {
    let t = shop().await;
    t.go("a/").await;
    t.call("wait", json!({"state": "load"})).await;
    let snapshot = t.snapshot().await;
    assert!(snapshot.contains("Pay now") && snapshot.contains("Same"), "{snapshot}");
    let pay = t.ref_of("Pay now").await;
    assert!(pay.starts_with('f'), "{pay}");
    t.call("click", json!({"ref": pay})).await;
    t.call("wait", json!({"script": "paid === 1", "timeout_ms": 3000})).await;
    assert!(t.snapshot().await.contains("button \"hit\""));
    let same = t.ref_of("\"Same\"").await;
    t.call("click", json!({"ref": same})).await;
    assert_eq!(t.eval("same").await, 1);
    assert_eq!(t.ref_of("button \"hit\"").await, pay, "an element keeps its ref");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_in_a_frame_of_another_origin_is_typed_into_and_a_secret_is_judged_by_that_frame() {
    let t = shop().await;
    t.go("a/").await;
    let field = t.ref_of("textbox").await;
    t.call("type", json!({"ref": field, "text": "héllo"})).await;
    assert!(t.snapshot().await.contains("héllo"));
    t.call("type", json!({"text": " again"})).await;
    assert!(t.snapshot().await.contains("héllo again"), "what has the focus is in the frame");
    let error = t.fail("type", json!({"ref": field, "text": "{{secret:pw}}"})).await;
    assert_eq!(error.code, ErrorCode::NotGranted, "the frame's host is not the secret's");
    assert!(t.snapshot().await.contains("héllo again"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_of_the_same_site_but_another_origin_is_read_too() {
    let t = browser(&[("a/", "<iframe src=http://x.b.localhost:{port}/in></iframe>"), ("x.b/in", INNER)]).await;
    t.site.page(
        "b/",
        "<iframe src=http://x.b.localhost:{port}/in></iframe>".replace("{port}", &t.site.port.to_string()).as_str(),
    );
    t.go("b/").await;
    let pay = t.ref_of("Pay now").await;
    t.call("click", json!({"ref": pay})).await;
    assert!(t.snapshot().await.contains("button \"hit\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_inside_a_frame_and_a_point_in_it_are_reached() {
    let t = browser(&[
        ("a/", "<iframe width=500 height=400 style='position:absolute;left:30px;top:40px' src=http://b.localhost:{port}/mid></iframe>"),
        ("b/mid", "<iframe width=300 height=200 style='position:absolute;left:10px;top:20px' src=http://c.localhost:{port}/in></iframe>"),
        ("c/in", "<button style='position:absolute;left:5px;top:6px;width:100px;height:50px' onclick=\"this.textContent='hit'\">Deep</button><input id=i style='position:absolute;left:5px;top:100px;width:100px'>"),
    ]).await;
    t.go("a/").await;
    let deep = t.ref_of("Deep").await;
    t.call("click", json!({"ref": deep})).await;
    assert!(t.snapshot().await.contains("button \"hit\""));
    t.call("type", json!({"x": 80, "y": 175, "text": "by point"})).await;
    assert!(t.snapshot().await.contains("by point"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_covered_frame_says_what_covers_it_and_a_gone_frame_makes_its_refs_stale() {
    let t = shop().await;
    t.go("a/").await;
    let pay = t.ref_of("Pay now").await;
    t.eval("const d = document.createElement('div'); d.id = 'veil'; d.style = 'position:fixed;inset:0'; document.body.append(d); return 1").await;
    let message = t.fail_for("click", json!({"ref": pay, "timeout_ms": 500}), Reason::Covered).await;
    assert!(message.contains("veil"), "{message}");
    t.eval("veil.remove(); document.querySelector('iframe').remove(); return 1").await;
    t.fail_for("click", json!({"ref": pay}), Reason::StaleRef).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_in_a_frame_of_another_origin_is_the_tabs() {
    let t = browser(&[
        ("a/", "<iframe src=http://b.localhost:{port}/in></iframe>"),
        ("b/in", "<button onclick=\"this.textContent=confirm('from frame')\">ask</button>"),
    ])
    .await;
    t.go("a/").await;
    let ask = t.ref_of("ask").await;
    assert_eq!(t.call("click", json!({"ref": ask})).await["dialog"]["message"], "from frame");
    t.call("dialog", json!({"accept": true})).await;
    assert!(t.snapshot().await.contains("button \"true\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_in_a_frame_that_leads_the_whole_tab_on_is_waited_for() {
    let t = browser(&[
        ("a/", "<iframe src=http://b.localhost:{port}/in></iframe>"),
        ("b/in", "<a target=_top href=/top>top</a> <a href=/here>here</a>"),
        ("b/top", "<title>Top</title>"),
        ("b/here", "<p>moved</p>"),
    ])
    .await;
    t.go("a/").await;
    let here = t.ref_of("link \"here\"").await;
    t.call("click", json!({"ref": here})).await;
    assert!(t.snapshot().await.contains("moved"));
    t.go("a/").await;
    let top = t.ref_of("link \"top\"").await;
    assert_eq!(t.call("click", json!({"ref": top})).await["url"], t.site.url("b/top"));
}
