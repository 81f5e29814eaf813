//! What the calls of one plugin may do: imports ∩ manifest ∩ the binding's grant to this plugin (∩ the run's list).
//!
//! | layer | who decides | narrows |
//! |---|---|---|
//! | imports | the component: what it imports is its ceiling | interfaces |
//! | manifest | the author: `[needs]` of `plugin.toml` | interfaces, verbs, hosts |
//! | binding | the operator: `[[binding.plugin]]` | verbs, secrets; interfaces and hosts where it lists them |
//! | run | the caller: `plugin_verbs`, where given | verbs |
//!
//! A layer can only take away. Whether the run holds the *plugin's tool* is asked before, by [`Grants`](crate::grant::Grants);
//! that it holds the verbs that the tool uses is not asked at all: that is the point of a tool.
//!
//! A denial names the first layer that refused, in the order of the table, and the line of configuration that would
//! change its mind; the layers after it may refuse as well.
//!
//! Not here: the binding's own hosts, which `runs` judges beneath this for every caller; which interface a verb belongs to
//! (the caller says so). Names are plain text: one that nobody knows is in no layer, so it is refused.

use std::collections::BTreeSet;
use std::fmt;

use url::Url;

use crate::grant::Prefix;
use crate::hosts::{HostRules, Use};

/// What the author of a plugin asks for: `[needs]` of its manifest. The default asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginNeeds {
    /// WIT interfaces by name, such as `act`.
    pub interfaces: BTreeSet<String>,
    /// Verbs by name, such as `click`.
    pub verbs: BTreeSet<String>,
    /// Hosts that the plugin works on. Empty: none. `None`: those of the binding, whichever they are.
    pub hosts: Option<HostRules>,
}

/// What the operator grants to a plugin: `[[binding.plugin]]`. The default grants no verb and no secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginGrant {
    /// Interfaces by name. `None`: those of the manifest.
    pub interfaces: Option<BTreeSet<String>>,
    /// Verbs by name.
    pub verbs: BTreeSet<String>,
    /// Hosts. `None`: those of the manifest.
    pub hosts: Option<HostRules>,
    /// Names of secrets that the plugin may type. It can read none.
    pub secrets: BTreeSet<String>,
}

/// The effective capability of one plugin in one binding.
#[derive(Clone, Debug)]
pub struct Capabilities {
    plugin: String,
    prefix: Prefix,
    imports: BTreeSet<String>,
    needs: PluginNeeds,
    grant: PluginGrant,
    run_verbs: Option<BTreeSet<String>>,
}

/// One thing that a plugin's call wants.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// To call functions of an interface.
    Interface(&'a str),
    /// To perform a verb, by a function of the interface that offers it.
    Verb {
        /// The interface.
        interface: &'a str,
        /// The verb.
        verb: &'a str,
    },
    /// To type a secret; the verb that types is asked for apart.
    Secret(&'a str),
    /// To act on or open a page of this URL. The binding's hosts are asked apart.
    Url {
        /// Parsed without a base.
        url: &'a Url,
        /// Page or socket.
        used_as: Use,
    },
}

impl Capabilities {
    /// Joins the three layers for the plugin named `plugin` in the binding `prefix`. `imports` are the capability
    /// interfaces that the component imports, by their WIT names without package and version.
    #[must_use]
    pub fn effective(
        plugin: &str,
        prefix: Prefix,
        imports: BTreeSet<String>,
        needs: PluginNeeds,
        grant: PluginGrant,
    ) -> Capabilities {
        Capabilities { plugin: plugin.to_owned(), prefix, imports, needs, grant, run_verbs: None }
    }

    /// The same, narrowed to the verbs that a run lists for its plugins.
    #[must_use]
    pub fn narrowed_by_run(self, plugin_verbs: BTreeSet<String>) -> Capabilities {
        let run_verbs = match self.run_verbs {
            None => plugin_verbs,
            Some(already) => already.intersection(&plugin_verbs).cloned().collect(),
        };
        Capabilities { run_verbs: Some(run_verbs), ..self }
    }

    /// Whether the plugin may have what it asks for.
    ///
    /// # Errors
    /// [`CapabilityDenial`] with the first layer that refuses.
    pub fn decide(&self, asked: Asked<'_>) -> Result<(), CapabilityDenial> {
        match asked {
            Asked::Interface(interface) => self.decide_interface(interface),
            Asked::Verb { interface, verb } => {
                self.decide_interface(interface)?;
                let by_run = self.run_verbs.as_ref().is_none_or(|verbs| verbs.contains(verb));
                let layers = [
                    (Layer::Manifest, self.needs.verbs.contains(verb)),
                    (Layer::Binding, self.grant.verbs.contains(verb)),
                    (Layer::Run, by_run),
                ];
                self.first_refusal(&layers, Kind::Verb, verb)
            }
            Asked::Secret(name) => {
                self.first_refusal(&[(Layer::Binding, self.grant.secrets.contains(name))], Kind::Secret, name)
            }
            Asked::Url { url, used_as } => {
                let layers = [
                    (Layer::Manifest, &self.needs.hosts, "by the hosts of its manifest"),
                    (Layer::Binding, &self.grant.hosts, "by the hosts that the binding grants it"),
                ];
                for (layer, hosts, by) in layers {
                    let Some(Err(denial)) = hosts.as_ref().map(|hosts| hosts.decide_url(url, used_as).into_result())
                    else {
                        continue;
                    };
                    return Err(CapabilityDenial {
                        plugin: self.plugin.clone(),
                        layer,
                        what: "the URL".to_owned(),
                        why: format!("{denial} ({by})"),
                        line: denial.missing_entry().map(|entry| self.line(layer, Kind::Host, &entry)),
                    });
                }
                Ok(())
            }
        }
    }

    /// The interfaces that every layer leaves, in order.
    pub fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(String::as_str).filter(|interface| self.decide_interface(interface).is_ok())
    }

    /// The verbs that every layer leaves, in order; each needs its interface as well.
    pub fn verbs(&self) -> impl Iterator<Item = &str> {
        let by_run = |verb: &&String| self.run_verbs.as_ref().is_none_or(|verbs| verbs.contains(*verb));
        self.needs.verbs.intersection(&self.grant.verbs).filter(by_run).map(String::as_str)
    }

    /// The secrets that the plugin may type, in order.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.grant.secrets.iter().map(String::as_str)
    }

    /// What a layer has beyond the one that bounds it: imports that the manifest does not ask for, and grants of verbs
    /// or interfaces that it does not ask for. None of it takes effect; whoever loads the plugin refuses it all the
    /// same, since somebody believes that it does.
    #[must_use]
    pub fn excess(&self) -> Vec<Excess> {
        let beyond = |layer, kind, have: &BTreeSet<String>, bound: &BTreeSet<String>| {
            let names: Vec<&String> = have.difference(bound).collect();
            names
                .into_iter()
                .map(|name| Excess { layer, line: self.line(Layer::Manifest, kind, name) })
                .collect::<Vec<_>>()
        };
        let mut excess = beyond(Layer::Imports, Kind::Interface, &self.imports, &self.needs.interfaces);
        excess.extend(beyond(Layer::Binding, Kind::Verb, &self.grant.verbs, &self.needs.verbs));
        if let Some(interfaces) = &self.grant.interfaces {
            excess.extend(beyond(Layer::Binding, Kind::Interface, interfaces, &self.needs.interfaces));
        }
        excess
    }

    fn decide_interface(&self, interface: &str) -> Result<(), CapabilityDenial> {
        let by_binding = self.grant.interfaces.as_ref().is_none_or(|interfaces| interfaces.contains(interface));
        let layers = [
            (Layer::Imports, self.imports.contains(interface)),
            (Layer::Manifest, self.needs.interfaces.contains(interface)),
            (Layer::Binding, by_binding),
        ];
        self.first_refusal(&layers, Kind::Interface, interface)
    }

    fn first_refusal(&self, layers: &[(Layer, bool)], kind: Kind, name: &str) -> Result<(), CapabilityDenial> {
        match layers.iter().find(|(_, leaves_it)| !leaves_it) {
            None => Ok(()),
            Some((layer, _)) => Err(CapabilityDenial {
                plugin: self.plugin.clone(),
                layer: *layer,
                what: format!("the {kind} {name:?}"),
                why: layer.to_string(),
                line: Some(self.line(*layer, kind, name)),
            }),
        }
    }

    /// What to change, and where, so that `layer` no longer refuses `name`.
    fn line(&self, layer: Layer, kind: Kind, name: &str) -> String {
        let (plugin, prefix, list) = (&self.plugin, &self.prefix, kind.list());
        match layer {
            Layer::Imports => format!("import the interface {name:?} in the world of plugin {plugin:?}"),
            Layer::Manifest => format!("add {name:?} to {list} under [needs] in plugin.toml of plugin {plugin:?}"),
            Layer::Binding => {
                format!("add {name:?} to {list} of [[binding.plugin]] for plugin {plugin:?} in binding \"{prefix}\"")
            }
            Layer::Run => format!("add {name:?} to plugin_verbs of the run"),
        }
    }
}

/// Who refused; the table at the head of this file says what each may narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The component imports no such interface.
    Imports,
    /// The plugin's manifest does not ask for it.
    Manifest,
    /// The binding does not grant it to the plugin.
    Binding,
    /// The run narrowed it away.
    Run,
}

impl fmt::Display for Layer {
    /// As the subject of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Imports => "the component does not import it",
            Layer::Manifest => "the plugin's manifest does not ask for it",
            Layer::Binding => "the binding does not grant it to this plugin",
            Layer::Run => "the run does not list it for plugins",
        })
    }
}

/// A refused call of a plugin, as one line; the change that would allow it is apart, for a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is refused to plugin {plugin:?}: {why}")]
pub struct CapabilityDenial {
    plugin: String,
    layer: Layer,
    what: String,
    why: String,
    line: Option<String>,
}

impl CapabilityDenial {
    /// The first layer that refused.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The change of configuration that would allow it, such as `add "click" to verbs of [[binding.plugin]] for plugin
    /// "orders" in binding "shop"`. `None` where none would, as for a `file:` URL.
    #[must_use]
    pub fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }
}

/// Something that one layer has and the manifest does not bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Where it is too much: [`Layer::Imports`] or [`Layer::Binding`].
    pub layer: Layer,
    /// The line that the manifest lacks.
    pub line: String,
}

#[derive(Clone, Copy)]
enum Kind {
    Interface,
    Verb,
    Secret,
    Host,
}

impl Kind {
    /// The key of configuration that lists this kind.
    fn list(self) -> &'static str {
        match self {
            Kind::Interface => "interfaces",
            Kind::Verb => "verbs",
            Kind::Secret => "secrets",
            Kind::Host => "hosts",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Interface => "interface",
            Kind::Verb => "verb",
            Kind::Secret => "secret",
            Kind::Host => "host",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn orders() -> Capabilities {
        let needs = PluginNeeds {
            interfaces: set(&["navigate", "act", "script"]),
            verbs: set(&["navigate", "click", "evaluate"]),
            hosts: Some(HostRules::parse(&["shop.test", "*.shop.test"]).unwrap()),
        };
        let grant = PluginGrant {
            interfaces: None,
            verbs: set(&["navigate", "evaluate"]),
            hosts: Some(HostRules::parse(&["shop.test"]).unwrap()),
            secrets: set(&["password"]),
        };
        let prefix = Prefix::parse("shop").unwrap();
        Capabilities::effective("orders", prefix, set(&["navigate", "act", "read"]), needs, grant)
    }

    fn denied(asked: Asked<'_>, layer: Layer, text: &Expect) {
        let denial = orders().decide(asked).unwrap_err();
        assert_eq!(denial.layer(), layer);
        text.assert_eq(&format!("{denial}\n{}", denial.line().unwrap_or("-")));
    }

    fn page(url: &str) -> Url {
        Url::parse(url).unwrap()
    }

    #[test]
    fn what_all_layers_leave_is_allowed() {
        let orders = orders();
        assert_eq!(orders.decide(Asked::Interface("act")), Ok(()));
        assert_eq!(orders.decide(Asked::Verb { interface: "navigate", verb: "navigate" }), Ok(()));
        assert_eq!(orders.decide(Asked::Secret("password")), Ok(()));
        assert_eq!(orders.decide(Asked::Url { url: &page("https://shop.test/x"), used_as: Use::Page }), Ok(()));
    }

    #[test]
    fn a_denial_names_the_layer_that_refused_and_the_line_that_would_allow_it() {
        denied(
            Asked::Verb { interface: "act", verb: "click" },
            Layer::Binding,
            &expect![[r#"
            the verb "click" is refused to plugin "orders": the binding does not grant it to this plugin
            add "click" to verbs of [[binding.plugin]] for plugin "orders" in binding "shop""#]],
        );
        denied(
            Asked::Verb { interface: "act", verb: "type" },
            Layer::Manifest,
            &expect![[r#"
            the verb "type" is refused to plugin "orders": the plugin's manifest does not ask for it
            add "type" to verbs under [needs] in plugin.toml of plugin "orders""#]],
        );
        denied(
            Asked::Verb { interface: "script", verb: "evaluate" },
            Layer::Imports,
            &expect![[r#"
            the interface "script" is refused to plugin "orders": the component does not import it
            import the interface "script" in the world of plugin "orders""#]],
        );
        denied(
            Asked::Interface("read"),
            Layer::Manifest,
            &expect![[r#"
            the interface "read" is refused to plugin "orders": the plugin's manifest does not ask for it
            add "read" to interfaces under [needs] in plugin.toml of plugin "orders""#]],
        );
        denied(
            Asked::Secret("pin"),
            Layer::Binding,
            &expect![[r#"
            the secret "pin" is refused to plugin "orders": the binding does not grant it to this plugin
            add "pin" to secrets of [[binding.plugin]] for plugin "orders" in binding "shop""#]],
        );
        denied(
            Asked::Url { url: &page("https://evil.test/x"), used_as: Use::Page },
            Layer::Manifest,
            &expect![[r#"
                the URL is refused to plugin "orders": evil.test is not among the hosts that may be reached here (by the hosts of its manifest)
                add "evil.test" to hosts under [needs] in plugin.toml of plugin "orders""#]],
        );
        denied(
            Asked::Url { url: &page("https://a.shop.test:8443/x"), used_as: Use::Page },
            Layer::Manifest,
            &expect![[r#"
                the URL is refused to plugin "orders": a.shop.test may not be reached by https at port 8443: the list has *.shop.test (by the hosts of its manifest)
                add "a.shop.test:8443" to hosts under [needs] in plugin.toml of plugin "orders""#]],
        );
        denied(
            Asked::Url { url: &page("https://a.shop.test/x"), used_as: Use::Page },
            Layer::Binding,
            &expect![[r#"
                the URL is refused to plugin "orders": a.shop.test is not among the hosts that may be reached here (by the hosts that the binding grants it)
                add "a.shop.test" to hosts of [[binding.plugin]] for plugin "orders" in binding "shop""#]],
        );
        denied(
            Asked::Url { url: &page("file:///etc/passwd"), used_as: Use::Page },
            Layer::Manifest,
            &expect![[r#"
                the URL is refused to plugin "orders": file URLs are not opened as pages; use http or https (by the hosts of its manifest)
                -"#]],
        );
    }

    #[test]
    fn a_run_narrows_further_and_never_widens() {
        let narrowed = orders().narrowed_by_run(set(&["evaluate", "click"]));
        let denial = narrowed.decide(Asked::Verb { interface: "navigate", verb: "navigate" }).unwrap_err();
        assert_eq!((denial.layer(), denial.line()), (Layer::Run, Some("add \"navigate\" to plugin_verbs of the run")));
        assert_eq!(narrowed.verbs().collect::<Vec<_>>(), ["evaluate"]);
        assert_eq!(narrowed.narrowed_by_run(set(&["click"])).verbs().count(), 0);
        assert_eq!(orders().verbs().collect::<Vec<_>>(), ["evaluate", "navigate"]);
    }

    #[test]
    fn what_the_manifest_does_not_bound_is_listed_with_the_line_that_it_lacks() {
        let mut plugin = orders();
        plugin.grant.verbs.insert("upload".into());
        let lines: Vec<(Layer, String)> =
            plugin.excess().into_iter().map(|excess| (excess.layer, excess.line)).collect();
        assert_eq!(
            lines,
            [
                (
                    Layer::Imports,
                    "add \"read\" to interfaces under [needs] in plugin.toml of plugin \"orders\"".to_owned()
                ),
                (
                    Layer::Binding,
                    "add \"upload\" to verbs under [needs] in plugin.toml of plugin \"orders\"".to_owned()
                ),
            ]
        );
        plugin.grant.verbs.remove("upload");
        plugin.imports.remove("read");
        assert_eq!(plugin.excess(), []);
    }

    #[test]
    fn nothing_granted_is_nothing_allowed() {
        let prefix = Prefix::parse("shop").unwrap();
        let none =
            Capabilities::effective("orders", prefix, BTreeSet::new(), PluginNeeds::default(), PluginGrant::default());
        assert!(none.decide(Asked::Interface("navigate")).is_err());
        assert!(none.decide(Asked::Secret("password")).is_err());
        assert_eq!(none.interfaces().count() + none.verbs().count() + none.secrets().count(), 0);
    }
}
