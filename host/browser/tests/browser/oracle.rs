//! Roles, names and order against Chromium's own accessibility tree, on every page of `tests/pages`.
//!
//! The product never asks Chromium for that tree (it takes many times as long); here it is the oracle. Where the script says
//! something else on purpose, [`DIFFERENT`] says why.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

use crate::support::{Chromium, Site};

/// Elements of which the script says something else, by the beginning of their markup, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("<input id=\"mail\"", "\" *\" is no word: text of style sheets counts only when it can be read"),
    ("<button class=\"upper\"", "names are as written: a secret in capitals would not be found again"),
    ("<div contenteditable=\"\" aria-label=\"Editor\"", "an editor is a textbox, although HTML has no role for it"),
    ("<img src=\"x\" alt=\"\" title", "an empty alt means decoration, with a tooltip too"),
    ("<abbr title", "the tooltip of a word in a sentence is no name in a line"),
    ("<tr><td>Cell</td>", "a row is not named by the cells that are listed below it"),
];

/// Chromium's names for what the script calls otherwise.
fn our_role(theirs: &str) -> &str {
    match theirs {
        "image" | "SvgRoot" => "img",
        "DisclosureTriangle" => "button",
        "Details" => "group",
        "Iframe" | "IframePresentational" => "iframe",
        "Date" | "DateTime" | "InputTime" | "ColorWell" => "textbox",
        "DescriptionListTerm" => "term",
        "DescriptionListDetail" => "definition",
        "none" | "LabelText" | "Legend" | "Figcaption" | "sectionheader" | "sectionfooter" | "Pre" | "Abbr"
        | "DescriptionList" => "generic",
        layout if layout.starts_with("Layout") => "generic",
        other => other,
    }
}

const NOT_ELEMENTS: &[&str] =
    &["StaticText", "InlineTextBox", "RootWebArea", "ListMarker", "LineBreak", "MenuListPopup"];

const CONTROLS: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];

/// What the script makes of one element; null for one that no script can reach, as inside a date field.
const ASK: &str = "function() {
  if (this.nodeType !== 1) return null;
  const root = this.getRootNode();
  if (root.host && !root.host.shadowRoot) return null;
  const isClosedOption = this.localName === 'option' && __oracle.roleOf(this.closest('select')) === 'combobox';
  return { role: __oracle.roleOf(this), name: __oracle.nameOf(this), ref: __oracle.refOf(this), isClosedOption, html: this.outerHTML.slice(0, 100) };
}";

/// The script as the product joins it, with a way to ask it about one element.
fn script() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let order = read("world.js");
    let files = order.lines().filter_map(|line| line.strip_prefix("// ORDER:")).flat_map(str::split_whitespace);
    let source: String = files.map(read).collect();
    let hook = "const asked = (question) => (element) => { freshPass(); return question(element) };
        globalThis.__oracle = { roleOf: asked(roleOf), nameOf: asked(nameOf), refOf: (element) => refOfElement.get(element) ?? null };";
    format!("(() => {{ 'use strict';\n{source}\n{hook} }})()")
}

/// A page of Chromium, spoken to directly.
struct Raw {
    commands: pipe::Sender,
    answers: pipe::Receiver,
    unread: Vec<u8>,
    session: Option<String>,
    n_sent: u64,
    _chromium: Chromium,
}

impl Raw {
    async fn start() -> Raw {
        let (chromium, read, write) = Chromium::start().into_parts();
        let answers = pipe::Receiver::from_owned_fd(read).unwrap();
        let commands = pipe::Sender::from_owned_fd(write).unwrap();
        let mut raw = Raw { commands, answers, unread: Vec::new(), session: None, n_sent: 0, _chromium: chromium };
        let target = raw.call("Target.createTarget", json!({"url": "about:blank"})).await["targetId"].clone();
        let attached = raw.call("Target.attachToTarget", json!({"targetId": target, "flatten": true})).await;
        raw.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "DOM", "Accessibility"] {
            raw.call(&format!("{domain}.enable"), json!({})).await;
        }
        raw
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.n_sent += 1;
        let mut command = json!({"id": self.n_sent, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&command).unwrap();
        bytes.push(0);
        self.commands.write_all(&bytes).await.unwrap();
        let id = json!(self.n_sent);
        let mut answer = self.message(|message| message["id"] == id).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The next message of this kind; those before it are dropped.
    async fn message(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            while let Some(end) = self.unread.iter().position(|byte| *byte == 0) {
                let message: Value = serde_json::from_slice(&self.unread[..end]).unwrap();
                self.unread.drain(..=end);
                if is_it(&message) {
                    return message;
                }
            }
            let reading = self.answers.read_buf(&mut self.unread);
            let n_read =
                tokio::time::timeout(Duration::from_secs(30), reading).await.expect("Chromium answers").unwrap();
            assert!(n_read > 0, "Chromium is there");
        }
    }

    /// Opens a page, and puts the script into a world of its own there.
    async fn open(&mut self, url: &str) -> Value {
        let frame = self.call("Page.navigate", json!({"url": url})).await["frameId"].clone();
        self.message(|message| message["method"] == "Page.loadEventFired").await;
        let world =
            self.call("Page.createIsolatedWorld", json!({"frameId": frame})).await["executionContextId"].clone();
        let done = self.call("Runtime.evaluate", json!({"contextId": world, "expression": script()})).await;
        assert!(done["exceptionDetails"].is_null(), "{done}");
        world
    }

    /// What the script says of the element of a node; null where there is none.
    async fn ask(&mut self, world: &Value, node: &Value) -> Value {
        let resolve = json!({"backendNodeId": node["backendDOMNodeId"], "executionContextId": world});
        let object = self.call("DOM.resolveNode", resolve).await["object"]["objectId"].clone();
        let ask = json!({"objectId": object, "functionDeclaration": ASK, "returnByValue": true});
        self.call("Runtime.callFunctionOn", ask).await["result"]["value"].take()
    }
}

fn one_line(text: &str) -> String {
    let is_drawn = |c: &char| !('\u{e000}'..='\u{f8ff}').contains(c);
    let drawn: String = text.chars().filter(is_drawn).collect();
    drawn.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn pages() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let mut pages: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    pages.sort();
    assert!(pages.len() >= 6);
    pages
}

/// The nodes in the tree's order.
fn in_order(nodes: &[Value]) -> Vec<&Value> {
    let by_id: HashMap<&str, &Value> = nodes.iter().map(|node| (node["nodeId"].as_str().unwrap(), node)).collect();
    let mut ordered = Vec::new();
    let mut left = vec![&nodes[0]];
    while let Some(node) = left.pop() {
        ordered.push(node);
        let children = node["childIds"].as_array().into_iter().flatten().rev();
        left.extend(children.filter_map(|id| by_id.get(id.as_str().unwrap())));
    }
    ordered
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_names_and_the_order_of_refs_agree_with_chromiums_own_tree() {
    let site = Site::new();
    let mut raw = Raw::start().await;
    let mut n_compared = 0;
    let mut differences = Vec::new();
    let mut met: HashSet<&str> = HashSet::new();
    for (page, html) in pages() {
        site.page(&format!("a/{page}"), &html);
        let world = raw.open(&site.url(&format!("a/{page}"))).await;
        let snapshot =
            json!({"contextId": world, "expression": "__transom.snapshot({start: 1})", "returnByValue": true});
        let snapshot = raw.call("Runtime.evaluate", snapshot).await;
        let text: String = snapshot["result"]["value"]["ok"]["segments"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let tree = raw.call("Accessibility.getFullAXTree", json!({})).await;
        let mut their_order = Vec::new();
        for node in in_order(tree["nodes"].as_array().unwrap()) {
            let theirs = node["role"]["value"].as_str().unwrap_or_default();
            if node["ignored"] == true || node["backendDOMNodeId"].is_null() || NOT_ELEMENTS.contains(&theirs) {
                continue;
            }
            let ours = raw.ask(&world, node).await;
            if ours.is_null() {
                continue;
            }
            let html = ours["html"].as_str().unwrap();
            let their_name = one_line(node["name"]["value"].as_str().unwrap_or_default());
            let their_role = our_role(theirs);
            if CONTROLS.contains(&their_role) && ours["isClosedOption"] != true {
                match ours["ref"].as_str() {
                    Some(id) => their_order.push(id.to_owned()),
                    None => differences.push(format!("{page}: no ref for {theirs} {their_name:?}: {html}")),
                }
            }
            if let Some((start, _)) = DIFFERENT.iter().find(|(start, _)| html.starts_with(start)) {
                met.insert(*start);
                continue;
            }
            // A drawing without a name is one for Chromium, and no line here.
            if theirs == "SvgRoot" && their_name.is_empty() {
                continue;
            }
            n_compared += 1;
            let our_role = ours["role"].as_str().map(|role| if role == "none" { "generic" } else { role });
            let our_name = one_line(ours["name"].as_str().unwrap());
            let is_cell_of_layout = theirs.starts_with("Layout");
            if our_role != Some(their_role) || our_name != their_name && !is_cell_of_layout {
                differences.push(format!("{page}: {theirs} {their_name:?}, here {our_role:?} {our_name:?}: {html}"));
            }
        }
        let refs: Vec<&str> = text.split(" [ref=").skip(1).filter_map(|rest| rest.split(']').next()).collect();
        let ours: Vec<&str> = refs.into_iter().filter(|id| their_order.iter().any(|theirs| theirs == id)).collect();
        if ours != their_order {
            differences.push(format!("{page}: order {ours:?}, theirs {their_order:?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(met.len(), DIFFERENT.len(), "only {met:?}");
    assert!(n_compared > 250, "{n_compared}");
}
