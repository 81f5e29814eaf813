//! What holds for every host list and every URL.
//!
//! The oracle reads the canonical host label by label, so that it shares no string trick with the matcher.

use proptest::prelude::*;
use transom_policy::hosts::{HostRules, Use};
use url::Url;

const LISTED: [&str; 5] = ["shop.test", "*.pool.test", "https://pay.test", "docs.test:8443", "xn--bcher-kva.test"];

fn rules() -> HostRules {
    HostRules::parse(&LISTED).unwrap()
}

/// One label that is no part of a listed host.
fn foreign_label() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9]{0,8}".prop_filter("not a listed word", |label| {
        !["shop", "pool", "pay", "docs", "test", "xn"].contains(&label.as_str())
    })
}

/// Hosts that no entry lists, most of them close to one that is.
fn foreign_host() -> impl Strategy<Value = String> {
    let listed = prop::sample::select(vec!["shop.test", "pool.test", "pay.test", "docs.test", "xn--bcher-kva.test"]);
    (foreign_label(), listed).prop_flat_map(|(label, listed)| {
        prop::sample::select(vec![
            format!("{label}.test"),
            format!("{label}{listed}"),
            format!("{listed}.{label}.example"),
            format!("{listed}{label}"),
            format!("{label}-{listed}"),
            "pool.test".to_owned(),
            format!("{label}.shop.test"),
            "127.0.0.1".to_owned(),
        ])
    })
}

/// Another way to write the same host: case, percent signs, full-width letters, other dots, invisible characters.
fn spelled(host: String) -> impl Strategy<Value = String> {
    let n_chars = host.chars().count();
    prop::collection::vec(0..7u8, n_chars).prop_map(move |ways| {
        let mut text = String::new();
        for (c, way) in host.chars().zip(ways) {
            match way {
                1 => text.extend(c.to_uppercase()),
                2 => text.push_str(&format!("%{:02x}", u32::from(c))),
                3 if c != '.' => text.extend(char::from_u32(u32::from(c) + 0xfee0)),
                3 => text.push('\u{3002}'),
                4 => text.extend([c, '\u{ad}']),
                5 => text.extend([c, '\t']),
                6 => text.extend([c, '\u{200b}']),
                _ => text.push(c),
            }
        }
        text
    })
}

fn around(host: &str) -> impl Strategy<Value = String> + use<> {
    let host = host.to_owned();
    (
        prop::sample::select(vec![
            "https://",
            "http://",
            "HTTPS:\\\\",
            "https:",
            "https:///",
            " http:/\n/",
            "\u{1}https://",
        ]),
        prop::sample::select(vec!["", ":443", ":80", ":8443", ":00443", ":"]),
        prop::sample::select(vec![
            "",
            "/",
            "/shop.test",
            "?shop.test",
            "#@shop.test",
            "\\@shop.test",
            "/..//shop.test/",
            "@shop.test.evil.example",
        ]),
    )
        .prop_map(move |(front, port, rest)| format!("{front}{host}{port}{rest}"))
}

/// Whether a canonical host is what the list means, read label by label.
fn is_listed(host: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    match labels.as_slice() {
        ["shop" | "pay" | "docs" | "xn--bcher-kva", "test"] => true,
        [front @ .., "pool", "test"] => !front.is_empty() && front.iter().all(|label| !label.is_empty()),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_spelling_of_a_host_that_is_not_listed_is_admitted(
        url in foreign_host().prop_flat_map(spelled).prop_flat_map(|host| around(&host)),
    ) {
        // The last of the endings moves the real host behind the `@`, where it is foreign as well.
        for used_as in [Use::Page, Use::Socket] {
            prop_assert!(!rules().decide(&url, used_as).is_allowed(), "{url:?}");
        }
    }

    #[test]
    fn every_spelling_of_a_listed_host_is_admitted_and_names_its_entry(
        host in "([a-z][a-z0-9]{0,5}\\.){1,3}pool\\.test".prop_flat_map(spelled),
    ) {
        let url = format!("https://{host}/");
        prop_assert_eq!(rules().decide(&url, Use::Page).into_result(), Ok(1), "{:?}", url);
    }

    #[test]
    fn what_is_admitted_is_an_entry_or_a_true_subdomain_of_a_wildcard(
        url in "(https?|wss?|HTTP)(://|:|:\\\\\\\\)((shop|pool|pay|docs|evil|b\u{fc}cher|xn--bcher-kva|a|[\\PC]|\\.|\\.|@|%2e|%[0-9a-f]{2})(\\.?)){1,5}(test)?(:[0-9]{2,4})?(/.{0,4})?",
    ) {
        for used_as in [Use::Page, Use::Socket] {
            if rules().decide(&url, used_as).is_allowed() {
                let parsed = Url::parse(&url).unwrap();
                prop_assert!(is_listed(parsed.host_str().unwrap()), "{url:?}");
                prop_assert!(parsed.username().is_empty() && parsed.password().is_none());
                prop_assert!([80, 443, 8443].contains(&parsed.port_or_known_default().unwrap()));
            }
        }
    }

    #[test]
    fn the_empty_list_denies_everything(url in ".*", host in ".*", port: u16, tls: bool) {
        let nothing = HostRules::default();
        prop_assert!(!nothing.decide(&url, Use::Page).is_allowed());
        let page = format!("https://{host}");
        prop_assert!(!nothing.decide(&page, Use::Page).is_allowed());
        prop_assert!(!nothing.decide_authority(&host, port, tls).is_allowed());
    }

    #[test]
    fn a_list_is_refused_or_kept_whole_and_reads_back_as_itself(
        entries in prop::collection::vec("((https?|ftp)://)?(\\*\\.)?([a-z\u{fc}\u{ff21}]{1,5}\\.?){1,4}(:[0-9]{1,5})?|[\\PC]{0,8}", 0..5),
    ) {
        match HostRules::parse(&entries) {
            Ok(rules) => {
                prop_assert_eq!(rules.entries().len(), entries.len());
                let written: Vec<String> = rules.entries().iter().map(ToString::to_string).collect();
                prop_assert_eq!(HostRules::parse(&written).unwrap(), rules);
            }
            Err(error) => {
                prop_assert!(entries.contains(&error.entry));
                prop_assert_eq!(error.to_string().lines().count(), 1);
            }
        }
    }

    #[test]
    fn an_authority_is_admitted_exactly_when_its_url_is(
        host in "(([a-z]{1,4}\\.){0,2}(pool|shop|pay|docs|evil)\\.test)", port in prop::sample::select(vec![80u16, 443, 8443, 1]), tls: bool,
    ) {
        let url = format!("{}://{host}:{port}/", if tls { "https" } else { "http" });
        prop_assert_eq!(rules().decide_authority(&host, port, tls), rules().decide(&url, Use::Page));
    }

    #[test]
    fn https_only_denies_every_http_url_and_leaves_the_others_alone(url in foreign_host().prop_flat_map(|host| around(&host))) {
        let open = HostRules::parse(&["*.example.com", "shop.test", "127.0.0.1", "*.pool.test", "evil.test"]).unwrap();
        let strict = open.clone().https_only(true).decide(&url, Use::Page);
        let http = Url::parse(&url).is_ok_and(|url| url.scheme() == "http");
        prop_assert_eq!(strict.is_allowed(), !http && open.decide(&url, Use::Page).is_allowed());
    }
}
