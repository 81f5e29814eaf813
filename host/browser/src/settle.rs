//! After an action: wait for what it started, and for nothing else.
//!
//! The action's events are in the world when its answer is, but for what the renderer says right after the answer: so one more, empty
//! evaluation is sent through the renderer behind the action ([`Inner::flush`]). When its answer is in, or Chromium holds it back
//! because a navigation is under way, everything that the action started has been told: a navigation, a dialog, a tab. Only
//! that is waited for; a click that starts nothing answers at once.
//!
//! A navigation is waited for until its document is there, and then until it has loaded, but no longer than [`LOAD_GRACE`]: the action
//! is done either way, and a picture that never comes must not hold it.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use transom_verbs::{TabId, ToolError, error::Reason, state::OpenDialog, verb::FileInfo};

use crate::{
    browser::{Inner, TabView},
    cdp::{CallError, Session},
    failure,
    frames::{Frame, FrameId, NavigationResponse, ScriptContext},
    motion::{Moving, REQUEST_GRACE},
    page::{self, Evaluated},
    world::{Look, World},
};

/// How long an action waits for the load of the document that it led to.
const LOAD_GRACE: Duration = Duration::from_secs(5);

/// How long a frame inside the page may take to show its new document before the action answers.
const FRAME_GRACE: Duration = Duration::from_secs(2);

/// How long a download may take to begin after what announced it. It takes a few milliseconds.
const DOWNLOAD_GRACE: Duration = Duration::from_secs(1);

/// Where an action stands before it is done.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// The world's clock.
    pub(crate) since: u64,
}

/// What an action started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Started {
    pub(crate) url: String,
    pub(crate) opened_tab: Option<TabId>,
    pub(crate) dialog: Option<OpenDialog>,
    pub(crate) download: Option<FileInfo>,
}

/// What a look at the world says of an action.
enum Stage {
    Dialog(OpenDialog),
    Quiet,
    Waiting(Option<Instant>),
}

impl Inner {
    /// Takes note of where things stand. Call it right before the action is sent.
    pub(crate) fn mark(&self) -> Mark {
        Mark { since: self.shared.look(|world| world.clock) }
    }

    /// Waits until the renderer has told everything that the action started. Says whether the element that was acted on is a link
    /// to a file.
    pub(crate) async fn flush(
        &self,
        tab: &TabView,
        mark: &Mark,
        context: Option<&ScriptContext>,
    ) -> Result<bool, ToolError> {
        let Some(context) = context else { return Ok(false) };
        let is_file_link = "(e => !!e?.closest?.('a[download]'))(__transom.take())".to_owned();
        let session = Session::target(self.connection.clone(), context.session.clone());
        let reply = session.send(&page::evaluate_in(context, is_file_link));
        let moved = self.shared.until(|world| match world.tabs.with_frame(&tab.frame) {
            Some(known) if known.dialog.is_some() => Look::Ready(()),
            Some(known) if known.is_crashed => Look::Ready(()),
            None => Look::Ready(()),
            Some(_) if is_started(world, &tab.frame, mark.since) => Look::Ready(()),
            Some(_) => Look::Later,
        });
        tokio::select! {
            biased;
            answer = reply.parsed::<Evaluated<Value>>() => match answer {
                Ok(answer) => Ok(answer.result.value == Some(Value::Bool(true))),
                Err(error) if error.is_context_gone() => Ok(false),
                Err(CallError::Closed | CallError::Crashed) => Ok(false),
                Err(error) => Err(error.into()),
            },
            moved = moved => {
                moved?;
                Ok(false)
            }
        }
    }

    /// Waits for what an action on `tab` started. `context`: the script through which the renderer is asked to tell it all.
    ///
    /// # Errors
    /// `site_blocked` when the action led to a page that was refused; `page_crashed`; `timeout` when the page that it led to does
    /// not come before `deadline`.
    pub(crate) async fn settle(
        &self,
        tab: &TabView,
        mark: &Mark,
        context: Option<&ScriptContext>,
        deadline: Instant,
    ) -> Result<Started, ToolError> {
        let expects_file = self.flush(tab, mark, context).await?;
        let began = Instant::now();
        let by = Self::last_words(deadline);
        let waiting = self.shared.until(|world| {
            let now = Instant::now();
            match stage(world, &tab.frame, mark.since, began, expects_file) {
                Err(error) => Look::Ready(Err(error)),
                Ok(Stage::Dialog(dialog)) => Look::Ready(Ok(Some(dialog))),
                Ok(Stage::Quiet) => Look::Ready(Ok(None)),
                Ok(Stage::Waiting(_)) if now >= by => Look::Ready(Err(no_page_in_time())),
                Ok(Stage::Waiting(until)) => Look::At(until.map_or(by, |until| until.min(by))),
            }
        });
        let dialog = waiting.await??;
        let mut started = Started { url: self.url_of(&tab.frame), dialog, ..Started::default() };
        started.download = match self.claim_download(tab, mark) {
            Some(guid) => self.kept_download(&guid, by).await?,
            None => None,
        };
        self.shared.look(|world| {
            let opened = opened_by(world, &tab.frame, mark.since).map(|tab| tab.id.clone());
            if let Some(id) = &opened {
                world.changes.told_opened(id);
            }
            started.opened_tab = opened;
        });
        Ok(started)
    }

    /// The download that an action on this tab, or on a tab that it opened, started.
    pub(crate) fn claim_download(&self, tab: &TabView, mark: &Mark) -> Option<String> {
        self.shared.look(|world| {
            let mut tabs: Vec<FrameId> = vec![tab.frame.clone()];
            tabs.extend(world.tabs.iter().filter(|t| t.opener.as_ref() == Some(&tab.id)).map(|t| t.frame.clone()));
            let open: Vec<FrameId> = world.tabs.iter().map(|t| t.frame.clone()).collect();
            world.downloads.claim(mark.since, |download| match &download.tab_frame {
                Some(frame) => tabs.contains(frame) || !open.contains(frame),
                // Its tab is gone already: a tab that was only opened for it.
                None => true,
            })
        })
    }

    /// Waits until a download is a run file. `None`: it isn't yet by `until`, and the state will tell of it.
    pub(crate) async fn kept_download(&self, guid: &str, until: Instant) -> Result<Option<FileInfo>, ToolError> {
        let waiting = self.shared.until(|world| match world.downloads.get(guid).map(|download| download.end.clone()) {
            Some(Some(end)) => Look::Ready(Some(end)),
            Some(None) if Instant::now() < until => Look::At(until),
            Some(None) => {
                world.downloads.give_back(guid);
                Look::Ready(None)
            }
            None => Look::Ready(None),
        });
        waiting.await?.transpose()
    }
}

fn no_page_in_time() -> ToolError {
    ToolError::failed(Reason::Timeout, "it was done, but the page that it leads to did not answer in time")
        .with_hint("`wait` for the page, or `navigate` elsewhere")
}

/// Whether any frame of the tab is on its way since then, or a tab was opened.
fn is_started(world: &World, main: &FrameId, since: u64) -> bool {
    let now = Instant::now();
    world
        .frames_of_tab(main)
        .iter()
        .filter_map(|id| world.frames.get(id))
        .any(|frame| frame.motion.last_begun > since && frame.motion.moving(now) == Moving::Started)
}

fn opened_by<'a>(world: &'a World, main: &FrameId, since: u64) -> Option<&'a crate::tabs::Tab> {
    let opener = world.tabs.with_frame(main)?.id.clone();
    world.tabs.shown().find(|tab| tab.opened_at > since && tab.opener.as_ref() == Some(&opener))
}

/// Where the action stands.
fn stage(
    world: &mut World,
    main: &FrameId,
    since: u64,
    began: Instant,
    expects_file: bool,
) -> Result<Stage, ToolError> {
    let Some(tab) = world.tabs.with_frame(main) else {
        return Ok(Stage::Quiet); // the action closed its own tab
    };
    if tab.is_crashed {
        return Err(failure::crashed());
    }
    if let Some(dialog) = &tab.dialog {
        return Ok(Stage::Dialog(dialog.told()));
    }
    let has_arrived = world.frames.get(main).is_some_and(|frame| frame.motion.last_commit > since);
    // What the page that it led to begins by itself is that page's doing: the state tells of it.
    if !has_arrived && let Some(refusal) = world.take_refusal(main, since) {
        return Err(refusal.into_error());
    }
    let now = Instant::now();
    let has_download = world.downloads.began_since(since);
    let mut waits = Waits::default();
    if let Some(frame) = world.frames.get(main) {
        waits.for_page(frame, since, began, now);
        if (expects_file || leads_to_a_file(frame, since)) && !has_download {
            waits.until(began + DOWNLOAD_GRACE);
        }
    }
    for frame in world.frames_of_tab(main).iter().filter(|id| *id != main).filter_map(|id| world.frames.get(id)) {
        if frame.motion.last_begun > since && frame.motion.moving(now) != Moving::No {
            waits.until(began + FRAME_GRACE);
        }
    }
    if let Some(frame) = opened_by(world, main, since).and_then(|tab| world.frames.get(&tab.frame)) {
        if !frame.motion.has_moved_since(0) {
            waits.until(began + REQUEST_GRACE);
        }
        if leads_to_a_file(frame, 0) && !has_download {
            waits.until(began + DOWNLOAD_GRACE);
        }
        waits.for_page(frame, 0, began, now);
    }
    Ok(waits.stage(now))
}

/// Whether a navigation got an answer and ended without a document: then a download begins in the next instant.
fn leads_to_a_file(frame: &Frame, since: u64) -> bool {
    let motion = &frame.motion;
    let is_file = |r: &NavigationResponse| r.loader == motion.last_end_loader && !matches!(r.status, 204 | 205);
    motion.last_end > since && frame.response.as_ref().is_some_and(is_file)
}

/// What there is to wait for, taken together.
#[derive(Debug, Default)]
struct Waits {
    /// Something that has no bound but the call's deadline.
    is_open: bool,
    /// The latest of those that have one.
    until: Option<Instant>,
}

impl Waits {
    fn until(&mut self, time: Instant) {
        self.until = self.until.max(Some(time));
    }

    /// A main frame that is on its way, or that shows a new document which still loads.
    fn for_page(&mut self, frame: &Frame, since: u64, began: Instant, now: Instant) {
        let motion = &frame.motion;
        if motion.last_begun > since {
            match motion.moving(now) {
                Moving::Started => self.is_open = true,
                Moving::Asked(until) => self.until(until),
                Moving::No => {}
            }
        }
        if motion.last_commit > since && !frame.document.is_loaded {
            self.until(began + LOAD_GRACE);
        }
    }

    fn stage(&self, now: Instant) -> Stage {
        if self.is_open {
            return Stage::Waiting(None);
        }
        match self.until {
            Some(until) if until > now => Stage::Waiting(Some(until)),
            _ => Stage::Quiet,
        }
    }
}
