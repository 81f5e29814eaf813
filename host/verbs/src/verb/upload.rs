//! `upload`: attach a run file to a file input, once a person agrees.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ErrorCode, Reason},
    registry::{Effect, Interface, Retry, Spec},
    schema,
    target::Target,
};

/// Arguments of `upload`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Input {
    /// The file input.
    #[serde(flatten)]
    pub target: Target,
    /// The handle of a file of this run: the `id` that a download returned, or that of a file that the run was given. A path or
    /// a URL is refused.
    // A plain string here: what is no handle has an error code of its own, which is for the run to give.
    pub file: String,
}

/// Result of `upload`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The page's address afterwards.
    pub url: String,
    /// The file that was attached.
    pub file: super::FileInfo,
}

pub(crate) const SPEC: Spec = Spec {
    name: "upload",
    summary: "Attach a run file to a file input.",
    description: "Attach a file of this run to a file input of the page. `file` is the handle that a download returned or that the run was given; a path or a URL is refused. A person approves every upload before the file is attached, so the answer can take a while.",
    effect: Effect::Write,
    retry: Retry::Never,
    interface: Interface::Files,
    returns: "The page that the file was attached on.",
    errors: &[ErrorCode::SiteBlocked, ErrorCode::UploadRefused, ErrorCode::UploadRejected, ErrorCode::UploadTimedOut],
    reasons: &[
        Reason::NotFound,
        Reason::StaleRef,
        Reason::NotEditable,
        Reason::Disabled,
        Reason::Timeout,
        Reason::DialogOpen,
        Reason::PageCrashed,
        Reason::OutcomeUnknown,
    ],
    asks_person: true,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: r##"{"selector": "#receipt", "file": "file_01JD3V8ZK4N0Q6T2W9YB5XH7MC"}"##,
};
