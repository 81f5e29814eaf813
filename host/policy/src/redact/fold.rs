//! The normal form in which secrets and texts meet: one character at a time, without context.
//!
//! Case goes (`ß` and `SS` are alike), compatibility forms go (full-width letters), whitespace, control and invisible
//! characters go, and so do combining marks: then NFC and NFD are alike in every mixture, and `pa55worter` gives a secret
//! `pä55wörter` away as well as the secret itself does. A hyphen, a comma or any other character stays.
//!
//! Because no character looks at its neighbours, the form of a text is the forms of its characters in a row; that is what
//! lets a hit be mapped back. Not here: escapes, which become characters first (`units.rs`).

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

/// In [`ASCII`]: this byte leaves nothing behind.
pub(super) const DROPPED: u8 = 0;

/// In [`ASCII`]: not an ASCII byte, so the whole character has to be looked at.
pub(super) const WIDE: u8 = 0xff;

/// The normal form of each ASCII byte, [`DROPPED`], or [`WIDE`].
pub(super) static ASCII: [u8; 256] = ascii_table();

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time; the index is below the length")]
const fn ascii_table() -> [u8; 256] {
    let mut table = [WIDE; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = if byte.is_ascii_graphic() { byte.to_ascii_lowercase() } else { DROPPED };
        byte += 1;
    }
    table
}

/// Appends the normal form of one character to `form`.
pub(super) fn fold_char(c: char, form: &mut String) {
    if c.is_ascii() {
        if c.is_ascii_graphic() {
            form.push(c.to_ascii_lowercase());
        }
        return;
    }
    decompose_compatible(c, |part| {
        for upper in part.to_uppercase() {
            form.extend(upper.to_lowercase().filter(|c| !is_ignored(*c)));
        }
    });
}

/// The normal form of a text that holds no escapes.
pub(super) fn fold(text: &str) -> String {
    let mut form = String::with_capacity(text.len());
    text.chars().for_each(|c| fold_char(c, &mut form));
    form
}

/// Whether a character belongs to the one before it, so that a hit which ends there takes it along.
pub(super) fn is_mark(c: char) -> bool {
    !c.is_ascii() && (canonical_combining_class(c) != 0 || is_variation_selector(c))
}

fn is_ignored(c: char) -> bool {
    c.is_whitespace() || c.is_control() || is_mark(c) || is_invisible(c)
}

fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Characters that leave no trace on a screen: Unicode's `Default_Ignorable_Code_Point`, and the interlinear marks.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::UnicodeNormalization;

    #[test]
    fn case_marks_whitespace_and_invisible_characters_make_no_difference() {
        assert_eq!(fold("PÄ55WÖRTER-GRÖSSE"), fold("pä55wörter-größe"));
        assert_eq!(fold("h\u{200b}un\u{ad}ter 2\r\n\t-\u{a0}Quartz!"), "hunter2-quartz!");
        assert_eq!(fold("ｈｕｎｔｅｒ２"), "hunter2");
        assert_eq!(fold("ΣΊΣΥΦΟΣ"), fold("σίσυφος"));
        assert_eq!(fold("İstanbul"), fold("istanbul"));
    }

    #[test]
    fn other_characters_stay() {
        assert_eq!(fold("a-b,c.d_e+f=g"), "a-b,c.d_e+f=g");
        assert_ne!(fold("hunter2"), fold("hunter3"));
        assert_eq!(fold("пароль"), "пароль");
    }

    #[test]
    fn both_normalisation_forms_of_every_character_meet() {
        for c in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let plain = fold(c.encode_utf8(&mut [0; 4]));
            let (nfc, nfd) =
                (fold(&String::from_iter([c].into_iter().nfc())), fold(&String::from_iter([c].into_iter().nfd())));
            assert!(plain == nfc && plain == nfd, "{c:?}");
        }
    }
}
