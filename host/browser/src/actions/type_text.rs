//! `type`: put text into a field, as input that the page can't tell from a person's.
//!
//! The field is found first, because a secret is only put in once it is known which frame's page would get it. Then the page script
//! focuses the field and selects what is to be replaced, the text goes in as one insertion (or key by key), and the script
//! looks whether the field kept it.

use chromiumoxide_cdp::cdp::browser_protocol::input::InsertTextParams;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;
use transom_verbs::{
    Call, ToolError,
    error::Reason,
    verb::{
        click::Output,
        type_text::{Input, Mode},
    },
};

use crate::{
    actions::keys::Key,
    aim::{Aim, Purpose, Script, actionable_until},
    browser::{Inner, TabView},
    frames::FrameId,
    hooks::Filled,
    page::PageFault,
    settle::Started,
};

/// Characters that are sent as keys before the page has to have taken them: a page that is slow must not find thousands waiting.
const KEYS_AT_ONCE: usize = 50;

#[derive(Deserialize)]
struct Prepared {
    #[serde(default)]
    done: bool,
    #[serde(default)]
    empty: bool,
}

impl Inner {
    pub(crate) async fn type_text(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let mode = input.effective_mode()?;
        let tab = self.ready_tab(call.tab.as_ref())?;
        let _turn = tab.turn.lock().await;
        let until = actionable_until(call, deadline);
        let aim = match &input.target.0 {
            Some(target) => self.aim(&tab, target, Purpose::Type, until).await?,
            None => self.aim_at_focus(&tab, until).await?,
        };
        let filled = self.fill(&tab, &aim, &input.text)?;
        let mark = self.mark();
        let is_typed = self.type_at(&tab, &aim, mode, &filled.text, input.slowly).await?;
        if !is_typed {
            // A dialog opened while it was typed.
            return Ok(self.settle(&tab, &mark, None, deadline).await?.into());
        }
        if input.submit {
            let keys = self.press_key(&tab, Key::Enter);
            self.input_taken(&tab, keys).await?;
        }
        let started: Started = self.settle(&tab, &mark, Some(&aim.context), deadline).await?;
        Ok(started.into())
    }

    /// What has the focus, in whichever frame it is.
    async fn aim_at_focus(&self, tab: &TabView, until: Instant) -> Result<Aim, ToolError> {
        let focused = json!({"focused": true});
        let script = self.script_of(tab, &tab.frame).await?;
        let error = match self.aim_in(tab, &script, &focused, Purpose::Type, Instant::now()).await {
            Ok(aim) => return Ok(aim),
            Err(fault) => ToolError::from(fault),
        };
        let foreign: Vec<FrameId> = self.shared.look(|world| {
            world.frames_of_tab(&tab.frame).into_iter().filter(|frame| world.is_foreign(frame)).collect()
        });
        if error.is(Reason::NotEditable) {
            for frame in foreign {
                let Ok(script) = self.script_of(tab, &frame).await else { continue };
                if let Ok(aim) = self.aim_in(tab, &script, &focused, Purpose::Type, Instant::now()).await {
                    return Ok(aim);
                }
            }
        }
        if Instant::now() >= until {
            return Err(error);
        }
        Err(error.with_hint("name the field: give `ref` or `selector`"))
    }

    /// Puts the secrets in for the frame that the text goes to, and takes note of where one went.
    fn fill(&self, tab: &TabView, aim: &Aim, text: &str) -> Result<Filled, ToolError> {
        let url = self.frame_address(&aim.frame);
        let filled = self.hooks.fill(text, &url)?;
        if filled.had_secret {
            // Before it is typed: from here on a script could read it.
            self.shared.look(|world| world.secret_goes_to(&aim.frame, &tab.frame));
        }
        Ok(filled)
    }

    /// The address by which a frame's page is judged: for one without an address of its own, its creator's.
    fn frame_address(&self, frame: &FrameId) -> String {
        self.shared.look(|world| {
            let Some(frame) = world.frames.get(frame) else { return String::new() };
            let document = &frame.document;
            let is_borrowed = document.url.starts_with("about:") || document.url.starts_with("blob:");
            if is_borrowed { format!("{}/", document.origin) } else { document.url.clone() }
        })
    }

    /// Types `text` into the field. Whether it got through: a dialog that the page opens meanwhile keeps it from doing so.
    async fn type_at(&self, tab: &TabView, aim: &Aim, mode: Mode, text: &str, slowly: bool) -> Result<bool, ToolError> {
        let script = Script { frame: aim.frame.clone(), context: aim.context.clone() };
        let arguments = json!({"mode": mode, "text": text});
        let prepared: Prepared = match self.ask(tab, &script.context, "prepareType", &arguments).await {
            Ok(prepared) => prepared,
            Err(fault) => return self.unless_a_dialog_opened(tab, fault.into()),
        };
        if prepared.done {
            return Ok(true);
        }
        if text.is_empty() {
            if mode == Mode::Replace && !prepared.empty {
                let keys = self.press_key(tab, Key::Backspace);
                self.input_taken(tab, keys).await?;
            }
        } else if slowly {
            let characters: Vec<char> = text.chars().collect();
            for some in characters.chunks(KEYS_AT_ONCE) {
                let keys = some.iter().flat_map(|character| self.press_char(tab, *character)).collect();
                self.input_taken(tab, keys).await?;
                if self.has_dialog(tab) {
                    return Ok(false);
                }
            }
        } else {
            let reply = tab.session.send(&InsertTextParams::new(text));
            self.input_taken(tab, vec![reply]).await?;
        }
        if self.has_dialog(tab) {
            return Ok(false);
        }
        let arguments = json!({"expected": text, "mode": mode});
        match self.ask::<serde::de::IgnoredAny>(tab, &script.context, "afterType", &arguments).await {
            Ok(_) => Ok(true),
            // What was typed made the page go on to another document: it was taken.
            Err(PageFault::Gone) => Ok(true),
            Err(fault) => self.unless_a_dialog_opened(tab, fault.into()),
        }
    }

    fn has_dialog(&self, tab: &TabView) -> bool {
        self.shared.look(|world| world.tabs.with_frame(&tab.frame).is_some_and(|tab| tab.dialog.is_some()))
    }

    fn unless_a_dialog_opened(&self, tab: &TabView, error: ToolError) -> Result<bool, ToolError> {
        if error.is(Reason::DialogOpen) && self.has_dialog(tab) { Ok(false) } else { Err(error) }
    }

    /// Whether a script in this tab could read a secret that was typed.
    pub(crate) fn refuse_where_secrets_are(&self, tab: &TabView) -> Result<(), ToolError> {
        let has_secret = self.shared.look(|world| {
            world.frames_of_tab(&tab.frame).iter().any(|id| world.frames.get(id).is_some_and(|f| f.document.had_secret))
        });
        if has_secret && !self.options.evaluate_with_secrets {
            let message = "refused: a secret was typed into this page, and a script could read it";
            return Err(ToolError::new(transom_verbs::ErrorCode::NotGranted, message)
                .with_hint("`evaluate_with_secrets = true` in the binding allows it; a new page is free of it"));
        }
        Ok(())
    }
}

impl crate::world::World {
    /// Both the frame's document and the tab's: their scripts may well reach each other.
    fn secret_goes_to(&mut self, frame: &FrameId, main: &FrameId) {
        for id in [frame, main] {
            if let Some(frame) = self.frames.get_mut(id) {
                frame.document.had_secret = true;
            }
        }
    }
}
