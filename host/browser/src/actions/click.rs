//! `click`: aim, press, release, and see what came of it.
//!
//! The pointer's events are sent one behind the other without waiting in between: Chromium keeps their order, and the move is
//! handled together with the press instead of with the next frame. They go to the tab's own session also for a point in a frame of
//! another process: Chromium finds the frame that is under the point, as it does for a person's mouse.
//!
//! Which process is under a point Chromium knows from the last picture that it drew. Where a tab has frames of other processes and
//! was just scrolled, that is the picture before: the pointer is moved there first, until the document that was aimed at sees it.

use chromiumoxide_cdp::cdp::browser_protocol::input::{DispatchMouseEventParams, DispatchMouseEventType, MouseButton};
use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;
use transom_verbs::{
    Call, ToolError,
    verb::click::{Button, Input, Modifier, Output},
};

use crate::{
    aim::{Aim, Purpose, actionable_until},
    browser::{Inner, TabView},
    cdp::{CallError, Reply, Session},
    page::{self, Evaluated},
    settle::Started,
    world::Look,
};

/// How long the pointer is moved before it is taken to be where it should be: many times what a picture takes. A page can keep its
/// own document from being told.
const APPROACH_WITHIN: Duration = Duration::from_millis(400);

/// Makes the script's world take note of the pointer over the document of the element that was found.
const WATCH_POINTER: &str = "{ globalThis.__transomPointer?.abort(); const watch = new AbortController(); \
    globalThis.__transomPointer = watch; globalThis.__transomPointerSeen = false; \
    __transom.take()?.ownerDocument?.defaultView?.addEventListener('mousemove', \
    (event) => { if (event.isTrusted) { globalThis.__transomPointerSeen = true; watch.abort(); } }, \
    { capture: true, signal: watch.signal }); }";

/// Whether it was seen since.
const POINTER_SEEN: &str = "globalThis.__transomPointerSeen";

/// How a pointer presses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Press {
    pub(crate) button: Button,
    pub(crate) count: u8,
    /// The keys held down, as Chromium's bits.
    pub(crate) modifiers: i64,
}

impl Press {
    /// One press of the main button.
    pub(crate) const PLAIN: Press = Press { button: Button::Left, count: 1, modifiers: 0 };
}

/// Chromium's bits for keys that are held down.
fn modifier_bits(modifiers: &[Modifier]) -> i64 {
    modifiers.iter().fold(0, |bits, modifier| {
        bits | match modifier {
            Modifier::Alt => 1,
            Modifier::Control => 2,
            Modifier::Meta => 4,
            Modifier::Shift => 8,
        }
    })
}

fn cdp_button(button: Button) -> (MouseButton, i64) {
    match button {
        Button::Left => (MouseButton::Left, 1),
        Button::Right => (MouseButton::Right, 2),
        Button::Middle => (MouseButton::Middle, 4),
    }
}

impl From<Started> for Output {
    fn from(started: Started) -> Output {
        Output { url: started.url, opened_tab: started.opened_tab, dialog: started.dialog, download: started.download }
    }
}

impl Inner {
    pub(crate) async fn click(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let tab = self.ready_tab(call.tab.as_ref())?;
        let _turn = tab.turn.lock().await;
        let aim = self.aim(&tab, &input.target, Purpose::Click, actionable_until(call, deadline)).await?;
        let press = Press { button: input.button, count: input.count, modifiers: modifier_bits(&input.modifiers) };
        let mark = self.mark();
        self.press(&tab, &aim, press).await?;
        Ok(self.settle(&tab, &mark, Some(&aim.context), deadline).await?.into())
    }

    /// Moves the pointer until the document that was aimed at sees it. Only needed where several processes share the tab.
    async fn approach(&self, tab: &TabView, aim: &Aim) -> Result<(), ToolError> {
        let is_shared = self.shared.look(|world| {
            let own = world.frames.get(&tab.frame).map(|frame| frame.session.clone());
            world
                .frames_of_tab(&tab.frame)
                .iter()
                .any(|id| world.frames.get(id).map(|frame| frame.session.clone()) != own)
        });
        if !is_shared || aim.found.is_foreign_point() {
            return Ok(());
        }
        let script = Session::target(self.connection.clone(), aim.context.session.clone());
        script.post(&page::evaluate_in(&aim.context, WATCH_POINTER.to_owned()));
        let until = Instant::now() + APPROACH_WITHIN;
        let mut n_moves = 0_u8;
        while Instant::now() < until {
            // A pointer that doesn't move is not told of.
            let x = aim.x + if n_moves.is_multiple_of(2) { 0.0 } else { 0.25 };
            n_moves = n_moves.wrapping_add(1);
            let mut event = DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, x, aim.y);
            event.buttons = Some(0);
            self.input_taken(tab, vec![tab.session.send(&event)]).await?;
            let question = page::evaluate_in(&aim.context, POINTER_SEEN.to_owned());
            let seen = self.answer_of(tab, script.send(&question)).await?;
            let seen = seen.ok().and_then(|seen| serde_json::from_slice::<Evaluated<bool>>(&seen).ok());
            // A document that is gone is met by what follows.
            if seen.is_none_or(|seen| seen.result.value != Some(false)) {
                break;
            }
        }
        Ok(())
    }

    /// Moves the pointer to the aim and clicks. Resolves when the page has taken the input, or a dialog keeps it from doing so.
    pub(crate) async fn press(&self, tab: &TabView, aim: &Aim, press: Press) -> Result<(), ToolError> {
        self.approach(tab, aim).await?;
        let (button, bit) = cdp_button(press.button);
        let event = |kind: DispatchMouseEventType, count: u8, buttons: i64| {
            let mut event = DispatchMouseEventParams::new(kind, aim.x, aim.y);
            event.modifiers = Some(press.modifiers);
            event.buttons = Some(buttons);
            if count > 0 {
                event.button = Some(button.clone());
                event.click_count = Some(i64::from(count));
            }
            tab.session.send(&event)
        };
        let mut replies = vec![event(DispatchMouseEventType::MouseMoved, 0, 0)];
        for count in 1..=press.count {
            replies.push(event(DispatchMouseEventType::MousePressed, count, bit));
            replies.push(event(DispatchMouseEventType::MouseReleased, count, 0));
        }
        self.input_taken(tab, replies).await
    }

    /// Waits until the page has taken the input that was sent, or can't any more: because of a dialog, or because the tab is gone by
    /// what the input did.
    pub(crate) async fn input_taken(&self, tab: &TabView, replies: Vec<Reply>) -> Result<(), ToolError> {
        let stopped = self.shared.until(|world| match world.tabs.with_frame(&tab.frame) {
            Some(tab) if tab.dialog.is_none() => Look::Later,
            _ => Look::Ready(()),
        });
        tokio::select! {
            biased;
            answers = join_all(replies) => {
                for answer in answers {
                    match answer {
                        Ok(_) | Err(CallError::Closed) => {}
                        Err(error) if error.is_context_gone() => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Ok(())
            }
            stopped = stopped => Ok(stopped?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_keys_are_chromiums_bits() {
        assert_eq!(modifier_bits(&[]), 0);
        assert_eq!(modifier_bits(&[Modifier::Shift, Modifier::Control, Modifier::Shift]), 10);
    }
}
