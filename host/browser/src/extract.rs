//! `extract`: the text of the page or of one element; and when a page can be read at all.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;
use transom_verbs::{
    Call, Target, ToolError,
    verb::extract::{Format, Input, Output},
};

use crate::{
    aim::{Purpose, Script, actionable_until, target_json},
    browser::{Inner, TabView},
    frames::is_error_page,
    motion::Moving,
    page::PageFault,
    refs,
    world::Look,
};

/// Characters that are returned beyond `max_chars`, so that a secret which lies across the cut is whole when it is taken out.
/// Whoever redacts cuts afterwards, at `max_chars`.
pub const REDACTION_OVERLAP: u32 = 4_096;

/// How long a read waits for a document that is there to be parsed. Most are within a fraction of it; one that hangs in the middle
/// is read as far as it came.
const PARSED_WITHIN: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct Text {
    text: String,
    truncated: bool,
}

impl Inner {
    pub(crate) async fn extract(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let tab = self.ready_tab(call.tab.as_ref())?;
        self.readable(&tab, deadline).await?;
        let url = self.url_of(&tab.frame);
        if is_error_page(&url) {
            return Ok(Output { text: String::new(), truncated: false, url });
        }
        let until = actionable_until(call, deadline);
        let target = input.target.0.as_ref();
        let format = match input.format {
            Format::Text => "text",
            Format::Markdown => "markdown",
            Format::Html => "html",
        };
        loop {
            // A point is an element only after looking, and nobody else may look before it is read.
            let (script, named, _turn) = match target {
                Some(point @ Target::Point { .. }) => {
                    let turn = tab.turn.lock().await;
                    let aim = self.aim(&tab, point, Purpose::Read, until).await?;
                    let script = Script { frame: aim.frame, context: aim.context };
                    (script, Some(json!({"located": true})), Some(turn))
                }
                other => (self.script_for(&tab, other).await?, other.map(target_json), None),
            };
            let arguments = json!({
                "target": named,
                "format": format,
                "maxChars": input.max_chars.saturating_add(REDACTION_OVERLAP),
            });
            match self.ask::<Text>(&tab, &script.context, "read", &arguments).await {
                Ok(Text { text, truncated }) => {
                    let is_long = text.chars().count() > usize::try_from(input.max_chars).unwrap_or(usize::MAX);
                    return Ok(Output { text, truncated: truncated || is_long, url: self.url_of(&tab.frame) });
                }
                Err(PageFault::Gone) => match target {
                    Some(Target::Ref(id)) => return Err(refs::stale(id)),
                    _ if Instant::now() >= until => return Err(crate::failure::moved_on()),
                    _ => self.script_change(&tab, &script).await?,
                },
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    /// Waits until the tab shows a document that can be read: one that is on its way is waited for, one that is there until it is
    /// parsed. Answers at once for a page that stands still.
    pub(crate) async fn readable(&self, tab: &TabView, deadline: Instant) -> Result<(), ToolError> {
        let by = Self::last_words(deadline).min(Instant::now() + PARSED_WITHIN);
        let waiting = self.shared.until(|world| {
            let now = Instant::now();
            let (Some(known), Some(frame)) = (world.tabs.with_frame(&tab.frame), world.frames.get(&tab.frame)) else {
                return Look::Ready(());
            };
            if now >= by || known.is_crashed || known.dialog.is_some() {
                return Look::Ready(());
            }
            match frame.motion.moving(now) {
                Moving::Started => Look::At(by),
                Moving::Asked(time) => Look::At(time.min(by)),
                Moving::No if frame.motion.last_commit > 0 && !frame.document.is_ready => Look::At(by),
                Moving::No => Look::Ready(()),
            }
        });
        Ok(waiting.await?)
    }
}
