//! One file for each verb: everything that a caller can learn about it is there.
//!
//! Each file has an `Input`, an `Output` and a `SPEC`. The registry lists them.

pub mod back;
pub mod click;
pub mod close;
pub mod dialog;
pub mod download;
pub mod evaluate;
pub mod extract;
pub mod forward;
pub mod navigate;
pub mod open;
pub mod reload;
pub mod screenshot;
pub mod snapshot;
pub mod switch;
pub mod tabs;
pub mod type_text;
pub mod upload;
pub mod wait;

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The input of a verb that takes no arguments of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct NoInput {}

/// The result of a verb that only says where the browser is afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Located {
    /// The page's address afterwards.
    pub url: String,
}

/// A file that the run holds, as a result tells of it: never its bytes, never a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileInfo {
    /// The handle, for `upload` and for the person who fetches the file.
    pub id: crate::ids::FileId,
    /// The file's name, made safe.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its media type.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Where it came from; left out for what the host made itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
}
