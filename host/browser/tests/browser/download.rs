use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::{Answer, browser};

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_kept_as_a_file_whatever_the_server_calls_it() {
    let t = browser(&[("a/", "<title>Shop</title>"), ("a/page", "<title>P</title>plain page")]).await;
    t.site.answer(
        "a/f",
        Answer::typed("application/pdf", "%PDF").with("content-disposition", "inline; filename=\"in voice.pdf\""),
    );
    t.site
        .answer("a/empty", Answer::typed("text/csv", "").with("content-disposition", "attachment; filename=empty.csv"));
    t.site.answer("a/go", Answer::status(302).with("location", &t.site.url("b/end")));
    t.site.answer("b/end", Answer::typed("text/csv", "x,y"));
    t.go("a/").await;
    let got = t.call("download", json!({"url": t.site.url("a/page")})).await;
    assert_eq!((got["file"]["type"].as_str(), got["file"]["size"].as_u64()), (Some("text/html"), Some(26)));
    assert_eq!(t.hooks.kept.lock().unwrap()[0].1, b"<title>P</title>plain page");
    assert_eq!(t.call("download", json!({"url": t.site.url("a/f")})).await["file"]["name"], "in voice.pdf");
    assert_eq!(t.call("download", json!({"url": t.site.url("a/empty")})).await["file"]["size"], 0);
    let got = t.call("download", json!({"url": t.site.url("a/go")})).await;
    assert_eq!(got["file"]["source_url"], t.site.url("b/end"));
    assert_eq!(t.eval("document.title").await, "Shop", "the page stays");
    let got = t.call("tabs", json!({})).await;
    assert_eq!((got["tabs"].as_array().unwrap().len(), &got.state), (1, &json!({})));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_control_starts_a_download_by_header_attribute_or_blob() {
    let t = browser(&[("a/", "<a id=h href=/f>h</a> <a id=d download=n.txt href=/plain>d</a> <button id=b>blob</button> <a id=t target=_blank href=/f>t</a>
        <script>document.querySelector('#b').onclick = () => setTimeout(() => { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['first line'])); a.download = 'notes.txt'; a.click() }, 100)</script>"), ("a/plain", "plain")]).await;
    t.site.answer(
        "a/f",
        Answer::typed("text/csv", "a,b")
            .with("content-disposition", "attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.csv; filename=plain.csv"),
    );
    t.go("a/").await;
    for (id, name, bytes) in [
        ("#h", "résumé.csv", "a,b"),
        ("#d", "n.txt", "plain"),
        ("#b", "notes.txt", "first line"),
        ("#t", "résumé.csv", "a,b"),
    ] {
        let got = t.call("download", json!({"selector": id})).await;
        assert_eq!(got["file"]["name"], name, "{id}");
        let kept = t.hooks.kept.lock().unwrap().pop().unwrap();
        assert_eq!(kept.1, bytes.as_bytes(), "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_gives_no_file_is_an_error() {
    let t = browser(&[("a/", "<button id=n>none</button>")]).await;
    t.site.answer("a/204", Answer::Full(204, vec![], vec![]));
    t.site.answer(
        "a/unwanted",
        Answer::typed("text/csv", "x").with("content-disposition", "attachment; filename=unwanted.csv"),
    );
    t.go("a/").await;
    t.fail_for("download", json!({"selector": "#n", "timeout_ms": 600}), Reason::NoDownload).await;
    for path in ["a/204", "a/missing"] {
        t.fail_for("download", json!({"url": t.site.url(path)}), Reason::NoDownload).await;
    }
    assert_eq!(t.fail("download", json!({"url": t.site.url("a/unwanted")})).await.code, ErrorCode::FileNotSaved);
    assert_eq!(t.fail("download", json!({})).await.code, ErrorCode::InvalidInput);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_leads_to_a_refused_host_is_stopped_before_it() {
    let t =
        browser(&[("a/", "<a id=l href=/go>l</a> <a id=d download href=http://evil.localhost:{port}/d>d</a>")]).await;
    t.site.answer("a/go", Answer::status(302).with("location", &t.site.url("evil/data.bin")));
    t.go("a/").await;
    for arguments in [
        json!({"url": t.site.url("a/go")}),
        json!({"url": t.site.url("evil/direct")}),
        json!({"selector": "#l"}),
        json!({"selector": "#d"}),
    ] {
        let error = t.fail("download", arguments.clone()).await;
        assert_eq!(error.code, ErrorCode::SiteBlocked, "{arguments}");
        assert!(error.message.contains("evil.localhost"), "{error:?}");
    }
    assert_eq!(t.site.hits_of_host("evil"), 0);
    assert!(t.hooks.kept.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_nobody_asked_for_is_kept_and_told() {
    let t = browser(&[("a/", "<a id=d download=n.txt href=/plain>d</a><script>setTimeout(() => document.querySelector('#d').click(), 300)</script>"), ("a/plain", "plain")]).await;
    t.go("a/").await;
    t.site.asked("a/plain").await;
    let mut seen = Vec::new();
    while !seen.iter().any(|(status, _)| status == "finished") {
        let got = t.call("wait", json!({"ms": 20})).await;
        for download in got.state["downloads"].as_array().into_iter().flatten() {
            seen.push((download["status"].as_str().unwrap().to_owned(), download["file"].clone()));
        }
    }
    assert!(seen.last().unwrap().1.as_str().unwrap().starts_with("file_"), "{seen:?}");
}
