//! The tabs that callers know by short ids, and which one is active.
//!
//! A tab's id never changes its tab and is never given again. A tab that a page opened doesn't become the active one unless a caller
//! asks, or the active one closes: then its opener does, else the tab that opened last.
//!
//! The verbs `tabs`, `open`, `switch` and `close` are in [`crate::tab_verbs`].

use std::sync::Arc;

use transom_verbs::TabId;

use crate::{activity::Activity, cdp::SessionId, dialogs::WaitingDialog, fetch_gate::Refusal, frames::FrameId};

/// Tabs that one browser may have open. A page that opens more has the surplus closed at once.
pub(crate) const TABS_MAX: usize = 50;

/// One tab.
#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) id: TabId,
    /// Its main frame, whose id is also the target's.
    pub(crate) frame: FrameId,
    pub(crate) session: SessionId,
    pub(crate) opener: Option<TabId>,
    /// Whether it serves one call and callers never hear of it.
    pub(crate) is_hidden: bool,
    /// When it opened, by the world's clock.
    pub(crate) opened_at: u64,
    pub(crate) is_crashed: bool,
    pub(crate) dialog: Option<WaitingDialog>,
    /// The file input of the chooser that was last opened, and when.
    /// The file input of the chooser that was last opened: when, in which session, and Chromium's number for it.
    pub(crate) chooser: Option<(u64, SessionId, i64)>,
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) activity: Activity,
    /// Held by an action from aiming to its end: two at once would take each other's aim.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
}

/// All tabs, in the order in which they opened.
#[derive(Debug, Default)]
pub(crate) struct Tabs {
    list: Vec<Tab>,
    active: Option<TabId>,
    n_given: u32,
    /// The tab that Chromium shows on top, where it is known: only that one can be pictured.
    pub(crate) front: Option<TabId>,
}

impl Tabs {
    /// Adds a tab; the first becomes active.
    pub(crate) fn add(
        &mut self,
        frame: FrameId,
        session: SessionId,
        opener: Option<TabId>,
        is_hidden: bool,
        clock: u64,
    ) -> Option<TabId> {
        let id = if is_hidden {
            // Outside of the numbers that callers see.
            TabId::parse("t0").ok()?
        } else {
            self.n_given += 1;
            TabId::parse(format!("t{}", self.n_given)).ok()?
        };
        if self.active.is_none() && !is_hidden {
            self.active = Some(id.clone());
        }
        self.list.push(Tab {
            id: id.clone(),
            frame,
            session,
            opener,
            is_hidden,
            opened_at: clock,
            is_crashed: false,
            dialog: None,
            chooser: None,
            refusals: Vec::new(),
            activity: Activity::default(),
            turn: Arc::default(),
        });
        Some(id)
    }

    /// Takes the tab of a session away and returns it. The active tab's place goes to its opener or to the youngest.
    pub(crate) fn remove(&mut self, session: &SessionId) -> Option<Tab> {
        let at = self.list.iter().position(|tab| tab.session == *session)?;
        let tab = self.list.remove(at);
        if self.active.as_ref() == Some(&tab.id) && !tab.is_hidden {
            let opener = tab.opener.clone().filter(|id| self.get(id).is_some());
            self.active = opener.or_else(|| self.shown().last().map(|tab| tab.id.clone()));
        }
        if self.front.as_ref() == Some(&tab.id) {
            self.front = None;
        }
        Some(tab)
    }

    /// The tabs that callers know.
    pub(crate) fn shown(&self) -> impl DoubleEndedIterator<Item = &Tab> {
        self.list.iter().filter(|tab| !tab.is_hidden)
    }

    /// The number of tabs, hidden ones included.
    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// Whether an id was ever given.
    pub(crate) fn was_given(&self, id: &TabId) -> bool {
        id.as_str().get(1..).and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| n >= 1 && n <= self.n_given)
    }

    pub(crate) fn get(&self, id: &TabId) -> Option<&Tab> {
        self.shown().find(|tab| tab.id == *id)
    }

    /// The tab that calls without `tab` go to.
    pub(crate) fn active(&self) -> Option<&Tab> {
        self.active.as_ref().and_then(|id| self.get(id))
    }

    pub(crate) fn set_active(&mut self, id: &TabId) {
        self.active = Some(id.clone());
    }

    pub(crate) fn with_session_mut(&mut self, session: &SessionId) -> Option<&mut Tab> {
        self.list.iter_mut().find(|tab| tab.session == *session)
    }

    pub(crate) fn with_frame(&self, frame: &FrameId) -> Option<&Tab> {
        self.list.iter().find(|tab| tab.frame == *frame)
    }

    pub(crate) fn with_frame_mut(&mut self, frame: &FrameId) -> Option<&mut Tab> {
        self.list.iter_mut().find(|tab| tab.frame == *frame)
    }

    /// Takes a tab out of the callers' sight: it is closing. Another one becomes active.
    pub(crate) fn hide(&mut self, frame: &FrameId) {
        let Some(tab) = self.list.iter_mut().find(|tab| tab.frame == *frame) else { return };
        tab.is_hidden = true;
        let id = tab.id.clone();
        if self.active.as_ref() == Some(&id) {
            self.active = self.shown().last().map(|tab| tab.id.clone());
        }
    }

    /// Every refusal that nobody was told of, with its tab.
    pub(crate) fn take_refusals(&mut self) -> Vec<(Option<TabId>, Refusal)> {
        let each = |tab: &mut Tab| {
            let id = (!tab.is_hidden).then(|| tab.id.clone());
            std::mem::take(&mut tab.refusals).into_iter().map(move |refusal| (id.clone(), refusal)).collect::<Vec<_>>()
        };
        self.list.iter_mut().flat_map(each).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tab> {
        self.list.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tabs(openers: &[Option<&str>]) -> Tabs {
        let mut tabs = Tabs::default();
        for (n, opener) in openers.iter().enumerate() {
            let name = format!("S{}", n + 1);
            let opener = opener.map(|id| TabId::parse(id).unwrap());
            tabs.add(FrameId::from(&*name), SessionId::from(&*name), opener, false, 0);
        }
        tabs
    }

    fn active(tabs: &Tabs) -> Option<&str> {
        tabs.active().map(|tab| tab.id.as_str())
    }

    #[test]
    fn a_tab_that_a_page_opened_is_not_the_active_one() {
        assert_eq!(active(&tabs(&[None, Some("t1")])), Some("t1"));
    }

    #[test]
    fn when_the_active_tab_closes_its_opener_takes_its_place_else_the_youngest() {
        let mut tabs = tabs(&[None, None, Some("t1")]);
        tabs.set_active(&TabId::parse("t3").unwrap());
        tabs.remove(&"S3".into());
        assert_eq!(active(&tabs), Some("t1"));
        tabs.remove(&"S1".into());
        assert_eq!(active(&tabs), Some("t2"));
        tabs.remove(&"S2".into());
        assert_eq!(active(&tabs), None);
    }

    #[test]
    fn an_id_is_never_given_again() {
        let mut tabs = tabs(&[None]);
        tabs.remove(&"S1".into());
        let id = tabs.add("F".into(), "S".into(), None, false, 0).unwrap();
        assert_eq!(id.as_str(), "t2");
        assert!(tabs.was_given(&TabId::parse("t1").unwrap()) && tabs.get(&TabId::parse("t1").unwrap()).is_none());
        assert!(!tabs.was_given(&TabId::parse("t3").unwrap()));
    }

    #[test]
    fn a_hidden_tab_is_never_listed_nor_active() {
        let mut tabs = Tabs::default();
        tabs.add("F".into(), "S".into(), None, true, 0);
        assert_eq!((tabs.shown().count(), tabs.count(), active(&tabs)), (0, 1, None));
    }
}
