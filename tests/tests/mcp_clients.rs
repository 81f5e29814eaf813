//! The official Python MCP client drives the program as anybody's would: over stdio and over HTTP, with the same outcome.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};
use transom_tests::{
    http, program,
    site::{Page, Site},
    world::Spec,
};

/// How long a client's whole task may take before the test fails.
const WITHIN: Duration = Duration::from_secs(120);

/// A value that must turn up nowhere.
const SECRET: &str = "k9-Vellum-ash-42";

async fn shop() -> anyhow::Result<Site> {
    Site::start([(
        "/",
        Page::html(
            "<!doctype html><title>Shop</title>
             <button id=go style='position:absolute;left:10px;top:10px;width:60px;height:40px'>Go</button>
             <div style='margin-top:80px'><input id=name><p id=echo></p></div>
             <script>clicks = 0; go.onclick = () => clicks++; document.getElementById('name').oninput = e => echo.textContent = 'You wrote ' + e.target.value</script>",
        ),
    )])
    .await
}

fn python() -> anyhow::Result<PathBuf> {
    let path = program::repository().join("target/clients/bin/python");
    ensure!(path.is_file(), "the Python MCP client is not installed: run `just clients`");
    Ok(path)
}

fn write_config(folder: &Path, shop: &Site, outside: &Site) -> anyhow::Result<PathBuf> {
    let config = Spec::shop(shop)
        .knows("outside.localhost", outside)
        .secret("pw", SECRET)
        .with("evaluate_with_secrets = true")
        .config();
    let path = folder.join("transom.toml");
    std::fs::write(&path, format!("[host]\nstate = {:?}\n{config}", folder.join("state")))?;
    Ok(path)
}

async fn run_client(arguments: &[&str]) -> anyhow::Result<Value> {
    let script = program::repository().join("tests/clients/mcp_client.py");
    let client = Command::new(python()?).arg(script).args(arguments).kill_on_drop(true).stdin(Stdio::null()).output();
    let output = tokio::time::timeout(WITHIN, client).await.context("the client did not end in time")??;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "the client failed: {stderr}\n{stdout}");
    ensure!(!stdout.contains(SECRET) && !stderr.contains(SECRET), "the secret was seen: {stdout}{stderr}");
    serde_json::from_str(&stdout).with_context(|| stdout.into_owned())
}

fn check(seen: &Value, outside: &Site) -> anyhow::Result<()> {
    let tools = seen["tools"].to_string();
    for verb in [
        "navigate",
        "click",
        "type",
        "screenshot",
        "extract",
        "download",
        "upload",
        "snapshot",
        "evaluate",
        "wait",
        "tabs",
    ] {
        ensure!(tools.contains(&format!("\"shop.{verb}\"")), "no shop.{verb} in {tools}");
    }
    for argument in ["ref", "selector", "x", "y"] {
        ensure!(seen["click_arguments"].to_string().contains(argument), "{seen}");
    }
    ensure!(seen["click_is_read_only"] == false, "{seen}");
    ensure!(seen["title"] == "Shop" && seen["clicks"] == 3, "{seen}");
    ensure!(seen["echo"] == "You wrote Robin [secret:pw]", "{seen}");
    for (step, holds, lacks) in [
        ("refused", vec!["computer_use_site_blocked", "outside.localhost"], vec!["token", "/path"]),
        ("not_found", vec!["computer_use_failed", "not_found"], vec![]),
        ("wrong", vec!["computer_use_invalid_input", "selectr", "selector"], vec![]),
    ] {
        let text = seen[step]["text"].as_str().unwrap_or_default();
        ensure!(seen[step]["is_error"] == true, "{step}: {seen}");
        ensure!(holds.iter().all(|each| text.contains(each)), "{step}: {text}");
        ensure!(lacks.iter().all(|each: &&str| !text.contains(each)), "{step}: {text}");
    }
    ensure!(outside.seen().n_connections == 0, "the outside was reached");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_does_a_task_over_stdio() -> anyhow::Result<()> {
    let (folder, shop, outside) = (tempfile::tempdir()?, shop().await?, Site::start([]).await?);
    let config = write_config(folder.path(), &shop, &outside)?;
    let (program, config) = (program::path()?, config.to_string_lossy().into_owned());
    let seen =
        run_client(&["stdio", &program.to_string_lossy(), "mcp", "--config", &config, "--binding", "shop"]).await?;
    check(&seen, &outside)
}

struct Daemon {
    child: Child,
    url: String,
}

async fn serve(config: &Path) -> anyhow::Result<Daemon> {
    let mut child = Command::new(program::path()?)
        .args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"])
        .arg(config)
        .env("SECRET_PW", SECRET)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = child.stdout.take().context("no stdout")?;
    let line =
        tokio::time::timeout(WITHIN, BufReader::new(stdout).lines().next_line()).await??.context("the daemon ended")?;
    let ready: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
    let url = ready["url"].as_str().context("no url")?.to_owned();
    Ok(Daemon { child, url })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_does_the_same_task_over_http_with_the_runs_own_token() -> anyhow::Result<()> {
    let (folder, shop, outside) = (tempfile::tempdir()?, shop().await?, Site::start([]).await?);
    let config = write_config(folder.path(), &shop, &outside)?;
    let mut daemon = serve(&config).await?;
    let operator = std::fs::read_to_string(folder.path().join("state/operator-token"))?;
    let run =
        http::post(&format!("{}/v1/runs", daemon.url), Some(operator.trim()), &json!({"binding": "shop"})).await?;
    ensure!(run.status == 201 || run.status == 200, "{run:?}");
    let (url, token) =
        (run.body["mcp_url"].as_str().context("no mcp_url")?, run.body["token"].as_str().context("no token")?);
    let seen = run_client(&["http", url, token]).await?;
    check(&seen, &outside)?;

    // The token opens its own run and nothing else; nothing opens without one; a foreign Host or Origin is turned away.
    let id = run.body["id"].as_str().context("no id")?;
    let other =
        http::post(&format!("{}/v1/runs", daemon.url), Some(operator.trim()), &json!({"binding": "shop"})).await?;
    let other = other.body["id"].as_str().context("no id")?.to_owned();
    let call = json!({"tool": "shop.tabs", "arguments": {}});
    let calls = |run: &str| format!("{}/v1/runs/{run}/calls", daemon.url);
    ensure!(http::post(&calls(id), Some(token), &call).await?.status == 200, "the run's own token");
    for (place, token) in [
        (calls(&other), Some(token)),
        (calls(id), None),
        (calls(id), Some("wrong")),
        (format!("{}/v1/runs", daemon.url), Some(token)),
    ] {
        let answer = http::post(&place, token, &call).await?;
        ensure!([401, 403, 404].contains(&answer.status), "{place}: {answer:?}");
    }
    for header in [("host", "evil.test"), ("origin", "http://evil.test")] {
        let answer = http::post_with(&calls(id), Some(token), &call, &[header]).await?;
        ensure!(answer.status == 403, "{header:?}: {answer:?}");
    }
    daemon.child.start_kill()?;
    daemon.child.wait().await?;
    Ok(())
}
