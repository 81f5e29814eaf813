//! How a failure of the browser becomes an error of the contract.

use transom_verbs::{ErrorCode, ToolError, error::Reason};

use crate::{cdp::CallError, extract::REDACTION_OVERLAP, page::PageFault};

/// What Chromium says when the document that a call was for is no longer there. It has no code of its own for it.
const CONTEXT_GONE: &[&str] = &[
    "uniqueContextId not found",
    "Cannot find context with specified id",
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "Promise was collected",
    "Cannot find default execution context",
];

impl CallError {
    /// Whether the document that the call was for is gone; the tab may well show another one.
    pub(crate) fn is_context_gone(&self) -> bool {
        matches!(self, CallError::Refused { message, .. } if CONTEXT_GONE.iter().any(|known| message.contains(known)))
    }
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> ToolError {
        match error {
            CallError::Lost => ToolError::new(ErrorCode::BrowserUnavailable, "the browser is gone"),
            CallError::Busy => ToolError::new(ErrorCode::BrowserUnavailable, "the browser takes no more commands"),
            CallError::Crashed => crashed(),
            CallError::Closed => ToolError::failed(Reason::NotFound, "the tab closed during the call"),
            error if error.is_context_gone() => moved_on(),
            CallError::TooLong { .. } => {
                ToolError::failed(Reason::Quota, "the page's answer is longer than a message may be; ask for less")
            }
            CallError::Refused { message, .. } => {
                ToolError::failed(Reason::OutcomeUnknown, format!("the browser could not do it: {message}"))
            }
            CallError::Form { method, .. } => ToolError::failed(
                Reason::OutcomeUnknown,
                format!("the browser's answer to {method} was not understood"),
            ),
        }
    }
}

impl From<PageFault> for ToolError {
    fn from(fault: PageFault) -> ToolError {
        match fault {
            PageFault::Refused(error) => error,
            PageFault::Gone => moved_on(),
            PageFault::Call(error) => error.into(),
        }
    }
}

/// The tab's renderer is gone.
pub(crate) fn crashed() -> ToolError {
    ToolError::failed(Reason::PageCrashed, "the page crashed").with_hint("`navigate` or `reload` brings the tab back")
}

/// The document changed under a call.
pub(crate) fn moved_on() -> ToolError {
    ToolError::failed(Reason::Navigation, "the page moved to another document during the call")
        .with_hint("wait for the page, then call again")
}

/// A dialog stands in the way.
pub(crate) fn dialog_open(message: &str) -> ToolError {
    let shown: String = message.chars().take(200 + REDACTION_OVERLAP as usize).collect();
    ToolError::failed(Reason::DialogOpen, format!("a dialog is open on this tab: \"{shown}\""))
        .with_hint("answer it with `dialog`")
}
