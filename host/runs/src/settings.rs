//! The configuration as an operator writes it: plain data, checked by [`crate::binding`].
//!
//! Unknown keys are refused everywhere. Nothing here is judged yet: a host entry is still a string, a duration still `"5m"`.
//! Values of secrets never stand in the configuration; it names where they come from.
//!
//! Not here: reading files and the environment (the binary does that), and what the settings mean.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use transom_egress::isolation::Isolation;

/// The whole configuration file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The host itself.
    pub host: HostSettings,
    /// How the journal is kept.
    pub journal: JournalSettings,
    /// Bounds that hold for every run.
    pub limits: LimitSettings,
    /// What runs may reach, one entry for each prefix.
    pub binding: Vec<BindingSettings>,
}

/// `[host]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostSettings {
    /// Where `transom serve` listens. Loopback only.
    pub listen: SocketAddr,
    /// Where state is kept: journal, run files, sockets. Default: the user's state folder.
    pub state: Option<PathBuf>,
    /// The Chromium binary. Default: found in the usual places.
    pub chromium: Option<PathBuf>,
    /// Models that the operator trusts with a browser. Empty: any, and runs need not name one.
    pub trusted_models: Vec<String>,
}

impl Default for HostSettings {
    fn default() -> HostSettings {
        HostSettings {
            listen: SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)),
            state: None,
            chromium: None,
            trusted_models: Vec::new(),
        }
    }
}

/// The port of `transom serve` unless configured: free in the registry of well-known ports.
pub const DEFAULT_PORT: u16 = 7411;

/// `[journal]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct JournalSettings {
    /// What a written entry survives.
    pub sync: JournalSync,
}

/// What a written journal entry survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JournalSync {
    /// The death of the host.
    #[default]
    Process,
    /// The death of the machine, at some ten times the cost of a row.
    Power,
}

/// `[limits]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Runs at the same time. Each has a Chromium of its own for each prefix, at about 200 MB.
    pub runs: usize,
    /// A run without a call for this long ends.
    #[serde(with = "duration")]
    pub idle: Duration,
    /// Bytes that one run may keep in files.
    pub run_bytes: u64,
    /// Files that one run may keep.
    pub run_files: usize,
}

impl Default for LimitSettings {
    fn default() -> LimitSettings {
        LimitSettings { runs: 16, idle: Duration::from_secs(15 * 60), run_bytes: 512 * 1024 * 1024, run_files: 1_000 }
    }
}

/// `[[binding]]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BindingSettings {
    /// The first part of the tools' names: `shop` in `shop.click`.
    pub prefix: String,
    /// Hosts that may be opened.
    pub hosts: Vec<HostSetting>,
    /// Hosts that pages may load from, but that may not be opened.
    #[serde(default)]
    pub resource_hosts: Vec<HostSetting>,
    /// Refuse plain HTTP.
    #[serde(default)]
    pub https_only: bool,
    /// The page that a run begins on.
    pub start: String,
    /// Verbs that may be granted under this prefix. Default: all.
    #[serde(default)]
    pub verbs: Option<Vec<String>>,
    /// Which calls wait for a person.
    #[serde(default)]
    pub approvals: ApprovalSettings,
    /// Secrets that the host may type, by name.
    #[serde(default)]
    pub secrets: BTreeMap<String, SecretSetting>,
    /// Plugins whose tools appear under this prefix.
    #[serde(default)]
    pub plugin: Vec<PluginSettings>,
    /// Addresses for names, instead of a DNS answer. A name that is listed here still has to be in `hosts`.
    #[serde(default)]
    pub resolve: BTreeMap<String, SocketAddr>,
    /// How strongly Chromium is shut in.
    #[serde(default)]
    pub isolation: Isolation,
    /// What happens to confirm and prompt dialogs.
    #[serde(default)]
    pub dialogs: DialogSetting,
    /// Let `evaluate` run in documents that a secret was typed into. A script can encode a secret past any redactor.
    #[serde(default)]
    pub evaluate_with_secrets: bool,
}

/// An entry of a host list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum HostSetting {
    /// `"shop.example.com"`
    Public(String),
    /// `{ host = "intranet.example.com", private = true }`
    Detailed(DetailedHost),
}

/// An entry of a host list with its details.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DetailedHost {
    /// The entry.
    pub host: String,
    /// Whether it may have a private or loopback address.
    #[serde(default)]
    pub private: bool,
}

impl HostSetting {
    /// The entry's text.
    #[must_use]
    pub fn entry(&self) -> &str {
        match self {
            HostSetting::Public(entry) => entry,
            HostSetting::Detailed(detailed) => &detailed.host,
        }
    }

    /// Whether it may have a private address.
    #[must_use]
    pub fn is_private(&self) -> bool {
        matches!(self, HostSetting::Detailed(DetailedHost { private: true, .. }))
    }
}

/// `approvals = { upload = "ask", timeout = "5m" }`: a rule for each verb or plugin tool, and how long a person has.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ApprovalSettings {
    /// How long a person has to answer.
    #[serde(with = "duration", default = "approval_timeout")]
    pub timeout: Duration,
    /// The rule by verb or tool name, without the prefix.
    #[serde(flatten)]
    pub rules: BTreeMap<String, ApprovalRule>,
}

fn approval_timeout() -> Duration {
    Duration::from_secs(5 * 60)
}

impl Default for ApprovalSettings {
    fn default() -> ApprovalSettings {
        ApprovalSettings { timeout: approval_timeout(), rules: BTreeMap::new() }
    }
}

/// What happens before a call is performed. In the order of strictness, so that the strictest of several is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalRule {
    /// It is performed.
    Allow,
    /// It waits for a person.
    Ask,
    /// It is refused.
    Deny,
}

/// `password = { env = "SHOP_PASSWORD", hosts = ["shop.example.com"] }`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SecretSetting {
    /// The environment variable that holds the value.
    pub env: Option<String>,
    /// The file that holds the value; one line end at its end is dropped.
    pub file: Option<PathBuf>,
    /// Hosts that it may be typed on. Default: the binding's.
    pub hosts: Option<Vec<String>>,
}

/// `[[binding.plugin]]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PluginSettings {
    /// Path of its `plugin.toml`, relative to the configuration file.
    pub manifest: PathBuf,
    /// The name under which its tools appear, instead of its own: `orders` in `shop.orders_list`.
    #[serde(default)]
    pub name: Option<String>,
    /// Verbs that its calls may perform, out of those that its manifest asks for. Default: none.
    #[serde(default)]
    pub verbs: Vec<String>,
    /// Interfaces that its calls may use. Default: those of its manifest.
    #[serde(default)]
    pub interfaces: Option<Vec<String>>,
    /// Hosts that its calls may be on. Default: those of its manifest.
    #[serde(default)]
    pub hosts: Option<Vec<String>>,
    /// Secrets that its calls may type, and never read. Default: none.
    #[serde(default)]
    pub secrets: Vec<String>,
}

/// What happens to confirm and prompt dialogs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DialogSetting {
    /// They wait for the `dialog` verb.
    #[default]
    Ask,
    /// They are accepted at once and reported.
    Accept,
    /// They are dismissed at once and reported.
    Dismiss,
}

/// Durations as people write them: `"15s"`, `"5m"`.
mod duration {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_duration(&text).map_err(|_| {
            D::Error::custom(format!("`{text}` is no duration: write a number and a unit, as in \"15s\" or \"5m\""))
        })
    }

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(*duration))
    }
}
