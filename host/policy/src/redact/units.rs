//! The escapes in which a text can spell a character, decoded one unit at a time.
//!
//! | family | spelled |
//! |---|---|
//! | [`PERCENT`] | `%68`, several for one character of UTF-8 (else Latin-1), `%u0068`, surrogate pairs of it |
//! | [`PLUS`] | `+` for a space, as forms do |
//! | [`ENTITY`] | `&amp;`, `&eacute`, `&#104;`, `&#x000068;` |
//! | [`BACKSLASH`] | `\n`, `\"`, `\-`, `\x68`, `\u0068`, surrogate pairs of it, `\u{1F511}` |
//! | [`MARKUP`] | `<b>`, `</b>`, `<!-- … -->`: nothing at all |
//!
//! What is no valid escape is no unit: the caller takes its first character as it stands. A unit is decoded once; what it
//! gives is not looked at again.
//!
//! Not here: which families are tried together (`views.rs`), and case, marks and whitespace (`fold.rs`).

use std::collections::HashMap;
use std::sync::LazyLock;

/// A set of families, as bits.
pub(super) type Families = u8;
/// Percent signs.
pub(super) const PERCENT: Families = 1;
/// A plus sign for a space.
pub(super) const PLUS: Families = 2;
/// HTML entities.
pub(super) const ENTITY: Families = 4;
/// Backslashes.
pub(super) const BACKSLASH: Families = 8;
/// HTML tags and comments.
pub(super) const MARKUP: Families = 16;

/// Longest tag or comment that is skipped inside a hit, in bytes. Real tags between the letters of a word are shorter; a
/// bound keeps a hit from growing over half a page, and a stream from having to wait for a `>` that never comes.
const MARKUP_BYTES: usize = 1_024;

/// Most digits of a numeric entity, leading zeros included: ten times what a character needs.
const ENTITY_DIGITS: usize = 64;

/// What one unit stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    Char(char),
    Text(&'static str),
    Nothing,
}

/// One escape: how many bytes of the text it takes, what it stands for, and its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) n_bytes: usize,
    pub(super) decoded: Decoded,
    pub(super) family: Families,
}

/// The family whose escapes begin with this byte, or none.
pub(super) fn family_of(byte: u8) -> Families {
    match byte {
        b'%' => PERCENT,
        b'+' => PLUS,
        b'&' => ENTITY,
        b'\\' => BACKSLASH,
        b'<' => MARKUP,
        _ => 0,
    }
}

/// Decodes escapes of one text, front to back. It remembers where markup can end, so that a text full of `<` costs no
/// more than one look at each byte.
pub(super) struct Decoder<'t> {
    text: &'t str,
    tag_end: NextFound,
    comment_end: NextFound,
}

impl<'t> Decoder<'t> {
    pub(super) fn new(text: &'t str) -> Decoder<'t> {
        Decoder { text, tag_end: NextFound::new(">"), comment_end: NextFound::new("-->") }
    }

    /// The escape that begins at `at`, if its family is among `families`. `at` only ever grows.
    pub(super) fn unit_at(&mut self, at: usize, families: Families) -> Option<Unit> {
        let rest = self.text.get(at..)?;
        let family = family_of(*rest.as_bytes().first()?) & families;
        let (n_bytes, decoded) = match family {
            PERCENT => percent(rest)?,
            PLUS => (1, Decoded::Nothing),
            ENTITY => entity(rest)?,
            BACKSLASH => backslash(rest)?,
            MARKUP => (self.markup(at, rest)?, Decoded::Nothing),
            _ => return None,
        };
        Some(Unit { n_bytes, decoded, family })
    }

    fn markup(&mut self, at: usize, rest: &str) -> Option<usize> {
        let end = if rest.starts_with("<!--") {
            self.comment_end.after(self.text, at + "<!--".len())?
        } else {
            let opens = matches!(rest.as_bytes(), [_, next, ..] if next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'));
            if !opens {
                return None;
            }
            self.tag_end.after(self.text, at)?
        };
        Some(end - at).filter(|n_bytes| *n_bytes <= MARKUP_BYTES)
    }
}

/// The next place of a mark, looked for only once.
struct NextFound {
    mark: &'static str,
    from: usize,
    end: Option<usize>,
}

impl NextFound {
    fn new(mark: &'static str) -> NextFound {
        NextFound { mark, from: usize::MAX, end: None }
    }

    /// Where the first mark at or after `at` ends.
    fn after(&mut self, text: &str, at: usize) -> Option<usize> {
        let known = self.from <= at && self.end.is_none_or(|end| at + self.mark.len() <= end);
        if !known {
            self.from = at;
            self.end = text.get(at..)?.find(self.mark).map(|found| at + found + self.mark.len());
        }
        self.end
    }
}

fn percent(rest: &str) -> Option<(usize, Decoded)> {
    if let Some(unit) = utf16(rest, "%u") {
        return Some(unit);
    }
    let byte_at = |index: usize| -> Option<u8> {
        match rest.as_bytes().get(3 * index..3 * index + 3)? {
            [b'%', high, low] => Some(hex_digit(*high)? << 4 | hex_digit(*low)?),
            _ => None,
        }
    };
    let first = byte_at(0)?;
    let n_units = match first {
        0x00..=0x7f => return Some((3, Decoded::Char(char::from(first)))),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let mut bytes = [0; 4];
    for (index, byte) in bytes.iter_mut().enumerate().take(n_units) {
        *byte = byte_at(index).unwrap_or_default();
    }
    // A missing byte is a NUL here, which makes the character invalid.
    match bytes.get(..n_units).and_then(|bytes| str::from_utf8(bytes).ok()).and_then(|text| text.chars().next()) {
        Some(c) => Some((3 * n_units, Decoded::Char(c))),
        // Not UTF-8: older pages send Latin-1.
        None => Some((3, Decoded::Char(char::from(first)))),
    }
}

fn backslash(rest: &str) -> Option<(usize, Decoded)> {
    if let Some(unit) = utf16(rest, "\\u").or_else(|| braced(rest)) {
        return Some(unit);
    }
    match rest.as_bytes() {
        [_, b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            Some((4, Decoded::Char(char::from(hex_digit(*high)? << 4 | hex_digit(*low)?))))
        }
        // Line ends, tabs and their like; as whitespace they vanish from the normal form whichever it was.
        [_, b'n' | b'r' | b't' | b'f' | b'b' | b'v' | b'0', ..] => Some((2, Decoded::Nothing)),
        [_, next, ..] if next.is_ascii_punctuation() => Some((2, Decoded::Char(char::from(*next)))),
        [_, next, ..] if next.is_ascii_whitespace() => Some((2, Decoded::Nothing)),
        _ => None,
    }
}

/// `\u0068` or `%u0068`, and the pair of two that spells one character beyond the basic plane.
fn utf16(rest: &str, mark: &str) -> Option<(usize, Decoded)> {
    let unit_of = |text: &str| -> Option<u16> {
        let digits = text.strip_prefix(mark)?.get(..4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit_of(rest)?;
    let n_bytes = mark.len() + 4;
    let second = rest.get(n_bytes..).and_then(unit_of);
    let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    match (char::from_u32(u32::from(first)), pair) {
        (Some(c), _) => Some((n_bytes, Decoded::Char(c))),
        (None, Some(c)) => Some((2 * n_bytes, Decoded::Char(c))),
        // Half a pair is no character, but nothing that a reader would see either.
        (None, None) => Some((n_bytes, Decoded::Nothing)),
    }
}

/// `\u{1F511}`
fn braced(rest: &str) -> Option<(usize, Decoded)> {
    let inner = rest.strip_prefix("\\u{")?;
    let n_digits = inner.bytes().take(8).take_while(u8::is_ascii_hexdigit).count();
    let c = char::from_u32(u32::from_str_radix(inner.get(..n_digits)?, 16).ok()?)?;
    inner.get(n_digits..)?.starts_with('}').then_some((n_digits + 4, Decoded::Char(c)))
}

fn entity(rest: &str) -> Option<(usize, Decoded)> {
    if let Some(number) = rest.strip_prefix("&#") {
        let (digits, radix) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let n_digits = digits.bytes().take(ENTITY_DIGITS).take_while(|byte| char::from(*byte).is_digit(radix)).count();
        let value = digits.get(..n_digits)?.trim_start_matches('0');
        let c = char::from_u32(if value.is_empty() { 0 } else { u32::from_str_radix(value, radix).ok()? });
        let c = c.filter(|_| n_digits > 0)?;
        let semicolon = usize::from(digits.get(n_digits..)?.starts_with(';'));
        return Some((rest.len() - digits.len() + n_digits + semicolon, Decoded::Char(c)));
    }
    let n_name = rest.bytes().skip(1).take(LONGEST_NAME).take_while(u8::is_ascii_alphanumeric).count();
    let named = |n_bytes: usize| Some((n_bytes, Decoded::Text(NAMED.get(rest.get(..n_bytes)?)?)));
    // With its semicolon; else the longest of the old names that do without.
    named(n_name + 2).or_else(|| (3..=n_name.min(LONGEST_BARE_NAME) + 1).rev().find_map(named))
}

/// Longest name of an entity, in bytes without `&` and `;`; a test holds it to the table.
const LONGEST_NAME: usize = 31;

/// Longest name of an entity that needs no `;`, in bytes without `&`; a test holds it to the table.
const LONGEST_BARE_NAME: usize = 6;

/// The HTML standard's table of names, with `&` and, where the standard has one, `;`.
static NAMED: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| entities::ENTITIES.iter().map(|entity| (entity.entity, entity.characters)).collect());

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<(usize, Decoded)> {
        Decoder::new(text).unit_at(0, !0).map(|unit| (unit.n_bytes, unit.decoded))
    }

    #[test]
    fn each_escape_is_one_unit() {
        for (text, n_bytes, c) in [
            ("%68x", 3, 'h'),
            ("%C3%a9%20", 6, 'é'),
            ("%F0%9f%94%91", 12, '🔑'),
            ("%E9x", 3, 'é'),
            ("%C3%20", 3, 'Ã'),
            ("%u00E9", 6, 'é'),
            ("%uD83D%uDD11", 12, '🔑'),
            ("\\u00e9", 6, 'é'),
            ("\\ud83d\\udd11x", 12, '🔑'),
            ("\\u{1F511}", 9, '🔑'),
            ("\\x68", 4, 'h'),
            ("\\\"", 2, '"'),
            ("\\\\n", 2, '\\'),
            ("&#104;", 6, 'h'),
            ("&#x000068;", 10, 'h'),
            ("&#104x", 5, 'h'),
        ] {
            assert_eq!(decoded(text), Some((n_bytes, Decoded::Char(c))), "{text}");
        }
        assert_eq!(decoded("&amp;x"), Some((5, Decoded::Text("&"))));
        assert_eq!(decoded("&eacutex"), Some((7, Decoded::Text("é"))));
        assert_eq!(decoded("&notin;"), Some((7, Decoded::Text("∉"))));
        for nothing in ["\\n", "\\\n", "+", "<b>", "</b>", "<!-- > -->", "<span class=\"c\">", "\\ud83d"] {
            assert_eq!(decoded(nothing), Some((nothing.len(), Decoded::Nothing)), "{nothing}");
        }
    }

    #[test]
    fn what_is_no_escape_is_no_unit() {
        for text in [
            "",
            "x",
            "%",
            "%6",
            "%zz",
            "%u12",
            "\\",
            "\\w",
            "\\é",
            "&",
            "&;",
            "&#;",
            "&#x;",
            "&nosuch;",
            "&#x110000;",
            "<",
            "< b>",
            "<3",
            "<b",
        ] {
            assert_eq!(decoded(text), None, "{text}");
        }
        assert_eq!(decoded(&format!("<b {}>", "x".repeat(MARKUP_BYTES))), None);
    }

    #[test]
    fn the_lengths_of_entity_names_are_those_of_the_table() {
        let longest = |bare: bool| {
            let names = NAMED.keys().filter(|name| name.ends_with(';') != bare);
            names.map(|name| name.trim_matches(['&', ';']).len()).max().unwrap()
        };
        assert_eq!((longest(false), longest(true)), (LONGEST_NAME, LONGEST_BARE_NAME));
    }
}
