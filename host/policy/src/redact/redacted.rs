//! The proof that a value has passed a redactor.
//!
//! Only a [`Redactor`](super::Redactor) makes one, so a function that takes `Redacted<T>` can't be handed anything else.
//! There is no `map`: a closure could put a secret back. What is here can only take away.

use std::fmt;

use serde::Serialize;

/// A value that has passed a redactor. The host accepts nothing else from the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// For redactors only: the caller vouches for `value`.
    pub(super) fn vouch(value: T) -> Redacted<T> {
        Redacted(value)
    }

    /// For cutting only: whoever uses this may take away and never add.
    pub(super) fn inner_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// The value.
    #[must_use]
    pub fn get(&self) -> &T {
        &self.0
    }

    /// The value, no longer marked: for whoever hands it out.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Redacted<String> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first `n_chars` Unicode scalar values, and whether that left something out. Redacting comes first and cutting
    /// after it: half a secret at the edge would not be recognised.
    #[must_use]
    pub fn truncate_chars(mut self, n_chars: usize) -> (Redacted<String>, bool) {
        match self.0.char_indices().nth(n_chars) {
            None => (self, false),
            Some((end, _)) => {
                self.0.truncate(end);
                (self, true)
            }
        }
    }
}

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
