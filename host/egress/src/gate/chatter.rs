//! The hosts that Chromium calls for its own sake, whatever page is open.
//!
//! Flags turn off most of it and not all (updates of components and autofill's form classification still call). None of it
//! is let through; a class of its own keeps it from looking like something that a page did. A host belongs here only if
//! pages have no business there: a page that calls one is taken for Chromium, and refused no less.

/// The host, and what Chromium wants there. A leading dot stands for every subdomain.
const CHATTER: [(&str, &str); 17] = [
    ("update.googleapis.com", "updates of components and extensions"),
    ("clients1.google.com", "certificate status and older services"),
    ("clients2.google.com", "updates of extensions"),
    ("clients3.google.com", "is there a captive portal?"),
    ("clients4.google.com", "metrics and synchronisation"),
    ("clientservices.googleapis.com", "field trials"),
    ("clients2.googleusercontent.com", "packages of extensions"),
    ("content-autofill.googleapis.com", "what a form's fields mean"),
    ("optimizationguide-pa.googleapis.com", "hints and models for pages"),
    ("safebrowsing.googleapis.com", "lists of dangerous sites"),
    ("safebrowsing.google.com", "reports to the same"),
    ("safebrowsingohttpgateway.googleapis.com", "single look-ups of the same"),
    ("sb-ssl.google.com", "is a download dangerous?"),
    ("android.clients.google.com", "push messaging, registration"),
    ("mtalk.google.com", "push messaging, connection"),
    ("passwordsleakcheck-pa.googleapis.com", "was a password leaked?"),
    (".gvt1.com", "packages of components"),
];

/// Whether Chromium calls this host for its own sake.
pub(super) fn is_chatter(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    CHATTER.iter().any(|(name, _)| match name.starts_with('.') {
        true => host.ends_with(name),
        false => host == *name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_and_real_subdomains_are_chatter() {
        for host in ["update.googleapis.com", "Clients2.Google.com", "r3---sn-x.gvt1.com"] {
            assert!(is_chatter(host), "{host}");
        }
        for host in
            ["google.com", "evil-clients2.google.com", "clients2.google.com.evil.test", "notgvt1.com", "gvt1.com"]
        {
            assert!(!is_chatter(host), "{host}");
        }
    }

    #[test]
    fn the_table_has_no_row_twice_and_is_in_lower_case() {
        for (n, (name, what)) in CHATTER.iter().enumerate() {
            assert!(CHATTER.iter().skip(n + 1).all(|(other, _)| other != name), "{name}");
            assert_eq!(*name, name.to_ascii_lowercase());
            assert!(!what.is_empty());
        }
    }
}
