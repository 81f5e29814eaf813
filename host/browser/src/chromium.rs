//! How Chromium is started: its arguments, each with its reason, and where it is found.
//!
//! The arguments hold two placeholders that whoever starts it replaces: [`PROXY`] and [`PROFILE`]. Starting itself, the user, the jail and
//! the descriptors 3 and 4 are not here.

use std::{ffi::OsString, path::PathBuf};

use crate::options::Viewport;

/// Stands for the proxy's address (`http://127.0.0.1:3128`).
pub const PROXY: &str = "{proxy}";

/// Stands for the folder of the profile, as Chromium sees it.
pub const PROFILE: &str = "{profile}";

/// What differs between two starts.
#[derive(Clone, Debug)]
pub struct ChromiumOptions {
    /// The window's size.
    pub viewport: Viewport,
    /// Whether all traffic goes to a proxy. Without it Chromium reaches the network by itself: only for tests.
    pub proxied: bool,
    /// The language that pages are asked for (`en-US`).
    pub language: String,
}

impl Default for ChromiumOptions {
    fn default() -> ChromiumOptions {
        ChromiumOptions { viewport: Viewport::default(), proxied: true, language: "en-US".into() }
    }
}

/// Features that are switched off, and why. Chromium reads only one `--disable-features`, so they are one list.
const FEATURES_OFF: &[(&str, &str)] = &[
    ("BackForwardCache", "a page out of the cache keeps timers, sockets and refs of a time that nobody looks at"),
    ("Prerender2", "a page that is rendered in advance asks for documents that no call asked for"),
    ("MediaRouter", "looks for devices on the local network"),
    ("DialMediaRouteProvider", "the same"),
    ("OptimizationHints", "asks Google's servers about pages"),
    ("OptimizationGuideModelDownloading", "downloads models"),
    ("AutofillServerCommunication", "sends the shape of forms to Google's servers"),
    ("CertificateTransparencyComponentUpdater", "downloads in the background"),
    ("Translate", "puts a bar and an isolated script into pages in other languages"),
    ("GlobalMediaControls", "keeps media sessions for a toolbar that nobody sees"),
    ("InterestFeedContentSuggestions", "fills the new-tab page"),
    ("HttpsUpgrades", "changes the address that was asked for, and asks twice where that fails"),
    ("LensOverlay", "puts itself over pages"),
    ("PaintHolding", "holds the first picture of a page back for half a second"),
    ("WebUIOmniboxPopup", "loads an interface of several hundred files that nobody sees, at every start"),
    ("WebUIOmniboxAimPopup", "the same"),
];

/// Switches and why each is there. A `{…}` is filled in by [`arguments`].
const SWITCHES: &[(&str, &str)] = &[
    ("--headless", "no display; the full browser's own headless mode"),
    ("--remote-debugging-pipe", "CDP over descriptors 3 and 4: no port that a page could find"),
    ("--user-data-dir={profile}", "a profile of its own"),
    ("--no-first-run", "no welcome pages"),
    ("--no-default-browser-check", "no question about it"),
    ("--no-startup-window", "the first tab is opened once it can be watched"),
    ("--window-size={size}", "what a page is laid out for before the viewport is set"),
    ("--lang={language}", "the language that pages are asked for"),
    ("--disable-background-networking", "no variations, no safe-browsing updates, no captive-portal checks"),
    ("--disable-component-update", "no downloads of components"),
    ("--disable-domain-reliability", "no reports to Google's servers"),
    ("--disable-sync", "no account"),
    ("--disable-default-apps", "nothing that loads by itself"),
    ("--disable-extensions", "nothing that could read pages beside us"),
    ("--disable-breakpad", "a crash stays in the jail"),
    ("--no-pings", "no hyperlink auditing"),
    ("--no-service-autorun", "nothing outlives the browser"),
    ("--metrics-recording-only", "no uploads of metrics"),
    ("--password-store=basic", "no key ring of a desktop"),
    ("--use-mock-keychain", "the same elsewhere"),
    ("--disable-search-engine-choice-screen", "no question that covers pages"),
    ("--disable-prompt-on-repost", "a reload of a posted page must not hang on a question"),
    ("--disable-hang-monitor", "a busy page is the deadline's business, not a dialog's"),
    (
        "--disable-ipc-flooding-protection",
        "a page that calls history often must not have our commands dropped with its own",
    ),
    ("--disable-backgrounding-occluded-windows", "every tab runs as if it were seen"),
    ("--disable-renderer-backgrounding", "the same"),
    ("--disable-background-timer-throttling", "the same"),
    ("--force-color-profile=srgb", "pictures look the same everywhere"),
    ("--hide-scrollbars", "pictures and layouts don't depend on a theme's scroll bars"),
    ("--mute-audio", "nobody listens"),
    ("--disable-gpu", "there is none; asking for one costs a process and a second"),
    ("--disable-dev-shm-usage", "a jail's /dev/shm may be small"),
    (
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "WebRTC reaches nothing beside the proxy (full Chromium reads this one)",
    ),
    ("--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "the same (headless shell reads this one)"),
];

/// Switches for a browser whose traffic goes to a proxy.
const PROXIED: &[(&str, &str)] = &[
    ("--proxy-server={proxy}", "everything goes to the host's proxy"),
    (
        "--proxy-bypass-list=<-loopback>",
        "loopback and link-local addresses too, which Chromium would else reach directly",
    ),
];

/// The arguments to start Chromium with, [`PROXY`] and [`PROFILE`] still in them.
#[must_use]
pub fn arguments(options: &ChromiumOptions) -> Vec<OsString> {
    let size = format!("{},{}", options.viewport.width, options.viewport.height);
    let proxied = if options.proxied { PROXIED } else { &[] };
    let features: Vec<&str> = FEATURES_OFF.iter().map(|(name, _)| *name).collect();
    SWITCHES
        .iter()
        .chain(proxied)
        .map(|(switch, _)| switch.replace("{size}", &size).replace("{language}", &options.language))
        .chain([format!("--disable-features={}", features.join(","))])
        .map(OsString::from)
        .collect()
}

/// Where Chromium may be, the binary itself before the shell scripts that start it: those open descriptors and read settings.
const PLACES: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome-stable",
];

/// The Chromium of this machine.
#[must_use]
pub fn find() -> Option<PathBuf> {
    PLACES.iter().map(PathBuf::from).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(options: &ChromiumOptions) -> Vec<String> {
        arguments(options).into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn a_switch_is_given_once_and_nothing_but_the_two_placeholders_is_left() {
        let arguments = rendered(&ChromiumOptions::default());
        let mut names: Vec<&str> = arguments.iter().map(|a| a.split('=').next().unwrap()).collect();
        names.sort_unstable();
        let n_names = names.len();
        names.dedup();
        assert_eq!(names.len(), n_names);
        let holes: Vec<&String> = arguments.iter().filter(|a| a.contains('{')).collect();
        assert_eq!(holes, ["--user-data-dir={profile}", "--proxy-server={proxy}"]);
    }

    #[test]
    fn a_proxied_browser_reaches_not_even_loopback_by_itself() {
        let proxied = rendered(&ChromiumOptions::default());
        assert!(proxied.iter().any(|a| a == "--proxy-bypass-list=<-loopback>"));
        let bare = rendered(&ChromiumOptions { proxied: false, ..ChromiumOptions::default() });
        assert!(!bare.iter().any(|a| a.contains("proxy-")));
    }

    #[test]
    fn nothing_weakens_the_sandbox_or_site_isolation() {
        for argument in rendered(&ChromiumOptions::default()) {
            for weak in [
                "no-sandbox",
                "disable-web-security",
                "disable-site-isolation",
                "IsolateOrigins",
                "disable-popup-blocking",
                "remote-debugging-port",
            ] {
                assert!(!argument.contains(weak), "{argument}");
            }
        }
    }
}
