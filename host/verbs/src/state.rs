//! What changed in the browser since the caller's last result: the `state` that a result carries when there is something to tell.
//!
//! Refused navigations are counted and never named beyond their host: an address that a page made up is the page's text, not the
//! model's business.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{FileId, TabId};

/// Changes since the last result. Empty lists are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// Tabs that opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<TabId>,
    /// Tabs that closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<TabId>,
    /// Downloads that started, finished or failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// Navigations and pop-ups that the page began and the binding refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    /// Dialogs that were answered for the caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<AnsweredDialog>,
    /// Things that happened beyond what the lists above hold; each list keeps the first [`State::LIST_MAX`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl State {
    /// Entries that each list keeps: a page that opens a thousand dialogs fills a counter, not the model's context.
    pub const LIST_MAX: usize = 20;

    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == State::default()
    }

    /// Adds `entry` to `list`, or counts it in [`State::more`] when the list is full.
    pub fn push<T>(list: &mut Vec<T>, more: &mut u32, entry: T) {
        if list.len() < State::LIST_MAX {
            list.push(entry);
        } else {
            *more = more.saturating_add(1);
        }
    }
}

/// A download and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Download {
    /// The name that the site gave the file, made safe.
    pub name: String,
    /// Where it stands.
    pub status: DownloadStatus,
    /// The run file that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileId>,
}

/// Where a download stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DownloadStatus {
    /// It began.
    Started,
    /// It is kept as a run file.
    Finished,
    /// It did not finish, or could not be kept.
    Failed,
}

/// A navigation that the binding refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// One line that begins with "refused" and names no more of the address than its host.
    pub message: String,
    /// The tab that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
}

/// A dialog that was answered for the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredDialog {
    /// What kind of dialog it was.
    pub kind: DialogKind,
    /// Its text, as the page wrote it.
    pub message: String,
    /// Whether it was accepted.
    pub accepted: bool,
}

/// The kinds of dialog that a page can open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DialogKind {
    /// `alert()`: accepted at once.
    Alert,
    /// `confirm()`: waits for `dialog`.
    Confirm,
    /// `prompt()`: waits for `dialog`.
    Prompt,
    /// The page asks whether to leave it: accepted at once.
    Beforeunload,
    /// `print()`: answered at once, nothing is printed.
    Print,
}

/// A dialog that is open and waits for the `dialog` verb.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenDialog {
    /// What kind of dialog it is.
    pub kind: DialogKind,
    /// Its text, as the page wrote it.
    pub message: String,
}
