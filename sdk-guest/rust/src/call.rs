//! The call that is being answered.

use std::time::Duration;

use crate::{Tab, bindings::transom::plugin::call};

/// The call that a tool is answering: where its tab and its deadline come from.
#[derive(Debug)]
pub struct Call(pub(crate) ());

impl Call {
    /// The tab that was active when the call began.
    #[must_use]
    pub fn tab(&self) -> Tab {
        Tab(call::tab())
    }

    /// Time until the host ends the call.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        Duration::from_millis(call::time_left().into())
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> String {
        call::tool()
    }
}
