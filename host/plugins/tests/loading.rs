//! Which plugins are refused when they are loaded, and what the operator reads.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use std::fs;

use support::{Recording, call, folder, plugin_host, try_load};
use transom_plugins::{ComponentError, DescribeError, Interface, LoadError};

/// A folder with a manifest and a component of a test's making.
fn plugin_folder(manifest: &str, component: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plugin.toml"), manifest).unwrap();
    fs::write(folder.path().join("it.wasm"), component).unwrap();
    folder
}

async fn refused(manifest: &str, component: &[u8]) -> LoadError {
    let folder = plugin_folder(manifest, component);
    plugin_host().load(&folder.path().join("plugin.toml")).await.expect_err("it should have been refused")
}

const MANIFEST: &str = r#"[plugin]
name = "it"
version = "0.1.0"
component = "it.wasm"
description = "A test's plugin"
"#;

#[tokio::test]
async fn a_component_that_imports_more_than_its_manifest_is_refused_with_the_line_to_write() {
    let error = try_load(&plugin_host(), "greedy").await.expect_err("it should have been refused");
    let text = error.to_string();
    assert!(text.contains("imports `script`") && text.contains(r#"interfaces = ["read", "script"]"#), "{text}");
    let LoadError::Component { source: ComponentError::BeyondManifest { missing, .. }, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(missing, [Interface::Script]);
}

#[tokio::test]
async fn the_same_component_is_taken_once_its_manifest_has_that_line() {
    let greedy = folder("greedy");
    let manifest = fs::read_to_string(greedy.join("plugin.toml")).unwrap();
    let manifest = manifest.replace(r#"["read"]"#, r#"["read", "script"]"#).replace("greedy.wasm", "it.wasm");
    let folder = plugin_folder(&manifest, &fs::read(greedy.join("greedy.wasm")).unwrap());
    let plugin = plugin_host().load(&folder.path().join("plugin.toml")).await.unwrap();
    let imports: Vec<&str> = plugin.imports().interfaces().iter().map(|interface| interface.name()).collect();
    assert_eq!(imports, ["read", "script"]);
}

#[tokio::test]
async fn a_tool_named_like_a_verb_is_refused() {
    let error = try_load(&plugin_host(), "shadow").await.expect_err("it should have been refused");
    assert!(matches!(error, LoadError::Describe { source: DescribeError::NamedLikeVerb { .. }, .. }), "{error:?}");
    assert!(
        error.to_string().ends_with("the tool `click` has the name of a verb (`click`): give it another"),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_no_component_is_refused() {
    let module = b"\0asm\x01\0\0\0";
    let empty_component = b"\0asm\x0d\0\x01\0";
    for bytes in [&b""[..], b"hello", module] {
        let error = refused(MANIFEST, bytes).await;
        assert!(matches!(error, LoadError::Component { source: ComponentError::Invalid(_), .. }), "{error:?}");
    }
    let error = refused(MANIFEST, empty_component).await;
    assert!(matches!(error, LoadError::Component { source: ComponentError::NoTools, .. }), "{error:?}");
    assert!(error.to_string().ends_with("the component does not export `transom:plugin/tools@0.1`"), "{error}");
}

#[tokio::test]
async fn a_compiled_file_is_no_component_either() {
    let host = plugin_host();
    let engine = wasmtime::Engine::default();
    let compiled = engine.precompile_component(b"\0asm\x0d\0\x01\0").unwrap();
    let folder = plugin_folder(MANIFEST, &compiled);
    let error = host.load(&folder.path().join("plugin.toml")).await.expect_err("compiled code of others is never run");
    assert!(matches!(error, LoadError::Component { source: ComponentError::Invalid(_), .. }), "{error:?}");
}

#[tokio::test]
async fn a_wrong_manifest_or_a_missing_file_is_named() {
    let error = refused(&MANIFEST.replace("version", "verison"), b"").await;
    let text = error.to_string();
    assert!(text.contains("plugin.toml: line 3: unknown key `plugin.verison`; did you mean `version`?"), "{text}");
    let error = refused(&MANIFEST.replace("it.wasm", "other.wasm"), b"").await;
    assert!(matches!(error, LoadError::Read { .. }), "{error:?}");
    assert!(error.to_string().contains("other.wasm"), "{error}");
}

#[tokio::test]
async fn a_component_that_two_manifests_share_is_loaded_for_both() {
    let (host, recording) = (plugin_host(), Recording::new());
    let one = try_load(&host, "honest").await.unwrap();
    let two = try_load(&host, "honest").await.unwrap();
    assert_eq!(one.digest(), two.digest());
    drop(one);
    assert_eq!(call(&two, "nothing", serde_json::json!({}), &recording).await.unwrap().content, "nothing");
}
