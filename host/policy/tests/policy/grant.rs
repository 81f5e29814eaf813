//! What holds for every set of layers.

use std::collections::BTreeSet;

use proptest::prelude::*;
use transom_policy::grant::{Asked, Capabilities, Grants, Layer, PluginGrant, PluginNeeds, Prefix, ToolName};

const NAMES: [&str; 6] = ["navigate", "read", "act", "click", "type", "evaluate"];

fn names() -> impl Strategy<Value = BTreeSet<String>> {
    prop::sample::subsequence(NAMES.to_vec(), 0..=NAMES.len())
        .prop_map(|names| names.into_iter().map(str::to_owned).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_call_is_allowed_exactly_when_every_layer_leaves_it(
        imports in names(), need_interfaces in names(), need_verbs in names(),
        grant_interfaces in prop::option::of(names()), grant_verbs in names(), run_verbs in prop::option::of(names()),
    ) {
        let needs = PluginNeeds { interfaces: need_interfaces.clone(), verbs: need_verbs.clone(), hosts: None };
        let grant = PluginGrant { interfaces: grant_interfaces.clone(), verbs: grant_verbs.clone(), ..Default::default() };
        let mut plugin = Capabilities::effective("p", Prefix::parse("shop").unwrap(), imports.clone(), needs, grant);
        if let Some(verbs) = &run_verbs {
            plugin = plugin.narrowed_by_run(verbs.clone());
        }
        let has = |set: &Option<BTreeSet<String>>, name: &str| set.as_ref().is_none_or(|set| set.contains(name));
        for interface in NAMES {
            let open = imports.contains(interface) && need_interfaces.contains(interface) && has(&grant_interfaces, interface);
            prop_assert_eq!(plugin.decide(Asked::Interface(interface)).is_ok(), open);
            prop_assert_eq!(plugin.interfaces().any(|name| name == interface), open);
            for verb in NAMES {
                let wanted = open && need_verbs.contains(verb) && grant_verbs.contains(verb) && has(&run_verbs, verb);
                let decided = plugin.decide(Asked::Verb { interface, verb });
                prop_assert_eq!(decided.is_ok(), wanted);
                if let Err(denial) = decided {
                    let at_fault = match denial.layer() {
                        Layer::Imports => !imports.contains(interface),
                        Layer::Manifest => !need_interfaces.contains(interface) || !need_verbs.contains(verb),
                        Layer::Binding => !has(&grant_interfaces, interface) || !grant_verbs.contains(verb),
                        Layer::Run => !has(&run_verbs, verb),
                    };
                    prop_assert!(at_fault, "{denial}");
                    prop_assert!(denial.line().is_some());
                }
            }
        }
    }

    #[test]
    fn every_text_is_refused_in_one_line_or_read_back_as_itself(text in "([a-zA-Z0-9_.*-]{0,12}|.{0,12})") {
        match ToolName::parse(&text) {
            Ok(tool) => {
                prop_assert_eq!(tool.to_string(), text.clone());
                prop_assert!(Grants::parse(&[text]).unwrap().allows(&tool));
            }
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
        }
    }
}
