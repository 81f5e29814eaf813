//! What the page script says of pages: their snapshots, refs, what is in the way of a click, and what a field keeps.
//!
//! The pages of `tests/pages` have their snapshot beside them; `UPDATE_EXPECT=1` writes it anew, to be reviewed like code.

use expect_test::expect_file;
use serde_json::json;
use transom_verbs::error::Reason;

use crate::support::{Fixture, browser};

const PAGES: &[(&str, &str)] = &[
    ("a/controls", include_str!("../pages/controls.html")),
    ("a/structure", include_str!("../pages/structure.html")),
    ("a/hidden", include_str!("../pages/hidden.html")),
    ("a/shadow", include_str!("../pages/shadow.html")),
    ("a/modal", include_str!("../pages/modal.html")),
    ("a/clobbered", include_str!("../pages/clobbered.html")),
];

/// The snapshot of a page that is given as its body.
async fn snapshot_of(body: &str, arguments: serde_json::Value) -> String {
    let t = browser(&[("a/", body)]).await;
    t.go("a/").await;
    t.call("snapshot", arguments).await["snapshot"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_page_reads_as_the_snapshot_beside_it() {
    let t = browser(PAGES).await;
    for (place, _) in PAGES {
        t.go(place).await;
        let name = place.trim_start_matches("a/");
        let snapshot = renumbered(&t.snapshot().await);
        assert!(!snapshot.contains("\"no"), "what is hidden is left out:\n{snapshot}");
        expect_file![format!("{}/tests/pages/{name}.snapshot", env!("CARGO_MANIFEST_DIR"))].assert_eq(&snapshot);
    }
}

/// The refs counted from one, as on a first page: a run never repeats a number.
fn renumbered(snapshot: &str) -> String {
    let mut next = 0;
    let mut text = String::new();
    for (n, part) in snapshot.split(" [ref=e").enumerate() {
        if n == 0 {
            text.push_str(part);
            continue;
        }
        next += 1;
        text.push_str(&format!(" [ref=e{next}{}", part.trim_start_matches(|c: char| c.is_ascii_digit())));
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_is_narrowed_by_query_depth_viewport_and_to_what_can_be_operated() {
    let t = browser(&[(
        "a/",
        "<main aria-label=Shop><h1>Tea shop</h1><p>Green tea</p><button>Buy green tea</button><ul><li><a href=/1>Black tea</a></ul></main>
         <div style='height:3000px'></div><button>Far away</button>",
    )])
    .await;
    t.go("a/").await;
    let of = async |arguments| {
        let got = t.call("snapshot", arguments).await;
        renumbered(got["snapshot"].as_str().unwrap())
    };
    assert_eq!(
        of(json!({"query": "TEA green"})).await,
        "- paragraph: \"Green tea\"\n- button \"Buy green tea\" [ref=e1]\n"
    );
    assert_eq!(of(json!({"depth": 1})).await, "- main \"Shop\"\n- button \"Far away\" [ref=e1]\n");
    assert_eq!(
        of(json!({"interactive": true})).await,
        "- button \"Buy green tea\" [ref=e1]\n- link \"Black tea\" [ref=e2]\n- button \"Far away\" [ref=e3]\n"
    );
    let seen = of(json!({"viewport": true})).await;
    assert!(seen.contains("Black tea") && !seen.contains("Far away"), "{seen}");
    assert_eq!(of(json!({"scope": "ul"})).await, "- list\n  - listitem\n    - link \"Black tea\" [ref=e1]\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_scope_is_an_error_and_a_shown_one_is_read() {
    let t = browser(&[("a/", "<div id=off hidden>x</div><div id=on>x</div>")]).await;
    t.go("a/").await;
    t.fail_for("snapshot", json!({"scope": "#off"}), Reason::NotVisible).await;
    assert_eq!(t.call("snapshot", json!({"scope": "#on"})).await["snapshot"], "- text: \"x\"\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn halves_of_a_word_in_elements_of_their_own_stay_one_word() {
    // What takes out secrets looks at whole words.
    let snapshot = snapshot_of(
        "<p><span>k9&amp;Vell</span><span>um42</span></p><div>k9<b>Vel</b><span style='display:inline-block'>lum</span></div>",
        json!({}),
    )
    .await;
    assert_eq!(snapshot, "- paragraph: \"k9&Vellum42\"\n- text: \"k9Vellum\"\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_too_long_for_a_line_is_listed_as_text_and_never_cut() {
    let long = "word ".repeat(200);
    let snapshot =
        snapshot_of(&format!("<a href=/x>{long}</a><button>{}</button>", "short ".repeat(20)), json!({})).await;
    assert_eq!(
        renumbered(&snapshot),
        format!("- link [ref=e1]: \"{}\"\n- button \"{}\" [ref=e2]\n", long.trim(), "short ".repeat(20).trim())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_value_of_a_password_is_never_told() {
    let snapshot = snapshot_of(
        "<input type=password aria-label=One value=topsecret1><input aria-label=Two value=topsecret2 style='-webkit-text-security:disc'>
         <label>Three <input type=password value=topsecret3></label><button aria-labelledby=four></button><input id=four type=password value=topsecret4>
         <input aria-label=Five value=shown>",
        json!({}),
    )
    .await;
    assert!(!snapshot.contains("topsecret") && snapshot.contains(": \"shown\""), "{snapshot}");
    assert!(snapshot.contains("\"One\" [filled=true]"), "{snapshot}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_element_keeps_its_ref_and_a_look_alike_never_gets_it() {
    let t = browser(&[(
        "a/",
        "<div id=list><button>Alpha</button><button>Bravo</button></div><iframe srcdoc='<button>Inner</button>'></iframe>
         <script>pressed=[];list.onclick=e=>pressed.push(e.target.textContent)</script>",
    )])
    .await;
    t.go("a/").await;
    let bravo = t.ref_of("Bravo").await;
    let inner = t.ref_of("Inner").await;
    t.eval("list.prepend(list.lastChild)").await;
    assert_eq!(t.ref_of("Bravo").await, bravo);
    t.call("click", json!({"ref": bravo})).await;
    t.eval("list.innerHTML = list.innerHTML; return 1").await;
    assert_ne!(t.ref_of("Bravo").await, bravo);
    t.fail_for("click", json!({"ref": bravo}), Reason::StaleRef).await;
    assert_eq!(t.eval("pressed").await, json!(["Bravo"]));
    t.eval("document.querySelector('iframe').remove(); return 1").await;
    t.fail_for("click", json!({"ref": inner}), Reason::StaleRef).await;
}

async fn actions() -> Fixture {
    browser(&[(
        "a/",
        "<style>body{margin:0} .pin{position:fixed;left:0;right:0;top:0;height:80px;background:teal;z-index:2} @keyframes slide{from{transform:translateX(0)}to{transform:translateX(300px)}}</style>
         <div class=pin id=bar>Bar</div><div style='height:1200px'></div><button id=under>Under the bar</button>
         <div style='position:relative'><button id=covered>Covered</button><div id=wrapper><div class='veil dark' style='position:absolute;inset:0'><i>x</i></div></div></div>
         <button id=through style='pointer-events:none'>Through</button>
         <input type=checkbox id=drawn style='position:absolute;width:0;height:0;opacity:0'><label for=drawn>Drawn label</label>
         <div style='display:contents' id=contents><button>Content</button></div>
         <a href=#floating id=floating><span style='float:left;width:40px;height:20px;background:red'></span></a>
         <div style='width:90px'>aaaaaaaaaa <a href=#wrapped id=wrapped>bbbb cccc dddd eeee</a></div>
         <div style='overflow:auto;height:80px'><div style='height:900px'></div><button id=inner>In a scroller</button></div>
         <map name=m><area id=area shape=rect coords='10,10,50,30' href=#area></map><img usemap=#m width=100 height=60 src='data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'>
         <button id=sliding style='animation:slide 500ms linear'>Sliding</button>
         <button disabled><span id=part>Part of a disabled button</span></button><div id=zero></div>
         <x-e><template shadowrootmode=open><button id=shadowed>Shadowed</button></template></x-e>
         <div style='height:1200px'></div>
         <script>pressed=[];addEventListener('click',e=>pressed.push(e.composedPath()[0].id||e.composedPath()[0].textContent))</script>",
    )])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_pressed_somewhere_is_pressed_there() {
    let t = actions().await;
    t.go("a/").await;
    t.eval("scrollTo(0, document.querySelector('#under').offsetTop - 5)").await;
    for (selector, pressed) in [
        ("#under", "under"),
        ("#drawn", "drawn"),
        ("#contents", "Content"),
        ("#floating", ""),
        ("#wrapped", "wrapped"),
        ("#inner", "inner"),
        ("#area", "area"),
        ("#sliding", "sliding"),
        ("#shadowed", "shadowed"),
    ] {
        t.call("click", json!({"selector": selector})).await;
        assert_eq!(t.eval("pressed.at(-1)").await, pressed, "{selector}");
    }
    assert_eq!(t.eval("document.querySelector('#drawn').checked").await, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_way_is_named_and_not_pressed() {
    let t = actions().await;
    t.go("a/").await;
    let quick = |selector: &str| json!({"selector": selector, "timeout_ms": 300});
    let message = t.fail_for("click", quick("#covered"), Reason::Covered).await;
    assert_eq!(message, "button \"Covered\" is covered by div#wrapper (there: div.veil.dark)");
    let message = t.fail_for("click", quick("#through"), Reason::Covered).await;
    assert_eq!(message, "button \"Through\" lets clicks through to body behind it");
    t.fail_for("click", quick("#part"), Reason::Disabled).await;
    t.fail_for("click", quick("#zero"), Reason::NotVisible).await;
    t.fail_for("click", json!({"x": 5000, "y": 10, "timeout_ms": 300}), Reason::NotFound).await;
    assert_eq!(t.eval("pressed").await, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_that_writes_in_its_own_way_keeps_the_text_and_one_that_drops_it_says_so() {
    let t = browser(&[(
        "a/",
        "<input id=mask oninput=\"this.value = this.value.replace(/\\D/g, '').replace(/(\\d{3})(?=\\d)/g, '$1-')\">
         <input id=upper oninput='this.value = this.value.toUpperCase()'>
         <input id=digits oninput=\"this.value = this.value.replace(/\\D/g, '')\">
         <input id=number type=number><input id=thief onfocus='mask.focus()'>
         <label id=label>Label <input id=labelled></label>",
    )])
    .await;
    t.go("a/").await;
    let kept = async |id: &str, text: &str| {
        t.call("type", json!({"selector": format!("#{id}"), "text": text})).await;
        t.eval(&format!("document.querySelector('#{id}').value")).await
    };
    assert_eq!(kept("mask", "123456").await, "123-456");
    assert_eq!(kept("upper", "abc").await, "ABC");
    t.call("type", json!({"selector": "#label", "text": "by its label"})).await;
    assert_eq!(t.eval("labelled.value").await, "by its label");
    for (id, text, reason) in [
        ("digits", "letters", Reason::ValueRefused),
        ("number", "letters", Reason::ValueRefused),
        ("thief", "text", Reason::NotEditable),
    ] {
        t.fail_for("type", json!({"selector": format!("#{id}"), "text": text, "timeout_ms": 300}), reason).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn editors_in_shadow_roots_and_frames_are_typed_into() {
    let t = browser(&[(
        "a/",
        "<x-e><template shadowrootmode=open><div id=shadow contenteditable>old <b>text</b></div></template></x-e>
         <iframe srcdoc='<div id=frame contenteditable>old</div><input id=field value=old>'></iframe>",
    )])
    .await;
    t.go("a/").await;
    t.call("wait", json!({"selector": "#field"})).await;
    for id in ["#shadow", "#frame", "#field"] {
        t.call("type", json!({"selector": id, "text": "new"})).await;
        t.call("type", json!({"selector": id, "text": " more", "append": true})).await;
    }
    let snapshot = t.snapshot().await;
    assert_eq!(snapshot.matches(": \"new more\"").count(), 3, "{snapshot}");
}
