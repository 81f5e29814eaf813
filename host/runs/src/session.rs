//! The browser of one prefix of a run: started at the first call, started anew when it is lost, ended with the run.
//!
//! One verb at a time acts in a session, since verbs share its active tab and its refs. A session's gate is its own and denies
//! everything until the browser is up.
//!
//! Not here: whether a call may be performed at all (`dispatcher.rs`).

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::FutureExt as _;
use tokio::{sync::Semaphore, time::Instant};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use transom_browser::{Browser, BrowserOptions, DialogPolicy, Performed, chromium};
use transom_egress::{
    gate::Gate,
    jail::{self, ChromiumProcess, Exchange, LaunchSpec},
    proxy,
};
use transom_verbs::{Call, ErrorCode, Reason, Retry, TabId, ToolError, Verb, registry::Input, verb};

use crate::{
    binding::Binding, egress_rows::EgressRows, files::RunFiles, hooks::SessionHooks, mixing::Mixing,
    settings::DialogSetting,
};

/// How long Chromium has to start and answer. It takes a third of a second on a small machine; a busy one may need some seconds.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// What a session needs to start a browser.
#[derive(Clone, Debug)]
pub(crate) struct SessionSpec {
    /// Whose prefix this is.
    pub binding: Arc<Binding>,
    /// The Chromium binary.
    pub chromium: PathBuf,
    /// Our own binary, for the jail.
    pub launcher: PathBuf,
    /// A folder of this session alone, for what it exchanges with Chromium.
    pub folder: PathBuf,
    /// Where downloads and screenshots go.
    pub files: RunFiles,
    /// Where it is written down what the gate refused.
    pub egress_rows: EgressRows,
}

/// When a page is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before anything is done on it.
    Before,
    /// Once the verb is performed, which may have led elsewhere.
    After,
}

pub(crate) struct Session {
    spec: SessionSpec,
    /// Held by whoever acts: verbs of one session come one after the other.
    turn: Semaphore,
    /// Changed only by the holder of the turn, and by the end of the run.
    running: Mutex<State>,
    mixing: Arc<Mixing>,
}

enum State {
    NotStarted,
    Running(Arc<Running>),
    Ended,
}

/// A browser and all that lives as long as it does. Dropping it kills Chromium and its proxy.
struct Running {
    browser: Browser,
    stop_proxy: CancellationToken,
    _proxy: AbortOnDropHandle<()>,
    _rows: AbortOnDropHandle<()>,
    _process: ChromiumProcess,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop_proxy.cancel();
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("binding", &self.spec.binding.prefix).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new(spec: SessionSpec) -> Session {
        Session { spec, turn: Semaphore::new(1), running: Mutex::new(State::NotStarted), mixing: Arc::default() }
    }

    /// Performs a verb, in its turn. A browser that is lost in between is started again; the verb is then repeated if that is safe.
    ///
    /// `check` judges the address of the page that is acted on: within the turn, once the browser shows a page, so that nothing comes
    /// between the judgement and the act; and once more for what the page is afterwards. It is told which of the two it is.
    ///
    /// The call's deadline covers its turn and its act. Starting a browser has a bound of its own: a caller's short timeout is meant
    /// for the page, and must not end the run.
    ///
    /// # Errors
    /// The verb's own; those of `check`; [`ErrorCode::BrowserUnavailable`] when no browser can be started;
    /// [`Reason::OutcomeUnknown`] when the browser was lost under a verb that must not be repeated.
    ///
    /// # Cancel safety
    /// Dropping the future gives the turn back; what was sent to the page may have happened.
    pub(crate) async fn perform(
        &self,
        call: &Call,
        check: &(dyn Fn(Moment, &str) -> Result<(), ToolError> + Sync),
    ) -> Result<Performed, ToolError> {
        let mut until = Instant::now() + call.deadline();
        let Ok(turn) = tokio::time::timeout_at(until, self.turn.acquire()).await else {
            return Err(ToolError::failed(
                Reason::Timeout,
                "an earlier call of this run was still under way at the deadline",
            ));
        };
        let _turn = turn.map_err(|_| run_ended())?;
        let mut is_repeat = false;
        loop {
            let starting = Instant::now();
            let browser = self.browser().await?;
            until += starting.elapsed();
            match self.perform_on(&browser, call, until, check).await {
                Err(error) if is_lost(&browser) => {
                    tracing::warn!(verb = %call.verb(), %error, "the browser was lost");
                    if call.retry() == Retry::Never {
                        return Err(ToolError::failed(
                            Reason::OutcomeUnknown,
                            format!("the browser was lost while `{}` was under way: it may have happened", call.verb()),
                        )
                        .with_hint("look at the page before doing it again; the next call starts a new browser on the start page"));
                    }
                    if std::mem::replace(&mut is_repeat, true) {
                        return Err(ToolError::new(
                            ErrorCode::BrowserUnavailable,
                            "the browser was lost twice under one call",
                        ));
                    }
                }
                performed => return performed,
            }
        }
    }

    async fn perform_on(
        &self,
        browser: &Browser,
        call: &Call,
        until: Instant,
        check: &(dyn Fn(Moment, &str) -> Result<(), ToolError> + Sync),
    ) -> Result<Performed, ToolError> {
        let tab = call.tab.as_ref().map(TabId::as_str);
        if looks_at_the_live_page(call.verb()) {
            if browser.live_url(tab).is_none() {
                // The first call loads the start page, which has to be there to be judged.
                browser
                    .perform(&Call { tab: None, timeout: None, input: Input::Tabs(verb::tabs::Input {}) }, until)
                    .await?;
            }
            if let Some(address) = browser.live_url(tab) {
                check(Moment::Before, &address)?;
            }
        }
        if runs_a_script(call) {
            self.mixing.before_script(&self.spec.binding)?;
        }
        let performed = browser.perform(call, until).await?;
        if let Some(address) = browser.live_url(tab) {
            check(Moment::After, &address)?;
        }
        Ok(performed)
    }

    /// The address of the page that a tab shows, as the browser last told: that of its creator for `about:` and `blob:` pages. None
    /// without a browser, and for an empty tab or an error page, on which there is nothing of anybody's.
    pub(crate) fn live_url(&self, tab: Option<&str>) -> Option<String> {
        match &*self.state() {
            State::Running(running) => running.browser.live_url(tab),
            State::NotStarted | State::Ended => None,
        }
    }

    /// Ends the session for good.
    pub(crate) async fn end(&self) {
        self.turn.close();
        let was = std::mem::replace(&mut *self.state(), State::Ended);
        if let State::Running(running) = was {
            running.browser.close().await;
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn browser(&self) -> Result<Browser, ToolError> {
        match &*self.state() {
            State::Running(running) if !is_lost(&running.browser) => return Ok(running.browser.clone()),
            State::Running(_) | State::NotStarted => {}
            State::Ended => return Err(run_ended()),
        }
        let started = tokio::time::timeout(READY_WITHIN, self.start()).await.unwrap_or_else(|_| {
            Err(ToolError::new(
                ErrorCode::BrowserUnavailable,
                "no browser could be started: Chromium did not answer in time",
            ))
        })?;
        let browser = started.browser.clone();
        let mut state = self.state();
        if matches!(*state, State::Ended) {
            return Err(run_ended());
        }
        *state = State::Running(Arc::new(started));
        Ok(browser)
    }

    async fn start(&self) -> Result<Running, ToolError> {
        let SessionSpec { binding, chromium: program, launcher, folder, files, egress_rows } = &self.spec;
        let unavailable = |what: &str, error: &dyn std::fmt::Display| {
            // The cause may name paths of the host: it is for the operator's log.
            tracing::error!(%error, "{what}");
            ToolError::new(ErrorCode::BrowserUnavailable, format!("no browser could be started: {what}"))
                .with_hint("`transom doctor` says what is missing on the host")
        };
        let launched = jail::launch(LaunchSpec {
            program: program.clone(),
            args: chromium::arguments(&chromium::ChromiumOptions::default()),
            isolation: binding.isolation,
            launcher: launcher.clone(),
            exchange: Exchange { downloads: folder.join("downloads"), uploads: folder.join("uploads") },
            ready_within: READY_WITHIN,
        })
        .await
        .map_err(|error| unavailable("the browser's jail could not be set up", &error))?;
        let gate = Gate::closed();
        // Owned from here on: a start that fails or is given up takes them along.
        let rows = AbortOnDropHandle::new(tokio::spawn(egress_rows.clone().keep(gate.events())));
        let stop_proxy = CancellationToken::new();
        let proxy =
            AbortOnDropHandle::new(tokio::spawn(proxy::serve(launched.listener, gate.clone(), stop_proxy.clone())));
        let stopping = stop_proxy.clone().drop_guard();
        self.mixing.start_anew();
        let hooks = SessionHooks::new(binding.clone(), files.clone(), launched.paths.clone(), self.mixing.clone());
        let options = BrowserOptions {
            start_url: Some(binding.start.to_string()),
            dialogs: match binding.dialogs {
                DialogSetting::Ask => DialogPolicy::Ask,
                DialogSetting::Accept => DialogPolicy::Accept,
                DialogSetting::Dismiss => DialogPolicy::Dismiss,
            },
            evaluate_with_secrets: binding.evaluate_with_secrets,
            ..BrowserOptions::new(launched.paths.downloads.browser.to_string_lossy())
        };
        let browser = Browser::connect(launched.cdp_out, launched.cdp_in, options, Arc::new(hooks))
            .await
            .map_err(|error| unavailable("Chromium did not answer", &error))?;
        gate.open(binding.gate_rules());
        Ok(Running { browser, stop_proxy: stopping.disarm(), _proxy: proxy, _rows: rows, _process: launched.process })
    }
}

/// Whether a verb reads or acts on the page that a tab shows, rather than on tabs or on a page to come.
fn looks_at_the_live_page(verb: Verb) -> bool {
    !matches!(
        verb,
        Verb::Navigate
            | Verb::Open
            | Verb::Tabs
            | Verb::Switch
            | Verb::Close
            | Verb::Back
            | Verb::Forward
            | Verb::Reload
            | Verb::Dialog
    )
}

/// Whether a call runs a script of its caller's in the page.
fn runs_a_script(call: &Call) -> bool {
    call.verb() == Verb::Evaluate || call.also_needs().contains(&Verb::Evaluate)
}

/// Whether Chromium is gone, as far as is known without asking it.
fn is_lost(browser: &Browser) -> bool {
    browser.closed().now_or_never().is_some()
}

pub(crate) fn run_ended() -> ToolError {
    ToolError::failed(Reason::RunEnded, "the run has ended")
}
