//! A binding, checked: what the operator's settings mean, in types that can't hold a wrong rule.
//!
//! Everything is parsed once, at load; a wrong entry refuses the whole configuration with one line that says which binding, which
//! key and what to write instead. Calls are judged against what is here and nothing else.
//!
//! Not here: the settings as text (`settings.rs`), plugins of a binding (`bound_plugin.rs`).

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::SocketAddr,
    time::Duration,
};

use transom_egress::{gate::GateRules, isolation::Isolation};
use transom_policy::{
    grant::Prefix,
    hosts::{Decision, HostRules, Use},
    redact::Secret,
    template::SecretScope,
};
use transom_verbs::{ErrorCode, ToolError, Verb, registry::closest};
use url::Url;

use crate::settings::{ApprovalRule, BindingSettings, DialogSetting, HostSetting};

/// A setting that can't stand, as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("binding \"{binding}\", {key}: {problem}")]
pub struct BindingError {
    /// The binding's prefix, as written.
    pub binding: String,
    /// The key.
    pub key: String,
    /// What is wrong, and what to write instead.
    pub problem: String,
}

/// Values of secrets by prefix and name. The binary reads them; they are never part of the settings.
#[derive(Clone, Default)]
pub struct SecretValues(BTreeMap<(String, String), String>);

impl SecretValues {
    /// No values.
    #[must_use]
    pub fn new() -> SecretValues {
        SecretValues::default()
    }

    /// Adds the value of a binding's secret.
    pub fn insert(&mut self, prefix: &str, name: &str, value: String) {
        self.0.insert((prefix.to_owned(), name.to_owned()), value);
    }

    fn get(&self, prefix: &str, name: &str) -> Option<&str> {
        self.0.get(&(prefix.to_owned(), name.to_owned())).map(String::as_str)
    }
}

impl std::fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// One binding.
#[derive(Debug)]
pub struct Binding {
    pub(crate) prefix: Prefix,
    pub(crate) documents: HostRules,
    resources: HostRules,
    private: HostRules,
    resolve: HashMap<String, SocketAddr>,
    pub(crate) start: Url,
    pub(crate) verbs: BTreeSet<Verb>,
    pub(crate) approvals: ApprovalRules,
    pub(crate) secrets: SecretScope,
    pub(crate) isolation: Isolation,
    pub(crate) dialogs: DialogSetting,
    pub(crate) evaluate_with_secrets: bool,
}

/// Which calls wait for a person, and how long.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalRules {
    pub timeout: Duration,
    rules: BTreeMap<String, ApprovalRule>,
}

impl ApprovalRules {
    /// The rule for a verb.
    pub(crate) fn of_verb(&self, verb: Verb) -> ApprovalRule {
        let default = if verb.spec().asks_person { ApprovalRule::Ask } else { ApprovalRule::Allow };
        self.rules.get(verb.name()).copied().unwrap_or(default)
    }

    /// The rule for a plugin's tool, by its name without the prefix.
    pub(crate) fn of_tool(&self, name: &str) -> ApprovalRule {
        self.rules.get(name).copied().unwrap_or(ApprovalRule::Allow)
    }

    /// Names that rules are written for.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().map(String::as_str)
    }
}

impl Binding {
    /// Checks a binding's settings.
    ///
    /// # Errors
    /// The first setting that can't stand.
    pub fn check(settings: &BindingSettings, values: &SecretValues) -> Result<Binding, BindingError> {
        let wrong = |key: &str, problem: String| BindingError {
            binding: settings.prefix.clone(),
            key: key.to_owned(),
            problem,
        };
        let prefix = Prefix::parse(&settings.prefix).map_err(|error| wrong("prefix", error.to_string()))?;
        let documents = host_rules(&settings.hosts, settings.https_only).map_err(|error| wrong("hosts", error))?;
        if settings.hosts.is_empty() {
            return Err(wrong(
                "hosts",
                "the list is empty, so nothing could be opened: name at least the host of `start`".into(),
            ));
        }
        let resources = host_rules(&settings.resource_hosts, settings.https_only)
            .map_err(|error| wrong("resource_hosts", error))?;
        let start = Url::parse(&settings.start).map_err(|error| {
            wrong(
                "start",
                format!("not a full address ({error}): write it with its scheme, as in \"https://shop.example.com/\""),
            )
        })?;
        if let Decision::Deny(denial) = documents.decide_url(&start, Use::Page) {
            return Err(wrong("start", format!("{denial}: the start page has to be on one of `hosts`")));
        }
        let verbs = match &settings.verbs {
            None => Verb::ALL.iter().copied().collect(),
            Some(names) => names
                .iter()
                .map(|name| verb_named(name).map_err(|error| wrong("verbs", error)))
                .collect::<Result<_, _>>()?,
        };
        let private: Vec<HostSetting> =
            settings.hosts.iter().chain(&settings.resource_hosts).filter(|host| host.is_private()).cloned().collect();
        Ok(Binding {
            prefix,
            resources,
            private: host_rules(&private, settings.https_only).map_err(|error| wrong("hosts", error))?,
            resolve: settings.resolve.iter().map(|(name, address)| (name.to_ascii_lowercase(), *address)).collect(),
            start,
            verbs,
            approvals: ApprovalRules { timeout: settings.approvals.timeout, rules: settings.approvals.rules.clone() },
            secrets: secret_scope(settings, values, &documents).map_err(|(key, problem)| wrong(&key, problem))?,
            documents,
            isolation: settings.isolation,
            dialogs: settings.dialogs,
            evaluate_with_secrets: settings.evaluate_with_secrets,
        })
    }

    /// What the gate of a run under this binding lets through.
    pub(crate) fn gate_rules(&self) -> GateRules {
        GateRules {
            hosts: self.documents.clone(),
            resources: self.resources.clone(),
            private: self.private.clone(),
            resolve: self.resolve.clone(),
        }
    }

    /// Whether a page of this address may be opened or read.
    ///
    /// # Errors
    /// [`ErrorCode::SiteBlocked`], which names no more of the address than its host.
    pub(crate) fn admit(&self, address: &str) -> Result<(), ToolError> {
        match self.documents.decide(address, Use::Page) {
            Decision::Allow { .. } => Ok(()),
            Decision::Deny(denial) => Err(self.blocked(&denial)),
        }
    }

    pub(crate) fn blocked(&self, denial: &transom_policy::hosts::Denial) -> ToolError {
        let error = ToolError::new(ErrorCode::SiteBlocked, format!("refused: {denial}"));
        match denial.missing_entry() {
            Some(entry) => error
                .with_hint(format!("an operator can add \"{entry}\" to `hosts` of the binding \"{}\"", self.prefix)),
            None => error,
        }
    }
}

fn host_rules(hosts: &[HostSetting], https_only: bool) -> Result<HostRules, String> {
    let entries: Vec<&str> = hosts.iter().map(HostSetting::entry).collect();
    HostRules::parse(&entries).map(|rules| rules.https_only(https_only)).map_err(|error| error.to_string())
}

fn verb_named(name: &str) -> Result<Verb, String> {
    Verb::from_name(name).ok_or_else(|| {
        let meant = closest(name, Verb::ALL.iter().map(|verb| verb.name()));
        match meant {
            Some(meant) => format!("there is no verb \"{name}\": did you mean \"{meant}\"?"),
            None => format!("there is no verb \"{name}\": `transom verbs` lists them"),
        }
    })
}

fn secret_scope(
    settings: &BindingSettings,
    values: &SecretValues,
    documents: &HostRules,
) -> Result<SecretScope, (String, String)> {
    let mut scoped = Vec::new();
    for (name, secret) in &settings.secrets {
        let key = format!("secrets.{name}");
        let Some(value) = values.get(&settings.prefix, name) else {
            return Err((key, "has no value: name its source, as in { env = \"SHOP_PASSWORD\" }".into()));
        };
        let hosts = match &secret.hosts {
            None => documents.clone(),
            Some(entries) => HostRules::parse(entries)
                .map(|rules| rules.https_only(settings.https_only))
                .map_err(|error| (key.clone(), error.to_string()))?,
        };
        let secret = Secret::new(name, value).map_err(|error| (key, error.to_string()))?;
        scoped.push((secret, hosts));
    }
    Ok(SecretScope::new(scoped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> BindingSettings {
        toml::from_str(&format!("prefix = \"shop\"\n{text}")).unwrap()
    }

    fn check(text: &str) -> Result<Binding, String> {
        Binding::check(&settings(text), &SecretValues::new()).map_err(|error| error.to_string())
    }

    const GOOD: &str = "hosts = [\"shop.example.com\"]\nstart = \"https://shop.example.com/\"\n";

    #[test]
    fn a_wrong_setting_gets_one_line_with_the_binding_and_the_key() {
        for (text, starts, holds) in [
            ("hosts = []\nstart = \"https://shop.example.com/\"", "binding \"shop\", hosts: the list is empty", ""),
            ("hosts = [\"http://a/b\"]\nstart = \"https://shop.example.com/\"", "binding \"shop\", hosts: ", "a"),
            (
                "hosts = [\"shop.example.com\"]\nstart = \"shop.example.com\"",
                "binding \"shop\", start: not a full address",
                "scheme",
            ),
            (
                "hosts = [\"shop.example.com\"]\nstart = \"https://evil.test/\"",
                "binding \"shop\", start: ",
                "has to be on one of `hosts`",
            ),
            (
                "hosts = [\"shop.example.com\"]\nstart = \"https://shop.example.com/\"\nverbs = [\"clik\"]",
                "binding \"shop\", verbs: there is no verb \"clik\"",
                "did you mean \"click\"?",
            ),
            (
                "hosts = [\"shop.example.com\"]\nstart = \"https://shop.example.com/\"\n[secrets]\npw = { env = \"X\" }",
                "binding \"shop\", secrets.pw: has no value",
                "",
            ),
        ] {
            let error = check(text).unwrap_err();
            assert!(error.starts_with(starts) && error.contains(holds) && !error.contains('\n'), "{error}");
        }
        assert!(check(GOOD).is_ok());
    }

    #[test]
    fn a_page_is_admitted_by_its_host_and_a_refusal_names_no_more_than_that() {
        let binding = check(GOOD).unwrap();
        binding.admit("https://shop.example.com/orders?token=1").unwrap();
        let error = binding.admit("https://evil.test/steal?token=1").unwrap_err();
        assert_eq!(error.code, ErrorCode::SiteBlocked);
        assert!(error.message.starts_with("refused") && error.message.contains("evil.test"), "{error}");
        assert!(!error.message.contains("steal") && !error.message.contains("token"), "{error}");
        assert!(error.hint.unwrap().contains("evil.test"));
    }

    #[test]
    fn an_upload_waits_for_a_person_unless_the_binding_says_otherwise() {
        let binding = check(GOOD).unwrap();
        assert_eq!(binding.approvals.of_verb(Verb::Upload), ApprovalRule::Ask);
        assert_eq!(binding.approvals.of_verb(Verb::Click), ApprovalRule::Allow);
        let binding =
            check(&format!("{GOOD}approvals = {{ upload = \"allow\", click = \"deny\", timeout = \"2s\" }}")).unwrap();
        assert_eq!(binding.approvals.of_verb(Verb::Upload), ApprovalRule::Allow);
        assert_eq!(binding.approvals.of_verb(Verb::Click), ApprovalRule::Deny);
        assert_eq!(binding.approvals.timeout, Duration::from_secs(2));
    }
}
