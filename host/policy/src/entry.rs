//! What one entry of a host list may say, and what is refused when a list is loaded.
//!
//! | written | means |
//! |---|---|
//! | `example.com` | that host and no other, by http or https, at the default port of the scheme |
//! | `*.example.com` | every subdomain at any depth; not `example.com` itself |
//! | `example.com:8443` | that port and no other, by http or https |
//! | `https://example.com` | https (and wss) only; `http://` likewise |
//!
//! The host goes through the URL standard's own host parser, so an entry and a URL meet in one canonical form. Whatever
//! could mean something else than it seems to (a path, a star in the middle, `127.1`, a trailing dot, a wildcard over
//! strangers' sites) is an error that says what to write instead: a mistyped entry must not become one that never
//! matches.
//!
//! Not here: how a URL is judged by a list (`hosts.rs`); which addresses may be dialled (`address.rs`).

use std::fmt;
use std::net::Ipv6Addr;

use url::Host;

/// Longest host that can exist in DNS, in bytes of its text form without a trailing dot (RFC 1035, section 2.3.4).
pub(crate) const HOST_BYTES: usize = 253;

/// Longest part of a refused entry that its error repeats, in characters: an error stays one readable line.
const SHOWN_CHARS: usize = 120;

/// The two schemes by which a page is fetched; `wss` counts as https and `ws` as http.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Transport {
    Http,
    Https,
}

impl Transport {
    pub(crate) fn scheme(self) -> &'static str {
        match self {
            Transport::Http => "http",
            Transport::Https => "https",
        }
    }

    pub(crate) fn default_port(self) -> u16 {
        match self {
            Transport::Http => 80,
            Transport::Https => 443,
        }
    }
}

/// One accepted entry of a host list, its host in canonical form. `Display` writes it as an operator would.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostEntry {
    transport: Option<Transport>,
    subdomains: bool,
    host: String,
    port: Option<u16>,
}

impl HostEntry {
    /// Reads one entry as the table at the head of this file says.
    ///
    /// # Errors
    /// [`HostEntryError`] for everything else; see there.
    pub fn parse(entry: &str) -> Result<HostEntry, HostEntryError> {
        let refuse = |problem: &str, instead: String| Err(HostEntryError::new(entry, problem, instead));
        let (transport, rest) = match entry.split_once("://") {
            None => (None, entry),
            Some(("http", rest)) => (Some(Transport::Http), rest),
            Some(("https", rest)) => (Some(Transport::Https), rest),
            Some((_, rest)) => {
                return refuse(
                    "only http:// and https://, in lower case, may stand in front",
                    format!("{} or https://{}", host_part(rest), host_part(rest)),
                );
            }
        };
        if rest.is_empty() {
            return refuse("there is no host", "a host such as example.com".into());
        }
        if let Some(stray) = rest.chars().find(|c| c.is_whitespace() || c.is_control()) {
            return refuse(
                &format!("{stray:?} is in it"),
                rest.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect(),
            );
        }
        for (mark, part) in [('@', "user name"), ('/', "path"), ('\\', "path"), ('?', "query"), ('#', "fragment")] {
            if rest.contains(mark) {
                return refuse(&format!("an entry has no {part}"), host_part(rest).into());
            }
        }

        let (host, port) = split_port(rest);
        let port = match port.map(parse_port) {
            None => None,
            Some(Some(port)) => Some(port),
            Some(None) if host.contains(':') && !host.starts_with('[') => {
                return refuse("an IPv6 address stands in brackets", format!("[{rest}]"));
            }
            Some(None) => {
                return refuse("a port is a decimal number from 1 to 65535", format!("{host} or {host}:8443"));
            }
        };
        if host.contains(':') && !host.starts_with('[') {
            return refuse("an IPv6 address stands in brackets", format!("[{rest}]"));
        }

        let (subdomains, host) = match host.strip_prefix("*.") {
            Some(host) => (true, host),
            None => (false, host),
        };
        let star_elsewhere = |host: &str| {
            let plain = host.trim_matches(['*', '.']);
            let plain = if plain.is_empty() || plain.contains('*') { "example.com" } else { plain };
            refuse("a star stands only in front, as the whole first label", format!("*.{plain}"))
        };
        if host.contains('*') {
            return star_elsewhere(host);
        }
        let canonical = match Host::parse(host) {
            Ok(Host::Domain(domain)) => domain,
            Ok(address) if subdomains => {
                return refuse("an IP address has no subdomains", format!("{address}"));
            }
            Ok(address) if address.to_string() != host => {
                return refuse("an IP address has only one spelling here", format!("{address}"));
            }
            Ok(address) => {
                return Ok(HostEntry { transport, subdomains, host: address.to_string(), port });
            }
            Err(_) if host.parse::<Ipv6Addr>().is_ok() => {
                return refuse("an IPv6 address stands in brackets", format!("[{host}]"));
            }
            Err(_) => {
                return refuse("it is no valid host name", "a host such as example.com or *.example.com".into());
            }
        };
        // Percent signs and full-width characters turn into plain ones only here.
        if canonical.contains('*') {
            return star_elsewhere(&canonical);
        }
        if has_empty_label(&canonical) {
            let labels: Vec<&str> = canonical.split('.').filter(|label| !label.is_empty()).collect();
            let star = if subdomains { "*." } else { "" };
            return refuse("a dot has no label on one side", format!("{star}{}", labels.join(".")));
        }
        if canonical.len() > HOST_BYTES {
            return refuse("a host has at most 253 bytes", "a host such as example.com".into());
        }
        if subdomains && is_public_suffix(&canonical) {
            return refuse(
                &format!("{canonical} is a public suffix, so its subdomains belong to strangers"),
                format!("*.your-site.{canonical}"),
            );
        }
        Ok(HostEntry { transport, subdomains, host: canonical, port })
    }

    /// Whether this entry admits `host` (canonical, no empty label) at `port` by `transport`.
    pub(crate) fn admits(&self, transport: Transport, host: &str, port: u16) -> bool {
        self.transport.is_none_or(|only| only == transport)
            && port == self.port.unwrap_or(transport.default_port())
            && self.names(host)
    }

    /// Whether this entry names `host` (canonical, no empty label), whatever the port and the scheme.
    pub(crate) fn names(&self, host: &str) -> bool {
        if !self.subdomains {
            return host == self.host;
        }
        host.strip_suffix(self.host.as_str())
            .and_then(|front| front.strip_suffix('.'))
            .is_some_and(|front| !front.is_empty())
    }

    /// The canonical host: of a wildcard, the part after `*.`.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether this entry stands for the subdomains of [`host`](Self::host) instead of the host itself.
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        self.subdomains
    }
}

impl fmt::Display for HostEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(transport) = self.transport {
            write!(f, "{}://", transport.scheme())?;
        }
        f.write_str(if self.subdomains { "*." } else { "" })?;
        f.write_str(&self.host)?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

/// Why an entry was refused, as one line: what is wrong, in which entry, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("host entry {}: {problem}; write {instead}", shown(.entry))]
pub struct HostEntryError {
    /// The entry as it was written.
    pub entry: String,
    /// What is wrong with it.
    pub problem: String,
    /// What an operator would write instead.
    pub instead: String,
}

impl HostEntryError {
    fn new(entry: &str, problem: &str, instead: String) -> HostEntryError {
        HostEntryError { entry: entry.to_owned(), problem: problem.to_owned(), instead }
    }
}

/// Whether a canonical host has an empty label: two dots in a row, or a dot at either end.
pub(crate) fn has_empty_label(host: &str) -> bool {
    host.split('.').any(str::is_empty)
}

/// Quoted and escaped, so that an entry can break neither the line nor the terminal.
fn shown(entry: &str) -> String {
    match entry.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}…", entry.get(..end).unwrap_or_default()),
        None => format!("{entry:?}"),
    }
}

/// What is left of a would-be URL when only its host is kept: a suggestion, so it need not be right for every input.
fn host_part(rest: &str) -> &str {
    let authority = rest.split(['/', '\\', '?', '#']).find(|part| !part.is_empty()).unwrap_or_default();
    match authority.rsplit('@').next() {
        Some(host) if !host.is_empty() => host,
        _ => "example.com",
    }
}

/// Splits at the colon of a port, which is never one inside brackets.
fn split_port(rest: &str) -> (&str, Option<&str>) {
    match rest.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (rest, None),
    }
}

fn parse_port(text: &str) -> Option<u16> {
    // `u16::from_str` alone would take a plus sign.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

/// Whether subdomains of `host` (canonical, not an address) belong to unrelated owners.
fn is_public_suffix(host: &str) -> bool {
    // The list holds international names in both forms or in one, depending on how it was compiled: ask for both.
    let (unicode, _) = idna::domain_to_unicode(host);
    [host, unicode.as_str()].into_iter().any(|host| {
        // A rule such as `*.ck` makes every name under its parent a suffix; a wildcard on that parent is as wide.
        let below = format!("x--x.{host}");
        [host, below.as_str()].into_iter().any(|name| psl::suffix_str(name) == Some(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn refused(entry: &str, line: &Expect) {
        line.assert_eq(&HostEntry::parse(entry).unwrap_err().to_string());
    }

    fn kept(entry: &str, canonical: &str) {
        assert_eq!(HostEntry::parse(entry).unwrap().to_string(), canonical);
    }

    #[test]
    fn every_accepted_form_is_kept_in_canonical_form() {
        kept("Example.COM", "example.com");
        kept("*.Bücher.test:8443", "*.xn--bcher-kva.test:8443");
        kept("https://example.com", "https://example.com");
        kept("http://*.example.com:80", "http://*.example.com:80");
        kept("127.0.0.1:22", "127.0.0.1:22");
        kept("[::1]", "[::1]");
        kept("https://[::1]:8443", "https://[::1]:8443");
        kept("localhost", "localhost");
        kept("*.allowed.test", "*.allowed.test");
    }

    #[test]
    fn a_refused_entry_says_what_is_wrong_and_what_to_write() {
        refused("", &expect![[r#"host entry "": there is no host; write a host such as example.com"#]]);
        refused(
            "https://shop.test/orders?x",
            &expect![[r#"host entry "https://shop.test/orders?x": an entry has no path; write shop.test"#]],
        );
        refused(
            "mara@shop.test",
            &expect![[r#"host entry "mara@shop.test": an entry has no user name; write shop.test"#]],
        );
        refused(
            "ftp://shop.test",
            &expect![[
                r#"host entry "ftp://shop.test": only http:// and https://, in lower case, may stand in front; write shop.test or https://shop.test"#
            ]],
        );
        refused("shop.test ", &expect![[r#"host entry "shop.test ": ' ' is in it; write shop.test"#]]);
        refused(
            "*",
            &expect![[r#"host entry "*": a star stands only in front, as the whole first label; write *.example.com"#]],
        );
        refused(
            "*shop.test",
            &expect![[
                r#"host entry "*shop.test": a star stands only in front, as the whole first label; write *.shop.test"#
            ]],
        );
        refused(
            "＊.shop.test",
            &expect![[
                r#"host entry "＊.shop.test": a star stands only in front, as the whole first label; write *.shop.test"#
            ]],
        );
        refused(
            "shop.test.",
            &expect![[r#"host entry "shop.test.": a dot has no label on one side; write shop.test"#]],
        );
        refused(
            "*.shop..test",
            &expect![[r#"host entry "*.shop..test": a dot has no label on one side; write *.shop.test"#]],
        );
        refused(
            "0x7f.1",
            &expect![[r#"host entry "0x7f.1": an IP address has only one spelling here; write 127.0.0.1"#]],
        );
        refused(
            "[0:0:0:0:0:0:0:1]",
            &expect![[r#"host entry "[0:0:0:0:0:0:0:1]": an IP address has only one spelling here; write [::1]"#]],
        );
        refused("::1", &expect![[r#"host entry "::1": an IPv6 address stands in brackets; write [::1]"#]]);
        refused(
            "fe80::abcd",
            &expect![[r#"host entry "fe80::abcd": an IPv6 address stands in brackets; write [fe80::abcd]"#]],
        );
        refused(
            "*.10.0.0.1",
            &expect![[r#"host entry "*.10.0.0.1": an IP address has no subdomains; write 10.0.0.1"#]],
        );
        refused(
            "shop.test:0",
            &expect![[
                r#"host entry "shop.test:0": a port is a decimal number from 1 to 65535; write shop.test or shop.test:8443"#
            ]],
        );
        refused(
            "shop.test:+80",
            &expect![[
                r#"host entry "shop.test:+80": a port is a decimal number from 1 to 65535; write shop.test or shop.test:8443"#
            ]],
        );
        refused(
            "*.github.io",
            &expect![[
                r#"host entry "*.github.io": github.io is a public suffix, so its subdomains belong to strangers; write *.your-site.github.io"#
            ]],
        );
        refused(
            "a_%zz",
            &expect![[
                r#"host entry "a_%zz": it is no valid host name; write a host such as example.com or *.example.com"#
            ]],
        );
    }

    #[test]
    fn a_wildcard_on_a_public_suffix_is_refused_in_every_form_of_the_suffix() {
        for suffix in [
            "test",
            "localhost",
            "com",
            "co.uk",
            "github.io",
            "公司.cn",
            "xn--55qx5d.cn",
            "CO.UK",
            "ck",
            "foo.ck",
            "kawasaki.jp",
        ] {
            assert!(HostEntry::parse(&format!("*.{suffix}")).is_err(), "*.{suffix}");
            assert!(HostEntry::parse(suffix).is_ok(), "{suffix} itself");
            assert!(HostEntry::parse(&format!("*.acme.x.{suffix}")).is_ok(), "*.acme.x.{suffix}");
        }
        assert!(HostEntry::parse("*.www.ck").is_ok(), "an exception of the list");
    }

    #[test]
    fn a_long_or_hostile_entry_stays_one_line_in_its_error() {
        let error = HostEntry::parse(&format!("a\n\u{1b}[31m{}", "b".repeat(9_000))).unwrap_err().to_string();
        assert!(error.lines().count() == 1 && !error.contains('\u{1b}'), "{error}");
    }
}
