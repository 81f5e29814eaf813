//! The name under which a run keeps a file that a server, a page or a caller named.
//!
//! A [`FileName`] is one component and nothing more: no separator, no control or bidirectional character, no name that
//! Windows takes for a device, at most 255 bytes, never empty. Only the functions here make one. The name is a label: where
//! the bytes lie is decided by the run's own handle, never by this.
//!
//! The candidates of a download, in order: `filename*` of the Content-Disposition, its `filename`, the last segment of the
//! URL's path, and `download`. The first that cleaning leaves non-empty wins.
//!
//! Not here: Unicode normalisation, RFC 2047, extensions guessed from a content type; and making a name unique in a run.

use std::fmt;

use percent_encoding::percent_decode_str;
use serde::Serialize;
use url::Url;

/// Longest name, in bytes: what common file systems take for one component.
pub const NAME_BYTES: usize = 255;

/// Longest extension that survives when a name is cut, in bytes, its dot included; what is longer is no extension.
const EXTENSION_BYTES: usize = 32;

/// What a download is called when nothing else is left.
const FALLBACK: &str = "download";

/// A name that is safe to show and to save under; see the head of this file for what it can't hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct FileName(String);

impl FileName {
    /// The name of a download. `content_disposition` is the header's value, empty if there was none; `url` is what the
    /// bytes came from, after redirects (only http and https URLs give a name).
    #[must_use]
    pub fn of_download(content_disposition: &str, url: &Url) -> FileName {
        let extended = parameter(content_disposition, "filename*").and_then(|value| decode_extended(&value));
        let plain = || parameter(content_disposition, "filename").map(|value| decode_percent(&value));
        let segment = || {
            let segment = url.path().rsplit('/').next().filter(|_| matches!(url.scheme(), "http" | "https"));
            segment.map(decode_percent)
        };
        extended
            .and_then(|name| FileName::clean(&name))
            .or_else(|| plain().and_then(|name| FileName::clean(&name)))
            .or_else(|| segment().and_then(|name| FileName::clean(&name)))
            .unwrap_or_else(|| FileName(FALLBACK.to_owned()))
    }

    /// What is left of a name that somebody chose once everything unsafe is taken out; `None` if that is nothing.
    /// Percent signs are not decoded.
    #[must_use]
    pub fn clean(name: &str) -> Option<FileName> {
        let visible: String = name.chars().filter(|c| !is_removed(*c)).collect();
        let component = visible.rsplit(['/', '\\']).next().unwrap_or_default();
        let undriven = match component.as_bytes() {
            [letter, b':', ..] if letter.is_ascii_alphabetic() => component.get(2..).unwrap_or_default(),
            _ => component,
        };
        let replaced = undriven.replace(['<', '>', ':', '"', '|', '?', '*'], "_");
        let stripped = strip_end(replaced.trim_start_matches(' '));
        let cut = shorten(undeviced(stripped.to_owned()));
        // Cutting can lay a device name bare: `CON`, many spaces, and more.
        let name = shorten(undeviced(cut));
        (!name.is_empty()).then_some(FileName(name))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Control characters, and those that turn or hide text so that a name reads as another.
fn is_removed(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn strip_end(name: &str) -> &str {
    name.trim_end_matches([' ', '.'])
}

/// Puts `_` before a name that Windows would open as a device, whatever its extension.
fn undeviced(name: String) -> String {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let numbered = ["COM", "LPT"].iter().find_map(|port| stem.strip_prefix(port));
    let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || matches!(numbered, Some("1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"));
    if device { format!("_{name}") } else { name }
}

/// Cuts to [`NAME_BYTES`] between scalar values, the extension kept.
fn shorten(name: String) -> String {
    if name.len() <= NAME_BYTES {
        return name;
    }
    let extension = name.rfind('.').filter(|dot| *dot > 0).and_then(|dot| name.get(dot..));
    match extension.filter(|extension| extension.len() <= EXTENSION_BYTES) {
        Some(extension) => {
            let rest = name.get(..name.len() - extension.len()).unwrap_or_default();
            format!("{}{extension}", prefix_of(rest, NAME_BYTES - extension.len()))
        }
        None => strip_end(prefix_of(&name, NAME_BYTES)).to_owned(),
    }
}

fn prefix_of(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or_default()
}

/// The first parameter of exactly this name, unquoted.
fn parameter(header: &str, wanted: &str) -> Option<String> {
    split_unquoted(header).into_iter().find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim_matches([' ', '\t']).eq_ignore_ascii_case(wanted).then(|| unquoted(value.trim_matches([' ', '\t'])))
    })
}

/// The parts between semicolons that stand outside double quotes.
fn split_unquoted(header: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in header.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => {
                parts.extend(header.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(header.get(from..));
    parts
}

/// What stands in the quotes, with `\"` and `\\` undone; a value without quotes as it is.
fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let mut text = String::new();
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => text.push(chars.next_if(|next| matches!(next, '"' | '\\')).unwrap_or('\\')),
            _ => text.push(c),
        }
    }
    text
}

/// `charset'language'value`; `None` if it is not valid, so that the next candidate is asked.
fn decode_extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_language, value) = rest.split_once('\'')?;
    let escapes_are_whole = value
        .split('%')
        .skip(1)
        .all(|rest| matches!(rest.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit()));
    if !escapes_are_whole {
        return None;
    }
    if charset.eq_ignore_ascii_case("utf-8") {
        return percent_decode_str(value).decode_utf8().ok().map(Into::into);
    }
    charset.eq_ignore_ascii_case("iso-8859-1").then(|| percent_decode_str(value).map(char::from).collect())
}

/// Decoded once; an invalid `%` stays, and so does the whole value if the bytes are no UTF-8.
fn decode_percent(value: &str) -> String {
    percent_decode_str(value).decode_utf8().map_or_else(|_| value.to_owned(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(header: &str, url: &str) -> String {
        FileName::of_download(header, &Url::parse(url).unwrap()).to_string()
    }

    #[test]
    fn a_name_is_taken_from_the_first_candidate_that_leaves_something() {
        let both = "attachment; filename=\"a.txt\"; filename*=UTF-8''%C3%A4.txt";
        assert_eq!(named(both, "https://files.test/u.txt"), "ä.txt");
        assert_eq!(named("attachment; filename=\"a.txt\"", "https://files.test/u.txt"), "a.txt");
        assert_eq!(named("attachment; filename=\"...\"", "https://files.test/u%20v.txt"), "u v.txt");
        assert_eq!(named("", "https://files.test/"), "download");
        assert_eq!(named("", "data:text/plain,a/secret.txt"), "download");
    }

    #[test]
    fn a_chosen_name_is_cleaned_but_not_decoded_and_may_leave_nothing() {
        assert_eq!(FileName::clean("../../etc/pass%2fwd").unwrap().as_str(), "pass%2fwd");
        assert_eq!(FileName::clean("notes.txt").unwrap().as_str(), "notes.txt");
        assert_eq!(FileName::clean("a/.. "), None);
        assert_eq!(FileName::clean(""), None);
    }

    #[test]
    fn cutting_a_long_name_lays_no_device_name_bare() {
        let spaces = " ".repeat(300);
        assert_eq!(FileName::clean(&format!("CON{spaces}x")).unwrap().as_str(), "_CON");
        let cut = FileName::clean(&format!("CON{spaces}x.txt")).unwrap();
        assert!(
            cut.as_str().starts_with("_CON ") && cut.as_str().ends_with(".txt") && cut.as_str().len() == NAME_BYTES
        );
    }
}
