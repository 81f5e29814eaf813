//! What is known of the browser: one model, changed by Chromium's events in the order of the pipe.
//!
//! [`World::apply`] is called by the reading task for each event before the next message is looked at, so a call that got its
//! answer finds every change that came before it. Whoever waits for a change looks at the world again after each event
//! ([`Shared::until`]); nothing is polled, and nothing can be missed between looking and waiting.
//!
//! What each event changes is beside the thing that it changes: [`crate::targets`], [`crate::frames`], [`crate::motion`],
//! [`crate::dialogs`], [`crate::fetch_gate`], [`crate::downloads`], [`crate::crash`].

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use crate::{
    cdp::{
        CallError, Connection, EventSink, SessionId,
        events::{self, Event},
    },
    downloads::Downloads,
    frames::{Frame, FrameId},
    hooks::Hooks,
    keeper::Chore,
    options::BrowserOptions,
    state::Changes,
    tabs::Tabs,
    targets::{Attached, Expected},
};

/// What is known of one browser.
pub(crate) struct World {
    /// Ticks once for each event that was applied.
    pub(crate) clock: u64,
    pub(crate) frames: HashMap<FrameId, Frame>,
    pub(crate) sessions: HashMap<SessionId, Attached>,
    pub(crate) tabs: Tabs,
    pub(crate) downloads: Downloads,
    pub(crate) changes: Changes,
    /// Pages that the host asked for and that are not there yet.
    pub(crate) expected: VecDeque<Expected>,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) options: Arc<BrowserOptions>,
    pub(crate) chores: mpsc::Sender<Chore>,
    is_lost: bool,
}

impl World {
    /// The world of a browser of which nothing is known yet.
    pub(crate) fn new(hooks: Arc<dyn Hooks>, options: Arc<BrowserOptions>, chores: mpsc::Sender<Chore>) -> World {
        World {
            clock: 0,
            frames: HashMap::new(),
            sessions: HashMap::new(),
            tabs: Tabs::default(),
            downloads: Downloads::default(),
            changes: Changes::default(),
            expected: VecDeque::new(),
            hooks,
            options,
            chores,
            is_lost: false,
        }
    }

    fn apply(&mut self, connection: &Connection, session: Option<&SessionId>, event: Event<'_>) {
        self.clock += 1;
        match (event, session) {
            (Event::AttachedToTarget(event), parent) => self.on_attached(connection, parent, &event),
            (Event::DetachedFromTarget(event), _) => self.on_detached(connection, &event.session_id),
            (Event::RequestPaused(event), session) => self.on_request_paused(connection, session, event),
            (Event::DownloadWillBegin(event), _) => self.on_download_will_begin(&event),
            (Event::DownloadProgress(event), _) => self.on_download_progress(&event),
            (event, Some(session)) => self.apply_in_session(connection, session, event),
            (_, None) => {}
        }
    }

    fn apply_in_session(&mut self, connection: &Connection, session: &SessionId, event: Event<'_>) {
        match event {
            Event::TargetCrashed(_) => self.on_target_crashed(connection, session),
            Event::TargetReloadedAfterCrash(_) => {
                if let Some(tab) = self.tabs.with_session_mut(session) {
                    tab.is_crashed = false;
                }
            }
            Event::FrameAttached(event) => self.on_frame_attached(session, &event),
            Event::FrameDetached(event) => self.on_frame_detached(session, &event),
            Event::FrameNavigated(event) => {
                self.on_frame_navigated(session, &event);
                if let Some(tab) = self.tabs.with_frame_mut(&FrameId::from(&*event.frame.id)) {
                    tab.activity.restart(Instant::now());
                }
            }
            Event::NavigatedWithinDocument(event) => self.on_navigated_within_document(&event),
            Event::FrameScheduledNavigation(event) => self.on_scheduled(&event),
            Event::FrameClearedScheduledNavigation(event) => self.on_cleared_scheduled(&event),
            Event::FrameRequestedNavigation(event) => self.on_requested(&event),
            Event::FrameStartedNavigating(event) => self.on_started_navigating(&event),
            Event::LifecycleEvent(event) => self.on_lifecycle(&event),
            Event::DialogOpening(event) => self.on_dialog_opening(connection, session, &event),
            Event::DialogClosed(_) => self.on_dialog_closed(session),
            Event::FileChooserOpened(event) => {
                let clock = self.clock;
                if let Some(tab) = self.tab_frame_of(session).and_then(|frame| self.tabs.with_frame_mut(&frame)) {
                    tab.chooser = event.backend_node_id.map(|node| (clock, session.clone(), node));
                }
            }
            Event::ContextCreated(event) => self.on_context_created(session, &event),
            Event::ContextDestroyed(event) => self.on_context_destroyed(session, &event),
            Event::ContextsCleared(_) => self.on_contexts_cleared(session),
            Event::BindingCalled(event) => self.on_binding_called(session, &event),
            Event::RequestWillBeSent(event) => {
                self.with_activity(session, |activity, now| activity.began(&event.request_id, &event.kind, now));
            }
            Event::ResponseReceived(event) => self.on_response(&event),
            Event::LoadingFinished(event) => {
                self.with_activity(session, |activity, now| activity.ended(&event.request_id, now));
            }
            Event::LoadingFailed(event) => {
                self.on_loading_failed(session, &event);
                self.with_activity(session, |activity, now| activity.ended(&event.request_id, now));
            }
            Event::AttachedToTarget(_)
            | Event::DetachedFromTarget(_)
            | Event::RequestPaused(_)
            | Event::DownloadWillBegin(_)
            | Event::DownloadProgress(_) => {}
        }
    }

    fn tab_frame_of(&self, session: &SessionId) -> Option<FrameId> {
        self.sessions.get(session).and_then(|attached| attached.tab_frame.clone())
    }

    fn with_activity(&mut self, session: &SessionId, change: impl FnOnce(&mut crate::activity::Activity, Instant)) {
        if let Some(tab) = self.tab_frame_of(session).and_then(|frame| self.tabs.with_frame_mut(&frame)) {
            change(&mut tab.activity, Instant::now());
        }
    }
}

/// What a look at the world says to the one who waits.
pub(crate) enum Look<T> {
    /// It is so.
    Ready(T),
    /// Not before something happens.
    Later,
    /// Not before something happens or this time comes.
    At(Instant),
}

/// The world, and the news that it changed.
pub(crate) struct Shared {
    world: Mutex<World>,
    changed: watch::Sender<()>,
}

impl Shared {
    pub(crate) fn new(world: World) -> Shared {
        Shared { world: Mutex::new(world), changed: watch::Sender::new(()) }
    }

    /// Looks at the world, or changes what no one waits for.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        look(&mut self.lock())
    }

    /// Changes the world and wakes those who wait.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.send_replace(());
        result
    }

    /// Waits until `look` says that it is so. It is asked now, and after every event.
    ///
    /// There is no deadline here: the caller has one. Dropping the future leaves nothing behind.
    pub(crate) async fn until<T>(&self, mut look: impl FnMut(&mut World) -> Look<T>) -> Result<T, CallError> {
        // Before the first look, so that no change falls between looking and waiting.
        let mut changed = self.changed.subscribe();
        loop {
            let answer = {
                let mut world = self.lock();
                if world.is_lost {
                    return Err(CallError::Lost);
                }
                look(&mut world)
            };
            let changes = changed.changed();
            let is_gone = match answer {
                Look::Ready(value) => return Ok(value),
                Look::Later => changes.await.is_err(),
                Look::At(time) => tokio::select! {
                    result = changes => result.is_err(),
                    () = tokio::time::sleep_until(time) => false,
                },
            };
            if is_gone {
                return Err(CallError::Lost);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        // A panic while an event was applied leaves at worst that event half applied; the rest of the world still holds.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies the events of one connection to one world.
pub(crate) struct Reducer(pub(crate) Arc<Shared>);

impl EventSink for Reducer {
    fn event(&mut self, connection: &Connection, session: Option<&str>, method: &str, params: &str) -> bool {
        let Some(event) = Event::decode(method, params) else { return false };
        let session = session.map(SessionId::from);
        self.0.change(|world| match event {
            Ok(event) => world.apply(connection, session.as_ref(), event),
            Err(error) => {
                tracing::warn!(method, %error, "an event is not of the expected form");
                release(world, connection, session.as_ref(), method, params);
            }
        });
        true
    }

    fn oversized(&mut self, connection: &Connection, session: Option<&str>, method: &str, request: Option<&str>) {
        if method == "Fetch.requestPaused"
            && let Some(request) = request
        {
            let session = session.map(SessionId::from);
            self.0.change(|world| world.refuse_unreadable_request(connection, session.as_ref(), request));
        }
    }

    fn lost(&mut self) {
        self.0.change(|world| world.is_lost = true);
    }
}

/// An event that holds something up must not hold it for ever because its form is new.
fn release(world: &mut World, connection: &Connection, session: Option<&SessionId>, method: &str, params: &str) {
    match method {
        "Fetch.requestPaused" => {
            if let Some(request) = events::request_id_of(params) {
                world.refuse_unreadable_request(connection, session, &request);
            }
        }
        "Target.attachedToTarget" => {
            if let Some(id) = events::session_id_of(params) {
                world.release_unreadable_target(connection, &id);
            }
        }
        _ => {}
    }
}
