//! Texts that name secrets: `{{secret:password}}` is what a caller writes, the value is what the host types.
//!
//! A text is parsed into pieces first; who may use which secret is decided before anything is filled in. A value is filled
//! in only for the host of the frame that is typed into, and only if the secret names that host.
//!
//! Not here: whether a plugin may type a secret at all (`capability.rs`), and how values are kept out of what leaves
//! (`redact/`).

use std::collections::BTreeMap;
use std::fmt;

use url::Url;
use zeroize::Zeroizing;

use crate::hosts::{Denial, HostRules, Use};
use crate::redact::{Redactor, RedactorError};
use crate::secret::{Secret, is_secret_name};

const OPEN: &str = "{{secret:";
const CLOSE: &str = "}}";

/// A text in pieces. `Debug` and `PartialEq` are safe: it holds names only, what a caller wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

/// A part of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that is typed as it stands; never empty.
    Literal(String),
    /// The name of a secret whose value is typed here.
    Secret(String),
}

impl Template {
    /// Splits a text at its placeholders. A text without any is one literal; braces that name no secret stay as they are.
    ///
    /// # Errors
    /// [`TemplateError`] for what looks like a placeholder and is none: a name that no secret can have, missing braces,
    /// spaces or capitals. Typing it as it stands would send a mistake to a page in silence.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = find_placeholder(rest) {
            let (literal, placeholder) = rest.split_at(at);
            let Some(inner) = placeholder.strip_prefix(OPEN) else { return Err(TemplateError::Spelling) };
            let Some((name, after)) = inner.split_once(CLOSE) else { return Err(TemplateError::Unclosed) };
            if !is_secret_name(name) {
                return Err(TemplateError::Name);
            }
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            pieces.push(Piece::Secret(name.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Ok(Template { pieces })
    }

    /// The pieces in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The names of the secrets in it, in order, each as often as it stands there.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Secret(name) => Some(name.as_str()),
        })
    }
}

/// Where the next `{{secret:` begins, however its letters and spaces are written.
fn find_placeholder(text: &str) -> Option<usize> {
    text.match_indices('{').map(|(at, _)| at).find(|at| {
        let Some(inner) = text.get(*at..).and_then(|text| text.strip_prefix("{{")) else { return false };
        let inner = inner.trim_start();
        let word = inner.get(.."secret".len()).unwrap_or_default();
        let colon = inner.get("secret".len()..).unwrap_or_default().trim_start();
        word.eq_ignore_ascii_case("secret") && colon.starts_with(':')
    })
}

/// Why a text with a placeholder was refused. No message repeats the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Spaces or capitals in `{{secret:`.
    #[error("a secret is written {{{{secret:NAME}}}}, in lower case and without spaces")]
    Spelling,
    /// No `}}`.
    #[error("a {{{{secret:NAME}}}} is not closed; write }}}} behind the name")]
    Unclosed,
    /// A name that no secret can have.
    #[error("there is no valid name in a {{{{secret:NAME}}}}; use letters, digits, \"_\", \"-\" and \".\"")]
    Name,
}

/// The secrets of a binding, each with the hosts where it may be typed.
#[derive(Clone, Debug, Default)]
pub struct SecretScope {
    secrets: BTreeMap<String, (Secret, HostRules)>,
}

impl SecretScope {
    /// Puts secrets with their hosts in one scope. Of two with the same name the later one counts.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = (Secret, HostRules)>) -> SecretScope {
        let named = |(secret, hosts): (Secret, HostRules)| (secret.name().to_owned(), (secret, hosts));
        SecretScope { secrets: secrets.into_iter().map(named).collect() }
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.secrets.keys().map(String::as_str)
    }

    /// Whether there is a secret of this name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.secrets.contains_key(name)
    }

    /// The secrets themselves, for a redactor over several scopes.
    pub fn all(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.values().map(|(secret, _)| secret)
    }

    /// A redactor for all values of the scope.
    ///
    /// # Errors
    /// Those of [`Redactor::new`].
    pub fn redactor(&self) -> Result<Redactor, RedactorError> {
        Redactor::new(self.secrets.values().map(|(secret, _)| secret.clone()))
    }

    /// Puts the values in. `frame` is the URL of the frame that is typed into; for `about:` and `blob:` documents, that of
    /// their creator.
    ///
    /// # Errors
    /// [`FillError`] for the first secret that is unknown or may not be typed there; then nothing is filled in.
    pub fn fill(&self, template: &Template, frame: &Url) -> Result<Filled, FillError> {
        let mut text = Zeroizing::new(String::new());
        let mut used: Vec<String> = Vec::new();
        for piece in template.pieces() {
            match piece {
                Piece::Literal(literal) => append(&mut text, literal),
                Piece::Secret(name) => {
                    append(&mut text, self.value_for(name, frame)?);
                    if !used.contains(name) {
                        used.push(name.clone());
                    }
                }
            }
        }
        Ok(Filled { text, used })
    }

    fn value_for(&self, name: &str, frame: &Url) -> Result<&str, FillError> {
        let Some((secret, hosts)) = self.secrets.get(name) else {
            return Err(FillError::Unknown { name: name.to_owned(), known: self.names().map(str::to_owned).collect() });
        };
        match hosts.decide_url(frame, Use::Page).into_result() {
            Ok(_) => Ok(secret.value()),
            Err(denial) => Err(FillError::NotHere { name: name.to_owned(), denial }),
        }
    }
}

/// Grows by hand, since a `String` that grows leaves its old bytes in freed memory.
fn append(text: &mut Zeroizing<String>, more: &str) {
    let mut grown = Zeroizing::new(String::with_capacity(text.len() + more.len()));
    grown.push_str(text);
    grown.push_str(more);
    *text = grown;
}

/// A text with the values of its secrets in it. `Debug` shows the names only; the memory is wiped when it is dropped.
#[derive(Clone)]
pub struct Filled {
    text: Zeroizing<String>,
    used: Vec<String>,
}

impl Filled {
    /// What is to be typed. It goes to the browser and nowhere else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The names of the secrets in it, each once: whether the document is to be marked, and what the journal says.
    #[must_use]
    pub fn secrets(&self) -> &[String] {
        &self.used
    }
}

impl fmt::Debug for Filled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filled(…, secrets {:?})", self.used)
    }
}

/// Why a secret was not filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// The binding has no secret of that name.
    #[error("there is no secret {name:?} here; {}", known_note(known))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The hosts of the secret do not admit the frame.
    #[error("the secret {name:?} may not be typed here: {denial}")]
    NotHere {
        /// The name of the secret.
        name: String,
        /// Why its hosts do not admit the frame.
        denial: Denial,
    },
}

impl FillError {
    /// The change of configuration that would allow it; `None` where none would, as for a `file:` page.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        match self {
            FillError::Unknown { name, .. } => {
                Some(format!("add {name} = {{ env = \"…\", hosts = [\"…\"] }} under [binding.secrets]"))
            }
            FillError::NotHere { name, denial } => {
                let entry = denial.missing_entry()?;
                Some(format!("add {entry:?} to hosts of the secret {name:?} under [binding.secrets]"))
            }
        }
    }
}

fn known_note(known: &[String]) -> String {
    if known.is_empty() { "the binding has none".to_owned() } else { format!("there are {}", known.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> SecretScope {
        let secret = |name: &str, value: &str, hosts: &[&str]| {
            (Secret::new(name, value).unwrap(), HostRules::parse(hosts).unwrap())
        };
        SecretScope::new([
            secret("password", "hunter2-Quartz!", &["shop.test"]),
            secret("token", "tk_live_51HqZ9", &[]),
        ])
    }

    fn fill(text: &str, frame: &str) -> Result<Filled, FillError> {
        scope().fill(&Template::parse(text).unwrap(), &Url::parse(frame).unwrap())
    }

    #[test]
    fn a_text_is_split_at_its_placeholders() {
        let literal = |text: &str| Piece::Literal(text.to_owned());
        let secret = |name: &str| Piece::Secret(name.to_owned());
        for (text, wanted) in [
            ("", vec![]),
            ("plain {{x}} {secret:y} }}", vec![literal("plain {{x}} {secret:y} }}")]),
            ("{{secret:password}}", vec![secret("password")]),
            ("a{{secret:b}}{{secret:c.d}}e", vec![literal("a"), secret("b"), secret("c.d"), literal("e")]),
            ("{{{secret:b}}}", vec![literal("{"), secret("b"), literal("}")]),
        ] {
            assert_eq!(Template::parse(text).unwrap().pieces(), wanted, "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_placeholder_and_is_none_is_an_error() {
        for (text, error) in [
            ("{{secret:", TemplateError::Unclosed),
            ("{{secret:a} }", TemplateError::Unclosed),
            ("{{secret:}}", TemplateError::Name),
            ("{{secret:a b}}", TemplateError::Name),
            ("{{secret:{{secret:a}}}}", TemplateError::Name),
            ("{{ secret:a }}", TemplateError::Spelling),
            ("{{Secret : a}}", TemplateError::Spelling),
        ] {
            assert_eq!(Template::parse(text), Err(error), "{text}");
        }
        assert_eq!(TemplateError::Unclosed.to_string(), "a {{secret:NAME}} is not closed; write }} behind the name");
    }

    #[test]
    fn a_value_is_filled_in_on_a_host_of_the_secret() {
        let filled = fill("user {{secret:password}}{{secret:password}}", "https://shop.test/login").unwrap();
        assert_eq!(filled.expose(), "user hunter2-Quartz!hunter2-Quartz!");
        assert_eq!(filled.secrets(), ["password"]);
        assert_eq!(format!("{filled:?}"), "Filled(…, secrets [\"password\"])");
        assert_eq!(fill("no secret", "https://evil.test/").unwrap().expose(), "no secret");
    }

    #[test]
    fn a_value_is_filled_in_nowhere_else() {
        let there = |text: &str, frame: &str| {
            let error = fill(text, frame).unwrap_err();
            format!("{error} | {}", error.line().unwrap_or_default())
        };
        assert_eq!(
            there("{{secret:password}}", "https://evil.test/x"),
            "the secret \"password\" may not be typed here: evil.test is not among the hosts that may be reached here | add \
             \"evil.test\" to hosts of the secret \"password\" under [binding.secrets]"
        );
        assert!(there("{{secret:token}}", "https://shop.test/").contains("\"token\" may not be typed here"));
        assert!(there("{{secret:password}}", "file:///etc/passwd").ends_with("| "));
        assert_eq!(
            there("{{secret:pin}}", "https://shop.test/"),
            "there is no secret \"pin\" here; there are password, token | add pin = { env = \"…\", hosts = [\"…\"] } under \
             [binding.secrets]"
        );
    }
}
