//! `just bench`: MCP over stdio beside the raw floor, interleaved in one run, so that a machine that slows down slows both.
//!
//! The floor is CDP over a pipe with nothing in between: one `Runtime.evaluate`, and for a click the two mouse events. Transom is the
//! program of the release profile over stdio, as a client would start it. Outcomes are checked in the page at the end: a click that
//! did nothing fails the benchmark.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use transom_browser::chromium;
use transom_egress::{Isolation, LaunchSpec, jail::Exchange, launch};
use transom_tests::{
    program,
    site::{Page, Site},
    world::Spec,
};

/// Samples of each figure, after [`WARM`] that don't count.
const SAMPLES: usize = 300;
const WARM: usize = 30;

const PAGE: &str = "<!doctype html><title>Floor</title>
    <button id=go style='position:absolute;left:10px;top:10px;width:80px;height:40px'>Go</button>
    <script>clicks = 0; go.onclick = () => clicks++</script>";

/// Raw CDP: one message out, one answer back.
struct Floor {
    write: std::fs::File,
    read: BufReader<std::fs::File>,
    session: String,
    last: u64,
    _launched: transom_egress::jail::ChromiumProcess,
}

impl Floor {
    fn send(&mut self, method: &str, params: &Value) -> anyhow::Result<u64> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let (false, Some(object)) = (self.session.is_empty(), message.as_object_mut()) {
            object.insert("sessionId".into(), json!(self.session));
        }
        self.write.write_all(message.to_string().as_bytes())?;
        self.write.write_all(&[0])?;
        Ok(self.last)
    }

    fn answer(&mut self, id: u64) -> anyhow::Result<Value> {
        loop {
            let mut bytes = Vec::new();
            ensure!(self.read.read_until(0, &mut bytes)? > 0, "Chromium went away");
            bytes.pop();
            let message: Value = serde_json::from_slice(&bytes)?;
            if message["id"] == id {
                return Ok(message["result"].clone());
            }
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let id = self.send(method, params)?;
        self.answer(id)
    }

    fn event(&mut self, method: &str) -> anyhow::Result<()> {
        loop {
            let mut bytes = Vec::new();
            ensure!(self.read.read_until(0, &mut bytes)? > 0, "Chromium went away");
            bytes.pop();
            if serde_json::from_slice::<Value>(&bytes)?["method"] == method {
                return Ok(());
            }
        }
    }

    async fn start(folder: &Path) -> anyhow::Result<Floor> {
        let options = chromium::ChromiumOptions { proxied: false, ..chromium::ChromiumOptions::default() };
        let launched = launch(LaunchSpec {
            program: chromium::find().context("no Chromium")?,
            args: chromium::arguments(&options),
            isolation: Isolation::Proxy,
            launcher: program::path()?,
            exchange: Exchange { downloads: folder.join("downloads"), uploads: folder.join("uploads") },
            ready_within: Duration::from_secs(20),
        })
        .await?;
        let mut floor = Floor {
            write: launched.cdp_in.into(),
            read: BufReader::new(launched.cdp_out.into()),
            session: String::new(),
            last: 0,
            _launched: launched.process,
        };
        let target = floor.ask("Target.createTarget", &json!({"url": "about:blank"}))?;
        let attached = floor.ask("Target.attachToTarget", &json!({"targetId": target["targetId"], "flatten": true}))?;
        floor.session = attached["sessionId"].as_str().context("no session")?.to_owned();
        floor.ask("Page.enable", &json!({}))?;
        Ok(floor)
    }

    fn navigate(&mut self, url: &str) -> anyhow::Result<()> {
        self.ask("Page.navigate", &json!({"url": url}))?;
        self.event("Page.loadEventFired")
    }

    fn evaluate(&mut self, script: &str) -> anyhow::Result<Value> {
        let result = self.ask("Runtime.evaluate", &json!({"expression": script, "returnByValue": true}))?;
        Ok(result["result"]["value"].clone())
    }

    fn click(&mut self) -> anyhow::Result<()> {
        let event = |kind: &str| json!({"type": kind, "x": 50, "y": 30, "button": "left", "clickCount": 1});
        let pressed = self.send("Input.dispatchMouseEvent", &event("mousePressed"))?;
        let released = self.send("Input.dispatchMouseEvent", &event("mouseReleased"))?;
        self.answer(pressed)?;
        self.answer(released)?;
        Ok(())
    }
}

/// An MCP client with nothing in it.
struct Mcp {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last: u64,
}

impl Mcp {
    fn start(program: &Path, config: &Path) -> anyhow::Result<Mcp> {
        let mut child = Command::new(program)
            .args(["mcp", "--binding", "shop", "--config"])
            .arg(config)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut mcp = Mcp { child, stdin, stdout, last: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "floor", "version": "1"}});
        mcp.ask("initialize", &hello)?;
        mcp.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(mcp)
    }

    fn write(&mut self, message: &Value) -> anyhow::Result<()> {
        self.stdin.write_all(message.to_string().as_bytes())?;
        self.stdin.write_all(b"\n")?;
        Ok(self.stdin.flush()?)
    }

    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.last += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            ensure!(self.stdout.read_line(&mut line)? > 0, "the program went away");
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.last {
                return Ok(message["result"].clone());
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        ensure!(result["isError"] != true, "{tool} {arguments}: {result}");
        Ok(result["structuredContent"].clone())
    }
}

fn median(samples: &mut [Duration]) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// Times both in turn, A B A B.
fn interleaved(
    mut a: impl FnMut() -> anyhow::Result<()>,
    mut b: impl FnMut() -> anyhow::Result<()>,
    samples: usize,
) -> anyhow::Result<(Duration, Duration)> {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for round in 0..samples + WARM {
        let began = Instant::now();
        a()?;
        let took_a = began.elapsed();
        let began = Instant::now();
        b()?;
        let took_b = began.elapsed();
        if round >= WARM {
            of_a.push(took_a);
            of_b.push(took_b);
        }
    }
    Ok((median(&mut of_a), median(&mut of_b)))
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

fn release_program() -> anyhow::Result<PathBuf> {
    let path = program::repository().join("target/release/transom");
    ensure!(path.is_file(), "the program is not built: `just bench` builds it");
    Ok(path)
}

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let shop = runtime.block_on(Site::start([("/", Page::html(PAGE)), ("/next", Page::html(PAGE))]))?;
    let config = folder.path().join("transom.toml");
    std::fs::write(
        &config,
        format!("[host]\nstate = {:?}\n{}", folder.path().join("state"), Spec::shop(&shop).config()),
    )?;
    let mut floor = runtime.block_on(Floor::start(folder.path()))?;
    let mut mcp = Mcp::start(&release_program()?, &config)?;
    let direct = format!("http://127.0.0.1:{}/", shop.addr.port());
    floor.navigate(&direct)?;
    mcp.call("shop.navigate", &json!({"url": "http://shop.localhost/"}))?;

    println!(
        "{:<10} {:>10} {:>10} {:>8} {:>10}   median of {SAMPLES}, interleaved",
        "", "floor ms", "transom ms", "ratio", "more ms"
    );
    let row = |name: &str, (floor, transom): (Duration, Duration)| {
        println!(
            "{name:<10} {:>10.3} {:>10.3} {:>8.2} {:>10.3}",
            ms(floor),
            ms(transom),
            ms(transom) / ms(floor),
            ms(transom) - ms(floor)
        );
    };
    let evaluated = interleaved(
        || floor.evaluate("1 + 1").map(drop),
        || mcp.call("shop.evaluate", &json!({"script": "1 + 1"})).map(drop),
        SAMPLES,
    )?;
    row("evaluate", evaluated);
    let clicked =
        interleaved(|| floor.click(), || mcp.call("shop.click", &json!({"selector": "#go"})).map(drop), SAMPLES)?;
    row("click", clicked);
    for (who, clicks) in [
        ("floor", floor.evaluate("clicks")?),
        ("transom", mcp.call("shop.evaluate", &json!({"script": "clicks"}))?["value"].clone()),
    ] {
        ensure!(clicks == json!(SAMPLES + WARM), "{who}: {clicks} clicks arrived, not {}", SAMPLES + WARM);
    }
    let navigated = interleaved(
        || floor.navigate(&format!("{direct}next")),
        || mcp.call("shop.navigate", &json!({"url": "http://shop.localhost/next"})).map(drop),
        SAMPLES / 10,
    )?;
    row("navigate", navigated);

    drop(mcp.stdin);
    let mut rest = String::new();
    mcp.stdout.read_to_string(&mut rest)?;
    mcp.child.wait()?;
    Ok(())
}
