//! How one browser behaves, fixed when it is connected.

use std::time::Duration;

/// Size of the viewport, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl Default for Viewport {
    /// 1280 by 720: wide enough for a site's desktop layout, small enough for a picture that a model reads.
    fn default() -> Viewport {
        Viewport { width: 1280, height: 720 }
    }
}

/// What becomes of `confirm()` and `prompt()`. Other dialogs are always answered at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DialogPolicy {
    /// They end the call that opened them and wait for the `dialog` verb.
    #[default]
    Ask,
    /// They are accepted at once.
    Accept,
    /// They are dismissed at once.
    Dismiss,
}

/// Longest message that is kept, in bytes. A full-page picture of a long page takes some 30 MB as base64; twice that is room
/// enough, and a page can't make the host hold more.
pub const MESSAGE_CAP: usize = 64 * 1024 * 1024;

/// How long an open dialog waits for an answer: the contract's figure.
pub const DIALOG_ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// How one browser behaves.
#[derive(Clone, Debug)]
pub struct BrowserOptions {
    /// Size of every tab's viewport.
    pub viewport: Viewport,
    /// What becomes of `confirm()` and `prompt()`.
    pub dialogs: DialogPolicy,
    /// How long a dialog waits before it is dismissed.
    pub dialog_answer_within: Duration,
    /// Whether `evaluate` is allowed in a tab that shows a document that a secret was typed into.
    pub evaluate_with_secrets: bool,
    /// The folder, as Chromium sees it, that downloads are written to, each under its guid.
    pub downloads_dir_in_jail: String,
    /// The page that the first call loads, and `open` without a URL; none: an empty tab.
    pub start_url: Option<String>,
    /// Longest message that is kept, in bytes.
    pub message_cap: usize,
}

impl BrowserOptions {
    /// Options with the contract's defaults.
    #[must_use]
    pub fn new(downloads_dir_in_jail: impl Into<String>) -> BrowserOptions {
        BrowserOptions {
            viewport: Viewport::default(),
            dialogs: DialogPolicy::default(),
            dialog_answer_within: DIALOG_ANSWER_WITHIN,
            evaluate_with_secrets: false,
            downloads_dir_in_jail: downloads_dir_in_jail.into(),
            start_url: None,
            message_cap: MESSAGE_CAP,
        }
    }
}
