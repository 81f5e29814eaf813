//! Opening and discarding pages of the host's own: new tabs, and the hidden one of a download.
//!
//! Chromium tells of a new page in two ways that race: the answer to the command, and the event that attaches it. Pages are asked for one at
//! a time, so the next one that no page opened is the one that was asked for ([`crate::targets::Expected`]).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use chromiumoxide_cdp::cdp::browser_protocol::target::{CloseTargetParams, CreateTargetParams};
use transom_verbs::{TabId, ToolError};

use crate::{
    browser::{Inner, TabView},
    cdp::Session,
    frames::FrameId,
    targets::{Expected, Purpose},
    world::{Look, World},
};

impl Inner {
    /// A new tab, which becomes the active one. An empty first tab that nobody was told of is as good as new.
    pub(crate) async fn new_tab(&self) -> Result<TabView, ToolError> {
        let tab = match self.shared.look(World::unused_tab) {
            Some(id) => self.tab(Some(&id))?,
            None => self.open_page(Purpose::Tab).await?,
        };
        self.shared.look(|world| {
            world.tabs.set_active(&tab.id);
            world.changes.told_opened(&tab.id);
        });
        Ok(tab)
    }

    /// Opens a page of ours and waits until it is attached.
    pub(crate) async fn open_page(&self, purpose: Purpose) -> Result<TabView, ToolError> {
        let _turn = self.creating.lock().await;
        let mut unless_dropped =
            AbandonOnDrop { inner: self, is_abandoned: Arc::default(), frame: None, is_kept: false };
        let is_abandoned = unless_dropped.is_abandoned.clone();
        self.shared.look(|world| world.expected.push_back(Expected { purpose, is_abandoned }));
        let mut create = CreateTargetParams::new("about:blank");
        create.background = (purpose == Purpose::Hidden).then_some(true);
        let target = match self.browser().call(&create).await {
            Ok(created) => created.target_id,
            Err(error) => {
                self.shared.look(|world| world.expected.pop_back());
                return Err(error.into());
            }
        };
        let frame = FrameId::from(AsRef::<str>::as_ref(&target));
        unless_dropped.frame = Some(frame.clone());
        let (id, session, turn) = self
            .shared
            .until(|world| match world.tabs.with_frame(&frame) {
                Some(tab) => Look::Ready((tab.id.clone(), tab.session.clone(), tab.turn.clone())),
                None => Look::Later,
            })
            .await?;
        if purpose == Purpose::Tab {
            self.shared.look(|world| world.tabs.front = Some(id.clone()));
        }
        let tab = TabView { id, frame, session: Session::target(self.connection.clone(), session), turn };
        // Its first, empty document has to be there: a navigation that overtakes it would be undone by it.
        self.script_of(&tab, &tab.frame).await?;
        unless_dropped.keep();
        Ok(tab)
    }

    /// Closes a tab that was opened for a call that failed, as if it had never been.
    pub(crate) fn discard(&self, tab: &TabView) {
        self.discard_page(&tab.frame);
    }

    /// The same, by the main frame.
    pub(crate) fn discard_page(&self, frame: &FrameId) {
        self.shared.look(|world| world.tabs.hide(frame));
        self.browser().post(&CloseTargetParams::new(frame.as_str().to_owned()));
    }
}

/// Closes a page that was asked for by a call which is gone before it has it.
struct AbandonOnDrop<'a> {
    inner: &'a Inner,
    is_abandoned: Arc<AtomicBool>,
    frame: Option<FrameId>,
    is_kept: bool,
}

impl AbandonOnDrop<'_> {
    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        self.is_abandoned.store(true, Ordering::Relaxed);
        if let Some(frame) = &self.frame {
            self.inner.discard_page(frame);
        }
    }
}

impl World {
    /// The first tab, while it is empty and nothing was done in it.
    pub(crate) fn unused_tab(&mut self) -> Option<TabId> {
        let mut shown = self.tabs.shown();
        let (first, None) = (shown.next()?, shown.next()) else { return None };
        let frame = self.frames.get(&first.frame)?;
        (!frame.motion.has_moved_since(0)).then(|| first.id.clone())
    }
}
