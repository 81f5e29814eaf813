//! Every target is attached before it runs, prepared, and then released.
//!
//! Chromium attaches pages, pop-ups, frames of other processes and workers by itself (`setAutoAttach`, flattened, on the browser and
//! again on every target for what is inside it) and holds each (`waitForDebuggerOnStart`). The commands that prepare it are
//! queued in front of the one that releases it, so nothing of the page runs before them; nobody waits for their answers.
//!
//! A kind that is not known is released untouched: holding it would hang the page that made it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use chromiumoxide_cdp::cdp::{
    browser_protocol::{
        emulation::{SetDeviceMetricsOverrideParams, SetFocusEmulationEnabledParams},
        inspector, network,
        page::{
            self, AddScriptToEvaluateOnNewDocumentParams, SetInterceptFileChooserDialogParams,
            SetLifecycleEventsEnabledParams,
        },
        target::{CloseTargetParams, FilterEntry, SetAutoAttachParams, TargetFilter},
    },
    js_protocol::runtime::{self, AddBindingParams, RunIfWaitingForDebuggerParams},
};
use transom_verbs::TabId;

use crate::{
    cdp::{CallError, Connection, Session, SessionId, events::AttachedToTarget},
    dialogs::PRINT_BINDING,
    frames::{Document, Frame, FrameId, WORLD},
    tabs::TABS_MAX,
    world::World,
};

/// A session that is attached.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    /// The main frame of the tab that it is a part of.
    pub(crate) tab_frame: Option<FrameId>,
}

/// The command that attaches everything that comes.
pub(crate) fn auto_attach() -> SetAutoAttachParams {
    let leave_out = |kind: &str| FilterEntry { exclude: Some(true), r#type: Some(kind.to_owned()) };
    SetAutoAttachParams {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: Some(true),
        // `tab` stands for the strip's entry of a page that comes by itself; `browser_ui` is Chromium's own interface.
        filter: Some(TargetFilter::new(vec![
            leave_out("browser"),
            leave_out("tab"),
            leave_out("browser_ui"),
            FilterEntry { exclude: None, r#type: None },
        ])),
    }
}

/// A page that the host asked for and that is not there yet. Pages come in the order in which they were asked for.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) purpose: Purpose,
    /// Whether the call that asked for it is gone: then the page is closed when it comes.
    pub(crate) is_abandoned: Arc<AtomicBool>,
}

/// What a page is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A tab that callers know.
    Tab,
    /// Serves one call; callers never hear of it.
    Hidden,
}

impl World {
    pub(crate) fn on_attached(
        &mut self,
        connection: &Connection,
        parent: Option<&SessionId>,
        event: &AttachedToTarget<'_>,
    ) {
        let session_id = SessionId::from(&*event.session_id);
        let session = Session::target(connection.clone(), session_id.clone());
        let info = &event.target_info;
        match &*info.kind {
            // A page that is rendered in advance shows nothing and is nobody's tab.
            "page" if info.subtype.as_deref().is_none_or(str::is_empty) => {
                let frame = FrameId::from(&*info.target_id);
                if self.tabs.count() >= TABS_MAX {
                    connection.post(None, &CloseTargetParams::new(info.target_id.clone().into_owned()));
                    self.changes.more += 1;
                } else {
                    self.add_tab(connection, &session_id, &frame, info.opener_id.as_deref(), &info.url);
                }
                self.prepare_page(&session, true);
            }
            "iframe" => {
                let frame = FrameId::from(&*info.target_id);
                if let Some(known) = self.frames.get_mut(&frame) {
                    known.session = session_id.clone();
                    known.main_world = None;
                    known.page_script = None;
                }
                let tab_frame = parent.and_then(|parent| self.sessions.get(parent)).and_then(|at| at.tab_frame.clone());
                self.sessions.insert(session_id, Attached { tab_frame });
                self.prepare_page(&session, false);
            }
            _ => {
                // Workers can start workers of their own.
                session.post(&auto_attach());
            }
        }
        session.post(&RunIfWaitingForDebuggerParams::default());
    }

    /// A target whose description can't be read is released as it is.
    pub(crate) fn release_unreadable_target(&mut self, connection: &Connection, session: &str) {
        connection.post(Some(&SessionId::from(session)), &RunIfWaitingForDebuggerParams::default());
    }

    fn add_tab(
        &mut self,
        connection: &Connection,
        session: &SessionId,
        frame: &FrameId,
        opener: Option<&str>,
        url: &str,
    ) {
        let opener_frame = opener.and_then(|opener| self.main_frame_of(opener));
        let opener_tab: Option<TabId> =
            opener_frame.as_ref().and_then(|frame| self.tabs.with_frame(frame)).map(|tab| tab.id.clone());
        // A page without an opener is one that the host asked for.
        let expected = if opener.is_none() { self.expected.pop_front() } else { None };
        let is_abandoned = expected.as_ref().is_some_and(|expected| expected.is_abandoned.load(Ordering::Relaxed));
        if is_abandoned {
            connection.post(None, &CloseTargetParams::new(frame.as_str().to_owned()));
        }
        let purpose = expected.map_or(Purpose::Tab, |expected| expected.purpose);
        let origin = opener_frame
            .and_then(|frame| self.frames.get(&frame))
            .map(|frame| frame.document.origin.clone())
            .unwrap_or_default();
        let url = if url.is_empty() { "about:blank" } else { url };
        let document = Document { url: url.to_owned(), origin, ..Document::default() };
        self.frames.insert(frame.clone(), Frame::new(None, session.clone(), document));
        self.sessions.insert(session.clone(), Attached { tab_frame: Some(frame.clone()) });
        let is_hidden = purpose == Purpose::Hidden || is_abandoned;
        let is_first = self.tabs.shown().next().is_none();
        let id = self.tabs.add(frame.clone(), session.clone(), opener_tab, is_hidden, self.clock);
        if let Some(id) = id
            && !is_hidden
        {
            self.tabs.front = is_first.then(|| id.clone());
            if !is_first {
                self.changes.opened(id);
            }
        }
    }

    fn prepare_page(&self, session: &Session, is_main: bool) {
        session.post(&page::EnableParams::default());
        session.post(&SetLifecycleEventsEnabledParams::new(true));
        // Only the events are of use: bodies are not to be kept.
        session.post(&network::EnableParams {
            max_total_buffer_size: Some(0),
            max_resource_buffer_size: Some(0),
            ..network::EnableParams::default()
        });
        session.post(&inspector::EnableParams::default());
        session.post(&auto_attach());
        session
            .post(&AddBindingParams { name: PRINT_BINDING.to_owned(), execution_context_name: Some(WORLD.to_owned()) });
        session.post(&AddScriptToEvaluateOnNewDocumentParams {
            source: crate::page::SOURCE.to_owned(),
            world_name: Some(WORLD.to_owned()),
            include_command_line_api: None,
            run_immediately: Some(true),
        });
        session.post(&runtime::EnableParams::default());
        session.post(&SetInterceptFileChooserDialogParams::new(true));
        if is_main {
            let viewport = self.options.viewport;
            session.post(&SetDeviceMetricsOverrideParams::new(
                i64::from(viewport.width),
                i64::from(viewport.height),
                1.0,
                false,
            ));
            // Every tab behaves as the one that a person looks at: timers, animation frames and focus are those of a page in
            // front, so a call for a tab works the same whichever tab was shown last.
            session.post(&SetFocusEmulationEnabledParams::new(true));
        }
    }

    pub(crate) fn on_detached(&mut self, connection: &Connection, session: &str) {
        connection.fail_session(session, &CallError::Closed);
        let id = SessionId::from(session);
        self.sessions.remove(&id);
        self.on_contexts_cleared(&id);
        if let Some(tab) = self.tabs.remove(&id) {
            self.remove_frame(&tab.frame);
            for refusal in tab.refusals {
                self.changes.refused(refusal, tab.opener.clone());
            }
            if !tab.is_hidden {
                self.changes.closed(tab.id);
            }
        }
    }
}
