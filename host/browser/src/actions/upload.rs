//! `upload`: put a run file into a file input, also one that is hidden behind a button.
//!
//! Files are set by the protocol, which needs no visible input. For a target that is no file input, the target is clicked and the file
//! goes to the input whose chooser that opened; the chooser itself never shows.

use chromiumoxide_cdp::cdp::browser_protocol::dom::{BackendNodeId, SetFileInputFilesParams};
use tokio::time::Instant;
use transom_verbs::{
    Call, ToolError,
    error::Reason,
    verb::upload::{Input, Output},
};

use crate::{
    actions::click::Press,
    aim::{Aim, Purpose, actionable_until},
    browser::{Inner, TabView},
    cdp::{CallError, Session},
    settle::Mark,
    world::Look,
};

impl Inner {
    pub(crate) async fn upload(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let tab = self.ready_tab(call.tab.as_ref())?;
        let _turn = tab.turn.lock().await;
        let file = self.hooks.expose_upload(&input.file).await?;
        let until = actionable_until(call, deadline);
        let aim = self.aim(&tab, &input.target, Purpose::File, until).await?;
        let mark = self.mark();
        let (session, mut set) = if aim.found.kind.as_deref() == Some("file") {
            let mut set = SetFileInputFilesParams::new(vec![file.path]);
            set.object_id = Some(self.object_of(&tab, &aim).await?.into());
            (Session::target(self.connection.clone(), aim.context.session.clone()), set)
        } else {
            // The press has to be aimed: what is only found need not be in view.
            let aim = self.aim(&tab, &input.target, Purpose::Click, until).await?;
            let (session, node) = self.chooser_of(&tab, &aim, &mark, until).await?;
            let mut set = SetFileInputFilesParams::new(vec![file.path]);
            set.backend_node_id = Some(BackendNodeId::new(node));
            (session, set)
        };
        set.node_id = None;
        match self.answer_of(&tab, session.send(&set)).await {
            // The page's own handler opened a dialog: the file is attached.
            Err(error) if error.is(Reason::DialogOpen) => {}
            Err(error) => return Err(error),
            Ok(Err(CallError::Refused { message, .. })) => {
                let message = format!("{} does not take a file: {message}", aim.found.describe);
                return Err(ToolError::failed(Reason::NotEditable, message));
            }
            Ok(answer) => drop(answer?),
        }
        let started = self.settle(&tab, &mark, Some(&aim.context), deadline).await?;
        Ok(Output { url: started.url, file: file.info })
    }

    /// Clicks the aim and waits for the file chooser that this opens: the input behind it.
    async fn chooser_of(
        &self,
        tab: &TabView,
        aim: &Aim,
        mark: &Mark,
        until: Instant,
    ) -> Result<(Session, i64), ToolError> {
        self.press(tab, aim, Press::PLAIN).await?;
        let waiting =
            self.shared.until(|world| match world.tabs.with_frame(&tab.frame).map(|tab| tab.chooser.clone()) {
                Some(Some((at, session, node))) if at > mark.since => Look::Ready(Some((session, node))),
                None => Look::Ready(None),
                Some(_) if Instant::now() >= until => Look::Ready(None),
                Some(_) => Look::At(until),
            });
        let Some((session, node)) = waiting.await? else {
            let message = format!("{} is no file input, and clicking it opened no file chooser", aim.found.describe);
            return Err(ToolError::failed(Reason::NotEditable, message));
        };
        Ok((Session::target(self.connection.clone(), session), node))
    }
}
