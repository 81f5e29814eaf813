//! Every document is judged before its request leaves, at every hop.
//!
//! Chromium's own agent for the whole browser holds each document request (`Fetch.enable` there covers every tab, every frame, every
//! pop-up's first request and every redirect, with no window in which a new target isn't covered yet). A refused one is
//! *aborted*, not answered with an error page: the page that asked stays, with what was typed into it, and the caller is told.
//!
//! This is for good errors; the boundary is the network (the jail and its proxy). Documents without a request (`about:blank`,
//! `data:` and `srcdoc` frames) never come here: they hold what an allowed page wrote.
//!
//! A download by address is a document request that is turned into a file: its final answer gets `Content-Disposition: attachment`
//! ([`crate::actions::download`]).

use chromiumoxide_cdp::cdp::browser_protocol::{
    fetch::{
        ContinueRequestParams, ContinueResponseParams, EnableParams, FailRequestParams, HeaderEntry, RequestPattern,
        RequestStage,
    },
    network::{ErrorReason, ResourceType},
};
use transom_verbs::{ErrorCode, TabId, ToolError, state};

use crate::{
    cdp::{
        Connection, SessionId,
        events::{Header, RequestPaused},
    },
    frames::FrameId,
    hooks::DocumentVerdict,
    world::World,
};

/// Refusals that are remembered for each tab until a call or a result tells of them.
const REFUSALS_MAX: usize = state::State::LIST_MAX * 2;

/// A document that was refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// When, by the world's clock.
    pub(crate) at: u64,
    pub(crate) is_main_frame: bool,
    pub(crate) host: String,
    pub(crate) why: String,
}

impl Refusal {
    /// The error of the call that this refusal ends.
    pub(crate) fn into_error(self) -> ToolError {
        ToolError::new(ErrorCode::SiteBlocked, format!("refused: {} {}", self.host, self.why))
    }

    pub(crate) fn into_state(self, tab: Option<TabId>) -> state::Refused {
        let what = if self.is_main_frame { "a page on" } else { "a frame from" };
        state::Refused { message: format!("refused: {what} {} {}", self.host, self.why), tab }
    }
}

/// The command that makes Chromium hold every document request.
pub(crate) fn enable() -> EnableParams {
    EnableParams {
        patterns: Some(vec![RequestPattern {
            url_pattern: Some("*".into()),
            resource_type: Some(ResourceType::Document),
            request_stage: Some(RequestStage::Request),
        }]),
        handle_auth_requests: None,
    }
}

/// The refusal that `verdict` is.
pub(crate) fn refusal_of(verdict: DocumentVerdict, at: u64, is_main_frame: bool) -> Option<Refusal> {
    match verdict {
        DocumentVerdict::Allow => None,
        DocumentVerdict::Refuse { host, why } => Some(Refusal { at, is_main_frame, host, why }),
    }
}

fn abort(connection: &Connection, session: Option<&SessionId>, request: &str) {
    connection.post(session, &FailRequestParams::new(request.to_owned(), ErrorReason::Aborted));
}

impl World {
    /// Lets the request go, or aborts it. Whatever happens, it is not left waiting.
    pub(crate) fn on_request_paused(
        &mut self,
        connection: &Connection,
        session: Option<&SessionId>,
        event: RequestPaused<'_>,
    ) {
        if event.response_status_code.is_some() || event.response_error_reason.is_some() {
            self.release_response(connection, session, event);
            return;
        }
        let frame = event.frame_id.as_deref().map(FrameId::from);
        let main = frame.as_ref().and_then(|frame| self.main_frame_of(frame.as_str()));
        // A frame that isn't known yet is judged as a main frame: the stricter of the two.
        let is_main =
            frame.as_ref().is_none_or(|frame| self.frames.get(frame).is_none_or(|frame| frame.parent.is_none()));
        let verdict = self.hooks.document(&event.request.url, is_main);
        if let Some(refusal) = refusal_of(verdict, self.clock, is_main) {
            abort(connection, session, &event.request_id);
            let tab = main.or(frame).and_then(|main| self.tabs.with_frame_mut(&main));
            match tab {
                Some(tab) if tab.refusals.len() < REFUSALS_MAX => tab.refusals.push(refusal),
                Some(_) => self.changes.more += 1,
                None => self.changes.refused(refusal, None),
            }
            return;
        }
        let mut go = ContinueRequestParams::new(event.request_id.into_owned());
        if frame.is_some_and(|frame| self.downloads.is_forced_in(&frame)) {
            go.intercept_response = Some(true);
        }
        connection.post(session, &go);
    }

    /// An answer is only held where it is to become a file.
    fn release_response(&mut self, connection: &Connection, session: Option<&SessionId>, event: RequestPaused<'_>) {
        let request = event.request_id.into_owned();
        let is_final = event.response_status_code.is_some_and(|status| (200..300).contains(&status));
        let is_forced = event.frame_id.is_some_and(|frame| self.downloads.is_forced_in(&FrameId::from(&*frame)));
        if !(is_final && is_forced) {
            connection.post(session, &ContinueResponseParams::new(request));
            return;
        }
        let mut answer = ContinueResponseParams::new(request);
        answer.response_code = event.response_status_code;
        answer.response_headers = Some(as_attachment(event.response_headers.unwrap_or_default()));
        connection.post(session, &answer);
    }

    /// A request that can't be understood is not let go: what can't be judged is refused.
    pub(crate) fn refuse_unreadable_request(
        &mut self,
        connection: &Connection,
        session: Option<&SessionId>,
        request: &str,
    ) {
        abort(connection, session, request);
        let why = "could not be judged: the request is not of the expected form, or too long".to_owned();
        self.changes
            .refused(Refusal { at: self.clock, is_main_frame: true, host: "an address that".into(), why }, None);
    }

    /// Takes the refusal of a main frame's document after `since` out of what is still to be told: it is the end of a call.
    pub(crate) fn take_refusal(&mut self, frame: &FrameId, since: u64) -> Option<Refusal> {
        let tab = self.tabs.with_frame_mut(frame)?;
        let at = tab.refusals.iter().position(|refusal| refusal.is_main_frame && refusal.at > since)?;
        Some(tab.refusals.remove(at))
    }
}

/// The headers of an answer, its disposition such that it becomes a file. A file name that is there stays.
fn as_attachment(headers: Vec<Header>) -> Vec<HeaderEntry> {
    let is_disposition = |header: &Header| header.name.eq_ignore_ascii_case("content-disposition");
    let parameters = headers
        .iter()
        .filter(|header| is_disposition(header))
        .find_map(|header| header.value.split_once(';').map(|(_, parameters)| parameters.trim().to_owned()));
    let disposition = match parameters {
        Some(parameters) if !parameters.is_empty() => format!("attachment; {parameters}"),
        _ => "attachment".to_owned(),
    };
    headers
        .into_iter()
        .filter(|header| !is_disposition(header))
        .map(|header| HeaderEntry::new(header.name, header.value))
        .chain([HeaderEntry::new("content-disposition", disposition)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dispositions(value: Option<&str>) -> Vec<String> {
        let mut headers = vec![Header { name: "Content-Type".into(), value: "text/html".into() }];
        headers.extend(value.map(|value| Header { name: "Content-Disposition".into(), value: value.into() }));
        let made = as_attachment(headers);
        assert_eq!(made[0].name, "Content-Type");
        made.into_iter().skip(1).map(|header| header.value).collect()
    }

    #[test]
    fn an_answer_becomes_a_file_and_keeps_the_name_that_it_has() {
        assert_eq!(dispositions(None), ["attachment"]);
        assert_eq!(dispositions(Some("inline")), ["attachment"]);
        assert_eq!(dispositions(Some("inline; filename=\"a.pdf\"")), ["attachment; filename=\"a.pdf\""]);
        assert_eq!(
            dispositions(Some("attachment; filename*=UTF-8''%E2%82%AC.txt")),
            ["attachment; filename*=UTF-8''%E2%82%AC.txt"]
        );
    }
}
