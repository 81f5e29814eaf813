//! The keys that verbs press by themselves, as Chromium takes them.

use chromiumoxide_cdp::cdp::browser_protocol::input::{DispatchKeyEventParams, DispatchKeyEventType};

use crate::{
    browser::{Inner, TabView},
    cdp::Reply,
};

/// A key that is not a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Enter,
    Backspace,
}

impl Inner {
    /// Presses and releases a key.
    pub(crate) fn press_key(&self, tab: &TabView, key: Key) -> Vec<Reply> {
        let (name, code, text) = match key {
            Key::Enter => ("Enter", 13, Some("\r")),
            Key::Backspace => ("Backspace", 8, None),
        };
        let event = |kind: DispatchKeyEventType, text: Option<&str>| {
            let mut event = DispatchKeyEventParams::new(kind);
            event.key = Some(name.to_owned());
            event.code = Some(name.to_owned());
            event.windows_virtual_key_code = Some(code);
            event.text = text.map(str::to_owned);
            event.unmodified_text = text.map(str::to_owned);
            tab.session.send(&event)
        };
        let down = if text.is_some() { DispatchKeyEventType::KeyDown } else { DispatchKeyEventType::RawKeyDown };
        vec![event(down, text), event(DispatchKeyEventType::KeyUp, None)]
    }

    /// Presses and releases the key that writes this character.
    pub(crate) fn press_char(&self, tab: &TabView, character: char) -> Vec<Reply> {
        if matches!(character, '\n' | '\r') {
            return self.press_key(tab, Key::Enter);
        }
        let text = character.to_string();
        let event = |kind: DispatchKeyEventType, types: bool| {
            let mut event = DispatchKeyEventParams::new(kind);
            event.key = Some(text.clone());
            event.text = types.then(|| text.clone());
            event.unmodified_text = event.text.clone();
            let upper = character.to_ascii_uppercase();
            if upper.is_ascii_uppercase() {
                event.code = Some(format!("Key{upper}"));
                event.windows_virtual_key_code = Some(i64::from(u32::from(upper)));
            } else if character.is_ascii_digit() {
                event.code = Some(format!("Digit{character}"));
                event.windows_virtual_key_code = Some(i64::from(u32::from(character)));
            }
            tab.session.send(&event)
        };
        vec![event(DispatchKeyEventType::KeyDown, true), event(DispatchKeyEventType::KeyUp, false)]
    }
}
