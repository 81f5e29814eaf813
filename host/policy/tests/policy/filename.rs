//! What holds for every name that is saved.

use proptest::prelude::*;
use transom_policy::filename::{FileName, NAME_BYTES};
use url::Url;

/// Headers that are plausible, broken, or meant to escape.
fn header() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "filename=",
        "filename*=",
        "UTF-8''",
        "iso-8859-1''",
        "\"",
        "\\",
        "/",
        "%2f",
        "%5c",
        "%00",
        "%2e%2e",
        "..",
        ".",
        " ",
        ";",
        "CON",
        "com1",
        "C:",
        "\u{202e}",
        "\r\n",
        "a",
        "é",
        "🔑",
        ".txt",
        "%ff",
        "%C3%A9",
        "attachment;",
        "<>|?*",
    ]);
    prop_oneof![
        ".{0,40}",
        prop::collection::vec(piece.clone(), 0..20)
            .prop_map(|pieces| format!("attachment; filename={}", pieces.concat())),
        prop::collection::vec(piece, 0..200).prop_map(|pieces| format!("attachment; filename=\"{}", pieces.concat())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_saved_name_is_one_safe_component(header in header(), path in "[a-z%/.0-9\u{e9}]{0,30}") {
        let url = Url::parse(&format!("https://files.test/{path}")).unwrap();
        let name = FileName::of_download(&header, &url).to_string();
        prop_assert!(!name.is_empty() && name.len() <= NAME_BYTES);
        prop_assert!(!name.contains(['/', '\\', ':', '<', '>', '"', '|', '?', '*']), "{name:?}");
        prop_assert!(!name.chars().any(|c| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)), "{name:?}");
        prop_assert!(name != "." && name != ".." && !name.ends_with(['.', ' ']) && !name.starts_with(' '), "{name:?}");
        let stem = name.split('.').next().unwrap_or_default().trim_end().to_uppercase();
        prop_assert!(!["CON", "PRN", "AUX", "NUL", "COM1", "LPT9"].contains(&stem.as_str()), "{name:?}");
    }

    #[test]
    fn cleaning_a_clean_name_changes_nothing(name in header()) {
        if let Some(once) = FileName::clean(&name) {
            prop_assert_eq!(FileName::clean(once.as_str()), Some(once.clone()));
        }
    }

    #[test]
    fn an_ordinary_name_is_kept_as_it_is(name in "[a-z][a-zA-Z0-9 _-]{0,20}[a-z0-9]\\.[a-z]{1,4}") {
        prop_assume!(!name.starts_with("con") && !name.starts_with("prn") && !name.starts_with("aux") && !name.starts_with("nul"));
        prop_assume!(!name.to_lowercase().starts_with("com") && !name.to_lowercase().starts_with("lpt"));
        let url = Url::parse("https://files.test/other").unwrap();
        let saved = FileName::of_download(&format!("attachment; filename=\"{name}\""), &url);
        prop_assert_eq!(saved.as_str(), &name);
    }
}
