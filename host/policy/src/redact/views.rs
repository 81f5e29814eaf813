//! Decoded views of a text: its normal form under a set of escape families, with offsets that lead back.
//!
//! A view is made by one walk over the text, unit by unit. The walk that searches keeps no map, since most texts hold no
//! secret; only when there are hits does a second walk of the same kind translate their ends into the text.
//!
//! Why several views: an escape swallows what stands before a secret. In `C:\netpass99` the view with backslashes decoded
//! reads a line end and `etpass99`, the plain view finds the secret. A secret may itself hold `%41` or `&lt;`. So every
//! family is tried alone and all are tried together, with markup as text (a secret in an attribute) and without.
//!
//! Not here: what is searched for (`needles.rs`), and what is done about the hits (`spans.rs`).

use std::ops::Range;

use super::fold::{ASCII, DROPPED, WIDE, fold_char, is_mark};
use super::units::{BACKSLASH, Decoded, Decoder, ENTITY, Families, MARKUP, PERCENT, PLUS, family_of};

/// The family sets to try for a text, the plain one first.
pub(super) fn family_sets(text: &str, secrets_hold_spaces: bool) -> Vec<Families> {
    let has = |byte: u8, family: Families| if text.as_bytes().contains(&byte) { family } else { 0 };
    let escapes = has(b'%', PERCENT) | has(b'&', ENTITY) | has(b'\\', BACKSLASH);
    let markup = has(b'<', MARKUP) & has(b'>', MARKUP);
    let plus = if secrets_hold_spaces { has(b'+', PLUS) } else { 0 };
    let mut sets = vec![0];
    for set in [
        escapes,
        escapes | markup,
        escapes & PERCENT,
        escapes & ENTITY,
        (escapes & ENTITY) | markup,
        escapes & BACKSLASH,
        (escapes & PERCENT) | plus,
        escapes | markup | plus,
    ] {
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}

/// The normal form of `text` under `families`, and the families that had something to decode. If there was none, this
/// is the plain view again.
pub(super) fn normal_form(text: &str, families: Families) -> (Vec<u8>, Families) {
    let mut form = Form(Vec::with_capacity(text.len()));
    let used = walk(text, families, &mut form);
    (form.0, used)
}

/// Translates hits, given as ranges of the view's bytes, into ranges of the text.
///
/// A hit takes whole units: an escape of which only a part was meant, and the marks that belong to its last character.
pub(super) fn locate(text: &str, families: Families, hits: &[Range<usize>]) -> Vec<Range<usize>> {
    let order_by = |key: fn(&Range<usize>) -> usize| {
        let mut order: Vec<(usize, usize)> = hits.iter().map(key).zip(0..).collect();
        order.sort_unstable();
        order
    };
    let mut locator = Locator {
        position: 0,
        starts: order_by(|hit| hit.start).into_iter().peekable(),
        ends: order_by(|hit| hit.end).into_iter().peekable(),
        just_ended: Vec::new(),
        found: vec![0..0; hits.len()],
    };
    walk(text, families, &mut locator);
    locator.found
}

/// What a walk tells of each unit.
trait Sink {
    /// One byte of the text at `at`, with a normal form of one byte.
    fn byte(&mut self, at: usize, form: u8);
    /// A unit at `source` with its normal form, which may be empty; then `is_mark` says that it belongs to the unit before.
    fn unit(&mut self, source: Range<usize>, form: &str, is_mark: bool);
}

fn walk(text: &str, families: Families, sink: &mut impl Sink) -> Families {
    let mut decoder = Decoder::new(text);
    let mut used = 0;
    let mut form = String::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let plain = ASCII.get(usize::from(byte)).copied().unwrap_or(WIDE);
        if plain == DROPPED {
            at += 1;
            continue;
        }
        let unit = if family_of(byte) & families == 0 { None } else { decoder.unit_at(at, families) };
        if unit.is_none() && plain != WIDE {
            sink.byte(at, plain);
            at += 1;
            continue;
        }
        form.clear();
        let (n_bytes, mark) = match unit {
            Some(unit) => {
                used |= unit.family;
                let mark = match unit.decoded {
                    Decoded::Char(c) => {
                        fold_char(c, &mut form);
                        is_mark(c)
                    }
                    Decoded::Text(chars) => {
                        chars.chars().for_each(|c| fold_char(c, &mut form));
                        chars.chars().all(is_mark)
                    }
                    Decoded::Nothing => false,
                };
                (unit.n_bytes, mark)
            }
            None => {
                let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                fold_char(c, &mut form);
                (c.len_utf8(), is_mark(c))
            }
        };
        sink.unit(at..at + n_bytes, &form, mark);
        at += n_bytes;
    }
    used
}

struct Form(Vec<u8>);

impl Sink for Form {
    fn byte(&mut self, _at: usize, form: u8) {
        self.0.push(form);
    }

    fn unit(&mut self, _source: Range<usize>, form: &str, _is_mark: bool) {
        self.0.extend_from_slice(form.as_bytes());
    }
}

/// Follows the walk with two sorted lists of places; each pair is a place in the view and the index of its hit.
struct Locator {
    position: usize,
    starts: std::iter::Peekable<std::vec::IntoIter<(usize, usize)>>,
    ends: std::iter::Peekable<std::vec::IntoIter<(usize, usize)>>,
    just_ended: Vec<usize>,
    found: Vec<Range<usize>>,
}

impl Locator {
    fn advance(&mut self, source: Range<usize>, n_form: usize) {
        self.just_ended.clear();
        self.position += n_form;
        let position = self.position;
        while let Some((_, hit)) = self.starts.next_if(|(start, _)| *start < position) {
            self.found.get_mut(hit).into_iter().for_each(|found| found.start = source.start);
        }
        // A hit may begin or end inside a unit (`ß` is `ss`): it takes the unit whole.
        while let Some((_, hit)) = self.ends.next_if(|(end, _)| *end <= position) {
            self.found.get_mut(hit).into_iter().for_each(|found| found.end = source.end);
            self.just_ended.push(hit);
        }
    }
}

impl Sink for Locator {
    fn byte(&mut self, at: usize, _form: u8) {
        self.advance(at..at + 1, 1);
    }

    fn unit(&mut self, source: Range<usize>, form: &str, is_mark: bool) {
        if !form.is_empty() {
            self.advance(source, form.len());
        } else if is_mark {
            for hit in &self.just_ended {
                self.found.get_mut(*hit).into_iter().for_each(|found| found.end = source.end);
            }
        } else {
            self.just_ended.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(text: &str) -> Families {
        family_sets(text, true).into_iter().fold(0, |all, set| all | set)
    }

    fn located<'t>(text: &'t str, needle: &str) -> &'t str {
        let families = all_of(text);
        let form = String::from_utf8(normal_form(text, families).0).unwrap();
        let start = form.find(needle).unwrap_or_else(|| panic!("{needle} in {form}"));
        let hit = start..start + needle.len();
        &text[locate(text, families, std::slice::from_ref(&hit))[0].clone()]
    }

    #[test]
    fn a_hit_is_led_back_to_whole_units() {
        assert_eq!(located("x %68%75n&#116;<b>er</b>2 y", "hunter2"), "%68%75n&#116;<b>er</b>2");
        assert_eq!(located("groß!", "gros"), "groß");
        assert_eq!(located("a cle\u{301}\u{323} b", "cle"), "cle\u{301}\u{323}");
        assert_eq!(located("a cle%CC%81 b", "cle"), "cle%CC%81");
        assert_eq!(located("a+b \\u0063", "abc"), "a+b \\u0063");
    }

    #[test]
    fn a_text_without_escapes_has_the_plain_view_only() {
        assert_eq!(family_sets("nothing to decode > here", true), [0]);
        assert_eq!(family_sets("50%", true), [0, PERCENT]);
        assert_eq!(normal_form("50% off", PERCENT), (b"50%off".to_vec(), 0));
    }
}
