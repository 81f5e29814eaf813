//! `snapshot`: the page as a tree of roles and names, frames included.
//!
//! Each document's script writes its own part in one round trip. A part of a foreign frame stands in the parent's text as a place to
//! fill; the frames that are shown are read level by level, those of one level at once.

use std::collections::HashMap;

use futures::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use transom_verbs::{
    Call, RefId, Target, ToolError,
    error::Reason,
    verb::snapshot::{Input, Output},
};

use crate::{
    aim::{Script, target_json},
    browser::{Inner, TabView},
    frames::{FrameId, is_error_page},
    page::PageFault,
    refs::Home,
};

/// Frames inside frames that are read.
const DEPTH_MAX: usize = 8;

/// Foreign frames that one snapshot reads: a page with more is one of advertisements.
const FRAMES_MAX: usize = 60;

/// Spaces for each level.
const INDENT: usize = 2;

/// How often a document that is replaced while it is read is tried again, within the deadline.
const TRIES: usize = 20;

#[derive(Debug, Deserialize)]
struct Part {
    segments: Vec<Segment>,
    next: u64,
    truncated: bool,
    #[serde(default)]
    matches: Option<u32>,
    #[serde(default)]
    title: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Segment {
    Text(String),
    Frame { frame: Option<String>, indent: usize },
}

/// Parts by the frame that they are of.
type Parts = HashMap<FrameId, Part>;

impl Inner {
    pub(crate) async fn snapshot(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let tab = self.ready_tab(call.tab.as_ref())?;
        self.snapshot_of(&tab, input, deadline).await
    }

    pub(crate) async fn snapshot_of(
        &self,
        tab: &TabView,
        input: &Input,
        deadline: Instant,
    ) -> Result<Output, ToolError> {
        self.readable(tab, deadline).await?;
        let url = self.url_of(&tab.frame);
        if is_error_page(&url) {
            let matches = input.query.as_ref().map(|_| 0);
            return Ok(Output { snapshot: String::new(), url, title: String::new(), truncated: false, matches });
        }
        let scope = input.scope.as_deref().map(scope_target);
        let mut tries = 0;
        let (root, part) = loop {
            let script = self.script_for(tab, scope.as_ref()).await?;
            match self.part_of(tab, &script, input, scope.as_ref()).await {
                Ok(part) => break (script.frame.clone(), part),
                Err(PageFault::Gone) if tries < TRIES && !matches!(scope, Some(Target::Ref(_))) => {
                    tries += 1;
                    self.script_change(tab, &script).await?;
                }
                Err(fault) => return Err(fault.into()),
            }
        };
        let title = if root == tab.frame { part.title.clone() } else { self.title_of(tab, deadline).await? };
        let parts = self.with_frames_inside(tab, root.clone(), part, input).await;
        let budget = usize::try_from(input.max_chars).unwrap_or(usize::MAX);
        let mut page = Assembly { text: String::new(), n_chars: 0, budget, is_cut: false };
        page.put(&parts, &root, 0, 0);
        let truncated = page.is_cut || parts.values().any(|part| part.truncated);
        let matches = input.query.as_ref().map(|_| parts.values().filter_map(|part| part.matches).sum());
        Ok(Output { snapshot: page.text, url: self.url_of(&tab.frame), title, truncated, matches })
    }

    /// One document's own part.
    async fn part_of(
        &self,
        tab: &TabView,
        script: &Script,
        input: &Input,
        scope: Option<&Target>,
    ) -> Result<Part, PageFault> {
        let is_main = script.frame == tab.frame;
        let inside = self.shared.look(|world| {
            let frames = world.frames_of_tab(&script.frame);
            let is_inside = |id: &FrameId| {
                let parent = world.frames.get(id).and_then(|frame| frame.parent.clone());
                parent.is_some_and(|parent| world.is_foreign(id) && world.script_root_of(&parent) == script.frame)
            };
            frames.into_iter().filter(is_inside).take(FRAMES_MAX).collect::<Vec<_>>()
        });
        self.mark_frames(tab, &inside).await.map_err(PageFault::Refused)?;
        let home = Home { frame: script.frame.clone(), context: script.context.unique.clone() };
        if is_main {
            let _turn = self.refs.turn.lock().await;
            let start = self.refs.start();
            let arguments = arguments(input, scope, &start.tag, start.start);
            // However the call ends, what it may have given is never given again.
            let mut given = GivenOnDrop { inner: self, home, start: start.start, next: None };
            let part = self.ask::<Part>(tab, &script.context, "snapshot", &arguments).await;
            given.next = match &part {
                Ok(part) => Some(part.next),
                Err(PageFault::Refused(error)) if !error.is(Reason::DialogOpen) => Some(start.start),
                Err(_) => None,
            };
            return part;
        }
        let known = self.shared.look(|world| world.frames.get(&script.frame).and_then(|frame| frame.document.ref_tag));
        let tag = known.unwrap_or_else(|| self.refs.new_tag(home));
        self.shared.look(|world| {
            if let Some(frame) = world.frames.get_mut(&script.frame) {
                frame.document.ref_tag = Some(tag);
            }
        });
        let start = self.refs.start_foreign(tag);
        let part = self
            .ask::<Part>(tab, &script.context, "snapshot", &arguments(input, scope, &start.tag, start.start))
            .await?;
        self.refs.given_foreign(tag, part.next);
        Ok(part)
    }

    /// The part of `root` and those of all foreign frames that it shows.
    async fn with_frames_inside(&self, tab: &TabView, root: FrameId, part: Part, input: &Input) -> Parts {
        let mut wanted = part.frames();
        let mut parts = Parts::from([(root, part)]);
        for _ in 0..DEPTH_MAX {
            wanted.retain(|frame| !parts.contains_key(frame));
            wanted.truncate(FRAMES_MAX.saturating_sub(parts.len()));
            if wanted.is_empty() {
                break;
            }
            let level = join_all(wanted.drain(..).map(|frame| async {
                let script = self.script_of(tab, &frame).await.ok()?;
                let part = self.part_of(tab, &script, input, None).await.ok()?;
                Some((frame, part))
            }));
            // A frame that goes away while it is read is not there.
            for (frame, part) in level.await.into_iter().flatten() {
                wanted.extend(part.frames());
                parts.insert(frame, part);
            }
        }
        parts
    }
}

impl Part {
    fn frames(&self) -> Vec<FrameId> {
        let frame = |segment: &Segment| match segment {
            Segment::Frame { frame: Some(frame), .. } => Some(FrameId::from(frame.as_str())),
            _ => None,
        };
        self.segments.iter().filter_map(frame).collect()
    }
}

/// Takes note of the refs that a script gave, also when its call is dropped half-way.
struct GivenOnDrop<'a> {
    inner: &'a Inner,
    home: Home,
    start: u64,
    next: Option<u64>,
}

impl Drop for GivenOnDrop<'_> {
    fn drop(&mut self) {
        self.inner.refs.given(self.home.clone(), self.start, self.next);
    }
}

/// A scope is a ref where it looks like one: no CSS selector for a tag `e12` was ever wanted.
fn scope_target(scope: &str) -> Target {
    match RefId::parse(scope) {
        Ok(id) => Target::Ref(id),
        Err(_) => Target::Selector(scope.to_owned()),
    }
}

fn arguments(input: &Input, scope: Option<&Target>, tag: &str, start: u64) -> Value {
    json!({
        "tag": tag,
        "start": start,
        "scope": scope.map(target_json),
        "interactive": input.interactive,
        "viewport": input.viewport,
        "query": input.query,
        "depth": input.depth,
        "maxChars": input.max_chars,
    })
}

/// Puts the parts together, whole lines only, up to a budget of characters.
struct Assembly {
    text: String,
    n_chars: usize,
    budget: usize,
    is_cut: bool,
}

impl Assembly {
    fn put(&mut self, parts: &Parts, frame: &FrameId, level: usize, depth: usize) {
        let Some(part) = parts.get(frame) else { return };
        if depth > DEPTH_MAX {
            return;
        }
        for segment in &part.segments {
            match segment {
                Segment::Text(text) => text.lines().for_each(|line| self.line(line, level)),
                Segment::Frame { frame: Some(frame), indent } => {
                    self.put(parts, &FrameId::from(frame.as_str()), level + indent, depth + 1);
                }
                Segment::Frame { frame: None, .. } => {}
            }
        }
    }

    fn line(&mut self, line: &str, level: usize) {
        let n_chars = level * INDENT + line.chars().count() + 1;
        if self.is_cut || (self.n_chars > 0 && self.n_chars + n_chars > self.budget) {
            self.is_cut = true;
            return;
        }
        self.n_chars += n_chars;
        self.text.extend(std::iter::repeat_n(' ', level * INDENT));
        self.text.push_str(line);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(segments: Value) -> Part {
        serde_json::from_value(json!({"segments": segments, "next": 1, "truncated": false})).unwrap()
    }

    fn assembled(budget: usize) -> (String, bool) {
        let parts = Parts::from([
            (
                FrameId::from("A"),
                part(json!(["- main\n", {"frame": "B", "indent": 1}, {"frame": null, "indent": 0}, "- end\n"])),
            ),
            (FrameId::from("B"), part(json!(["- button \"Pay\" [ref=f1e1]\n  - x\n", {"frame": "A", "indent": 1}]))),
        ]);
        let mut page = Assembly { text: String::new(), n_chars: 0, budget, is_cut: false };
        page.put(&parts, &FrameId::from("A"), 0, DEPTH_MAX);
        (page.text, page.is_cut)
    }

    #[test]
    fn a_frames_lines_stand_in_its_place_indented() {
        let (text, is_cut) = assembled(1000);
        assert_eq!(text, "- main\n- end\n", "a frame that is too deep is left out");
        assert!(!is_cut);
        let parts = Parts::from([
            (FrameId::from("A"), part(json!(["- main\n", {"frame": "B", "indent": 1}, "- end\n"]))),
            (FrameId::from("B"), part(json!(["- button \"Pay\" [ref=f1e1]\n  - x\n"]))),
        ]);
        let mut page = Assembly { text: String::new(), n_chars: 0, budget: 1000, is_cut: false };
        page.put(&parts, &FrameId::from("A"), 0, 0);
        assert_eq!(page.text, "- main\n  - button \"Pay\" [ref=f1e1]\n    - x\n- end\n");
    }

    #[test]
    fn frames_that_claim_to_hold_each_other_end() {
        let parts = Parts::from([
            (FrameId::from("A"), part(json!(["- a\n", {"frame": "B", "indent": 0}]))),
            (FrameId::from("B"), part(json!(["- b\n", {"frame": "A", "indent": 0}]))),
        ]);
        let mut page = Assembly { text: String::new(), n_chars: 0, budget: 100_000, is_cut: false };
        page.put(&parts, &FrameId::from("A"), 0, 0);
        assert!(page.text.len() < 200);
    }

    #[test]
    fn a_snapshot_that_is_too_long_ends_after_a_whole_line() {
        let (text, is_cut) = assembled(8);
        assert_eq!((text.as_str(), is_cut), ("- main\n", true));
    }

    #[test]
    fn a_scope_is_a_ref_where_it_looks_like_one() {
        assert!(matches!(scope_target("e12"), Target::Ref(_)));
        assert!(matches!(scope_target("f1e2"), Target::Ref(_)));
        assert!(matches!(scope_target("#e12"), Target::Selector(_)));
    }
}
