//! `close`: close a tab.

use crate::{
    error::Reason,
    registry::{Effect, Interface, Retry, Spec},
    schema,
};

pub use super::{NoInput as Input, tabs::Output};

pub(crate) const SPEC: Spec = Spec {
    name: "close",
    summary: "Close a tab.",
    description: "Close the tab `tab`, or the active one. When the active tab closes, the one that was active before it takes its place. Answers with the tabs that are left.",
    effect: Effect::Write,
    retry: Retry::Never,
    interface: Interface::Navigate,
    returns: "The tabs that are left.",
    errors: &[],
    reasons: &[Reason::NotFound, Reason::Timeout],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r#"{"tab": "t2"}"#,
};
