//! The names by which callers know an element (`e12`), a tab (`t1`) and a run file (`file_…`).
//!
//! Each is a type of its own, checked once where it comes in, so that a path, a URL or another kind of id can't be passed on as
//! one. What an id names is decided elsewhere: refs and tabs by the browser, files by the run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$meta:meta])* $name:ident, $pattern:literal, $what:literal, $is_valid:expr) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(#[schemars(regex(pattern = $pattern))] String);

        impl $name {
            /// Checks the form of an id.
            ///
            /// # Errors
            /// One line that says what an id looks like.
            pub fn parse(text: impl Into<String>) -> Result<$name, IdError> {
                let text = text.into();
                let is_valid: fn(&str) -> bool = $is_valid;
                if is_valid(&text) { Ok($name(text)) } else { Err(IdError { what: $what }) }
            }

            /// The id as callers write it.
            #[must_use]
            pub fn as_str(&self) -> &str { &self.0 }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<$name, IdError> { $name::parse(text) }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String { id.0 }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
        }
    };
}

/// An id of the wrong form. The text itself is not repeated: it may be a path or a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct IdError {
    what: &'static str,
}

/// Digits of the number in an id: enough for 10^9 of them, few enough for a `u64`.
const DIGITS_MAX: usize = 10;

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= DIGITS_MAX && text.bytes().all(|b| b.is_ascii_digit())
}

id!(
    /// An element, as a snapshot or a find of this run named it: `e12`, or `f3e12` inside a frame of its own process.
    RefId,
    "^(f[0-9]+)?e[0-9]+$",
    "a ref looks like `e12`, as a snapshot shows it in `[ref=e12]`",
    |text| match text.split_once('e') {
        Some((frame, number)) => is_number(number) && (frame.is_empty() || frame.strip_prefix('f').is_some_and(is_number)),
        None => false,
    }
);

id!(
    /// A tab: `t1`. It never changes its tab and is never given again within a run.
    TabId,
    "^t[0-9]+$",
    "a tab looks like `t1`, as `tabs` lists it",
    |text| text.strip_prefix('t').is_some_and(is_number)
);

/// Characters after `file_`: a ULID.
const FILE_ID_CHARS: usize = 26;

id!(
    /// A file that a run holds: `file_` and 26 letters and digits. Never a path.
    FileId,
    "^file_[0-9A-Za-z]{26}$",
    "a run file is named by its handle (`file_…`), as a download returned it or the run was given it; a path or a URL is refused",
    |text| text
        .strip_prefix("file_")
        .is_some_and(|rest| rest.len() == FILE_ID_CHARS && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_right_form_are_taken_and_others_are_not() {
        for good in ["e1", "e120", "f3e12"] {
            assert_eq!(RefId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "e", "12", "E1", "fe1", "f1e", "e1 ", "[ref=e1]", "e12345678901", "f1f2e3", "é1"] {
            assert!(RefId::parse(bad).is_err(), "{bad}");
        }
        assert!(TabId::parse("t1").is_ok());
        assert!(TabId::parse("1").is_err());
        assert!(FileId::parse("file_01ARZ3NDEKTSV4RRFFQ69G5FAV").is_ok());
        for bad in ["/etc/passwd", "file_../../../../../etc/passwd", "https://shop.test/a", "file_"] {
            assert!(FileId::parse(bad).is_err(), "{bad}");
        }
    }
}
