//! Results and errors on their way out: redacted as a whole, then cut to the size that the caller wants.
//!
//! Cutting comes last, so that a secret that lies across the end is recognised before half of it is gone. For that whoever
//! collects a text takes [`Redactor::margin_chars`] more than is wanted.

use serde_json::Value;
use transom_verbs::ToolError;

use super::{Redacted, Redactor};

/// Characters that one character of a secret may take in a text: `&#x000041;` and the like, with white space and invisible characters
/// between. What is spelled wider than this at the very end of a text that is cut may leave its beginning there.
const WIDEST_SPELLING: usize = 16;

/// Where a text may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutAt {
    /// Between any two characters.
    Char,
    /// Behind a line, so that no line is left half.
    Line,
}

impl Redactor {
    /// The error without secrets, in message and hint.
    #[must_use]
    pub fn error(&self, error: &ToolError) -> Redacted<ToolError> {
        Redacted::vouch(ToolError {
            code: error.code,
            reason: error.reason,
            message: self.text(&error.message).into_inner(),
            hint: error.hint.as_ref().map(|hint| self.text(hint).into_inner()),
        })
    }

    /// How many characters beyond the wanted ones a text has to be collected, so that no secret lies across its end unseen.
    #[must_use]
    pub fn margin_chars(&self) -> usize {
        self.longest_chars().saturating_mul(WIDEST_SPELLING)
    }
}

impl Redacted<Value> {
    /// Cuts the text in `field` of an object to at most `max_chars` characters. Says whether that left something out.
    pub fn cut_field(&mut self, field: &str, max_chars: usize, at: CutAt) -> bool {
        let Some(Value::String(text)) = self.inner_mut().get_mut(field) else { return false };
        let Some((end, _)) = text.char_indices().nth(max_chars) else { return false };
        let end = match at {
            CutAt::Char => end,
            // The line that begins before the end goes as a whole, unless the end is just behind a line.
            CutAt::Line => text.get(..=end).and_then(|kept| kept.rfind('\n')).unwrap_or(0),
        };
        text.truncate(end);
        true
    }

    /// Cuts every text inside the member `name` of an object to at most `max_chars` characters.
    pub fn cut_within(&mut self, name: &str, max_chars: usize) {
        if let Some(member) = self.inner_mut().get_mut(name) {
            cut_all(member, max_chars);
        }
    }

    /// Sets a flag of an object. A flag holds no text, so nothing can come back by it.
    pub fn set_flag(&mut self, field: &str, value: bool) {
        if let Value::Object(members) = self.inner_mut() {
            members.insert(field.to_owned(), Value::Bool(value));
        }
    }
}

impl Redacted<ToolError> {
    /// Cuts the message to at most `max_chars` characters.
    #[must_use]
    pub fn cut_message(mut self, max_chars: usize) -> Redacted<ToolError> {
        cut(&mut self.inner_mut().message, max_chars);
        self
    }
}

fn cut(text: &mut String, max_chars: usize) {
    if let Some((end, _)) = text.char_indices().nth(max_chars) {
        text.truncate(end);
    }
}

fn cut_all(value: &mut Value, max_chars: usize) {
    match value {
        Value::String(text) => cut(text, max_chars),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_all(item, max_chars)),
        Value::Object(members) => members.values_mut().for_each(|member| cut_all(member, max_chars)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use transom_verbs::Reason;

    use super::*;
    use crate::redact::Secret;

    fn redactor() -> Redactor {
        Redactor::new([Secret::new("pw", "hunter2-Quartz!").unwrap()]).unwrap()
    }

    #[test]
    fn an_error_loses_its_secrets_and_keeps_its_code() {
        let error = ToolError::failed(Reason::Script, "bad hunter2-Quartz!").with_hint("say hunter2-Quartz! again");
        let clean = redactor().error(&error).into_inner();
        assert_eq!((clean.code, clean.reason), (error.code, error.reason));
        assert_eq!(clean.message, "bad [secret:pw]");
        assert_eq!(clean.hint.as_deref(), Some("say [secret:pw] again"));
    }

    #[test]
    fn a_text_is_cut_between_characters_or_behind_a_line() {
        let of = |text: &str| redactor().value(&json!({"text": text}));
        let mut short = of("äöü");
        assert!(!short.cut_field("text", 3, CutAt::Char));
        let mut text = of("äöü");
        assert!(text.cut_field("text", 2, CutAt::Char));
        assert_eq!(text.get()["text"], "äö");
        let mut lines = of("one\ntwo\nthree");
        assert!(lines.cut_field("text", 7, CutAt::Line));
        assert_eq!(lines.get()["text"], "one\ntwo");
        let mut lines = of("one\ntwo\nthree");
        assert!(lines.cut_field("text", 6, CutAt::Line));
        lines.set_flag("truncated", true);
        assert_eq!(lines.get(), &json!({"text": "one", "truncated": true}));
        assert!(!of("x").cut_field("none", 0, CutAt::Char));
    }

    #[test]
    fn messages_and_members_are_cut_after_their_secrets_are_gone() {
        let error = ToolError::failed(Reason::Script, format!("{}hunter2-Quartz!", "x".repeat(10)));
        assert_eq!(redactor().error(&error).cut_message(14).into_inner().message, "xxxxxxxxxx[sec");
        let mut value = redactor().value(&json!({"state": {"dialogs": [{"message": "abcdef"}]}, "other": "abcdef"}));
        value.cut_within("state", 3);
        assert_eq!(value.get(), &json!({"state": {"dialogs": [{"message": "abc"}]}, "other": "abcdef"}));
    }

    #[test]
    fn the_margin_grows_with_the_longest_secret() {
        assert_eq!(Redactor::none().margin_chars(), 0);
        assert!(redactor().margin_chars() >= "hunter2-Quartz!".len() * "&#x0068;".len());
    }
}
