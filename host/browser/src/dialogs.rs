//! The dialogs that a page opens, and who answers them.
//!
//! `alert`, `beforeunload` and `print` never hold anything: they are accepted at once and told of in the state. `confirm` and
//! `prompt` wait for the `dialog` verb ([`DialogPolicy::Ask`]) while every other call on the tab fails with `dialog_open`; when nobody
//! answers in time they are dismissed and told of. The page's renderer stands still meanwhile, so nothing else can be asked of it.

use chromiumoxide_cdp::cdp::browser_protocol::page::HandleJavaScriptDialogParams;
use tokio::time::Instant;
use transom_verbs::{
    Call, ToolError,
    error::Reason,
    state::{AnsweredDialog, DialogKind, OpenDialog},
    verb::dialog::{Input, Output},
};

use crate::{
    browser::Inner,
    cdp::{
        Connection, SessionId,
        events::{BindingCalled, DialogOpening},
    },
    extract::REDACTION_OVERLAP,
    keeper::Chore,
    options::DialogPolicy,
    world::World,
};

/// The function by which the page script says that the page prints. It exists in the script's own world only.
pub(crate) const PRINT_BINDING: &str = "__transomPrint";

/// Characters of a dialog's text that are kept: a page can put a book into one.
const MESSAGE_CHARS: usize = 4_000;

/// A dialog that waits for an answer.
#[derive(Clone, Debug)]
pub(crate) struct WaitingDialog {
    pub(crate) kind: DialogKind,
    pub(crate) message: String,
    /// When it opened, by the world's clock; names it for the one who dismisses it later.
    pub(crate) opened_at: u64,
}

impl WaitingDialog {
    /// As a result tells of it.
    pub(crate) fn told(&self) -> OpenDialog {
        OpenDialog { kind: self.kind, message: self.message.clone() }
    }
}

fn kind_of(name: &str) -> DialogKind {
    match name {
        "confirm" => DialogKind::Confirm,
        "prompt" => DialogKind::Prompt,
        "beforeunload" => DialogKind::Beforeunload,
        // A kind that is new is answered like an alert: at once, so that it holds nothing.
        _ => DialogKind::Alert,
    }
}

impl World {
    pub(crate) fn on_dialog_opening(
        &mut self,
        connection: &Connection,
        session: &SessionId,
        event: &DialogOpening<'_>,
    ) {
        let kind = kind_of(&event.kind);
        let message: String = event.message.chars().take(MESSAGE_CHARS + REDACTION_OVERLAP as usize).collect();
        let asks = matches!(kind, DialogKind::Confirm | DialogKind::Prompt);
        let accept = match self.options.dialogs {
            _ if !asks => Some(true),
            DialogPolicy::Ask => None,
            DialogPolicy::Accept => Some(true),
            DialogPolicy::Dismiss => Some(false),
        };
        let opened_at = self.clock;
        let answer_by = Instant::now() + self.options.dialog_answer_within;
        if accept.is_none()
            && let Some(tab) = self.tabs.with_session_mut(session)
            && !tab.is_hidden
            && self.chores.try_send(Chore::DismissDialog { session: session.clone(), opened_at, at: answer_by }).is_ok()
        {
            tab.dialog = Some(WaitingDialog { kind, message, opened_at });
            return;
        }
        let accepted = accept.unwrap_or(false);
        let mut answer = HandleJavaScriptDialogParams::new(accepted);
        if kind == DialogKind::Prompt && accepted {
            answer.prompt_text = event.default_prompt.clone().map(std::borrow::Cow::into_owned);
        }
        connection.post(Some(session), &answer);
        self.changes.dialog(AnsweredDialog { kind, message, accepted });
    }

    pub(crate) fn on_dialog_closed(&mut self, session: &SessionId) {
        if let Some(tab) = self.tabs.with_session_mut(session) {
            tab.dialog = None;
        }
    }

    /// Dismisses the dialog that opened at `opened_at`, if it is still there.
    pub(crate) fn dismiss_unanswered(&mut self, connection: &Connection, session: &SessionId, opened_at: u64) {
        let Some(tab) = self.tabs.with_session_mut(session) else { return };
        let Some(dialog) = tab.dialog.take_if(|dialog| dialog.opened_at == opened_at) else { return };
        connection.post(Some(session), &HandleJavaScriptDialogParams::new(false));
        self.changes.dialog(AnsweredDialog { kind: dialog.kind, message: dialog.message, accepted: false });
    }

    pub(crate) fn on_binding_called(&mut self, session: &SessionId, event: &BindingCalled<'_>) {
        // A page can't reach the script's world; a call from any other context is not ours.
        let is_script = |context: &crate::frames::ScriptContext| {
            context.session == *session && context.number == event.execution_context_id
        };
        if event.name == PRINT_BINDING
            && self.frames.values().any(|frame| frame.page_script.as_ref().is_some_and(is_script))
        {
            self.changes.dialog(AnsweredDialog { kind: DialogKind::Print, message: String::new(), accepted: true });
        }
    }
}

impl Inner {
    pub(crate) async fn answer_dialog(
        &self,
        call: &Call,
        input: &Input,
        deadline: Instant,
    ) -> Result<Output, ToolError> {
        let tab = self.tab(call.tab.as_ref())?;
        let open = self.shared.look(|world| world.tabs.with_frame(&tab.frame).and_then(|tab| tab.dialog.clone()));
        let Some(dialog) = open else {
            return Err(ToolError::failed(Reason::NotFound, "no dialog is open on this tab"));
        };
        if input.text.is_some() && dialog.kind != DialogKind::Prompt {
            return Err(ToolError::invalid("`text` is for a prompt; this is a confirm"));
        }
        let mark = self.mark();
        let mut answer = HandleJavaScriptDialogParams::new(input.accept);
        answer.prompt_text = input.text.clone().filter(|_| input.accept);
        tab.session.call(&answer).await?;
        self.shared.change(|world| {
            if let Some(tab) = world.tabs.with_frame_mut(&tab.frame) {
                tab.dialog.take_if(|open| open.opened_at == dialog.opened_at);
            }
        });
        // The page goes on: what its script does next (another dialog, a navigation) is told by the time that it is idle.
        let script = self.shared.look(|world| world.frames.get(&tab.frame).and_then(|frame| frame.page_script.clone()));
        self.settle(&tab, &mark, script.as_ref(), deadline).await?;
        Ok(Output { kind: dialog.kind, message: dialog.message })
    }
}
