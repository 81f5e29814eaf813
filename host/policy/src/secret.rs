//! A secret: a name that anybody may read, and a value that only the host types.
//!
//! `Debug` never shows the value, nothing serialises it, and its memory is wiped when the last copy is dropped.
//!
//! Not here: where it may be typed (`template.rs`) and how it is taken out of what leaves the host (`redact/`).

use std::fmt;

use zeroize::Zeroizing;

/// Longest name of a secret, in bytes: it stands in every text that mentioned the secret.
const NAME_BYTES: usize = 64;

/// One secret of a binding.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    name: String,
    value: Zeroizing<String>,
}

impl Secret {
    /// Puts a name on a value. What a redactor demands of the value is checked when the redactor is made.
    ///
    /// # Errors
    /// [`SecretNameError`] unless the name is 1 to 64 of A–Z, a–z, 0–9, `_`, `-` and `.`, a letter or digit first.
    pub fn new(name: &str, value: impl Into<String>) -> Result<Secret, SecretNameError> {
        if !is_secret_name(name) {
            return Err(SecretNameError { name: name.chars().take(NAME_BYTES).collect() });
        }
        Ok(Secret { name: name.to_owned(), value: Zeroizing::new(value.into()) })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value: for typing it and for finding it, and for nothing else.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({:?}, …)", self.name)
    }
}

/// A name that no secret can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is no name for a secret; use 1 to 64 letters, digits, \"_\", \"-\" and \".\", a letter or digit first"
)]
pub struct SecretNameError {
    /// What was there, cut to 64 characters.
    pub name: String,
}

/// Whether a secret can have this name.
pub(crate) fn is_secret_name(name: &str) -> bool {
    name.len() <= NAME_BYTES
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}
