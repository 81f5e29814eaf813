//! Whatever is wrong gets one clear line and the right code: configuration, manifest, address, verb, ref, file handle, token.

use std::process::Stdio;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::process::Command;
use transom_tests::{
    program,
    site::{Page, Site},
    world::Spec,
};
use transom_verbs::{ErrorCode, Reason};

struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

async fn transom(arguments: &[&str]) -> anyhow::Result<Ended> {
    let mut command = Command::new(program::path()?);
    let output =
        command.args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG").kill_on_drop(true).output().await?;
    Ok(Ended {
        code: output.status.code().context("a signal")?,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_configuration_gets_a_line_that_says_what_to_write() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("transom.toml");
    let good =
        "[[binding]]\nprefix = \"shop\"\nhosts = [\"shop.example.com\"]\nstart = \"https://shop.example.com/\"\n";
    std::fs::write(&path, good)?;
    let path = path.to_string_lossy().into_owned();
    let ended = transom(&["config", "check", "--config", &path]).await?;
    ensure!(ended.code == 0, "the good one is taken: {}{}", ended.stdout, ended.stderr);
    for (text, holds) in [
        (good.replace("hosts =", "host ="), vec!["transom.toml:3", "host", "did you mean", "hosts"]),
        (good.replace("\"shop.example.com\"]", "\"https://shop.example.com/path\"]"), vec!["shop", "hosts"]),
        (good.replace("start = \"https://shop", "start = \"https://other"), vec!["start", "hosts"]),
        (good.replace("[[binding]]", "[[bindings]]"), vec!["bindings", "binding"]),
        (format!("{good}verbs = [\"navigat\"]\n"), vec!["navigat", "did you mean", "navigate"]),
        (
            format!("{good}[binding.secrets]\npw = {{ env = \"NO_SUCH_VARIABLE_HERE\" }}\n"),
            vec!["pw", "NO_SUCH_VARIABLE_HERE"],
        ),
        ("prefix = [".to_owned(), vec!["transom.toml:1"]),
    ] {
        std::fs::write(&path, &text)?;
        let ended = transom(&["config", "check", "--config", &path]).await?;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        ensure!(ended.code == 2, "{text}: {} {said}", ended.code);
        ensure!(holds.iter().all(|each| said.contains(each)), "{text}\nsaid: {said}");
        ensure!(!said.contains("panicked") && said.trim().lines().count() <= 3, "{said}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_command_line_gets_a_line_and_an_exit_code() -> anyhow::Result<()> {
    for (arguments, holds) in [
        (vec!["clal"], "clal"),
        (vec!["mcp", "--config", "/nowhere/transom.toml", "--binding", "shop"], "/nowhere/transom.toml"),
        (vec!["plugin", "check", "/nowhere"], "/nowhere"),
        (vec!["serve", "--listen", "nonsense"], "nonsense"),
    ] {
        let ended = transom(&arguments).await?;
        ensure!([1, 2, 3].contains(&ended.code), "{arguments:?}: {} {}", ended.code, ended.stderr);
        ensure!(ended.stderr.contains(holds) && !ended.stderr.contains("panicked"), "{arguments:?}: {}", ended.stderr);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_call_gets_its_code_and_a_message_without_paths() -> anyhow::Result<()> {
    let shop =
        Site::start([("/", Page::html("<title>Shop</title><button id=go>Go</button><input type=file id=f>"))]).await?;
    let world = Spec::shop(&shop)
        .grants(&[
            "shop.navigate",
            "shop.click",
            "shop.upload",
            "shop.switch",
            "shop.wait",
            "shop.screenshot",
            "shop.snapshot",
            "shop.type",
        ])
        .start()
        .await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    for (tool, arguments, code, reason) in [
        ("shop.teleport", json!({}), ErrorCode::NotGranted, None),
        ("shop.evaluate", json!({"script": "1"}), ErrorCode::NotGranted, None),
        ("other.click", json!({"ref": "e1"}), ErrorCode::NotGranted, None),
        ("shop", json!({}), ErrorCode::NotGranted, None),
        ("shop.navigate", json!({"url": "not an address"}), ErrorCode::SiteBlocked, None),
        ("shop.navigate", json!({"url": "file:///etc/passwd"}), ErrorCode::SiteBlocked, None),
        ("shop.navigate", json!({"url": "http://user:pw@shop.localhost/"}), ErrorCode::SiteBlocked, None),
        ("shop.navigate", json!({}), ErrorCode::InvalidInput, None),
        ("shop.click", json!({"ref": "nonsense"}), ErrorCode::InvalidInput, None),
        ("shop.click", json!({"ref": "e99999"}), ErrorCode::Failed, Some(Reason::NotFound)),
        ("shop.click", json!({"selector": "#no", "timeout_ms": 200}), ErrorCode::Failed, Some(Reason::NotFound)),
        ("shop.click", json!({"selector": "###", "timeout_ms": 200}), ErrorCode::InvalidInput, None),
        ("shop.upload", json!({"selector": "#f", "file": "/etc/passwd"}), ErrorCode::UploadRefused, None),
        ("shop.upload", json!({"selector": "#f", "file": "http://shop.localhost/a"}), ErrorCode::UploadRefused, None),
        (
            "shop.upload",
            json!({"selector": "#f", "file": "file_01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
            ErrorCode::UploadRefused,
            None,
        ),
        ("shop.switch", json!({"tab": "t99"}), ErrorCode::Failed, Some(Reason::NotFound)),
        ("shop.wait", json!({"script": "true"}), ErrorCode::NotGranted, None),
        ("shop.type", json!({"selector": "#f", "text": "{{secret:nope}}"}), ErrorCode::NotGranted, None),
        ("shop.screenshot", json!({"full_page": "yes"}), ErrorCode::InvalidInput, None),
    ] {
        let error = world.call_fails(tool, arguments.clone()).await?;
        ensure!(error.code == code, "{tool} {arguments}: {error:?}");
        ensure!(reason.is_none() || error.reason == reason, "{tool} {arguments}: {error:?}");
        let said = format!("{} {}", error.message, error.hint.clone().unwrap_or_default());
        ensure!(!error.message.is_empty() && !error.message.contains('\n'), "{error:?}");
        let state = world.state.to_string_lossy();
        ensure!(!said.contains(&*state) && !said.contains("/etc/passwd") && !said.contains("user:pw"), "{error:?}");
    }
    // The run goes on after all of it.
    let clicked: Value = world.call("shop.click", json!({"selector": "#go"})).await?;
    ensure!(clicked["url"] == "http://shop.localhost/", "{clicked}");
    world.end().await;
    Ok(())
}
