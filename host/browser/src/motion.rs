//! How far a frame's navigation has come: asked for, begun, committed, or ended without a document.
//!
//! What Chromium tells, in the order in which it comes for a clicked link: *scheduled* and *requested* by the renderer, *started* by
//! the browser, then *committed* (a new document), *moved within* (the same document), or *ended* (a download, a refusal, a
//! 204, a stop), which its request's failure tells. `Page.frameStoppedLoading` tells nothing: it also comes for the document that
//! is still shown. A request that the browser drops (a `data:` link) never starts and has no end: it counts for
//! [`REQUEST_GRACE`] and no longer.
//!
//! Times are the world's clock, which ticks once for each event: "since the click" is a comparison of numbers.
//!
//! Not here: what waits for it ([`crate::settle`], [`crate::navigation`]).

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    cdp::{
        SessionId,
        events::{
            FrameClearedScheduledNavigation, FrameRequestedNavigation, FrameScheduledNavigation,
            FrameStartedNavigating, LifecycleEvent, LoadingFailed, ResponseReceived,
        },
    },
    frames::NavigationResponse,
    world::World,
};

/// How long a navigation that a page asked for may take to start in the browser process. It takes a millisecond or two; one that
/// hasn't started by then was dropped.
pub(crate) const REQUEST_GRACE: Duration = Duration::from_millis(500);

/// A navigation that is scheduled for later than this is the page's own plan, not a part of the action that was just done.
const SCHEDULED_NOW: f64 = 0.1;

/// One frame's navigation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    asked: Option<Instant>,
    /// Whether [`Motion::asked`] is more than a schedule that can be taken back.
    is_requested: bool,
    started: Option<String>,
    /// When a navigation was last asked for or started.
    pub(crate) last_begun: u64,
    /// When a new document last came.
    pub(crate) last_commit: u64,
    /// When the address last changed within a document.
    pub(crate) last_within: u64,
    /// When a navigation last ended without a document.
    pub(crate) last_end: u64,
    /// The loader of the navigation that ended so.
    pub(crate) last_end_loader: String,
}

/// Whether a frame is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moving {
    /// It stays.
    No,
    /// A navigation was asked for and counts until then.
    Asked(Instant),
    /// A navigation has started.
    Started,
}

impl Motion {
    /// Whether the frame is on its way at `now`.
    pub(crate) fn moving(&self, now: Instant) -> Moving {
        if self.started.is_some() {
            return Moving::Started;
        }
        match self.asked.map(|at| at + REQUEST_GRACE) {
            Some(until) if until > now => Moving::Asked(until),
            _ => Moving::No,
        }
    }

    /// Whether anything was begun or done after `since`.
    pub(crate) fn has_moved_since(&self, since: u64) -> bool {
        self.last_begun > since || self.last_commit > since || self.last_within > since
    }

    fn asked(&mut self, clock: u64, is_request: bool) {
        self.asked = Some(Instant::now());
        self.is_requested |= is_request;
        self.last_begun = clock;
    }

    fn taken_back(&mut self) {
        if !self.is_requested {
            self.asked = None;
        }
    }

    fn started(&mut self, clock: u64, loader: &str) {
        self.asked = None;
        self.is_requested = false;
        self.started = Some(loader.to_owned());
        self.last_begun = clock;
    }

    pub(crate) fn committed(&mut self, clock: u64) {
        self.asked = None;
        self.is_requested = false;
        self.started = None;
        self.last_commit = clock;
    }

    pub(crate) fn moved_within(&mut self, clock: u64) {
        if self.started.is_none() {
            self.asked = None;
            self.is_requested = false;
        }
        self.last_within = clock;
    }

    /// The navigation of `loader` ended without a document. Whether it was this frame's.
    fn ended(&mut self, clock: u64, loader: &str) -> bool {
        if self.started.as_deref() != Some(loader) {
            return false;
        }
        self.started = None;
        self.asked = None;
        self.is_requested = false;
        self.last_end = clock;
        loader.clone_into(&mut self.last_end_loader);
        true
    }

    /// The renderer is gone, and with it whatever was on its way.
    pub(crate) fn crashed(&mut self, clock: u64) {
        self.asked = None;
        self.is_requested = false;
        if let Some(loader) = self.started.take() {
            self.last_end = clock;
            self.last_end_loader = loader;
        }
    }
}

impl World {
    pub(crate) fn on_scheduled(&mut self, event: &FrameScheduledNavigation<'_>) {
        let clock = self.clock;
        if event.delay <= SCHEDULED_NOW
            && let Some(frame) = self.frames.get_mut(&*event.frame_id)
        {
            frame.motion.asked(clock, false);
        }
    }

    pub(crate) fn on_cleared_scheduled(&mut self, event: &FrameClearedScheduledNavigation<'_>) {
        if let Some(frame) = self.frames.get_mut(&*event.frame_id) {
            frame.motion.taken_back();
        }
    }

    pub(crate) fn on_requested(&mut self, event: &FrameRequestedNavigation<'_>) {
        let clock = self.clock;
        // Another disposition opens a tab, which is told of by itself.
        if (event.disposition.is_empty() || event.disposition == "currentTab")
            && let Some(frame) = self.frames.get_mut(&*event.frame_id)
        {
            frame.motion.asked(clock, true);
        }
    }

    pub(crate) fn on_started_navigating(&mut self, event: &FrameStartedNavigating<'_>) {
        let clock = self.clock;
        let is_within = matches!(&*event.navigation_type, "sameDocument" | "historySameDocument");
        if !is_within && let Some(frame) = self.frames.get_mut(&*event.frame_id) {
            frame.motion.started(clock, &event.loader_id);
        }
    }

    pub(crate) fn on_lifecycle(&mut self, event: &LifecycleEvent<'_>) {
        let Some(frame) = self.frames.get_mut(&*event.frame_id) else { return };
        if frame.document.loader.is_empty() {
            // The first document of a new frame is committed before anybody listens.
            frame.document.loader = event.loader_id.clone().into_owned();
        }
        if frame.document.loader != event.loader_id {
            return;
        }
        match &*event.name {
            "DOMContentLoaded" => frame.document.is_ready = true,
            "load" => {
                frame.document.is_ready = true;
                frame.document.is_loaded = true;
            }
            _ => {}
        }
    }

    pub(crate) fn on_response(&mut self, event: &ResponseReceived<'_>) {
        // A navigation's request has its loader's id.
        if event.request_id != event.loader_id {
            return;
        }
        let Some(frame) = event.frame_id.as_deref().and_then(|id| self.frames.get_mut(id)) else { return };
        frame.response = Some(NavigationResponse {
            loader: event.loader_id.clone().into_owned(),
            url: event.response.url.clone().into_owned(),
            status: u16::try_from(event.response.status).unwrap_or_default(),
            mime: event.response.mime_type.clone().into_owned(),
        });
    }

    pub(crate) fn on_loading_failed(&mut self, session: &SessionId, event: &LoadingFailed<'_>) {
        let clock = self.clock;
        for frame in self.frames.values_mut().filter(|frame| frame.session == *session) {
            // An error page is a document that still comes: only what commits nothing has ended here.
            let commits_nothing = event.error_text == "net::ERR_ABORTED";
            if commits_nothing && frame.motion.ended(clock, &event.request_id) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_that_is_taken_back_leaves_the_frame_where_it_is_but_a_request_stands() {
        let now = Instant::now();
        let mut motion = Motion::default();
        motion.asked(1, false);
        motion.taken_back();
        assert_eq!(motion.moving(now), Moving::No);
        motion.asked(2, false);
        motion.asked(3, true);
        motion.taken_back();
        assert!(
            matches!(motion.moving(now), Moving::Asked(_)),
            "Chromium clears the schedule before the browser starts"
        );
    }

    #[test]
    fn a_request_that_never_starts_counts_for_its_grace_only() {
        let mut motion = Motion::default();
        motion.asked(1, true);
        let now = Instant::now();
        assert!(matches!(motion.moving(now), Moving::Asked(_)));
        assert_eq!(motion.moving(now + REQUEST_GRACE), Moving::No);
    }

    #[test]
    fn a_started_navigation_ends_by_a_document_or_by_its_own_failure_and_by_no_other() {
        let now = Instant::now();
        let mut motion = Motion::default();
        motion.started(1, "L1");
        assert!(!motion.ended(2, "L0"));
        assert_eq!(motion.moving(now), Moving::Started);
        assert!(motion.ended(3, "L1"));
        assert_eq!((motion.moving(now), motion.last_end), (Moving::No, 3));
        motion.started(4, "L2");
        motion.committed(5);
        assert_eq!((motion.moving(now), motion.last_commit), (Moving::No, 5));
    }
}
