//! `tabs`: the tabs of this prefix's browser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ids::TabId,
    registry::{Effect, Interface, Retry, Spec},
    schema,
};

pub use super::NoInput as Input;

/// One tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tab {
    /// Its id, which never changes its tab.
    pub tab: TabId,
    /// The page's title.
    pub title: String,
    /// The page's address.
    pub url: String,
    /// Whether calls without `tab` go there.
    pub active: bool,
}

/// Result of `tabs`, `switch` and `close`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The tabs, in the order in which they opened.
    pub tabs: Vec<Tab>,
}

pub(crate) const SPEC: Spec = Spec {
    name: "tabs",
    summary: "List the open tabs.",
    description: "List the tabs of this run's browser, each with its id, title and address, and which one is active.",
    effect: Effect::Read,
    retry: Retry::Safe,
    interface: Interface::Navigate,
    returns: "The tabs.",
    errors: &[],
    reasons: &[],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: "{}",
};
