use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::browser;

const FILE: &str = "file_01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_attached_to_an_input_also_to_one_hidden_behind_a_button() {
    let t = browser(&[("a/", "<input type=file id=f style='display:none' onchange='changes++; this.files[0].text().then(text => seen = text)'><button onclick='f.click()'>Choose</button><label for=f id=l>Label</label><script>changes=0</script>")]).await;
    t.go("a/").await;
    for target in ["#f", "button", "#l"] {
        let got = t.call("upload", json!({"selector": target, "file": FILE})).await;
        assert_eq!(
            (got["url"].as_str(), got["file"]["name"].as_str()),
            (Some(&*t.site.url("a/")), Some("report.csv")),
            "{target}"
        );
        t.call("wait", json!({"script": "globalThis.seen === 'a,b\\n1,2\\n'"})).await;
        assert_eq!(t.eval("[f.files[0].name, f.files[0].size]").await, json!(["report.csv", 8]));
        t.eval("f.value = ''; seen = ''; return 1").await;
    }
    assert_eq!(t.eval("changes").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_no_file_or_is_no_handle_is_an_error_and_nothing_is_attached() {
    let t = browser(&[("a/", "<input type=file id=f><button>plain</button><input type=file id=d disabled>")]).await;
    t.go("a/").await;
    t.fail_for("upload", json!({"selector": "button", "file": FILE, "timeout_ms": 600}), Reason::NotEditable).await;
    t.fail_for("upload", json!({"selector": "#d", "file": FILE, "timeout_ms": 300}), Reason::Disabled).await;
    let error = t.fail("upload", json!({"selector": "#f", "file": "/etc/hostname"})).await;
    assert_eq!(error.code, ErrorCode::UploadRefused);
    assert_eq!(t.eval("f.files.length").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_input_in_a_frame_of_another_origin_takes_a_file() {
    let t = browser(&[("a/", "<iframe src=http://b.localhost:{port}/in></iframe>"), ("b/in", "<input type=file aria-label=Receipt onchange=\"document.title = document.querySelector('p').textContent = this.files[0].name\"><p>none</p>")]).await;
    t.go("a/").await;
    let id = t.ref_of("Receipt").await;
    t.call("upload", json!({"ref": id, "file": FILE})).await;
    let snapshot = t.snapshot().await;
    assert!(snapshot.contains("report.csv"), "{snapshot}");
}
