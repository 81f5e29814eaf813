//! `download`: a file of the site as a run file, by its address or behind a control.
//!
//! By address, a hidden tab goes there, with the current page as its referrer, and the answer is turned into a file whatever the
//! server calls it ([`crate::fetch_gate`]): every redirect is judged like any document's, cookies are the browser's, and the page
//! that the caller looks at stays. Behind a control, the control is clicked and the first download that this starts is the one.

use chromiumoxide_cdp::cdp::browser_protocol::{page::NavigateParams, target::CloseTargetParams};
use serde::Deserialize;
use tokio::time::Instant;
use transom_verbs::{
    Call, Target, ToolError,
    error::Reason,
    verb::{
        FileInfo,
        download::{Input, Output, Source},
    },
};

use crate::{
    actions::click::Press,
    aim::{Purpose, actionable_until},
    browser::{Inner, TabView},
    failure,
    settle::Mark,
    targets::Purpose as PagePurpose,
    world::Look,
};

impl Inner {
    pub(crate) async fn download(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let file = match input.source()? {
            Source::Url(url) => self.download_address(call, url, deadline).await?,
            Source::Control(target) => self.download_behind(call, target, deadline).await?,
        };
        Ok(Output { file })
    }

    async fn download_address(&self, call: &Call, url: &str, deadline: Instant) -> Result<FileInfo, ToolError> {
        let url = self.judged_address(url)?;
        let shown = self.tab(call.tab.as_ref())?;
        let referrer = Some(self.url_of(&shown.frame)).filter(|url| url.starts_with("http"));
        let helper = self.open_page(PagePurpose::Hidden).await?;
        let _closing = CloseOnDrop { inner: self, tab: &helper };
        self.shared.look(|world| world.downloads.force_in(helper.frame.clone()));
        let mark = self.mark();
        let mut go = NavigateParams::new(url);
        go.referrer = referrer;
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Gone {
            #[serde(default)]
            error_text: Option<String>,
            #[serde(default)]
            is_download: Option<bool>,
        }
        let gone: Gone = helper.session.send(&go).parsed().await?;
        if let Some(refusal) = self.shared.look(|world| world.take_refusal(&helper.frame, mark.since)) {
            return Err(refusal.into_error());
        }
        if gone.is_download != Some(true) {
            let status = self.shared.look(|world| {
                world
                    .frames
                    .get(&helper.frame)
                    .and_then(|frame| frame.response.as_ref())
                    .map(|response| response.status)
            });
            let message = match (status, gone.error_text) {
                (Some(status), _) => format!("the server answered with status {status} and no file"),
                (None, Some(error)) => format!("the address could not be loaded: {error}"),
                (None, None) => "the address gave no file".to_owned(),
            };
            return Err(ToolError::failed(Reason::NoDownload, message));
        }
        self.first_download(&helper, &mark, deadline).await
    }

    async fn download_behind(&self, call: &Call, target: &Target, deadline: Instant) -> Result<FileInfo, ToolError> {
        let tab = self.ready_tab(call.tab.as_ref())?;
        let _turn = tab.turn.lock().await;
        let aim = self.aim(&tab, target, Purpose::Click, actionable_until(call, deadline)).await?;
        let mark = self.mark();
        self.press(&tab, &aim, Press::PLAIN).await?;
        self.first_download(&tab, &mark, deadline).await
    }

    /// Waits for the first download that begins after `mark`, and until it is kept.
    async fn first_download(&self, tab: &TabView, mark: &Mark, deadline: Instant) -> Result<FileInfo, ToolError> {
        let by = Self::last_words(deadline);
        let begun = self.shared.until(|world| {
            if let Some(refusal) = world.take_refusal(&tab.frame, mark.since) {
                return Look::Ready(Err(refusal.into_error()));
            }
            let known = world.tabs.with_frame(&tab.frame);
            if known.is_some_and(|tab| tab.is_crashed) {
                return Look::Ready(Err(failure::crashed()));
            }
            if let Some(dialog) = known.and_then(|tab| tab.dialog.as_ref()) {
                return Look::Ready(Err(failure::dialog_open(&dialog.message)));
            }
            if world.downloads.began_since(mark.since) {
                return Look::Ready(Ok(()));
            }
            if Instant::now() < by {
                return Look::At(by);
            }
            let message = "the click started no download in time";
            Look::Ready(Err(ToolError::failed(Reason::NoDownload, message)
                .with_hint("`click` it and take a `snapshot`: it may open a page or a menu")))
        });
        begun.await??;
        let nobodys = || ToolError::failed(Reason::NoDownload, "another call took the download");
        let guid = self.claim_download(tab, mark).ok_or_else(nobodys)?;
        match self.kept_download(&guid, by).await? {
            Some(file) => Ok(file),
            None => Err(ToolError::failed(Reason::Timeout, "the download goes on, but was not whole in time")
                .with_hint("the state of a later result tells when it is kept; `timeout_ms` gives it more time")),
        }
    }
}

/// Closes the hidden tab however the call ends; the download itself goes on.
struct CloseOnDrop<'a> {
    inner: &'a Inner,
    tab: &'a TabView,
}

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.inner.shared.look(|world| world.downloads.stop_forcing_in(&self.tab.frame));
        self.inner.browser().post(&CloseTargetParams::new(self.tab.frame.as_str().to_owned()));
    }
}
