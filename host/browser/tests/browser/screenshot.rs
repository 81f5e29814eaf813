use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::browser;

#[tokio::test(flavor = "multi_thread")]
async fn pictures_of_the_viewport_an_element_and_the_page_have_their_sizes() {
    let t = browser(&[("a/", "<body style='margin:0'><div style='height:1000px'></div><div id=box style='width:120px;height:80px;background:red;margin-left:7px'></div><div id=none></div><div style='height:1920px'>")]).await;
    t.go("a/").await;
    let size = |got: &crate::support::Got| (got["width"].as_u64().unwrap(), got["height"].as_u64().unwrap());
    let got = t.call("screenshot", json!({})).await;
    assert_eq!(size(&got), (1280, 720));
    assert_eq!(size(&t.call("screenshot", json!({"selector": "#box"})).await), (120, 80));
    assert_eq!(size(&t.call("screenshot", json!({"full_page": true, "format": "jpeg"})).await), (1280, 3000));
    assert_eq!(
        t.fail("screenshot", json!({"full_page": true, "selector": "#box"})).await.code,
        ErrorCode::InvalidInput
    );
    t.fail_for("screenshot", json!({"selector": "#none", "timeout_ms": 300}), Reason::NotVisible).await;
    let pictures = t.hooks.pictures.lock().unwrap();
    assert_eq!(pictures.len(), 3);
    assert_eq!(got["size"].as_u64().unwrap(), pictures[0].bytes.len() as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_behind_another_can_be_pictured() {
    let t = browser(&[("a/", "<a target=_blank href=/2>x</a>"), ("a/2", "two")]).await;
    t.go("a/").await;
    t.call("click", json!({"selector": "a"})).await;
    t.call("screenshot", json!({})).await;
    t.call("screenshot", json!({"tab": "t2"})).await;
    t.call("navigate", json!({"url": t.site.url("a/2"), "new_tab": true})).await;
    t.call("screenshot", json!({"tab": "t1"})).await;
}
