//! Whether a URL may be reached under a host list: the one matcher, used for pages, sockets and the proxy alike.
//!
//! A URL is parsed once, by the URL standard's parser and without a base; only its canonical result is judged. That the
//! parser repairs odd spellings is therefore no reason to deny, and no spelling can make one host look like another.
//! In this order:
//!
//! 1. what does not parse is denied;
//! 2. a page needs http or https, a socket ws or wss;
//! 3. a user name or password is denied;
//! 4. a host with an empty label or a dot at its end never matches;
//! 5. `https_only` denies http and ws;
//! 6. an entry must admit host, scheme and port (see [`HostEntry`]). An empty list denies everything.
//!
//! Not here: the form of an entry (`entry.rs`); what a name resolves to (`address.rs` judges the addresses); `blob:` and
//! `about:` documents, which count as their creator's origin and so must be judged by its URL.

use std::fmt;

use url::{Host, Url};

use crate::entry::{HOST_BYTES, Transport, has_empty_label};
pub use crate::entry::{HostEntry, HostEntryError};

/// What a URL is wanted for: it decides which schemes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// A document or anything that a page fetches: http or https.
    Page,
    /// A WebSocket: ws (judged as http) or wss (judged as https).
    Socket,
}

/// A host list that was accepted as a whole. The default is the empty list, which denies everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostRules {
    entries: Vec<HostEntry>,
    https_only: bool,
}

impl HostRules {
    /// Reads a list; the order is kept, so that an index of [`Decision::Allow`] is an index of `entries`.
    ///
    /// # Errors
    /// The first entry that is refused refuses the whole list.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<HostRules, HostEntryError> {
        let entries = entries.iter().map(|entry| HostEntry::parse(entry.as_ref())).collect::<Result<_, _>>()?;
        Ok(HostRules { entries, https_only: false })
    }

    /// The same list with http and ws denied (`yes`), or not.
    #[must_use]
    pub fn https_only(self, yes: bool) -> HostRules {
        HostRules { https_only: yes, ..self }
    }

    /// The entries in the order in which they were written.
    #[must_use]
    pub fn entries(&self) -> &[HostEntry] {
        &self.entries
    }

    /// Whether the list has no entry, and so denies everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Judges a URL as text. An `Allow` is for what the URL standard's parser makes of it, so go there and nowhere else.
    #[must_use]
    pub fn decide(&self, url: &str, used_as: Use) -> Decision {
        match Url::parse(url) {
            Ok(url) => self.decide_url(&url, used_as),
            Err(_) => Decision::Deny(Denial::Unparsable),
        }
    }

    /// Judges a URL that was parsed without a base.
    #[must_use]
    pub fn decide_url(&self, url: &Url, used_as: Use) -> Decision {
        let transport = match (used_as, url.scheme()) {
            (Use::Page, "http") | (Use::Socket, "ws") => Transport::Http,
            (Use::Page, "https") | (Use::Socket, "wss") => Transport::Https,
            (_, scheme) => return Decision::Deny(Denial::Scheme { scheme: known_scheme(scheme), used_as }),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Decision::Deny(Denial::Userinfo);
        }
        let Some(host) = url.host_str() else { return Decision::Deny(Denial::HostShape) };
        self.decide_place(transport, host, url.port().unwrap_or(transport.default_port()))
    }

    /// Judges what a CONNECT names: `host` as it stands before the colon (an IPv6 address in its brackets), `port`, and
    /// whether TLS is expected inside (`tls`: judged as https; else as http).
    ///
    /// A browser sends the canonical host. Another spelling of it, save for the case of its letters, is denied: the
    /// caller will resolve the text that it was given, and that must be the host that was judged.
    #[must_use]
    pub fn decide_authority(&self, host: &str, port: u16, tls: bool) -> Decision {
        let canonical = match Host::parse(host) {
            Ok(canonical) => canonical.to_string(),
            Err(_) => return Decision::Deny(Denial::Unparsable),
        };
        if !canonical.eq_ignore_ascii_case(host) {
            return Decision::Deny(Denial::HostShape);
        }
        self.decide_place(if tls { Transport::Https } else { Transport::Http }, &canonical, port)
    }

    fn decide_place(&self, transport: Transport, host: &str, port: u16) -> Decision {
        if has_empty_label(host) || host.len() > HOST_BYTES {
            return Decision::Deny(Denial::HostShape);
        }
        if self.https_only && transport == Transport::Http {
            return Decision::Deny(Denial::HttpsOnly { host: host.to_owned() });
        }
        match self.entries.iter().position(|entry| entry.admits(transport, host, port)) {
            Some(entry) => Decision::Allow { entry },
            None => Decision::Deny(self.explain(transport, host, port)),
        }
    }

    /// Tells a host that is not listed from one that is listed with another port or scheme.
    fn explain(&self, transport: Transport, host: &str, port: u16) -> Denial {
        let (scheme, host) = (transport.scheme(), host.to_owned());
        match self.entries.iter().find(|entry| entry.names(&host)) {
            None => Denial::NotListed { scheme, host, port },
            Some(entry) => Denial::OtherEndpoint { scheme, host, port, listed: entry.to_string() },
        }
    }
}

/// The answer to one URL or authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may be reached.
    Allow {
        /// Index of the first entry that admits it.
        entry: usize,
    },
    /// It may not.
    Deny(Denial),
}

impl Decision {
    /// Whether it may be reached.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, Decision::Allow { .. })
    }

    /// The same as a result, for `?`: the index of the entry, or why not.
    ///
    /// # Errors
    /// The denial, where there is one.
    pub fn into_result(self) -> Result<usize, Denial> {
        match self {
            Decision::Allow { entry } => Ok(entry),
            Decision::Deny(denial) => Err(denial),
        }
    }
}

/// Why a URL was denied. `Display` repeats no more of the URL than its canonical host and port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The URL standard's parser refuses it.
    #[error("this is no valid absolute URL")]
    Unparsable,
    /// The scheme does not do for this use.
    #[error("{scheme} URLs are not opened as {}; use {}", used_as, used_as.schemes())]
    Scheme {
        /// The scheme if it is a well-known one, else words for it: a made-up scheme could carry anything.
        scheme: &'static str,
        /// What the URL was wanted for.
        used_as: Use,
    },
    /// The URL holds a user name or a password.
    #[error("a URL with a user name or password in it is not opened; leave that part out")]
    Userinfo,
    /// The host ends in a dot, has an empty label, is longer than 253 bytes, or (of an authority) is not canonical.
    #[error("the host is not in its plain form; write it without a dot at the end and without empty labels")]
    HostShape,
    /// The binding allows https and wss only.
    #[error("{host} may be reached by https only")]
    HttpsOnly {
        /// The canonical host.
        host: String,
    },
    /// No entry names the host.
    #[error("{host} is not among the hosts that may be reached here{}", port_note(scheme, *port))]
    NotListed {
        /// `http` or `https`: for a socket, what its scheme counts as.
        scheme: &'static str,
        /// The canonical host.
        host: String,
        /// The port of the URL, or the default port of its scheme.
        port: u16,
    },
    /// An entry names the host, but with another port or scheme.
    #[error("{host} may not be reached by {scheme} at port {port}: the list has {listed}")]
    OtherEndpoint {
        /// `http` or `https`: for a socket, what its scheme counts as.
        scheme: &'static str,
        /// The canonical host.
        host: String,
        /// The port of the URL, or the default port of its scheme.
        port: u16,
        /// The first entry that names the host.
        listed: String,
    },
}

impl Denial {
    /// The canonical host that was denied, where one was understood.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        match self {
            Denial::Unparsable | Denial::Scheme { .. } | Denial::Userinfo | Denial::HostShape => None,
            Denial::HttpsOnly { host } | Denial::NotListed { host, .. } | Denial::OtherEndpoint { host, .. } => {
                Some(host)
            }
        }
    }

    /// The entry that an operator would add to `hosts` to admit this, where adding one would help.
    #[must_use]
    pub fn missing_entry(&self) -> Option<String> {
        match self {
            Denial::NotListed { scheme, host, port } | Denial::OtherEndpoint { scheme, host, port, .. } => {
                let standard = [Transport::Http, Transport::Https]
                    .iter()
                    .any(|transport| transport.scheme() == *scheme && transport.default_port() == *port);
                Some(if standard { host.clone() } else { format!("{host}:{port}") })
            }
            Denial::Unparsable
            | Denial::Scheme { .. }
            | Denial::Userinfo
            | Denial::HostShape
            | Denial::HttpsOnly { .. } => None,
        }
    }
}

impl Use {
    fn schemes(self) -> &'static str {
        match self {
            Use::Page => "http or https",
            Use::Socket => "ws or wss",
        }
    }
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Use::Page => "pages",
            Use::Socket => "sockets",
        })
    }
}

fn port_note(scheme: &str, port: u16) -> String {
    match (scheme, port) {
        ("http", 80) | ("https", 443) => String::new(),
        _ => format!(" (port {port})"),
    }
}

/// A name for the scheme that cannot carry foreign text into a message.
fn known_scheme(scheme: &str) -> &'static str {
    const KNOWN: [&str; 18] = [
        "about",
        "blob",
        "chrome",
        "chrome-extension",
        "data",
        "devtools",
        "file",
        "filesystem",
        "ftp",
        "http",
        "https",
        "javascript",
        "mailto",
        "tel",
        "view-source",
        "ws",
        "wss",
        "intent",
    ];
    KNOWN.into_iter().find(|known| *known == scheme).unwrap_or("such")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn rules(entries: &[&str]) -> HostRules {
        HostRules::parse(entries).unwrap()
    }

    fn denied(entries: &[&str], url: &str, line: &Expect) {
        let Decision::Deny(denial) = rules(entries).decide(url, Use::Page) else { panic!("{url} was allowed") };
        line.assert_eq(&denial.to_string());
    }

    #[test]
    fn a_denial_is_one_line_that_repeats_no_more_of_the_url_than_its_host() {
        let shop = &["shop.test", "https://pay.test"];
        denied(
            shop,
            "https://evil.test/hunter2?hunter2",
            &expect!["evil.test is not among the hosts that may be reached here"],
        );
        denied(
            shop,
            "http://evil.test:8080/hunter2",
            &expect!["evil.test is not among the hosts that may be reached here (port 8080)"],
        );
        denied(
            shop,
            "http://pay.test/hunter2",
            &expect!["pay.test may not be reached by http at port 80: the list has https://pay.test"],
        );
        denied(shop, "hunter2:hunter2", &expect!["such URLs are not opened as pages; use http or https"]);
        denied(shop, "file:///hunter2", &expect!["file URLs are not opened as pages; use http or https"]);
        denied(
            shop,
            "https://hunter2:hunter2@shop.test",
            &expect!["a URL with a user name or password in it is not opened; leave that part out"],
        );
        denied(
            shop,
            "https://shop.test./hunter2",
            &expect!["the host is not in its plain form; write it without a dot at the end and without empty labels"],
        );
        denied(shop, "hunter2", &expect!["this is no valid absolute URL"]);
    }

    #[test]
    fn the_entry_that_a_denial_asks_for_admits_the_url() {
        for url in ["https://evil.test/", "http://evil.test:8080/", "https://[::1]:444/", "http://pay.test/"] {
            let Decision::Deny(denial) = rules(&["https://pay.test"]).decide(url, Use::Page) else { panic!("{url}") };
            let entry = denial.missing_entry().unwrap();
            assert_eq!(rules(&[&entry]).decide(url, Use::Page), Decision::Allow { entry: 0 }, "{entry} for {url}");
        }
    }

    #[test]
    fn an_allowed_url_names_the_entry_that_admits_it() {
        let list = rules(&["shop.test", "*.shop.test", "shop.test:8443"]);
        assert_eq!(list.decide("https://shop.test/x", Use::Page), Decision::Allow { entry: 0 });
        assert_eq!(list.decide("wss://a.b.shop.test/x", Use::Socket), Decision::Allow { entry: 1 });
        assert_eq!(list.decide("https://shop.test:8443/x", Use::Page), Decision::Allow { entry: 2 });
    }

    #[test]
    fn an_authority_is_judged_like_the_url_that_it_stands_for() {
        let list = rules(&["shop.test", "https://pay.test:8443", "[::1]"]);
        assert!(list.decide_authority("shop.test", 443, true).is_allowed());
        assert!(list.decide_authority("SHOP.test", 443, true).is_allowed());
        assert!(list.decide_authority("shop.test", 80, false).is_allowed());
        assert!(list.decide_authority("pay.test", 8443, true).is_allowed());
        assert!(list.decide_authority("[::1]", 443, true).is_allowed());
        for (host, port, tls) in [
            ("shop.test", 80, true),
            ("shop.test", 22, false),
            ("shop.test.", 443, true),
            ("pay.test", 8443, false),
            ("evil.test", 443, true),
            ("::1", 443, true),
            ("[0:0::1]", 443, true),
            ("sh%6fp.test", 443, true),
            ("shop.test/", 443, true),
            ("x@shop.test", 443, true),
            ("", 443, true),
        ] {
            assert!(!list.decide_authority(host, port, tls).is_allowed(), "{host}:{port} tls={tls}");
        }
        assert!(!list.https_only(true).decide_authority("shop.test", 80, false).is_allowed());
    }
}
