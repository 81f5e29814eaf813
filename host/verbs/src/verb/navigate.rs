//! `navigate`: open a page.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ErrorCode, Reason},
    limits::URL_BYTES_MAX,
    registry::{Effect, Interface, Retry, Spec},
    schema,
};

/// Arguments of `navigate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// The full address to open. Its host has to be one of the binding's hosts.
    #[garde(length(bytes, min = 1, max = URL_BYTES_MAX))]
    pub url: String,
    /// Open it in a new tab, which becomes the active one.
    #[serde(default)]
    pub new_tab: bool,
    /// What to wait for.
    #[serde(default)]
    pub until: Until,
    /// Also return the page's snapshot.
    #[serde(default)]
    pub snapshot: bool,
}

/// How far a navigation has to have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// The page's load event.
    #[default]
    Load,
    /// The document is parsed.
    Domcontentloaded,
    /// No request for half a second after the load event.
    Idle,
    /// The document has begun to arrive.
    None,
}

/// Result of `navigate`, `back`, `forward`, `reload` and `open`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The address reached, after any redirect.
    pub url: String,
    /// The page's title.
    pub title: String,
    /// The HTTP status; left out where there was no response of a server, as for `about:blank` or a page out of the history cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The tab that shows the page, when the call opened one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<crate::ids::TabId>,
    /// The page's snapshot, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The file that the address turned out to be, kept as a run file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download: Option<super::FileInfo>,
    /// A dialog that the page opened and that waits for `dialog`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<crate::state::OpenDialog>,
}

pub(crate) const SPEC: Spec = Spec {
    name: "navigate",
    summary: "Open a page.",
    description: "Open a page in this run's browser. `url` is the full address, on one of the hosts that the `{prefix}` binding allows; any other is refused, also when a redirect leads there. Answers with the address reached.",
    effect: Effect::Read,
    retry: Retry::Safe,
    interface: Interface::Navigate,
    returns: "The page reached.",
    errors: &[ErrorCode::SiteBlocked],
    reasons: &[Reason::Navigation, Reason::Timeout, Reason::NotFound, Reason::DialogOpen, Reason::PageCrashed],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r#"{"url": "https://shop.example.com/orders"}"#,
};
