//! What holds for every secret, every spelling of it, and every text around it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::{Value, json};
use transom_policy::redact::{Redactor, Secret};
use unicode_normalization::UnicodeNormalization;

const MARK: &str = "[secret:pw]";

fn redactor(value: &str) -> Redactor {
    Redactor::new([Secret::new("pw", value).unwrap()]).unwrap()
}

/// Values of 8 characters and more: letters of several scripts, punctuation that escapes use, spaces within.
fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9!#$%&*+,./:;<=>?@\\\\^_`|~\"'{}()-]{8,24}",
        "[a-z0-9äöüßéåÅñπЖ中🔑+&<%\\\\-]{8,16}",
        "[a-z]{4,9} [a-zA-Z0-9&+%]{4,9}",
    ]
}

/// Text of letters that no base64 has: with those, even a neighbour could look like part of a token.
fn surroundings() -> impl Strategy<Value = String> {
    "([あいう]{1,4}[ \n.]{1,2}){0,4}[ |«]"
}

fn percent(text: &str, hex: impl Fn(u8) -> String, is_plain: impl Fn(u8) -> bool) -> String {
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{}", hex(byte)) })
        .collect()
}

fn utf16(text: &str, mark: &str) -> String {
    text.encode_utf16().map(|unit| format!("{mark}{unit:04x}")).collect()
}

fn between(text: &str, filling: &str) -> String {
    text.chars().map(String::from).collect::<Vec<_>>().join(filling)
}

/// Each character as HTML has it, with markup between them.
fn html(text: &str, markup: &str) -> String {
    let escaped = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        _ => c.to_string(),
    };
    text.chars().map(escaped).collect::<Vec<_>>().join(markup)
}

fn entities(text: &str) -> String {
    text.chars()
        .zip(0..)
        .map(|(c, index)| match index % 3 {
            0 => format!("&#{};", u32::from(c)),
            1 => format!("&#x{:06X};", u32::from(c)),
            _ => match c {
                '&' => "&amp;".to_owned(),
                '<' => "&lt;".to_owned(),
                _ => c.to_string(),
            },
        })
        .collect()
}

/// Every spelling that the redactor promises to find.
fn spellings(value: &str) -> Vec<(&'static str, String)> {
    let in_json = serde_json::to_string(value).unwrap();
    let mut all = vec![
        ("as is", value.to_owned()),
        ("upper case", value.to_uppercase()),
        ("NFC", value.nfc().collect()),
        ("NFD", value.nfd().collect()),
        ("percent, every byte", percent(value, |byte| format!("{byte:02x}"), |_| false)),
        ("percent, reserved", percent(value, |byte| format!("{byte:02X}"), |byte| byte.is_ascii_alphanumeric())),
        (
            "form",
            percent(value, |byte| format!("{byte:02X}"), |byte| byte.is_ascii_alphanumeric() || byte == b' ')
                .replace(' ', "+"),
        ),
        ("percent, NFD", percent(&value.nfd().collect::<String>(), |byte| format!("{byte:02X}"), |_| false)),
        ("%u", utf16(value, "%u")),
        ("\\u", utf16(value, "\\u")),
        ("JSON", in_json[1..in_json.len() - 1].to_owned()),
        (
            "backslashes",
            value.chars().map(|c| if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() }).collect(),
        ),
        ("entities", entities(value)),
        ("hex", value.bytes().map(|byte| format!("{byte:02x}")).collect()),
        ("hex, upper", value.bytes().map(|byte| format!("{byte:02X}")).collect()),
        ("zero width", between(value, "\u{200b}")),
        ("soft hyphens", between(value, "\u{ad}")),
        ("spaces", between(value, " ")),
        ("line breaks", between(value, "\r\n  ")),
        ("tags", html(value, "</b><b class=\"x\">")),
        ("comments", html(value, "<!-- > -->")),
    ];
    for before in ["", "x", "xy"] {
        let data = format!("{before}{value}");
        all.push(("base64", STANDARD.encode(&data)));
        all.push(("base64, no padding", STANDARD_NO_PAD.encode(&data)));
        all.push(("base64, URL", URL_SAFE.encode(&data)));
        all.push(("base64, URL, no padding", URL_SAFE_NO_PAD.encode(data + "zz")));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_spelling_of_every_secret_goes_and_its_surroundings_stay(
        value in secret(), before in surroundings(), after in surroundings(),
    ) {
        let redactor = redactor(&value);
        for (how, spelled) in spellings(&value) {
            let text = format!("{before}{spelled} {after}");
            let redacted = redactor.text(&text);
            prop_assert!(redacted.as_str().contains(MARK), "{how}: {text:?} became {:?}", redacted.as_str());
            prop_assert!(!redactor.mentions(redacted.as_str()), "{how}");
            prop_assert!(!redacted.as_str().contains(&spelled), "{how}");
            // Of base64 nothing but the neighbouring bytes and the padding may be left, and nothing of the rest.
            let base64 = how.starts_with("base64");
            let (left, right) = redacted.as_str().split_once(MARK).unwrap();
            prop_assert!(left.strip_prefix(before.as_str()).is_some_and(|left| left.is_empty() || base64 && left.len() <= 3), "{how}: {left:?}");
            let right = right.strip_suffix(&format!(" {after}"));
            prop_assert!(right.is_some_and(|right| right.is_empty() || base64 && right.len() <= 4), "{how}: {right:?}");
        }
    }

    #[test]
    fn spellings_mixed_character_by_character_go_as_well(value in secret(), ways in prop::collection::vec(0..6u8, 24)) {
        let mut spelled = String::new();
        for (c, way) in value.chars().zip(ways) {
            let c = c.to_string();
            match way {
                0 => spelled.push_str(&percent(&c, |byte| format!("{byte:02x}"), |_| false)),
                1 => spelled.push_str(&utf16(&c, "\\u")),
                2 => spelled.push_str(&entities(&c)),
                3 => spelled.push_str(&format!("\u{200b}{}<i>", entities(&c))),
                4 => spelled.push_str(&utf16(&c.to_uppercase(), "%u")),
                _ => spelled.push_str(&entities(&c)),
            }
        }
        let redactor = redactor(&value);
        let redacted = redactor.text(&spelled);
        prop_assert!(redacted.as_str().contains(MARK), "{spelled:?} became {redacted}");
    }

    #[test]
    fn redacting_again_changes_nothing(
        values in prop::collection::vec("[ab\\[\\]:secrt ]{0,4}[a-c:\\[\\]]{8,10}", 1..4),
        pieces in prop::collection::vec((0..4usize, "[ab\\[\\]:%&<>\\\\ ]{0,6}"), 0..8),
    ) {
        let secrets = values.iter().zip(["a", "b", "secret"]).map(|(value, name)| Secret::new(name, value.as_str()).unwrap());
        let redactor = Redactor::new(secrets).unwrap();
        let text: String = pieces.iter().map(|(index, filling)| format!("{}{filling}", values.get(*index).map_or("", String::as_str))).collect();
        let once = redactor.text(&text);
        prop_assert!(!redactor.mentions(once.as_str()), "{text:?} became {once}");
        let twice = redactor.text(once.as_str());
        prop_assert_eq!(twice.as_str(), once.as_str());
        prop_assert_eq!(redactor.mentions(&text), once.as_str() != text);
    }

    #[test]
    fn a_text_without_a_secret_comes_back_byte_for_byte(text in "(\\PC|[%&<>\\\\+;#x0-9a-f\"u{}!-]|\r\n|\u{0}|\u{301}){0,60}") {
        // No generated text holds this value: its letters are outside the alphabet above save by chance in \PC.
        let redactor = redactor("ΩΩ-qqzz-ΩΩ");
        let redacted = redactor.text(&text);
        prop_assert_eq!(redacted.as_str(), &text);
        prop_assert!(Redactor::none().text(&text).into_inner() == text);
    }

    #[test]
    fn no_text_and_no_secret_makes_it_panic(value in "\\PC{8,20}|.{8,20}", text in ".{0,80}", at in 0..80usize) {
        let Ok(redactor) = Redactor::new([Secret::new("pw", value.as_str()).unwrap()]) else { return Ok(()) };
        let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        let text = format!("{}{value}{}", &text[..at], &text[at..]);
        let redacted = redactor.text(&text);
        prop_assert!(!redactor.mentions(redacted.as_str()));
        prop_assert!(redacted.as_str() != text);
    }

    #[test]
    fn a_value_keeps_its_shape_and_loses_every_secret(value in secret(), key in "[A-Z]{0,3}", n in 0..1000u64) {
        let redactor = redactor(&value);
        let tree = json!({ "a": [value, {format!("{key}{value}"): n}, format!("{key} {value}")], "n": n, "z": null });
        let clean = redactor.value(&tree).into_inner();
        prop_assert_eq!(clean["n"].as_u64(), Some(n));
        prop_assert_eq!(clean["a"].as_array().map(Vec::len), Some(3));
        prop_assert_eq!(clean["a"][1].as_object().and_then(|members| members.values().next().and_then(Value::as_u64)), Some(n));
        prop_assert_eq!(&clean["a"][0], &Value::from(MARK));
        prop_assert!(!redactor.mentions(&clean.to_string()));
    }
}
