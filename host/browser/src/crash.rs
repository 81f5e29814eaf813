//! What happens when a renderer dies.
//!
//! Chromium answers nothing that was asked of a crashed renderer, so its calls are failed here, at once. The tab stays: its session
//! outlives the renderer, and `navigate`, `back` or `reload` give it a new one, history and id kept. Until then every other verb on
//! it fails with `page_crashed`.

use crate::{
    cdp::{CallError, Connection, SessionId},
    world::World,
};

impl World {
    pub(crate) fn on_target_crashed(&mut self, connection: &Connection, session: &SessionId) {
        connection.fail_session(session.as_str(), &CallError::Crashed);
        self.on_contexts_cleared(session);
        if let Some(tab) = self.tabs.with_session_mut(session) {
            tab.is_crashed = true;
            tab.dialog = None;
        }
        let clock = self.clock;
        for frame in self.frames.values_mut().filter(|frame| frame.session == *session) {
            frame.motion.crashed(clock);
        }
    }
}
