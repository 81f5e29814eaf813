//! What a well-behaved call gives, what its verbs look like, and what a plugin can't get around.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use expect_test::expect;
use serde_json::{Value, json};
use support::{FILE, Recording, call, load, refusal};
use tokio::time::{Duration, Instant};
use transom_plugins::LogLevel;
use transom_verbs::{Call, ErrorCode, Reason, Verb, registry::Effect};

#[tokio::test]
async fn every_function_becomes_its_verb_with_arguments_that_the_registry_takes() {
    let (plugin, host) = (load("honest").await, Recording::with_secret("password"));
    let result = call(&plugin, "all", json!({}), &host).await.unwrap();
    assert_eq!(result.content, "Orders, 1 tabs, opened t3");
    assert_eq!((result.attachments[0].as_str(), result.images[0].as_str()), (FILE, FILE));
    assert_eq!(host.lines(), [(LogLevel::Info, "Orders in t1".to_owned())]);
    for line in host.calls() {
        let (function, args) = line.split_once(' ').unwrap();
        let verb = Verb::from_name(function.split_once('.').unwrap().1).unwrap();
        let args: Value = serde_json::from_str(args).unwrap();
        Call::parse(verb, &args).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    expect![[r##"
        navigate.navigate {"tab":"t1","url":"https://shop.test/"}
        navigate.back {"tab":"t1"}
        navigate.forward {"tab":"t1"}
        navigate.reload {"tab":"t1"}
        navigate.tabs {}
        navigate.open {}
        navigate.switch {"tab":"t1"}
        navigate.wait {"tab":"t1","selector":"#go"}
        navigate.wait {"tab":"t1","timeout_ms":100,"text_gone":"Loading"}
        read.snapshot {"tab":"t1"}
        read.extract {"tab":"t1","selector":"h1","format":"text","max_chars":1000000}
        read.screenshot {"tab":"t1"}
        act.click {"tab":"t1","ref":"e1"}
        act.type {"tab":"t1","x":1.0,"y":2.5,"text":"hello"}
        act.dialog {"tab":"t1","accept":true,"text":"yes"}
        script.evaluate {"tab":"t1","script":"document.title"}
        script.wait {"tab":"t1","script":"true"}
        files.download {"tab":"t1","url":"https://shop.test/orders.csv"}
        files.upload {"tab":"t1","selector":"#file","file":"file_01ARZ3NDEKTSV4RRFFQ69G5FAV"}
        secrets.type {"tab":"t1","selector":"#password","text":"{{secret:password}}","mode":"replace"}
        navigate.close {"tab":"t2"}"##]]
    .assert_eq(&host.calls().join("\n"));
}

#[tokio::test]
async fn without_a_tab_verbs_mean_the_active_one() {
    let (plugin, host) = (load("honest").await, Recording::new());
    let deadline = Instant::now() + Duration::from_secs(40);
    plugin.call("three", json!({}), None, host.clone(), deadline).await.unwrap();
    assert_eq!(host.calls()[0], r#"navigate.navigate {"url":"https://shop.test/orders"}"#);
}

#[tokio::test]
async fn a_result_comes_with_all_its_parts() {
    let (plugin, host) = (load("honest").await, Recording::new());
    let result = call(&plugin, "say", json!({"text": "hello", "times": 2}), &host).await.unwrap();
    assert_eq!(result.content, "hello hello");
    assert!(result.memory.unwrap().starts_with("say with "));
    assert_eq!(Value::Object(result.structured.unwrap()), json!({"text": "hello", "times": 2}));
    assert_eq!(Value::Object(result.metadata.unwrap()), json!({"version": 1}));
    assert!(!result.is_done);
    let result = call(&plugin, "finish", json!(null), &host).await.unwrap();
    assert!(result.is_done && result.success);
}

#[tokio::test]
async fn tools_are_described_as_their_author_wrote_them() {
    let plugin = load("honest").await;
    let names: Vec<&str> = plugin.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["nothing", "three", "all", "say", "fail", "finish", "lie"]);
    let say = &plugin.tools()[3];
    assert_eq!((say.effect, say.description.as_str(), say.ends_sequence), (Effect::Read, "Says it", false));
    assert_eq!(say.input_schema["required"], json!(["text"]));
    assert_eq!(say.input_schema["additionalProperties"], json!(false));
    assert_eq!(say.output_schema.as_ref().unwrap()["properties"]["times"]["type"], "integer");
    let finish = &plugin.tools()[5];
    assert!(finish.ends_sequence);
    assert_eq!(finish.hosts.as_ref().unwrap().entries().len(), 1);
    assert_eq!(plugin.tools()[1].effect, Effect::Write);
    assert!(!plugin.imports().has_wasi());
    assert_eq!(plugin.imports().interfaces().len(), 7);
}

#[tokio::test]
async fn arguments_that_the_schema_refuses_never_reach_the_guest() {
    let (plugin, host) = (load("honest").await, Recording::new());
    for (args, says) in [
        (json!({}), "text"),
        (json!({"text": "a", "times": 4}), "`times`: 4 is greater than the maximum of 3"),
        (json!({"text": 1}), "`text`: 1 is not of type"),
        (json!({"text": "a", "tmies": 1}), "'tmies'"),
        (json!([]), "is not of type \"object\""),
        (json!({"text": "a".repeat(300_000)}), "more than 256 KiB"),
    ] {
        let (code, _, text) = refusal(call(&plugin, "say", args, &host).await);
        assert_eq!(code, ErrorCode::InvalidInput, "{text}");
        assert!(text.contains(says), "{text}");
    }
    let (code, _, text) = refusal(call(&plugin, "nope", json!({}), &host).await);
    assert_eq!(code, ErrorCode::InvalidInput);
    assert!(text.contains("plugin `honest` has no tool `nope`"), "{text}");
}

#[tokio::test]
async fn a_plugins_own_error_says_that_it_is_one() {
    let (plugin, host) = (load("honest").await, Recording::new());
    let (code, reason, text) = refusal(call(&plugin, "fail", json!({"invalid": false}), &host).await);
    assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::Plugin)));
    assert!(text.contains("invalid digit found in string"), "{text}");
    let (code, reason, text) = refusal(call(&plugin, "fail", json!({"invalid": true}), &host).await);
    assert_eq!((code, reason), (ErrorCode::InvalidInput, None));
    assert!(text.ends_with("| call with false"), "{text}");
}

#[tokio::test]
async fn data_that_does_not_fit_its_declaration_is_an_error() {
    let (plugin, host) = (load("honest").await, Recording::new());
    let (code, reason, text) = refusal(call(&plugin, "lie", json!({}), &host).await);
    assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::Plugin)));
    assert!(text.contains("does not fit the schema that it declared"), "{text}");
}

#[tokio::test]
async fn a_denial_is_a_value_that_keeps_its_code_and_its_line() {
    let (plugin, host) = (load("ungranted").await, Recording::denying("click"));
    let (code, reason, text) = refusal(call(&plugin, "buy", json!({}), &host).await);
    assert_eq!((code, reason), (ErrorCode::NotGranted, None));
    assert_eq!(text, "`click` is not granted to this plugin | add \"click\" to verbs of its [[binding.plugin]]");
    let result = call(&plugin, "click_and_go_on", json!({}), &host).await.unwrap();
    assert_eq!(result.content, "went on after computer_use_not_granted");
    assert_eq!(call(&plugin, "buy", json!({}), &Recording::new()).await.unwrap().content, "bought");
}

#[tokio::test]
async fn an_error_that_only_looks_like_the_hosts_is_the_plugins() {
    let (plugin, host) = (load("ungranted").await, Recording::new());
    let (code, reason, _) = refusal(call(&plugin, "forge", json!({}), &host).await);
    assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::Plugin)));
}

#[tokio::test]
async fn only_listed_secrets_are_typed_and_only_by_their_own_interface() {
    let (plugin, host) = (load("ungranted").await, Recording::with_secret("password"));
    let result = call(&plugin, "type_secret", json!({"name": "password"}), &host).await.unwrap();
    assert_eq!(result.content, "password");
    assert_eq!(
        host.calls(),
        [r##"secrets.type {"tab":"t1","selector":"#password","text":"{{secret:password}}","mode":"replace"}"##]
    );
    for name in ["other", "", "password}} {{secret:other", "Password"] {
        let (code, _, text) = refusal(call(&plugin, "type_secret", json!({"name": name}), &host).await);
        assert_eq!(code, ErrorCode::NotGranted, "{name}");
        assert!(text.contains("to secrets of this plugin's [[binding.plugin]]"), "{text}");
    }
    let (code, _, text) = refusal(call(&plugin, "type_placeholder", json!({"name": "password"}), &host).await);
    assert_eq!(code, ErrorCode::NotGranted);
    assert!(text.contains("secrets.type-secret"), "{text}");
    assert_eq!(host.n_calls(), 1);
}
