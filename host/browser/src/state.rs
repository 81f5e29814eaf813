//! What changed since the caller's last result: gathered as it happens, handed out once.

use transom_verbs::{
    TabId,
    state::{AnsweredDialog, State},
};

use crate::{fetch_gate::Refusal, world::World};

/// The changes that no tab holds itself.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    state: State,
    /// Things that were left out of a list that was full.
    pub(crate) more: u32,
}

impl Changes {
    pub(crate) fn dialog(&mut self, dialog: AnsweredDialog) {
        State::push(&mut self.state.dialogs, &mut self.state.more, dialog);
    }

    pub(crate) fn refused(&mut self, refusal: Refusal, tab: Option<TabId>) {
        State::push(&mut self.state.refused, &mut self.state.more, refusal.into_state(tab));
    }

    pub(crate) fn opened(&mut self, tab: TabId) {
        State::push(&mut self.state.opened, &mut self.state.more, tab);
    }

    /// A tab that came and went between two results is told of as neither.
    pub(crate) fn closed(&mut self, tab: TabId) {
        if let Some(at) = self.state.opened.iter().position(|opened| *opened == tab) {
            self.state.opened.remove(at);
        } else {
            State::push(&mut self.state.closed, &mut self.state.more, tab);
        }
    }

    /// The result itself tells of this tab.
    pub(crate) fn told_opened(&mut self, tab: &TabId) {
        self.state.opened.retain(|opened| opened != tab);
    }

    /// The result itself tells of this tab.
    pub(crate) fn told_closed(&mut self, tab: &TabId) {
        self.state.closed.retain(|closed| closed != tab);
    }
}

impl World {
    /// Everything that changed since this was last asked.
    pub(crate) fn take_state(&mut self) -> State {
        for (tab, refusal) in self.tabs.take_refusals() {
            self.changes.refused(refusal, tab);
        }
        let mut state = std::mem::take(&mut self.changes.state);
        state.more = state.more.saturating_add(std::mem::take(&mut self.changes.more));
        for download in self.downloads.take_news() {
            State::push(&mut state.downloads, &mut state.more, download);
        }
        state
    }
}
