//! What can be wrong with a manifest, and how an operator reads it.

use super::MANIFEST_BYTES_MAX;

/// Why a manifest was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ManifestError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong with a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file is no manifest at all.
    #[error("a manifest has at most {MANIFEST_BYTES_MAX} bytes")]
    TooLong,
    /// Not TOML, a missing key, or a value of another type.
    #[error("{0}")]
    Form(String),
    /// A key that means nothing.
    #[error("unknown key `{key}`{}", suggest(.meant))]
    UnknownKey {
        /// The key with its table.
        key: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    /// A value that is none of a list.
    #[error("`{value}` is no {what}{}", suggest(.meant))]
    Unknown {
        /// What it should be.
        what: &'static str,
        /// As written.
        value: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    /// A value of the wrong form.
    #[error("{key}: {why}")]
    Value {
        /// The key with its table.
        key: &'static str,
        /// What to write.
        why: String,
    },
    /// A verb whose interface is not asked for can never be called.
    #[error("the verb `{verb}` is called through the interface `{interface}`: add \"{interface}\" to needs.interfaces")]
    VerbWithoutInterface {
        /// The verb.
        verb: &'static str,
        /// Its interface.
        interface: &'static str,
    },
}

fn suggest(meant: &Option<String>) -> String {
    meant.as_ref().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}
