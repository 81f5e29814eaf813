//! A real page in the real jail, behind the real proxy: what it may load arrives, and what it may not touches no server.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use transom_egress::gate::{Gate, GateRules};
use transom_egress::{Isolation, launch, proxy};
use transom_policy::hosts::HostRules;

use crate::cdp::Cdp;
use crate::support::{TestExchange, spec, within};

/// Tries everything that a page can load from, and says when all has ended one way or the other.
const PAGE: &str = r#"<!doctype html><title>page</title><body><script>
const ended = (what, ...events) => new Promise(done => events.forEach(event => what.addEventListener(event, done)));
const load = (tag, url) => {
    const element = document.createElement(tag);
    element[tag === "object" ? "data" : "src"] = url;
    const end = ended(element, "load", "error");
    document.body.appendChild(element);
    return end;
};
const connect = url => ended(new WebSocket(url), "open", "close");
window.settled = Promise.allSettled([
    load("script", "http://cdn.test/script.js"),
    load("iframe", "http://page.test/frame.html"),
    connect("ws://page.test/socket"),
    fetch("/fetched"),
    load("iframe", "http://cdn.test/frame.html"),
    load("object", "http://cdn.test/object.html"),
    load("script", "http://evil.test/script.js"),
    load("img", "http://evil.test/image.png"),
    load("iframe", "http://evil.test/frame.html"),
    connect("ws://evil.test/socket"),
    connect("wss://evil.test/socket"),
    fetch("http://evil.test/fetch", { mode: "no-cors" }),
    fetch("https://evil.test/fetch", { mode: "no-cors" }),
    fetch("/redirect"),
    load("script", "http://127.0.0.1:INSIDE/script.js"),
    load("script", "http://169.254.169.254/latest/meta-data/"),
]).then(() => "settled");
</script>"#;

/// A server that keeps the beginning of whatever it is sent.
struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    n_seen: watch::Receiver<usize>,
    _task: AbortOnDropHandle<()>,
}

impl Server {
    async fn with(answers: HashMap<&'static str, String>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (count, n_seen) = watch::channel(0);
        let kept = Arc::clone(&seen);
        let task = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let (kept, count, answers) = (Arc::clone(&kept), count.clone(), answers.clone());
                connections.spawn(async move {
                    let mut bytes = vec![0; 16 * 1024];
                    let n = stream.read(&mut bytes).await.unwrap_or(0);
                    let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
                    let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
                    kept.lock().unwrap().push(text);
                    count.send_modify(|n_seen| *n_seen += 1);
                    let ok = || "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n".to_owned();
                    let answer = answers.get(path.as_str()).cloned().unwrap_or_else(ok);
                    stream.write_all(answer.as_bytes()).await.ok();
                });
            }
        }));
        Server { address, seen, n_seen, _task: task }
    }

    async fn new() -> Server {
        Server::with(HashMap::new()).await
    }

    /// What was asked for. Chromium may open a second connection where the first is slow, and then say nothing on it.
    fn paths(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let paths = seen.iter().map(|text| text.split(' ').nth(1).unwrap_or_default().to_owned());
        let mut paths: Vec<String> = paths.filter(|path| !["", "/favicon.ico"].contains(&path.as_str())).collect();
        paths.sort();
        paths
    }

    fn hits(&self) -> usize {
        *self.n_seen.borrow()
    }

    async fn is_reachable_without_the_proxy(&mut self) {
        let before = self.hits();
        TcpStream::connect(self.address).await.unwrap().write_all(b"x").await.unwrap();
        within(self.n_seen.wait_for(|n_seen| *n_seen > before)).await.unwrap();
    }
}

#[tokio::test]
async fn a_page_loads_what_the_gate_admits_and_touches_nothing_else() {
    let mut inside = Server::new().await;
    let page_text = PAGE.replace("INSIDE", &inside.address.port().to_string());
    let page = Server::with(HashMap::from([
        (
            "/",
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page_text}",
                page_text.len()
            ),
        ),
        ("/redirect", "HTTP/1.1 302 Found\r\nLocation: http://evil.test/hop\r\nContent-Length: 0\r\n\r\n".to_owned()),
        ("/leave", "HTTP/1.1 302 Found\r\nLocation: http://evil.test/landed\r\nContent-Length: 0\r\n\r\n".to_owned()),
    ]))
    .await;
    let (cdn, secure) = (Server::new().await, Server::new().await);
    let mut evil = Server::new().await;

    let gate = Gate::closed();
    let exchange = TestExchange::new();
    let launched = launch(spec(Isolation::Jail, &exchange)).await.unwrap();
    let stop = CancellationToken::new();
    let _proxy = AbortOnDropHandle::new(tokio::spawn(proxy::serve(launched.listener, Arc::clone(&gate), stop)));
    let mut cdp = Cdp::new(launched.cdp_in, launched.cdp_out);

    let before = cdp.value_in_page("http://page.test/", "document.body.innerText").await;
    assert!(before.contains("no run is using this browser yet"), "{before}");
    assert_eq!(page.hits(), 0, "a gate that is not open lets nothing through");
    let names = [("page.test", &page), ("cdn.test", &cdn), ("secure.test", &secure), ("evil.test", &evil)];
    gate.open(GateRules {
        hosts: HostRules::parse(&["http://page.test", "https://secure.test"]).unwrap(),
        resources: HostRules::parse(&["http://cdn.test"]).unwrap(),
        private: HostRules::default(),
        resolve: names.map(|(name, server)| (name.to_owned(), server.address)).into(),
    });

    assert_eq!(cdp.value_in_page("http://page.test/", "window.settled").await, "settled");
    assert_eq!(page.paths(), ["/", "/fetched", "/frame.html", "/redirect", "/socket"]);
    assert_eq!(cdn.paths(), ["/script.js"], "a resource host is loaded from and not opened");
    let said = cdp.value_in_page("http://page.test/leave", "document.body.innerText").await;
    assert!(said.contains("evil.test is not among the hosts"), "{said}");
    assert_eq!((evil.hits(), inside.hits()), (0, 0));

    cdp.call("Target.createTarget", json!({ "url": "https://secure.test/" })).await;
    let mut n_seen = secure.n_seen.clone();
    within(n_seen.wait_for(|n_seen| *n_seen > 0)).await.unwrap();
    let hello = secure.seen.lock().unwrap()[0].clone();
    assert!(hello.starts_with('\u{16}') && hello.contains("secure.test"), "the server gets Chromium's own ClientHello");

    let stats = gate.stats();
    assert!(stats.allowed >= 7 && stats.refused >= 9, "{stats:?}");
    evil.is_reachable_without_the_proxy().await;
    inside.is_reachable_without_the_proxy().await;
}
