//! The frames of every tab as Chromium's events tell of them: which document each shows, and which script contexts it has.
//!
//! A frame keeps its id for as long as it exists, whichever process or session it lives in: when it moves into a process of its
//! own, Chromium attaches a new session for it and takes it out of the old one (`reason: "swap"`), in that order. A *document* is
//! named by its loader id; everything that is said of a document ends with it: its contexts, its refs, its secrets.
//!
//! A frame is *foreign* when the script of its parent can't enter it: another origin, or another process. Foreign frames are read by
//! the script inside them, and their points are turned into the tab's by asking each parent ([`crate::aim`]).
//!
//! Not here: how far a navigation has come ([`crate::motion`]).

use std::{fmt, sync::Arc};

use crate::{
    cdp::{
        SessionId,
        events::{
            ContextCreated, ContextDestroyed, FrameAttached, FrameDetached, FrameNavigated, NavigatedWithinDocument,
        },
    },
    motion::Motion,
    world::World,
};

/// Frames that are kept for one browser. Beyond it new ones are not followed: a page that makes frames without end must not fill
/// the host's memory.
const FRAMES_MAX: usize = 5_000;

/// The name of the world that the page script lives in.
pub(crate) const WORLD: &str = "transom";

/// A frame's id, which is also the id of its target where it has one of its own.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FrameId(Arc<str>);

impl FrameId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for FrameId {
    fn from(id: &str) -> FrameId {
        FrameId(id.into())
    }
}

impl std::borrow::Borrow<str> for FrameId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A script context: one world of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptContext {
    pub(crate) session: SessionId,
    /// Chromium's number for it within its session.
    pub(crate) number: i64,
    /// Its name in the whole browser, never given again.
    pub(crate) unique: Arc<str>,
}

/// What a frame shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) loader: String,
    pub(crate) url: String,
    pub(crate) origin: String,
    /// Its markup is parsed.
    pub(crate) is_ready: bool,
    /// Its load event has fired.
    pub(crate) is_loaded: bool,
    /// Whether a secret was typed into it.
    pub(crate) had_secret: bool,
    /// The number in the refs of its elements, once it was read as a foreign frame.
    pub(crate) ref_tag: Option<u32>,
    /// The context of the parent in which this frame's element is marked with its id.
    pub(crate) marked_in: Option<Arc<str>>,
}

/// The response that a navigation got.
#[derive(Clone, Debug)]
pub(crate) struct NavigationResponse {
    pub(crate) loader: String,
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) mime: String,
}

/// One frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) parent: Option<FrameId>,
    pub(crate) session: SessionId,
    pub(crate) document: Document,
    /// The page's own world.
    pub(crate) main_world: Option<ScriptContext>,
    /// The world of the page script.
    pub(crate) page_script: Option<ScriptContext>,
    pub(crate) motion: Motion,
    pub(crate) response: Option<NavigationResponse>,
}

impl Frame {
    /// A frame with its first, empty document.
    pub(crate) fn new(parent: Option<FrameId>, session: SessionId, document: Document) -> Frame {
        Frame {
            parent,
            session,
            document,
            main_world: None,
            page_script: None,
            motion: Motion::default(),
            response: None,
        }
    }

    /// The HTTP status of the document that it shows; none where no server answered.
    pub(crate) fn status(&self) -> Option<u16> {
        self.response
            .as_ref()
            .filter(|response| response.loader == self.document.loader)
            .map(|response| response.status)
    }

    fn drop_contexts(&mut self, of: &dyn Fn(&ScriptContext) -> bool) {
        for context in [&mut self.main_world, &mut self.page_script] {
            if context.as_ref().is_some_and(of) {
                *context = None;
            }
        }
    }
}

/// Whether Chromium writes this for an origin that equals no other, itself included.
fn is_opaque(origin: &str) -> bool {
    origin.is_empty() || origin == "://" || origin == "null"
}

/// Whether a URL is that of Chromium's own error page.
pub(crate) fn is_error_page(url: &str) -> bool {
    url.starts_with("chrome-error:")
}

impl World {
    pub(crate) fn on_frame_attached(&mut self, session: &SessionId, event: &FrameAttached<'_>) {
        if let Some(frame) = self.frames.get_mut(&*event.frame_id) {
            // It came back from a process of its own.
            frame.session = session.clone();
            frame.drop_contexts(&|context| context.session != *session);
            return;
        }
        if self.frames.len() >= FRAMES_MAX {
            return;
        }
        let parent = FrameId::from(&*event.parent_frame_id);
        let origin = self.frames.get(&parent).map(|parent| parent.document.origin.clone()).unwrap_or_default();
        let document = Document { url: "about:blank".into(), origin, ..Document::default() };
        self.frames.insert(FrameId::from(&*event.frame_id), Frame::new(Some(parent), session.clone(), document));
    }

    pub(crate) fn on_frame_detached(&mut self, session: &SessionId, event: &FrameDetached<'_>) {
        if event.reason == "swap" {
            // It lives on in the session that was attached for it; what it had here is gone.
            if let Some(frame) = self.frames.get_mut(&*event.frame_id) {
                frame.drop_contexts(&|context| context.session == *session);
            }
            return;
        }
        self.remove_frame(&FrameId::from(&*event.frame_id));
    }

    /// Takes a frame and everything inside it away.
    pub(crate) fn remove_frame(&mut self, id: &FrameId) {
        let mut doomed = vec![id.clone()];
        while let Some(id) = doomed.pop() {
            self.frames.remove(&id);
            doomed.extend(self.frames.iter().filter(|(_, f)| f.parent.as_ref() == Some(&id)).map(|(id, _)| id.clone()));
        }
    }

    pub(crate) fn on_frame_navigated(&mut self, session: &SessionId, event: &FrameNavigated<'_>) {
        let clock = self.clock;
        let info = &event.frame;
        let id = FrameId::from(&*info.id);
        if !self.frames.contains_key(&id) && self.frames.len() >= FRAMES_MAX {
            return;
        }
        let parent = info.parent_id.as_deref().map(FrameId::from);
        let frame =
            self.frames.entry(id.clone()).or_insert_with(|| Frame::new(parent, session.clone(), Document::default()));
        frame.session = session.clone();
        let url = format!("{}{}", info.url, info.url_fragment.as_deref().unwrap_or_default());
        let is_same = frame.document.loader == info.loader_id;
        if is_same {
            frame.document.url = url;
        } else {
            frame.document = Document {
                loader: info.loader_id.clone().into_owned(),
                url,
                origin: info.security_origin.clone().into_owned(),
                ..Document::default()
            };
        }
        frame.motion.committed(clock);
        if let Some(tab) = self.tabs.with_frame_mut(&id) {
            tab.is_crashed = false;
        }
    }

    pub(crate) fn on_navigated_within_document(&mut self, event: &NavigatedWithinDocument<'_>) {
        let clock = self.clock;
        if let Some(frame) = self.frames.get_mut(&*event.frame_id) {
            frame.document.url = event.url.clone().into_owned();
            frame.motion.moved_within(clock);
        }
    }

    pub(crate) fn on_context_created(&mut self, session: &SessionId, event: &ContextCreated<'_>) {
        let info = &event.context;
        let Some(frame) = info.aux_data.frame_id.as_deref().and_then(|id| self.frames.get_mut(id)) else { return };
        if frame.session != *session {
            return; // the shell that a parent keeps of a frame that has a process of its own
        }
        let context = ScriptContext { session: session.clone(), number: info.id, unique: Arc::from(&*info.unique_id) };
        if info.aux_data.is_default {
            frame.main_world = Some(context);
        } else if info.name == WORLD {
            frame.page_script = Some(context);
        }
    }

    pub(crate) fn on_context_destroyed(&mut self, session: &SessionId, event: &ContextDestroyed<'_>) {
        for frame in self.frames.values_mut() {
            frame.drop_contexts(&|context| context.session == *session && context.number == event.execution_context_id);
        }
    }

    pub(crate) fn on_contexts_cleared(&mut self, session: &SessionId) {
        for frame in self.frames.values_mut() {
            frame.drop_contexts(&|context| context.session == *session);
        }
    }

    /// Whether the parent's script can't enter this frame. A main frame is foreign to nobody.
    pub(crate) fn is_foreign(&self, id: &FrameId) -> bool {
        let Some(frame) = self.frames.get(id) else { return false };
        let Some(parent) = frame.parent.as_ref().and_then(|parent| self.frames.get(parent)) else { return false };
        let (own, outer) = (&frame.document.origin, &parent.document.origin);
        frame.session != parent.session || own != outer || is_opaque(own)
    }

    /// The main frame above `id`, itself included.
    pub(crate) fn main_frame_of(&self, id: &str) -> Option<FrameId> {
        let (id, mut frame) = self.frames.get_key_value(id)?;
        let mut id = id.clone();
        // A cycle can't be: parents are told when a frame is attached and never change. The bound is for a lie.
        for _ in 0..FRAMES_MAX {
            let Some(parent) = &frame.parent else { return Some(id) };
            id = parent.clone();
            frame = self.frames.get(parent)?;
        }
        None
    }

    /// The nearest frame above `id` (itself included) that has a script of its own: a main frame or a foreign one.
    pub(crate) fn script_root_of(&self, id: &FrameId) -> FrameId {
        let mut at = id.clone();
        while !self.is_foreign(&at) {
            match self.frames.get(&at).and_then(|frame| frame.parent.clone()) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at
    }

    /// Every frame in the tab of `main`, itself included.
    pub(crate) fn frames_of_tab(&self, main: &FrameId) -> Vec<FrameId> {
        let mut found = vec![main.clone()];
        let mut at = 0;
        while let Some(id) = found.get(at).cloned() {
            found.extend(self.frames.iter().filter(|(_, f)| f.parent.as_ref() == Some(&id)).map(|(id, _)| id.clone()));
            at += 1;
        }
        found
    }
}
