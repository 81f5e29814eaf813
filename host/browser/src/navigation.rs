//! `navigate`, `back`, `forward` and `reload`: go to a document and wait until it has come far enough.
//!
//! Chromium answers `Page.navigate` once the document is there, or says why there will be none. From then on the world's events
//! tell how far it has come. A page that goes on by itself before it has loaded is followed: the result is of the page that the
//! caller ends up on.
//!
//! A refused hop ends the call with `site_blocked` that names the hop's host, and leaves the tab on the page that it showed.

use std::time::Duration;

use chromiumoxide_cdp::cdp::browser_protocol::page::{
    GetNavigationHistoryParams, NavigateParams, NavigateToHistoryEntryParams, ReloadParams,
};
use serde::Deserialize;
use tokio::time::Instant;
use transom_verbs::{
    Call, ErrorCode, ToolError,
    error::Reason,
    state::OpenDialog,
    verb::{
        self,
        navigate::{Input, Output, Until},
    },
};
use url::Url;

use crate::{
    browser::{Inner, TabView},
    cdp::CallError,
    failure, fetch_gate,
    frames::is_error_page,
    motion::Moving,
    page::{self, Evaluated},
    settle::Mark,
    world::{Look, World},
};

/// How long a document's title may take: the page is loaded, so it is there unless the page is busy.
const TITLE_WITHIN: Duration = Duration::from_secs(1);

/// How long Chromium's error page may take to show: it is made by the browser itself, in some 50 ms.
const ERROR_PAGE_WITHIN: Duration = Duration::from_secs(2);

/// What Chromium says of a navigation that ends without a document and without an error page.
const ABORTED: &str = "net::ERR_ABORTED";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    #[serde(default)]
    loader_id: Option<String>,
    #[serde(default)]
    error_text: Option<String>,
    #[serde(default)]
    is_download: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: i64,
    entries: Vec<HistoryEntry>,
}

#[derive(Deserialize)]
struct HistoryEntry {
    id: i64,
    #[serde(default)]
    url: String,
}

/// Where a navigation ended up.
pub(crate) enum Arrival {
    Page,
    Dialog(OpenDialog),
    File(verb::FileInfo),
}

impl Inner {
    pub(crate) async fn navigate(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let url = self.judged_address(&input.url)?;
        let (tab, is_new) =
            if input.new_tab { (self.new_tab().await?, true) } else { (self.tab_to_move(call).await?, false) };
        let _turn = tab.turn.lock().await;
        let arrived = self.load(&tab, &url, input.until, deadline).await;
        let mut output = match arrived {
            Ok(arrival) => self.output_of(&tab, arrival, deadline).await?,
            Err(error) => {
                if is_new {
                    self.discard(&tab);
                }
                return Err(error);
            }
        };
        if is_new {
            output.tab = Some(tab.id.clone());
        }
        if input.snapshot && output.dialog.is_none() && output.download.is_none() {
            let snapshot = self.snapshot_of(&tab, &verb::snapshot::Input::default(), deadline).await?;
            output.snapshot = Some(snapshot.snapshot);
        }
        Ok(output)
    }

    pub(crate) async fn travel(&self, call: &Call, steps: i64, deadline: Instant) -> Result<Output, ToolError> {
        let tab = self.tab_to_move(call).await?;
        let _turn = tab.turn.lock().await;
        let history: History = tab.session.send(&GetNavigationHistoryParams::default()).parsed().await?;
        let at = usize::try_from(history.current_index + steps).ok();
        let Some(entry) = at.and_then(|at| history.entries.get(at)) else {
            let side = if steps < 0 { "back" } else { "forward" };
            return Err(ToolError::failed(Reason::NotFound, format!("there is no page to go {side} to in this tab")));
        };
        if entry.url.starts_with("http") {
            self.judged_address(&entry.url)?;
        }
        let mark = self.mark();
        tab.session.call(&NavigateToHistoryEntryParams::new(entry.id)).await?;
        self.await_move(&tab, &mark, deadline).await
    }

    pub(crate) async fn reload(&self, call: &Call, deadline: Instant) -> Result<Output, ToolError> {
        let tab = self.tab_to_move(call).await?;
        let _turn = tab.turn.lock().await;
        let mark = self.mark();
        tab.session.call(&ReloadParams::default()).await?;
        self.await_move(&tab, &mark, deadline).await
    }

    /// A caller's address, as Chromium will ask for it, if it may be opened.
    ///
    /// # Errors
    /// `invalid_input` for what is no full address, `site_blocked` for one that may not be opened.
    pub(crate) fn judged_address(&self, address: &str) -> Result<String, ToolError> {
        let url = Url::parse(address.trim()).map_err(|error| {
            ToolError::invalid(format!(
                "`url` is not a full address ({error}); write it like `https://shop.example.com/`"
            ))
        })?;
        if url.scheme() == "javascript" {
            return Err(ToolError::invalid("`url` is a script, not an address").with_hint("`evaluate` runs scripts"));
        }
        let verdict = self.hooks.document(url.as_str(), true);
        match fetch_gate::refusal_of(verdict, 0, true) {
            Some(refusal) => Err(refusal.into_error()),
            None => Ok(url.into()),
        }
    }

    /// The tab that a navigation is for: a crashed one too, since this is how it comes back; a new one where none is open.
    async fn tab_to_move(&self, call: &Call) -> Result<TabView, ToolError> {
        if call.tab.is_none() && self.shared.look(|world| world.tabs.active().is_none()) {
            return self.new_tab().await;
        }
        let tab = self.tab(call.tab.as_ref())?;
        self.shared.look(|world| match world.tabs.with_frame(&tab.frame).and_then(|tab| tab.dialog.as_ref()) {
            Some(dialog) => Err(failure::dialog_open(&dialog.message)),
            None => Ok(tab),
        })
    }

    /// Goes to `url` and waits until its document has come as far as `until`.
    pub(crate) async fn load(
        &self,
        tab: &TabView,
        url: &str,
        until: Until,
        deadline: Instant,
    ) -> Result<Arrival, ToolError> {
        let mark = self.mark();
        let by = Self::last_words(deadline);
        let reply = tab.session.send(&NavigateParams::new(url));
        let navigated: Navigated = tokio::select! {
            biased;
            answer = reply.parsed() => match answer {
                Ok(navigated) => navigated,
                // The tab was crashed: Chromium fails what was asked of the old renderer, this call too.
                Err(CallError::Refused { message, .. }) if message.contains("crashed") => Navigated { loader_id: None, error_text: None, is_download: None },
                Err(error) => return Err(error.into()),
            },
            dialog = self.dialog_on(tab) => return Ok(Arrival::Dialog(dialog?.told())),
            () = tokio::time::sleep_until(by) => return Err(no_answer(self.shared.look(|world| world.take_refusal(&tab.frame, mark.since)))),
        };
        if navigated.error_text.is_some()
            && let Some(refusal) = self.shared.look(|world| world.take_refusal(&tab.frame, mark.since))
        {
            return Err(refusal.into_error());
        }
        if navigated.is_download == Some(true) {
            return self.await_file(tab, &mark, by).await;
        }
        if let Some(error) = navigated.error_text {
            if error != ABORTED {
                self.error_page(tab, &mark, by).await?;
            }
            return Err(self.no_document(tab, &mark, &error));
        }
        // Without a loader it was a move within the document.
        let is_within = navigated.loader_id.is_none();
        self.arrive(tab, &mark, until, is_within, by).await
    }

    async fn await_file(&self, tab: &TabView, mark: &Mark, by: Instant) -> Result<Arrival, ToolError> {
        let begun = self.shared.until(|world| {
            if world.downloads.began_since(mark.since) || Instant::now() >= by { Look::Ready(()) } else { Look::At(by) }
        });
        begun.await?;
        let file = match self.claim_download(tab, mark) {
            Some(guid) => self.kept_download(&guid, by).await?,
            None => None,
        };
        file.map(Arrival::File).ok_or_else(|| {
            ToolError::failed(Reason::Timeout, "the address is a file, whose download goes on")
                .with_hint("the state of a later result tells when it is kept")
        })
    }

    /// Chromium says that it failed before it shows its error page; a call that comes in between would take that for its own end.
    async fn error_page(&self, tab: &TabView, mark: &Mark, by: Instant) -> Result<(), ToolError> {
        let by = by.min(Instant::now() + ERROR_PAGE_WITHIN);
        let shown = self.shared.until(|world| match world.frames.get(&tab.frame) {
            Some(frame) if frame.motion.last_commit <= mark.since && Instant::now() < by => Look::At(by),
            _ => Look::Ready(()),
        });
        Ok(shown.await?)
    }

    /// Why there is no document, when Chromium said so.
    fn no_document(&self, tab: &TabView, mark: &Mark, error: &str) -> ToolError {
        let status = self.shared.look(|world| {
            let frame = world.frames.get(&tab.frame)?;
            let response = frame.response.as_ref()?;
            (frame.motion.last_end > mark.since && response.loader == frame.motion.last_end_loader)
                .then_some(response.status)
        });
        match status {
            Some(status @ (204 | 205)) => ToolError::failed(
                Reason::Navigation,
                format!("the server answered with status {status}, which has no page"),
            ),
            Some(status) if status >= 400 => ToolError::failed(
                Reason::Navigation,
                format!("the server answered with status {status} and no page ({error})"),
            ),
            _ if error == ABORTED => {
                ToolError::failed(Reason::Navigation, "the page stopped the navigation, or began another")
            }
            _ => ToolError::failed(Reason::Navigation, format!("the page could not be loaded: {error}")),
        }
    }

    /// Waits for a navigation that was started by something else than an address.
    async fn await_move(&self, tab: &TabView, mark: &Mark, deadline: Instant) -> Result<Output, ToolError> {
        let arrival = self.arrive(tab, mark, Until::Load, false, Self::last_words(deadline)).await?;
        self.output_of(tab, arrival, deadline).await
    }

    /// Waits until the tab shows a document since `mark` that has come as far as `until`.
    async fn arrive(
        &self,
        tab: &TabView,
        mark: &Mark,
        until: Until,
        is_within: bool,
        by: Instant,
    ) -> Result<Arrival, ToolError> {
        let waiting = self.shared.until(|world| {
            let now = Instant::now();
            match arrival_of(world, tab, mark, until, is_within, now) {
                Look::Later if now >= by => Look::Ready(Err(not_loaded(world, tab))),
                Look::Later => Look::At(by),
                Look::At(time) if now >= by => {
                    let _ = time;
                    Look::Ready(Err(not_loaded(world, tab)))
                }
                Look::At(time) => Look::At(time.min(by)),
                ready @ Look::Ready(_) => ready,
            }
        });
        waiting.await?
    }

    async fn output_of(&self, tab: &TabView, arrival: Arrival, deadline: Instant) -> Result<Output, ToolError> {
        let mut output = Output {
            url: String::new(),
            title: String::new(),
            status: None,
            tab: None,
            snapshot: None,
            download: None,
            dialog: None,
        };
        match arrival {
            Arrival::Page => {
                output.title = self.title_of(tab, deadline).await?;
                output.status =
                    self.shared.look(|world| world.frames.get(&tab.frame).and_then(crate::frames::Frame::status));
            }
            Arrival::Dialog(dialog) => output.dialog = Some(dialog),
            Arrival::File(file) => output.download = Some(file),
        }
        output.url = self.url_of(&tab.frame);
        Ok(output)
    }

    /// The title of the tab's document; nothing for an error page, or where the page is too busy to say.
    pub(crate) async fn title_of(&self, tab: &TabView, deadline: Instant) -> Result<String, ToolError> {
        if is_error_page(&self.url_of(&tab.frame)) {
            return Ok(String::new());
        }
        let by = Self::last_words(deadline).min(Instant::now() + TITLE_WITHIN);
        let title = async {
            let script = self.script_of(tab, &tab.frame).await?;
            let reply = tab.session.send(&page::evaluate_in(&script.context, "document.title".into()));
            let answer = self.answer_of(tab, reply).await?.map_err(ToolError::from)?;
            let answer: Option<Evaluated<String>> = serde_json::from_slice(&answer).ok();
            Ok::<_, ToolError>(answer.and_then(|answer| answer.result.value).unwrap_or_default())
        };
        match tokio::time::timeout_at(by, title).await {
            Ok(Err(error)) if error.code == ErrorCode::BrowserUnavailable => Err(error),
            Ok(Ok(title)) => Ok(title),
            Ok(Err(_)) | Err(_) => Ok(String::new()),
        }
    }
}

fn no_answer(refusal: Option<fetch_gate::Refusal>) -> ToolError {
    match refusal {
        Some(refusal) => refusal.into_error(),
        None => ToolError::failed(Reason::Timeout, "the server did not answer in time")
            .with_hint("`timeout_ms` gives the page more time"),
    }
}

fn not_loaded(world: &World, tab: &TabView) -> ToolError {
    let is_moving =
        world.frames.get(&tab.frame).is_some_and(|frame| frame.motion.moving(Instant::now()) == Moving::Started);
    if is_moving {
        return no_answer(None);
    }
    ToolError::failed(Reason::Timeout, "the page is open, but did not finish loading in time")
        .with_hint("read it as it is, or pass `until`: \"domcontentloaded\"")
}

/// Whether the tab has arrived.
fn arrival_of(
    world: &mut World,
    tab: &TabView,
    mark: &Mark,
    until: Until,
    is_within: bool,
    now: Instant,
) -> Look<Result<Arrival, ToolError>> {
    let has_arrived = world.frames.get(&tab.frame).is_some_and(|frame| frame.motion.last_commit > mark.since);
    // What the new page begins by itself is the page's doing: the state tells of it.
    if !has_arrived && let Some(refusal) = world.take_refusal(&tab.frame, mark.since) {
        return Look::Ready(Err(refusal.into_error()));
    }
    let Some(known) = world.tabs.with_frame(&tab.frame) else {
        return Look::Ready(Err(CallError::Closed.into()));
    };
    if let Some(dialog) = &known.dialog {
        return Look::Ready(Ok(Arrival::Dialog(dialog.told())));
    }
    let Some(frame) = world.frames.get(&tab.frame) else {
        return Look::Ready(Err(CallError::Closed.into()));
    };
    let motion = &frame.motion;
    match motion.moving(now) {
        Moving::Started => return Look::Later,
        Moving::Asked(time) => return Look::At(time),
        Moving::No => {}
    }
    if motion.last_commit <= mark.since {
        if known.is_crashed {
            return Look::Later; // the new renderer is on its way
        }
        if is_within || motion.last_within > mark.since {
            return Look::Ready(Ok(Arrival::Page));
        }
        if motion.last_end > mark.since {
            return Look::Ready(Err(ToolError::failed(Reason::Navigation, "the navigation ended without a page")));
        }
        return Look::Later;
    }
    if known.is_crashed {
        return Look::Ready(Err(failure::crashed()));
    }
    if is_error_page(&frame.document.url) {
        return Look::Ready(Err(ToolError::failed(Reason::Navigation, "the page could not be loaded")));
    }
    let document = &frame.document;
    let is_there = match until {
        Until::None => true,
        Until::Domcontentloaded => document.is_ready,
        Until::Load => document.is_loaded,
        Until::Idle if document.is_loaded => match known.activity.quiet(now) {
            Ok(()) => true,
            Err(time) => return Look::At(time),
        },
        Until::Idle => false,
    };
    if is_there { Look::Ready(Ok(Arrival::Page)) } else { Look::Later }
}
