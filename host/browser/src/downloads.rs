//! The downloads of one browser, from the first byte to the run file.
//!
//! Chromium writes each under its guid into one folder; when it is whole, the keeper hands it to the hook that makes a run file of it,
//! whoever started it: a `download` call, a click, or the page by itself. The call that started one takes it out of the news
//! ([`Downloads::claim`]); the rest is told of in the state.

use std::collections::VecDeque;

use transom_verbs::{
    ToolError,
    error::Reason,
    state::{Download as News, DownloadStatus},
    verb::FileInfo,
};

use crate::{
    cdp::events::{DownloadProgress, DownloadWillBegin},
    extract::REDACTION_OVERLAP,
    frames::FrameId,
    hooks::FinishedDownload,
    keeper::Chore,
    world::World,
};

/// Downloads that are remembered. The oldest that has ended is forgotten first, else the oldest.
const REMEMBERED: usize = 200;

/// One download.
#[derive(Clone, Debug)]
pub(crate) struct Download {
    pub(crate) guid: String,
    pub(crate) url: String,
    pub(crate) name: String,
    /// The main frame of the tab that it began in, where that was known.
    pub(crate) tab_frame: Option<FrameId>,
    pub(crate) mime: Option<String>,
    /// When it began, by the world's clock.
    pub(crate) began_at: u64,
    /// What became of it; none while it is on its way.
    pub(crate) end: Option<Result<FileInfo, ToolError>>,
    is_written: bool,
    is_claimed: bool,
    told: Option<DownloadStatus>,
}

impl Download {
    fn status(&self) -> DownloadStatus {
        match &self.end {
            None => DownloadStatus::Started,
            Some(Ok(_)) => DownloadStatus::Finished,
            Some(Err(_)) => DownloadStatus::Failed,
        }
    }
}

/// All downloads.
#[derive(Debug, Default)]
pub(crate) struct Downloads {
    list: VecDeque<Download>,
    /// Main frames in which a document is to become a file.
    forced: Vec<FrameId>,
}

impl Downloads {
    /// Whether documents of this frame are to become files.
    pub(crate) fn is_forced_in(&self, frame: &FrameId) -> bool {
        self.forced.contains(frame)
    }

    pub(crate) fn force_in(&mut self, frame: FrameId) {
        self.forced.push(frame);
    }

    pub(crate) fn stop_forcing_in(&mut self, frame: &FrameId) {
        self.forced.retain(|forced| forced != frame);
    }

    pub(crate) fn get(&self, guid: &str) -> Option<&Download> {
        self.list.iter().find(|download| download.guid == guid)
    }

    fn get_mut(&mut self, guid: &str) -> Option<&mut Download> {
        self.list.iter_mut().find(|download| download.guid == guid)
    }

    /// The first download that began after `since` in one of these tabs and belongs to no call; from now on it does.
    pub(crate) fn claim(&mut self, since: u64, is_ours: impl Fn(&Download) -> bool) -> Option<String> {
        let found = self
            .list
            .iter_mut()
            .find(|download| download.began_at > since && !download.is_claimed && is_ours(download))?;
        found.is_claimed = true;
        Some(found.guid.clone())
    }

    /// Whether one began after then.
    pub(crate) fn began_since(&self, since: u64) -> bool {
        self.list.iter().any(|download| download.began_at > since)
    }

    /// The call that a download belonged to ended before it: the state tells of it after all.
    pub(crate) fn give_back(&mut self, guid: &str) {
        if let Some(download) = self.get_mut(guid) {
            download.is_claimed = false;
        }
    }

    /// What became of a download.
    pub(crate) fn settle(&mut self, guid: &str, end: Result<FileInfo, ToolError>) {
        if let Some(download) = self.get_mut(guid) {
            download.end = Some(end);
        }
    }

    /// What is to be told of downloads that belong to no call.
    pub(crate) fn take_news(&mut self) -> Vec<News> {
        let mut news = Vec::new();
        for download in &mut self.list {
            let status = download.status();
            if download.is_claimed || download.told == Some(status) {
                continue;
            }
            download.told = Some(status);
            let file = download.end.as_ref().and_then(|end| end.as_ref().ok());
            let name = file.map_or_else(|| shown_name(&download.name), |file| file.name.clone());
            news.push(News { name, status, file: file.map(|file| file.id.clone()) });
        }
        news
    }
}

/// A suggested name as it may be shown before the file is kept: its last part, on one line, bounded.
fn shown_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    last.chars().filter(|c| !c.is_control()).take(120 + REDACTION_OVERLAP as usize).collect()
}

impl World {
    pub(crate) fn on_download_will_begin(&mut self, event: &DownloadWillBegin<'_>) {
        let frame = FrameId::from(&*event.frame_id);
        let tab_frame = self.main_frame_of(frame.as_str());
        let response = self.frames.get(&frame).and_then(|frame| frame.response.as_ref());
        let mime = response.filter(|response| response.url == event.url).map(|response| response.mime.clone());
        let list = &mut self.downloads.list;
        if list.len() >= REMEMBERED {
            let oldest = list.iter().position(|download| download.end.is_some()).unwrap_or_default();
            list.remove(oldest);
        }
        list.push_back(Download {
            guid: event.guid.clone().into_owned(),
            url: event.url.clone().into_owned(),
            name: event.suggested_filename.clone().into_owned(),
            tab_frame,
            mime,
            began_at: self.clock,
            end: None,
            is_written: false,
            is_claimed: false,
            told: None,
        });
    }

    pub(crate) fn on_download_progress(&mut self, event: &DownloadProgress<'_>) {
        let Some(download) = self.downloads.get_mut(&event.guid) else { return };
        match &*event.state {
            "completed" if !download.is_written => {
                download.is_written = true;
                let finished = FinishedDownload {
                    guid: download.guid.clone(),
                    suggested_name: download.name.clone(),
                    url: download.url.clone(),
                    mime: download.mime.clone().filter(|mime| !mime.is_empty()),
                };
                if self.chores.try_send(Chore::Keep(finished)).is_err() {
                    let message = "too many downloads finished at once; this one was not kept";
                    download.end = Some(Err(ToolError::new(transom_verbs::ErrorCode::FileNotSaved, message)));
                }
            }
            "canceled" if download.end.is_none() && !download.is_written => {
                let message = "the download did not finish: the site or the network ended it";
                download.end = Some(Err(ToolError::failed(Reason::NoDownload, message)));
            }
            _ => {}
        }
    }
}
