//! Redact first, cut afterwards: the page is asked for a little more text than the caller wants, so that a secret that lies across
//! the end is seen whole before the text is cut.

use serde_json::Value;
use transom_policy::redact::{CutAt, Redacted};
use transom_verbs::{Call, registry::Input};

/// How to cut a result once it is redacted.
#[derive(Debug)]
pub(crate) struct Cut {
    field: Option<(&'static str, usize, CutAt)>,
}

impl Cut {
    /// Has `call` ask for `margin` characters more than its caller wants, and remembers what that was.
    pub(crate) fn widen(call: &mut Call, margin: usize) -> Cut {
        let more = u32::try_from(margin).unwrap_or(u32::MAX);
        let field = match &mut call.input {
            Input::Extract(input) => {
                let wanted = input.max_chars;
                input.max_chars = wanted.saturating_add(more);
                Some(("text", wanted as usize, CutAt::Char))
            }
            Input::Snapshot(input) => {
                let wanted = input.max_chars;
                input.max_chars = wanted.saturating_add(more);
                Some(("snapshot", wanted as usize, CutAt::Line))
            }
            _ => None,
        };
        Cut { field }
    }

    /// Cuts the redacted result to what the caller wanted, and says so in `truncated`.
    pub(crate) fn apply(&self, result: &mut Redacted<Value>) {
        if let Some((field, max_chars, at)) = self.field
            && result.cut_field(field, max_chars, at)
        {
            result.set_flag("truncated", true);
        }
    }
}
