//! `click`: press and release a mouse button on an element.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ErrorCode, Reason},
    registry::{Effect, Interface, Retry, Spec},
    schema,
    target::Target,
};

/// Arguments of `click`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// What to click.
    #[serde(flatten)]
    pub target: Target,
    /// The mouse button.
    #[serde(default)]
    pub button: Button,
    /// How many times in a row: 2 is a double click.
    #[serde(default = "one")]
    #[garde(range(min = 1, max = 3))]
    pub count: u8,
    /// Keys that are held down meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[garde(length(max = 4))]
    pub modifiers: Vec<Modifier>,
}

fn one() -> u8 {
    1
}

/// A mouse button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Button {
    /// The main button.
    #[default]
    Left,
    /// The one that opens a context menu.
    Right,
    /// The wheel.
    Middle,
}

/// A key that changes what another key or button does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Modifier {
    /// Alt, or Option.
    Alt,
    /// Control.
    Control,
    /// Meta: Command, or the Windows key.
    Meta,
    /// Shift.
    Shift,
}

/// Result of `click`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The page's address afterwards.
    pub url: String,
    /// The tab that the click opened; it is not the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_tab: Option<crate::ids::TabId>,
    /// The dialog that the click opened; answer it with `dialog`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<crate::state::OpenDialog>,
    /// The file that the click downloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download: Option<super::FileInfo>,
}

pub(crate) const SPEC: Spec = Spec {
    name: "click",
    summary: "Click an element.",
    description: "Click one element of the page, named by `ref` from a snapshot, by a CSS `selector`, or by a point. Waits until the element can be clicked, and says what covers it when something does. Answers with the address afterwards and with a tab, dialog or download that the click began.",
    effect: Effect::Write,
    retry: Retry::Never,
    interface: Interface::Act,
    returns: "Where the browser is afterwards, and what the click opened.",
    errors: &[ErrorCode::SiteBlocked],
    reasons: &[
        Reason::NotFound,
        Reason::StaleRef,
        Reason::NotVisible,
        Reason::Covered,
        Reason::Disabled,
        Reason::Timeout,
        Reason::DialogOpen,
        Reason::PageCrashed,
        Reason::OutcomeUnknown,
    ],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r#"{"ref": "e12"}"#,
};
