//! Which document a ref (`e12`, `f3e7`) belongs to.
//!
//! The numbers of main frames' refs come from one counter for the whole run, so no number ever names two elements; those of a
//! foreign frame's document count by themselves behind its tag. The element itself is found by the script of that document;
//! here it is only known which one to ask, and when there is none to ask any more: the ref is stale.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use transom_verbs::{RefId, ToolError, error::Reason};

use crate::frames::FrameId;

/// Numbers that are passed over when a script did not say how many it gave: more than any snapshot has lines.
const SKIP_UNKNOWN: u64 = 100_000;

/// Ranges of main frames' refs that are remembered; the oldest go first, and are stale then. Each is one snapshot with new elements.
const RANGES_MAX: usize = 20_000;

/// Documents of foreign frames whose refs are remembered; the oldest go first.
const FOREIGN_MAX: usize = 5_000;

/// A document whose script knows certain refs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) frame: FrameId,
    /// The script's context.
    pub(crate) context: Arc<str>,
}

#[derive(Debug)]
struct Table {
    next: u64,
    /// By first number: one beyond the last, and where they live.
    ranges: BTreeMap<u64, (u64, Home)>,
    foreign: BTreeMap<u32, (u64, Home)>,
    next_tag: u32,
}

/// The refs of one run. See the module.
#[derive(Debug)]
pub(crate) struct Refs {
    table: Mutex<Table>,
    /// Held while a main frame's script gives refs: the counter is one for all tabs.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

/// What a script needs to give refs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) tag: String,
    pub(crate) start: u64,
}

impl Refs {
    pub(crate) fn new() -> Refs {
        let table = Table { next: 1, ranges: BTreeMap::new(), foreign: BTreeMap::new(), next_tag: 1 };
        Refs { table: Mutex::new(table), turn: tokio::sync::Mutex::new(()) }
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a main frame's script starts to count. Hold [`Refs::turn`] until the answer is in.
    pub(crate) fn start(&self) -> Start {
        Start { tag: String::new(), start: self.table().next }
    }

    /// The script of `home` gave the numbers from `start` up to `next`; `None`: it did not say.
    pub(crate) fn given(&self, home: Home, start: u64, next: Option<u64>) {
        let mut table = self.table();
        let next = next.filter(|next| *next >= start).unwrap_or(start + SKIP_UNKNOWN);
        table.next = table.next.max(next);
        if next == start {
            return;
        }
        // Most snapshots of a page come right after its last one: then the range only grows.
        let before = table.ranges.range(..start).next_back().map(|(first, (end, at))| (*first, *end, *at == home));
        match before {
            Some((first, end, true)) if end == start => {
                table.ranges.insert(first, (next, home));
            }
            _ => {
                table.ranges.insert(start, (next, home));
            }
        }
        if table.ranges.len() > RANGES_MAX {
            table.ranges.pop_first();
        }
    }

    /// A tag for a foreign frame's document that has none yet.
    pub(crate) fn new_tag(&self, home: Home) -> u32 {
        let mut table = self.table();
        let tag = table.next_tag;
        table.next_tag += 1;
        table.foreign.insert(tag, (1, home));
        if table.foreign.len() > FOREIGN_MAX {
            table.foreign.pop_first();
        }
        tag
    }

    /// Where the script of a foreign frame goes on to count.
    pub(crate) fn start_foreign(&self, tag: u32) -> Start {
        let start = self.table().foreign.get(&tag).map_or(1, |(next, _)| *next);
        Start { tag: format!("f{tag}"), start }
    }

    /// The script behind `tag` gave numbers up to `next`.
    pub(crate) fn given_foreign(&self, tag: u32, next: u64) {
        if let Some((known, _)) = self.table().foreign.get_mut(&tag) {
            *known = next.max(*known);
        }
    }

    /// The document whose script to ask for this ref.
    ///
    /// # Errors
    /// `stale_ref` for one whose document is forgotten, `not_found` for one that was never given.
    pub(crate) fn home_of(&self, id: &RefId) -> Result<Home, ToolError> {
        let table = self.table();
        let (tag, number) = id.as_str().split_once('e').unwrap_or_default();
        let number: u64 = number.parse().unwrap_or_default();
        let (next, home) = match tag.strip_prefix('f') {
            Some(tag) => {
                let tag: u32 = tag.parse().unwrap_or_default();
                let known = table.foreign.get(&tag);
                // One whose document is forgotten was given all the same.
                let forgotten = if tag >= 1 && tag < table.next_tag { u64::MAX } else { 0 };
                (known.map_or(forgotten, |(next, _)| *next), known.map(|(_, home)| home))
            }
            None => {
                let range = table.ranges.range(..=number).next_back().map(|(_, range)| range);
                (table.next, range.filter(|(end, _)| number < *end).map(|(_, home)| home))
            }
        };
        match home {
            Some(home) if number < next => Ok(home.clone()),
            _ if number < next => Err(stale(id)),
            _ => Err(ToolError::failed(Reason::NotFound, format!("no element was given the ref {id}"))
                .with_hint("take a `snapshot` and use a ref that it shows")),
        }
    }
}

/// The element that the ref was given for is gone.
pub(crate) fn stale(id: &RefId) -> ToolError {
    ToolError::failed(Reason::StaleRef, format!("the element that {id} was given for is gone"))
        .with_hint("take a new `snapshot`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(name: &str) -> Home {
        Home { frame: name.into(), context: name.into() }
    }

    fn reason(refs: &Refs, id: &str) -> Result<String, Reason> {
        let id = RefId::parse(id).unwrap();
        refs.home_of(&id).map(|home| home.frame.as_str().to_owned()).map_err(|error| error.reason.unwrap())
    }

    #[test]
    fn a_ref_leads_to_the_document_that_gave_it_and_a_number_is_never_given_twice() {
        let refs = Refs::new();
        refs.given(home("A"), 1, Some(4));
        assert_eq!(refs.start().start, 4);
        refs.given(home("B"), 4, Some(6));
        refs.given(home("B"), 6, Some(9));
        for (id, frame) in [("e1", "A"), ("e3", "A"), ("e4", "B"), ("e8", "B")] {
            assert_eq!(reason(&refs, id).as_deref(), Ok(frame), "{id}");
        }
        assert_eq!(reason(&refs, "e9"), Err(Reason::NotFound));
        assert_eq!(refs.table().ranges.len(), 2, "a range grows instead of being followed by another");
    }

    #[test]
    fn numbers_of_a_call_that_did_not_end_are_passed_over() {
        let refs = Refs::new();
        refs.given(home("A"), 1, None);
        assert!(refs.start().start > 10_000);
    }

    #[test]
    fn a_foreign_frame_counts_by_itself() {
        let refs = Refs::new();
        let tag = refs.new_tag(home("F"));
        assert_eq!(refs.start_foreign(tag), Start { tag: "f1".into(), start: 1 });
        refs.given_foreign(tag, 3);
        assert_eq!(reason(&refs, "f1e2").as_deref(), Ok("F"));
        assert_eq!(reason(&refs, "f1e3"), Err(Reason::NotFound));
        assert_eq!(reason(&refs, "f2e1"), Err(Reason::NotFound));
    }
}
