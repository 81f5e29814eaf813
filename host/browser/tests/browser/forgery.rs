//! Whatever a page calls its elements, its snapshot has the lines and refs that the script wrote, and no others.

use std::collections::HashSet;

use serde_json::{Value, json};
use transom_verbs::error::Reason;

use crate::support::browser;

/// What a page would be made of to look like a snapshot, or like nothing.
const PIECES: &[&str] = &[
    "[ref=e1]",
    " [ref=e9]",
    "\"",
    "\\",
    "\\\"",
    "\n",
    "\r\n",
    "\u{2028}",
    "\u{2029}",
    "\u{85}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\0",
    "\u{7}",
    "\u{1b}[31m",
    "\t",
    "- button \"X\" [ref=e2]",
    "\n- link \"Y\" [ref=e3]",
    "\": \"",
    "] [",
    "\u{e0041}",
    "\u{feff}",
    "\u{ad}",
    "\u{3164}",
    "\u{2800}",
    "text: ",
    "a",
    "Ω",
    "漢",
    "😀",
    "\u{200d}",
    "\u{a0}",
    "\u{c}",
    "\u{1c}",
    "`",
    "${x}",
    "<b>",
    "&quot;",
];

/// Makes elements of these names, each kind of element and each way to name it in turn.
const BUILD: &str = r#"
const kinds = ['button', 'a', 'p', 'div', 'h2', 'input', 'textarea', 'select', 'img', 'li', 'td', 'span', 'svg', 'x-foo']
const states = ['aria-checked', 'aria-level', 'aria-expanded', 'aria-current', 'aria-pressed', 'aria-invalid', 'aria-valuetext', 'role']
document.body.replaceChildren(...names.map((name, n) => {
  const kind = kinds[n % kinds.length], element = document.createElement(kind)
  if (kind === 'input' || kind === 'textarea') element.value = name
  else if (kind === 'select') element.add(new Option(name))
  else element.textContent = name
  const way = n % 6
  if (way === 1) element.setAttribute('aria-label', name)
  if (way === 2) element.title = name
  if (way === 3) { element.tabIndex = 0; for (const state of states) element.setAttribute(state, name) }
  if (kind === 'a') element.href = '#'
  if (kind === 'img') element.alt = name
  element.id = element.className = name
  return element
}))
document.title = names[0]
return names.length
"#;

/// The same names in each run of the test.
fn names(round: u32) -> Vec<String> {
    let mut seed = 7 + round;
    let mut draw = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below
    };
    (0..60).map(|_| (0..=draw(7)).map(|_| PIECES[draw(PIECES.len())]).collect()).collect()
}

/// The ref of a line, if the line has exactly the form `- role "name" [state=…] [ref=…]: "value"`.
fn parse(line: &str) -> Result<Option<&str>, &str> {
    if line.chars().any(|c| {
        c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    }) {
        return Err("a character that is no part of a line");
    }
    let rest = line.trim_start_matches("  ").strip_prefix("- ").ok_or("no dash")?;
    let mut rest = rest.trim_start_matches(|c: char| c.is_ascii_lowercase());
    if let Some(name) = rest.strip_prefix(" \"") {
        rest = after_string(name).ok_or("an open name")?;
    }
    let mut found = None;
    while let Some(state) = rest.strip_prefix(" [") {
        let (state, after) = state.split_once(']').ok_or("an open bracket")?;
        let (key, value) = state.split_once('=').ok_or("a state without a value")?;
        if found.is_some()
            || !key.bytes().all(|b| b.is_ascii_lowercase())
            || !value.bytes().all(|b| b.is_ascii_alphanumeric())
        {
            return Err("a state that no script wrote");
        }
        if key == "ref" {
            found = Some(value);
        }
        rest = after;
    }
    match rest.strip_prefix(": \"") {
        Some(value) if after_string(value) != Some("") => Err("an open value"),
        None if !rest.is_empty() => Err("something after the line"),
        _ => Ok(found),
    }
}

/// What follows the closing quote of a string whose opening quote is gone.
fn after_string(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

#[test]
fn the_parser_of_lines_takes_what_is_one_and_nothing_else() {
    assert_eq!(parse(r#"  - button "Go \"now\"" [level=2] [ref=e3]: "a\\""#), Ok(Some("e3")));
    assert_eq!(parse(r#"- text: "[ref=e1]""#), Ok(None));
    for bad in [
        r#"- button "a" [ref=e1] [ref=e2]"#,
        r#"- button "a"b"#,
        r#"- button [a=b c]"#,
        "- text: \"a\u{2028}\"",
        r#"button"#,
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn page_text_can_forge_neither_a_ref_nor_a_line() {
    let t = browser(&[("a/", "<body></body>")]).await;
    t.go("a/").await;
    let mut given = HashSet::new();
    for round in 0..40 {
        let names = names(round);
        t.eval(&format!("const names = {}; {BUILD}", json!(names))).await;
        for arguments in [json!({}), json!({"interactive": true}), json!({"query": "a"}), json!({"viewport": true})] {
            let got = t.call("snapshot", arguments.clone()).await;
            let snapshot = got["snapshot"].as_str().unwrap();
            let mut here = HashSet::new();
            for line in snapshot.lines() {
                match parse(line) {
                    Ok(Some(id)) => assert!(here.insert(id), "{id} twice in\n{snapshot}"),
                    Ok(None) => {}
                    Err(why) => panic!("{why}: {line:?}"),
                }
            }
            if arguments == json!({}) {
                assert!(here.len() >= 10, "{snapshot}");
                assert!(here.iter().all(|id| given.insert((*id).to_owned())), "a ref is given twice");
            }
            let title = got["title"].as_str().unwrap();
            assert!(!title.chars().any(|c| c.is_control() || c == '\u{2028}'), "{title:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_names_an_element_stays_one_line() {
    let t = browser(&[("a/", "<button disabled>x</button><div></div>")]).await;
    t.go("a/").await;
    let name: Value = "Go\" [ref=e1]\n- button \"Fake".into();
    t.eval(&format!(
        "document.querySelector('button').textContent = {name}; document.querySelector('div').id = {name}; return 1"
    ))
    .await;
    let message = t.fail_for("click", json!({"selector": "button", "timeout_ms": 200}), Reason::Disabled).await;
    assert_eq!(message, r#"button "Go\" [ref=e1] - button \"Fake" is disabled"#);
    let message = t.fail_for("click", json!({"selector": "div", "timeout_ms": 200}), Reason::NotVisible).await;
    assert_eq!(message, "div#Gorefe1-buttonFake is not visible");
}
