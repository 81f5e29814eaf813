//! Taking secrets out of everything that leaves the host.
//!
//! | file | its idea |
//! |---|---|
//! | `fold.rs` | the normal form in which texts and secrets meet |
//! | `units.rs` | escapes, decoded one unit at a time |
//! | `views.rs` | normal forms of a text under sets of escapes, with offsets that lead back |
//! | `needles.rs` | what is searched for, in one automaton |
//! | `sieve.rs` | where in a view it is worth searching |
//! | `spans.rs` | the union of all hits, replaced |
//! | `json.rs` | the same for every string, key and number of a JSON value |
//! | `redacted.rs` | the proof that it was done |
//! | `result.rs` | results and errors on their way out, redacted and then cut |
//!
//! What a redacted text guarantees: no secret stands in it in any form that the views and needles know, and redacting it
//! again changes nothing. A text without a secret comes back byte for byte. Redact first and cut afterwards: half a secret
//! at an edge is not recognised.
//!
//! Not here: secrets split over several strings (two fields, two console lines), which only a page that means to can
//! make; encodings that a script invents, against which no redactor helps: hence the refusal of `evaluate` in documents
//! that a secret was typed into; and where secrets may be typed (`template.rs`).

mod fold;
mod json;
mod needles;
mod redacted;
mod result;
mod sieve;
mod spans;
mod units;
mod views;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use self::needles::Needles;
pub use self::redacted::Redacted;
pub use self::result::CutAt;
use self::spans::Span;
pub use crate::secret::{Secret, SecretNameError};

/// Fewest characters of a secret, in NFC, those not counted that the normal form drops. A shorter one would be found in
/// ordinary text, and taking it out would tell where it stands.
pub const SECRET_CHARS: usize = 8;

/// How often a text is gone through again because what stands in for one secret spelled another with its surroundings.
/// One round is already rare; a text that needs more than these is withheld as a whole.
const ROUNDS: usize = 8;

/// Finds the secrets of one binding in texts and takes them out. Cheap to clone; [`none`](Redactor::none) lets all pass.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<Inner>>);

struct Inner {
    needles: Needles,
    /// What stands in for each secret, by its index.
    stand_ins: Vec<String>,
    /// What stands in for a whole text that can't be cleaned.
    withheld: &'static str,
    /// Whether a `+` in a text may be a space of a secret.
    hold_spaces: bool,
    /// Characters of the longest value.
    longest_chars: usize,
}

impl Redactor {
    /// Makes a redactor for these secrets. `[secret:NAME]` stands in for each, unless that would itself spell a secret.
    ///
    /// # Errors
    /// [`RedactorError::TooShort`] for a value under [`SECRET_CHARS`]; [`RedactorError::TooLarge`] if all values together
    /// are more than one automaton can hold (tens of megabytes).
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Result<Redactor, RedactorError> {
        let secrets: Vec<Secret> = secrets.into_iter().collect();
        if secrets.is_empty() {
            return Ok(Redactor::none());
        }
        for secret in &secrets {
            let n_chars = n_visible_chars(secret.value());
            if n_chars < SECRET_CHARS {
                return Err(RedactorError::TooShort { name: secret.name().to_owned(), n_chars });
            }
        }
        let needles = Needles::new(&secrets).map_err(|_| RedactorError::TooLarge)?;
        let hold_spaces = secrets.iter().any(|secret| secret.value().contains(' '));
        let longest_chars = secrets.iter().map(|secret| secret.value().chars().count()).max().unwrap_or_default();
        let mut inner = Inner { needles, stand_ins: Vec::new(), withheld: "", hold_spaces, longest_chars };
        inner.stand_ins =
            secrets.iter().zip(1..).map(|(secret, number)| inner.stand_in(secret.name(), number)).collect();
        inner.withheld = ["[text withheld]", "***"].into_iter().find(|text| !inner.mentions(text)).unwrap_or_default();
        Ok(Redactor(Some(Arc::new(inner))))
    }

    /// A redactor without secrets: everything passes unchanged.
    #[must_use]
    pub fn none() -> Redactor {
        Redactor(None)
    }

    /// The text without secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> Redacted<String> {
        Redacted::vouch(self.redact(text).unwrap_or_else(|| text.to_owned()))
    }

    /// The same for a text that is given away: nothing is copied where there is no secret.
    #[must_use]
    pub fn owned(&self, text: String) -> Redacted<String> {
        Redacted::vouch(self.redact(&text).unwrap_or(text))
    }

    /// The same for a text that is kept: nothing is copied where there is no secret.
    #[must_use]
    pub fn cow<'t>(&self, text: &'t str) -> Redacted<Cow<'t, str>> {
        Redacted::vouch(self.redact(text).map_or(Cow::Borrowed(text), Cow::Owned))
    }

    /// Whether a secret stands in the text, in any form that would be taken out.
    #[must_use]
    pub fn mentions(&self, text: &str) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.mentions(text))
    }

    /// Characters of the longest secret.
    fn longest_chars(&self) -> usize {
        self.0.as_ref().map_or(0, |inner| inner.longest_chars)
    }

    /// `None` if the text holds no secret.
    fn redact(&self, text: &str) -> Option<String> {
        self.0.as_ref()?.redact(text)
    }
}

impl Inner {
    fn redact(&self, text: &str) -> Option<String> {
        let mut spans = self.spans(text);
        if spans.is_empty() {
            return None;
        }
        let mut result = Cow::Borrowed(text);
        for _ in 0..ROUNDS {
            result = spans::replace(&result, &spans, &self.stand_ins).into();
            spans = self.spans(&result);
            if spans.is_empty() {
                return Some(result.into_owned());
            }
        }
        Some(self.withheld.to_owned())
    }

    /// Every stretch of the text that spells a secret in some view.
    fn spans(&self, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        self.views(text, |families, form| {
            let hits = self.needles.hits(form);
            if !hits.is_empty() {
                let ranges: Vec<_> = hits.iter().map(|hit| hit.view.clone()).collect();
                let sources = views::locate(text, families, &ranges).into_iter();
                spans.extend(sources.zip(&hits).map(|(source, hit)| Span { source, secret: hit.secret }));
            }
            false
        });
        spans::union(spans)
    }

    fn mentions(&self, text: &str) -> bool {
        let mut found = false;
        self.views(text, |_, form| {
            found = self.needles.are_in(form);
            found
        });
        found
    }

    /// Shows each view that differs from those before it, until `done` says that it has seen enough.
    fn views(&self, text: &str, mut done: impl FnMut(units::Families, &[u8]) -> bool) {
        for families in views::family_sets(text, self.hold_spaces) {
            let (form, used) = views::normal_form(text, families);
            let is_plain_again = families != 0 && used == 0;
            if !is_plain_again && done(families, &form) {
                return;
            }
        }
    }

    /// The first of some texts that spells no secret itself.
    fn stand_in(&self, name: &str, number: usize) -> String {
        let candidates = [format!("[secret:{name}]"), format!("[secret:{number}]"), format!("[{number}]")];
        candidates.into_iter().find(|candidate| !self.mentions(candidate)).unwrap_or_else(|| "***".to_owned())
    }
}

/// Characters in NFC that the normal form keeps.
fn n_visible_chars(value: &str) -> usize {
    let mut form = String::new();
    let is_kept = |c: &char| {
        form.clear();
        fold::fold_char(*c, &mut form);
        !form.is_empty()
    };
    value.nfc().filter(is_kept).count()
}

impl fmt::Debug for Redactor {
    /// How many secrets, and nothing of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_secrets = self.0.as_ref().map_or(0, |inner| inner.stand_ins.len());
        write!(f, "Redactor({n_secrets} secrets)")
    }
}

/// Why a redactor can't be made. No message holds a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedactorError {
    /// A value that would be found in ordinary text.
    #[error(
        "the secret {name:?} has {n_chars} characters that can be seen; choose one of at least {SECRET_CHARS}, since a \
         shorter one would be found in ordinary text"
    )]
    TooShort {
        /// The name of the secret.
        name: String,
        /// Its characters, those not counted that the normal form drops.
        n_chars: usize,
    },
    /// More than one automaton can hold.
    #[error("the secrets together are too large to be searched for; a secret is a password or a key, not a file")]
    TooLarge,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(secrets: &[(&str, &str)]) -> Redactor {
        Redactor::new(secrets.iter().map(|(name, value)| Secret::new(name, *value).unwrap())).unwrap()
    }

    #[test]
    fn the_name_stands_in_for_the_secret() {
        let redactor = redactor(&[("password", "hunter2-Quartz!"), ("token", "tk_live_51HqZ9tPw0")]);
        assert_eq!(redactor.text("pw=hunter2-Quartz! ok").as_str(), "pw=[secret:password] ok");
        assert_eq!(
            redactor.text("%68unter2-Quartz&#33;tk_live_5<b>1HqZ9</b>tPw0.").as_str(),
            "[secret:password][secret:token]."
        );
    }

    #[test]
    fn a_text_without_a_secret_is_borrowed() {
        let redactor = redactor(&[("password", "hunter2-Quartz!")]);
        for text in ["", "hunter2", "nothing <b>here</b> %20 &amp; \\n"] {
            assert!(matches!(redactor.cow(text).get(), Cow::Borrowed(same) if *same == text));
            assert!(!redactor.mentions(text));
        }
        assert!(redactor.mentions("HUNTER2 - QUARTZ!"));
    }

    #[test]
    fn a_short_secret_is_refused_without_showing_it() {
        for (value, n_chars) in [
            ("hunter2", 7),
            ("a b c d e f", 6),
            ("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", 7),
            ("", 0),
        ] {
            let error = Redactor::new([Secret::new("pin", value).unwrap()]).unwrap_err();
            assert_eq!(error, RedactorError::TooShort { name: "pin".into(), n_chars });
        }
        assert!(Redactor::new([Secret::new("pin", "hunter22").unwrap()]).is_ok());
    }

    #[test]
    fn nothing_that_stands_in_spells_a_secret() {
        let awkward = redactor(&[("hunter2-Quartz", "hunter2-Quartz"), ("b", "[secret:"), ("c", "[text withheld]")]);
        let text = awkward.text("x hunter2-Quartz [secret: [text withheld] y");
        assert!(
            !awkward.mentions(text.as_str()) && text.as_str().starts_with("x ") && text.as_str().ends_with(" y"),
            "{text}"
        );
    }

    #[test]
    fn a_secret_that_appears_only_beside_a_stand_in_goes_as_well() {
        let joined = redactor(&[("a", "hunter2-Quartz!"), ("b", "]foo8char")]);
        let text = joined.text("hunter2-Quartz!foo8char end");
        assert!(!joined.mentions(text.as_str()) && text.as_str().ends_with(" end"), "{text}");
    }

    #[test]
    fn what_an_escape_swallows_before_a_secret_does_not_hide_it() {
        let redactor = redactor(&[("a", "netpass99x"), ("b", "20240611"), ("c", "50%41&lt;\\n<i>")]);
        for (text, wanted) in [
            ("C:\\netpass99x", "C:\\[secret:a]"),
            ("%20240611", "%[secret:b]"),
            ("\\%6eetpass99x", "\\[secret:a]"),
            ("<a title=\"netpa&#115;s99x\">", "<a title=\"[secret:a]\">"),
            ("50%41&lt;\\n<i>", "[secret:c]"),
            ("50%2541%26lt;%5Cn%3Ci%3E", "[secret:c]"),
        ] {
            assert_eq!(redactor.text(text).as_str(), wanted, "{text}");
        }
    }

    #[test]
    fn neither_debug_nor_errors_show_a_value() {
        let secret = Secret::new("password", "hunter2-Quartz!").unwrap();
        let shown = format!("{secret:?} {:?}", Redactor::new([secret.clone()]).unwrap());
        assert_eq!(shown, "Secret(\"password\", …) Redactor(1 secrets)");
    }

    #[test]
    fn cutting_comes_after_redacting_and_says_whether_it_cut() {
        let redactor = redactor(&[("password", "hunter2-Quartz!")]);
        let (cut, was_cut) = redactor.text("é: hunter2-Quartz!").truncate_chars(7);
        assert_eq!((cut.as_str(), was_cut), ("é: [sec", true));
        let (whole, was_cut) = redactor.text("short").truncate_chars(5);
        assert_eq!((whole.as_str(), was_cut), ("short", false));
    }
}
