//! One connected Chromium, and the one way to ask something of it: [`Browser::perform`].
//!
//! A browser owns three tasks (read, write, keep), all ended by [`Browser::close`] or by dropping the last handle. A call runs on its
//! caller's task; dropping it at any time leaves the browser usable, and at worst an input that was sent without its end being seen.
//!
//! Every call ends by its deadline: the deadline is put around the whole call here, and what a call waits for inside (a renderer, a
//! dialog, a load) has a shorter bound where a better answer can be given than "too late".

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chromiumoxide_cdp::cdp::browser_protocol::browser::{self, SetDownloadBehaviorBehavior, SetDownloadBehaviorParams};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::task::AbortOnDropHandle;
use transom_verbs::{Call, Outcome, State, TabId, ToolError, Verb, error::Reason, registry::Input, verb};

use crate::{
    cdp::{CallError, Connection, Session, connection::ConnectionTasks},
    failure, fetch_gate,
    frames::{FrameId, is_error_page},
    hooks::Hooks,
    keeper::{self, CHORES},
    options::BrowserOptions,
    refs::Refs,
    targets::{self, Purpose},
    world::{Reducer, Shared, World},
};

/// How long Chromium may take until it has its first tab. It takes some 100 ms; half a minute is for a machine under load.
const CONNECT_WITHIN: Duration = Duration::from_secs(30);

/// Time that is kept from a call's deadline for saying why it passed: a few frames of a busy page, but never more than a quarter of
/// what is left.
const LAST_WORDS: Duration = Duration::from_millis(150);

/// Why a browser could not be connected.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// A descriptor is no end of a pipe.
    #[error("the descriptors are no ends of a pipe: {0}")]
    Pipe(#[from] std::io::Error),
    /// Chromium ended, or refused a command that everything needs.
    #[error("Chromium did not start as it should: {0}")]
    Start(String),
    /// Chromium did not answer in time.
    #[error("Chromium did not answer within {} s", CONNECT_WITHIN.as_secs())]
    Silent,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Performed {
    /// The verb's own result.
    pub outcome: Outcome,
    /// What else changed since the last result.
    pub state: State,
}

/// Messages of Chromium's that were of no use, since the browser was connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Events that nobody listens to.
    pub unheard: u64,
    /// Messages longer than [`BrowserOptions::message_cap`].
    pub oversized: u64,
    /// Messages that are no CDP.
    pub malformed: u64,
}

/// What a tab shows, as far as its events tell: no round trip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LivePage {
    /// An empty tab that no page made, or Chromium's own error page: nobody's text.
    Empty,
    /// A page.
    Page {
        /// Its address. For `about:blank`, `about:srcdoc` and `blob:` pages that of their creator's origin.
        url: String,
    },
}

/// One Chromium. A cheap handle: clones are the same browser.
#[derive(Clone)]
pub struct Browser {
    inner: Arc<Inner>,
}

/// What every call uses.
pub(crate) struct Inner {
    pub(crate) connection: Connection,
    pub(crate) shared: Arc<Shared>,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) options: Arc<BrowserOptions>,
    pub(crate) refs: Refs,
    tasks: Mutex<Option<(ConnectionTasks, AbortOnDropHandle<()>)>>,
    /// Held while a page is asked for, so that the page that comes is known to be that one.
    pub(crate) creating: tokio::sync::Mutex<()>,
    starting: tokio::sync::Mutex<()>,
    has_started: AtomicBool,
}

/// The tab that a call is for.
#[derive(Clone)]
pub(crate) struct TabView {
    pub(crate) id: TabId,
    /// The main frame.
    pub(crate) frame: FrameId,
    pub(crate) session: Session,
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
}

impl Browser {
    /// Takes over a Chromium that was started with [`crate::chromium::arguments`], by the ends of its pipes: `read` is what it
    /// writes, `write` what it reads. Resolves once there is a tab; no page is loaded yet.
    ///
    /// # Errors
    /// When Chromium doesn't answer, or is not one that can be used.
    pub async fn connect(
        read: OwnedFd,
        write: OwnedFd,
        options: BrowserOptions,
        hooks: Arc<dyn Hooks>,
    ) -> Result<Browser, BrowserError> {
        let options = Arc::new(options);
        let (chores, queue) = mpsc::channel(CHORES);
        let shared = Arc::new(Shared::new(World::new(hooks.clone(), options.clone(), chores)));
        let (connection, tasks) = Connection::open(read, write, options.message_cap, Reducer(shared.clone()))?;
        let keeper = tokio::spawn(keeper::keep(queue, connection.clone(), shared.clone(), hooks.clone()));
        let inner = Inner {
            connection,
            shared,
            hooks,
            options,
            refs: Refs::new(),
            tasks: Mutex::new(Some((tasks, AbortOnDropHandle::new(keeper)))),
            creating: tokio::sync::Mutex::default(),
            starting: tokio::sync::Mutex::default(),
            has_started: AtomicBool::new(false),
        };
        let browser = Browser { inner: Arc::new(inner) };
        match tokio::time::timeout(CONNECT_WITHIN, browser.inner.prepare()).await {
            Ok(Ok(())) => Ok(browser),
            Ok(Err(error)) => Err(BrowserError::Start(error.to_string())),
            Err(_) => Err(BrowserError::Silent),
        }
    }

    /// Performs one call. It ends by `deadline`, whatever the page does.
    ///
    /// # Errors
    /// As the verb's declaration says. Changes that were to be told with a result stay for the next one.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the browser usable. Input that was sent is not taken back.
    pub async fn perform(&self, call: &Call, deadline: Instant) -> Result<Performed, ToolError> {
        let run = self.inner.run(call, deadline);
        let outcome = match tokio::time::timeout_at(deadline, run).await {
            Ok(outcome) => outcome?,
            Err(_) => return Err(too_late(call.verb())),
        };
        Ok(Performed { outcome, state: self.take_state() })
    }

    /// What changed since the last result: for a caller whose call failed and is told all the same.
    #[must_use]
    pub fn take_state(&self) -> State {
        self.inner.shared.look(World::take_state)
    }

    /// The address of the page that a tab (default: the active one) shows, as its last event told. None for a tab that isn't there, and
    /// for one that shows nobody's page. See [`Browser::live_page`].
    #[must_use]
    pub fn live_url(&self, tab: Option<&str>) -> Option<String> {
        match self.live_page(tab)? {
            LivePage::Empty => None,
            LivePage::Page { url } => Some(url),
        }
    }

    /// What a tab (default: the active one) shows, as its last event told. No round trip: a page that has moved on within the
    /// last instant is told of as it was.
    #[must_use]
    pub fn live_page(&self, tab: Option<&str>) -> Option<LivePage> {
        self.inner.shared.look(|world| {
            let tab = match tab {
                None => world.tabs.active()?,
                Some(id) => world.tabs.get(&TabId::parse(id).ok()?)?,
            };
            let document = &world.frames.get(&tab.frame)?.document;
            Some(live_page_of(&document.url, &document.origin))
        })
    }

    /// What came in and was of no use, for diagnosis.
    #[must_use]
    pub fn skipped(&self) -> Skipped {
        let skipped = self.inner.connection.skipped();
        Skipped {
            unheard: skipped.unheard.load(Ordering::Relaxed),
            oversized: skipped.oversized.load(Ordering::Relaxed),
            malformed: skipped.malformed.load(Ordering::Relaxed),
        }
    }

    /// Resolves when the browser is gone.
    pub async fn closed(&self) {
        self.inner.connection.lost().await;
    }

    /// Sends one command to the active tab's agent as it stands: for tests that need a fault, and for measuring the floor that verbs
    /// are held to. No verb goes this way.
    #[doc(hidden)]
    pub async fn command_for_tests(
        &self,
        method: &'static str,
        parameters: serde_json::Value,
    ) -> Option<serde_json::Value> {
        let tab = self.inner.tab(None).ok()?;
        tab.session.send(&RawCommand { method, parameters }).parsed().await.ok()
    }

    /// Ends the browser: asks Chromium to close, and lets go of the pipe, at whose end Chromium exits in any case.
    pub async fn close(&self) {
        let bye = Session::browser(self.inner.connection.clone()).send(&browser::CloseParams::default());
        let _ = tokio::time::timeout(Duration::from_secs(1), bye).await;
        let tasks = self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(tasks);
        self.inner.connection.lost().await;
    }
}

/// See [`Browser::command_for_tests`].
struct RawCommand {
    method: &'static str,
    parameters: serde_json::Value,
}

impl serde::Serialize for RawCommand {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.parameters.serialize(serializer)
    }
}

impl chromiumoxide_types::Method for RawCommand {
    fn identifier(&self) -> chromiumoxide_types::MethodId {
        self.method.into()
    }
}

impl chromiumoxide_types::Command for RawCommand {
    type Response = serde_json::Value;
}

fn live_page_of(url: &str, origin: &str) -> LivePage {
    if is_error_page(url) {
        return LivePage::Empty;
    }
    let is_borrowed = url.is_empty() || url.starts_with("about:") || url.starts_with("blob:");
    if !is_borrowed {
        return LivePage::Page { url: url.to_owned() };
    }
    // An opaque origin is nobody's: the empty tab that the host opened.
    if origin.contains("://") && origin.len() > "://".len() {
        LivePage::Page { url: format!("{origin}/") }
    } else {
        LivePage::Empty
    }
}

fn too_late(verb: Verb) -> ToolError {
    ToolError::failed(
        Reason::Timeout,
        format!("`{verb}` did not end within its time: the page is busy or does not answer"),
    )
    .with_hint("`navigate` or `reload` brings a page back that is stuck; `timeout_ms` gives a call more time")
}

impl Inner {
    async fn prepare(&self) -> Result<(), ToolError> {
        let browser = self.browser();
        let gate = browser.send(&fetch_gate::enable());
        let attach = browser.send(&targets::auto_attach());
        let mut downloads = SetDownloadBehaviorParams::new(SetDownloadBehaviorBehavior::AllowAndName);
        downloads.download_path = Some(self.options.downloads_dir_in_jail.clone());
        downloads.events_enabled = Some(true);
        let downloads = browser.send(&downloads);
        gate.await?;
        attach.await?;
        downloads.await?;
        // A Chromium that was started with a window has a tab already; a second one would be nobody's.
        if self.shared.look(|world| world.tabs.active().is_none()) {
            self.open_page(Purpose::Tab).await?;
        }
        Ok(())
    }

    /// The agent of the whole browser.
    pub(crate) fn browser(&self) -> Session {
        Session::browser(self.connection.clone())
    }

    /// The time by which a call has to know its answer.
    pub(crate) fn last_words(deadline: Instant) -> Instant {
        let left = deadline.saturating_duration_since(Instant::now());
        deadline.checked_sub(LAST_WORDS.min(left / 4)).unwrap_or(deadline)
    }

    async fn run(&self, call: &Call, deadline: Instant) -> Result<Outcome, ToolError> {
        if self.connection.is_lost() {
            return Err(CallError::Lost.into());
        }
        if !self.has_started.load(Ordering::Acquire) {
            self.start(call, deadline).await?;
        }
        match &call.input {
            Input::Navigate(input) => self.navigate(call, input, deadline).await.map(Outcome::Navigate),
            Input::Back(_) => self.travel(call, -1, deadline).await.map(Outcome::Back),
            Input::Forward(_) => self.travel(call, 1, deadline).await.map(Outcome::Forward),
            Input::Reload(_) => self.reload(call, deadline).await.map(Outcome::Reload),
            Input::Click(input) => self.click(call, input, deadline).await.map(Outcome::Click),
            Input::Type(input) => self.type_text(call, input, deadline).await.map(Outcome::Type),
            Input::Upload(input) => self.upload(call, input, deadline).await.map(Outcome::Upload),
            Input::Download(input) => self.download(call, input, deadline).await.map(Outcome::Download),
            Input::Screenshot(input) => self.screenshot(call, input, deadline).await.map(Outcome::Screenshot),
            Input::Snapshot(input) => self.snapshot(call, input, deadline).await.map(Outcome::Snapshot),
            Input::Extract(input) => self.extract(call, input, deadline).await.map(Outcome::Extract),
            Input::Evaluate(input) => self.evaluate(call, input, deadline).await.map(Outcome::Evaluate),
            Input::Wait(input) => self.wait(call, input, deadline).await.map(Outcome::Wait),
            Input::Tabs(_) => self.list_tabs().await.map(Outcome::Tabs),
            Input::Open(input) => self.open(input, deadline).await.map(Outcome::Open),
            Input::Switch(_) => self.switch(call).await.map(Outcome::Switch),
            Input::Close(_) => self.close_tab(call).await.map(Outcome::Close),
            Input::Dialog(input) => self.answer_dialog(call, input, deadline).await.map(Outcome::Dialog),
        }
    }

    /// The first call loads the start page, unless it is one that opens a page itself.
    async fn start(&self, call: &Call, deadline: Instant) -> Result<(), ToolError> {
        let _turn = self.starting.lock().await;
        if self.has_started.load(Ordering::Acquire) {
            return Ok(());
        }
        let opens_itself = matches!(call.input, Input::Navigate(_) | Input::Open(_));
        self.has_started.store(true, Ordering::Release);
        let (Some(url), false) = (self.options.start_url.clone(), opens_itself) else { return Ok(()) };
        let tab = self.tab(None)?;
        let input = verb::navigate::Input { url, new_tab: false, until: verb::navigate::Until::Load, snapshot: false };
        // Half of the time is the call's own; a start page that is still loading then is as good as any other.
        let half = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
        match self.load(&tab, &input.url, input.until, half).await {
            Ok(_) => Ok(()),
            Err(error) if error.is(Reason::Timeout) => Ok(()),
            Err(error) => Err(ToolError { message: format!("the start page: {}", error.message), ..error }),
        }
    }

    /// The tab that a call names, or the active one, whatever its condition.
    pub(crate) fn tab(&self, id: Option<&TabId>) -> Result<TabView, ToolError> {
        self.shared.look(|world| {
            let tab = match id {
                None => world.tabs.active().ok_or_else(|| {
                    ToolError::failed(Reason::NotFound, "no tab is open").with_hint("`open` opens one")
                })?,
                Some(id) => world.tabs.get(id).ok_or_else(|| {
                    let what = if world.tabs.was_given(id) { "is closed" } else { "does not exist" };
                    ToolError::failed(Reason::NotFound, format!("the tab {id} {what}")).with_hint("`tabs` lists them")
                })?,
            };
            Ok(TabView {
                id: tab.id.clone(),
                frame: tab.frame.clone(),
                session: Session::target(self.connection.clone(), tab.session.clone()),
                turn: tab.turn.clone(),
            })
        })
    }

    /// The tab that a call names, if it can be asked something: not crashed, and no dialog in the way.
    pub(crate) fn ready_tab(&self, id: Option<&TabId>) -> Result<TabView, ToolError> {
        let tab = self.tab(id)?;
        self.shared.look(|world| match world.tabs.with_frame(&tab.frame) {
            Some(tab) if tab.is_crashed => Err(failure::crashed()),
            Some(tab) => match &tab.dialog {
                Some(dialog) => Err(failure::dialog_open(&dialog.message)),
                None => Ok(()),
            },
            None => Ok(()),
        })?;
        Ok(tab)
    }

    /// The address that a tab shows.
    pub(crate) fn url_of(&self, frame: &FrameId) -> String {
        self.shared.look(|world| world.frames.get(frame).map(|frame| frame.document.url.clone()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_an_address_of_its_own_counts_as_its_creators() {
        let page = |url: &str| LivePage::Page { url: url.to_owned() };
        assert_eq!(live_page_of("https://a.test/x", "https://a.test"), page("https://a.test/x"));
        assert_eq!(live_page_of("about:blank", "https://a.test"), page("https://a.test/"));
        assert_eq!(live_page_of("blob:https://a.test/123", "https://a.test"), page("https://a.test/"));
        assert_eq!(live_page_of("about:blank", "://"), LivePage::Empty);
        assert_eq!(live_page_of("chrome-error://chromewebdata/", "://"), LivePage::Empty);
        assert_eq!(live_page_of("data:text/html,x", "://"), page("data:text/html,x"));
    }
}
