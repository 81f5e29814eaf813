//! The closed set of errors that a caller can see.
//!
//! A tool error is `{code, reason, message, hint?}`. Callers branch on `code` and `reason`; people and models read `message` (one
//! clear line: what is wrong and where) and `hint` (the exact configuration line or the next call that would help). A message
//! never holds a path of the host, a secret or a raw stack.
//!
//! Not here: how an error of Chromium, of a plugin or of the network becomes one of these. Each crate decides that at its edge.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares an enum whose variants have one spelling on the wire, and the list of all of them.
macro_rules! wire_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $wire:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $wire)] $variant,)* }

        impl $name {
            /// Every value, in the order of the contract.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The spelling on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $wire,)* }
            }

            /// The value with this spelling.
            #[must_use]
            pub fn from_wire(text: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|each| each.as_str() == text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.as_str()) }
        }
    };
}

wire_enum! {
    /// What kind of failure a call met.
    ErrorCode {
        /// The run's model is not one that the operator trusts with a browser.
        ModelUnsupported = "computer_use_model_unsupported",
        /// No browser could be started, or it was lost and cannot be restarted.
        BrowserUnavailable = "computer_use_browser_unavailable",
        /// A page, a redirect hop or a live page is outside the binding's hosts.
        SiteBlocked = "computer_use_site_blocked",
        /// The verb, tool, capability or secret is not granted to this caller, here.
        NotGranted = "computer_use_not_granted",
        /// An argument is missing, unknown or of the wrong form.
        InvalidInput = "computer_use_invalid_input",
        /// The action failed; the reason says how.
        Failed = "computer_use_failed",
        /// A file could not be kept.
        FileNotSaved = "computer_use_file_not_saved",
        /// The upload named something that is no file of this run.
        UploadRefused = "computer_use_upload_refused",
        /// A person rejected the upload.
        UploadRejected = "computer_use_upload_rejected",
        /// Nobody answered the upload in time.
        UploadTimedOut = "computer_use_upload_timed_out",
        /// A person rejected the call.
        ApprovalRejected = "computer_use_approval_rejected",
        /// Nobody answered for the call in time.
        ApprovalTimedOut = "computer_use_approval_timed_out",
    }
}

wire_enum! {
    /// Why an action failed, for [`ErrorCode::Failed`].
    Reason {
        /// Nothing matches the selector, the tab or the file.
        NotFound = "not_found",
        /// The element that the ref was given for is gone.
        StaleRef = "stale_ref",
        /// The element has no visible box.
        NotVisible = "not_visible",
        /// Another element would receive the event.
        Covered = "covered",
        /// The element is disabled.
        Disabled = "disabled",
        /// The field is read-only.
        ReadOnly = "read_only",
        /// The element takes no text.
        NotEditable = "not_editable",
        /// More than one thing matches.
        Ambiguous = "ambiguous",
        /// The deadline passed.
        Timeout = "timeout",
        /// The page could not be loaded.
        Navigation = "navigation",
        /// A dialog is open on the tab and waits for an answer.
        DialogOpen = "dialog_open",
        /// The page's script threw, or gave something that is no JSON.
        Script = "script",
        /// The tab's renderer is gone.
        PageCrashed = "page_crashed",
        /// The call was sent and its end is not known: it may have happened.
        OutcomeUnknown = "outcome_unknown",
        /// The plugin's code trapped.
        PluginTrap = "plugin_trap",
        /// The plugin passed one of its limits.
        PluginLimit = "plugin_limit",
        /// The plugin is disabled.
        PluginDisabled = "plugin_disabled",
        /// The plugin reported an error of its own.
        Plugin = "plugin",
        /// The caller took the call back.
        Cancelled = "cancelled",
        /// The run has ended.
        RunEnded = "run_ended",
        /// A quota of the run is used up.
        Quota = "quota",
        /// The page would not keep the value.
        ValueRefused = "value_refused",
        /// The control started no download.
        NoDownload = "no_download",
        /// Nobody answered the question.
        Unanswered = "unanswered",
    }
}

/// What a caller gets in place of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What kind of failure this is.
    pub code: ErrorCode,
    /// How the action failed; always there for [`ErrorCode::Failed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// One line: what is wrong, and where.
    pub message: String,
    /// The configuration line or the next call that would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ToolError {
    /// An error whose code says it all.
    ///
    /// For [`ErrorCode::Failed`] use [`ToolError::failed`]: that code always has a reason.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> ToolError {
        debug_assert!(code != ErrorCode::Failed, "computer_use_failed needs a reason");
        ToolError { code, reason: None, message: message.into(), hint: None }
    }

    /// The action failed, for `reason`.
    #[must_use]
    pub fn failed(reason: Reason, message: impl Into<String>) -> ToolError {
        ToolError { code: ErrorCode::Failed, reason: Some(reason), message: message.into(), hint: None }
    }

    /// An argument is wrong.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorCode::InvalidInput, message)
    }

    /// The same error with the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> ToolError {
        self.hint = Some(hint.into());
        self
    }

    /// Whether this is a [`ErrorCode::Failed`] for `reason`.
    #[must_use]
    pub fn is(&self, reason: Reason) -> bool {
        self.reason == Some(reason)
    }

    /// Whether the run cannot go on after this error.
    #[must_use]
    pub fn ends_run(&self) -> bool {
        matches!(self.code, ErrorCode::ModelUnsupported | ErrorCode::BrowserUnavailable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_reason_survives_the_wire() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_wire(code.as_str()), Some(*code));
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::from_wire(reason.as_str()), Some(*reason));
        }
        assert_eq!(Reason::from_wire("nope"), None);
    }

    #[test]
    fn an_error_without_reason_or_hint_has_neither_key() {
        let error = ToolError::invalid("`url` is missing");
        assert_eq!(
            serde_json::to_value(&error).unwrap(),
            serde_json::json!({"code": "computer_use_invalid_input", "message": "`url` is missing"})
        );
    }
}
