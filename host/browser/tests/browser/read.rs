use serde_json::json;
use transom_verbs::error::{ErrorCode, Reason};

use crate::support::browser;

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_tells_the_page_and_names_its_elements() {
    let t = browser(&[("a/", "<title>Shop</title><h1>Cart</h1><button>Go</button><p>text</p>")]).await;
    t.go("a/").await;
    let got = t.call("snapshot", json!({})).await;
    let snapshot = got["snapshot"].as_str().unwrap();
    assert!(snapshot.contains("- button \"Go\" [ref=e"), "{snapshot}");
    assert_eq!(
        (got["title"].as_str(), got["url"].as_str(), got["truncated"].as_bool()),
        (Some("Shop"), Some(&*t.site.url("a/")), Some(false))
    );
    let got = t.call("snapshot", json!({"query": "go"})).await;
    assert_eq!(got["matches"], 1);
    let id = t.ref_of("button").await;
    assert!(t.call("snapshot", json!({"scope": id})).await["snapshot"].as_str().unwrap().contains("Go"));
    let error = t.fail("snapshot", json!({"scope": "#none"})).await;
    assert!(error.is(Reason::NotFound) && error.message.contains("#none"), "{error:?}");
    assert_eq!(t.fail("snapshot", json!({"scope": "]["})).await.code, ErrorCode::InvalidInput);
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_of_two_tabs_are_never_the_same_and_lead_to_their_own() {
    let t = browser(&[("a/1", "<button>One</button>"), ("a/2", "<button onclick='n=1'>Two</button>")]).await;
    t.go("a/1").await;
    let one = t.ref_of("One").await;
    t.call("navigate", json!({"url": t.site.url("a/2"), "new_tab": true})).await;
    let two = t.ref_of("Two").await;
    assert_ne!(one, two);
    let error = t.fail("click", json!({"ref": one})).await;
    assert!(error.hint.unwrap().contains("t1"));
    t.call("click", json!({"ref": one, "tab": "t1"})).await;
    t.call("click", json!({"ref": two})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_page_is_cut_at_a_line() {
    let page: String = (0..200).map(|n| format!("<button>Button {n}</button>")).collect();
    let t = browser(&[("a/", &page)]).await;
    t.go("a/").await;
    let got = t.call("snapshot", json!({"max_chars": 500})).await;
    let snapshot = got["snapshot"].as_str().unwrap();
    assert!(
        got["truncated"] == true && snapshot.len() <= 500 && snapshot.lines().all(|line| line.ends_with(']')),
        "{snapshot}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn text_comes_in_three_forms_from_the_page_or_one_element() {
    let t = browser(&[(
        "a/",
        "<nav>menu</nav><main><h1>Title</h1><p id=p>Some <b>bold</b> text</p><script>1</script></main>",
    )])
    .await;
    t.go("a/").await;
    let got = t.call("extract", json!({})).await;
    assert!(
        got["text"].as_str().unwrap().contains("Some bold text") && !got["text"].as_str().unwrap().contains("menu"),
        "{got:?}"
    );
    assert!(t.call("extract", json!({"format": "markdown"})).await["text"].as_str().unwrap().contains("# Title"));
    let html = t.call("extract", json!({"format": "html", "selector": "#p"})).await;
    assert!(html["text"].as_str().unwrap().contains("<b>bold</b>"));
    t.fail_for("extract", json!({"selector": "#none"}), Reason::NotFound).await;
    t.eval("document.querySelector('nav').style = 'position:fixed;left:600px;top:10px'; return 1").await;
    assert_eq!(t.call("extract", json!({"x": 610, "y": 20})).await["text"], "menu");
    let got = t.call("extract", json!({"max_chars": 3})).await;
    assert_eq!(got["truncated"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_tab_reads_as_empty_text() {
    let t = browser(&[]).await;
    assert_eq!(t.text().await, "");
    assert_eq!(t.snapshot().await, "");
    assert_eq!(t.browser.live_url(None), None);
}
