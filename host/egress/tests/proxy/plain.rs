//! Plain HTTP: which requests arrive, in which form, and which do not.

use transom_egress::gate::{EgressEvent, EgressKind, GateRules, Refusal, Verdict};

use crate::support::{NameServer, Proxy, Server, hosts, rules, within};

#[tokio::test]
async fn a_listed_host_is_reached_and_any_other_is_refused_untouched() {
    let shop = Server::saying("the shop").await;
    let mut evil = Server::saying("evil").await;
    let servers = [("shop.test", shop.address), ("evil.test", evil.address)];
    let proxy = Proxy::with(rules(&["shop.test"], &[], &servers)).await;

    let answer = proxy.get("http://shop.test/orders?page=2").await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("the shop"), "{answer}");
    assert!(shop.seen().starts_with("GET /orders?page=2 HTTP/1.1\r\n"), "{}", shop.seen());

    let answer = proxy.get("http://evil.test/secret/path").await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(answer.contains("x-transom-refused: host\r\n") && answer.contains("evil.test"), "{answer}");
    assert!(!answer.contains("secret"), "an answer names no more than the host: {answer}");
    for other in
        ["http://shop.test:8080/", "http://sub.shop.test/", "http://shop.test./", "http://shop.test.evil.test/"]
    {
        let answer = proxy.get(other).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{other}: {answer}");
    }
    assert_eq!((shop.hits(), evil.hits()), (1, 0));
    evil.is_reachable_without_the_proxy().await;
}

#[tokio::test]
async fn every_request_of_a_connection_is_judged_anew() {
    let shop = Server::saying("the shop").await;
    let mut evil = Server::saying("evil").await;
    let servers = [("shop.test", shop.address), ("evil.test", evil.address)];
    let proxy = Proxy::with(rules(&["shop.test"], &[], &servers)).await;
    let mut client = proxy.connect().await;
    for (host, status) in [("shop.test", "200"), ("evil.test", "403"), ("shop.test", "200")] {
        client.write(format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await;
        let head = client.head().await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {head}");
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        client.bytes(length.unwrap()).await;
    }
    assert_eq!((shop.hits(), evil.hits()), (2, 0));
    evil.is_reachable_without_the_proxy().await;
}

#[tokio::test]
async fn a_redirect_goes_back_to_the_browser_and_its_target_is_judged_like_any_other() {
    let answer = "HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 0\r\n\r\n";
    let shop = Server::answering(answer).await;
    let evil = Server::saying("evil").await;
    let servers = [("shop.test", shop.address), ("evil.test", evil.address)];
    let proxy = Proxy::with(rules(&["shop.test"], &[], &servers)).await;
    let answer = proxy.get("http://shop.test/go").await.to_lowercase();
    assert!(answer.starts_with("http/1.1 302") && answer.contains("location: http://evil.test/"), "{answer}");
    assert!(proxy.get("http://evil.test/").await.starts_with("HTTP/1.1 403"));
    assert_eq!((shop.hits(), evil.hits()), (1, 0));
}

#[tokio::test]
async fn a_resource_host_is_loaded_from_and_never_opened() {
    let cdn = Server::saying("script").await;
    let proxy = Proxy::with(rules(&["shop.test"], &["cdn.test"], &[("cdn.test", cdn.address)])).await;
    for headers in ["", "Sec-Fetch-Dest: script\r\n", "Sec-Fetch-Dest: empty\r\n"] {
        let answer = proxy.get_with("http://cdn.test/x.js", headers).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{headers}: {answer}");
    }
    let loaded = cdn.hits();
    let navigations = [
        "Sec-Fetch-Dest: document\r\n",
        "Sec-Fetch-Dest: iframe\r\n",
        "Sec-Fetch-Dest: object\r\n",
        "Upgrade-Insecure-Requests: 1\r\n",
    ];
    for headers in navigations {
        let answer = proxy.get_with("http://cdn.test/x.html", headers).await;
        assert!(answer.contains("x-transom-refused: document\r\n"), "{headers}: {answer}");
    }
    assert_eq!((loaded, cdn.hits()), (3, 3));
}

#[tokio::test]
async fn https_only_refuses_plain_http() {
    let shop = Server::saying("the shop").await;
    let mut strict = rules(&["shop.test"], &[], &[("shop.test", shop.address)]);
    strict.hosts = strict.hosts.https_only(true);
    let proxy = Proxy::with(strict).await;
    assert!(proxy.get("http://shop.test/").await.contains("x-transom-refused: host\r\n"));
    assert_eq!(shop.hits(), 0);
    proxy.gate.open(rules(&["shop.test"], &[], &[("shop.test", shop.address)]));
    assert!(proxy.get("http://shop.test/").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_request_whose_host_header_is_not_its_urls_is_refused() {
    let shop = Server::saying("the shop").await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let ask = async |headers: &str| {
        proxy.ask(&format!("GET http://shop.test/ HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")).await
    };
    for wrong in [
        "Host: evil.test\r\n",
        "Host: shop.test:81\r\n",
        "",
        "Host: shop.test\r\nHost: evil.test\r\n",
        "Host: shop.test/\r\n",
    ] {
        let answer = ask(wrong).await;
        assert!(answer.contains("x-transom-refused: host-header\r\n"), "{wrong}: {answer}");
    }
    assert_eq!(shop.hits(), 0);
    for right in ["Host: shop.test\r\n", "Host: shop.test:80\r\n", "Host: SHOP.TEST\r\n"] {
        assert!(ask(right).await.starts_with("HTTP/1.1 200"), "{right}");
    }
    assert_eq!(shop.seen().to_lowercase().matches("host: shop.test\r\n").count(), 3, "{}", shop.seen());
}

#[tokio::test]
async fn a_request_that_is_not_for_a_proxy_or_has_userinfo_is_refused() {
    let shop = Server::saying("the shop").await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let ask = async |target: &str| {
        proxy.ask(&format!("GET {target} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n")).await
    };
    for target in ["/", "https://shop.test/", "ftp://shop.test/"] {
        assert!(ask(target).await.contains("x-transom-refused: malformed\r\n"), "{target}");
    }
    for target in ["http://me:pw@shop.test/", "http://me@shop.test/", "http://@shop.test/"] {
        let answer = ask(target).await;
        assert!(answer.contains("x-transom-refused: host\r\n") && !answer.contains("pw"), "{target}: {answer}");
    }
    assert_eq!(shop.hits(), 0);
    assert!(ask("http://shop.test/").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn what_is_meant_for_the_proxy_stays_here_and_the_rest_goes_on() {
    let shop = Server::saying("the shop").await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let headers = "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic c2VjcmV0\r\nTE: trailers\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\
                   Cookie: a=b\r\nAccept-Language: de\r\nUpgrade: h2c\r\n";
    assert!(proxy.get_with("http://shop.test/", headers).await.starts_with("HTTP/1.1 200"));
    let seen = shop.seen().to_lowercase();
    for kept in ["cookie: a=b\r\n", "accept-language: de\r\n"] {
        assert!(seen.contains(kept), "{kept}: {seen}");
    }
    for gone in ["proxy-", "te: ", "x-hop", "upgrade", "keep-alive"] {
        assert!(!seen.contains(gone), "{gone}: {seen}");
    }
}

#[tokio::test]
async fn a_server_can_not_speak_as_the_proxy() {
    let liar = Server::answering(
        "HTTP/1.1 200 OK\r\nX-Transom-Refused: host\r\nX-Transom-Failed: x\r\nX-Kept: 1\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let asker = Server::answering(
        "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let switcher =
        Server::answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            .await;
    let servers = [("liar.test", liar.address), ("asker.test", asker.address), ("switcher.test", switcher.address)];
    let proxy = Proxy::with(rules(&["liar.test", "asker.test", "switcher.test"], &[], &servers)).await;
    let answer = proxy.get("http://liar.test/").await.to_lowercase();
    assert!(answer.contains("x-kept: 1") && !answer.contains("x-transom"), "{answer}");
    for host in ["asker.test", "switcher.test"] {
        let answer = proxy.get(&format!("http://{host}/")).await;
        assert!(
            answer.starts_with("HTTP/1.1 502") && answer.contains("x-transom-failed: answer\r\n"),
            "{host}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_body_goes_through_in_one_framing_however_it_was_sent() {
    let shop = Server::saying("thanks").await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let post = async |framing: &str, body: &str| {
        proxy
            .ask(&format!(
                "POST http://shop.test/form HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n{framing}\r\n{body}"
            ))
            .await
    };
    assert!(post("Content-Length: 7\r\n", "a=b&c=d").await.starts_with("HTTP/1.1 200"));
    assert!(shop.seen().ends_with("\r\n\r\na=b&c=d"), "{}", shop.seen());
    assert!(post("Transfer-Encoding: chunked\r\n", "3\r\nxyz\r\n0\r\n\r\n").await.starts_with("HTTP/1.1 200"));
    assert!(shop.seen().contains("xyz"), "{}", shop.seen());

    // Two framings at once are how a second request is smuggled past whoever reads the other one.
    let before = shop.seen().len();
    let smuggled = "0\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    post(&format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", smuggled.len()), smuggled).await;
    let seen = shop.seen()[before..].to_lowercase();
    assert!(!seen.contains("content-length") && !seen.contains("evil.test"), "{seen}");

    let hits = shop.hits();
    for wrong in [
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: -1\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
    ] {
        let answer = post(wrong, "0\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{wrong}: {answer}");
    }
    assert_eq!(shop.hits(), hits);
}

#[tokio::test]
async fn an_answer_is_passed_on_as_it_comes() {
    use tokio::io::AsyncWriteExt;
    let (more, wait) = tokio::sync::watch::channel(false);
    let shop = Server::with(move |mut stream, _| {
        let mut wait = wait.clone();
        async move {
            crate::support::read_head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n").await.unwrap();
            wait.wait_for(|more| *more).await.unwrap();
            stream.write_all(b"6\r\nsecond\r\n0\r\n\r\n").await.unwrap();
        }
    })
    .await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let mut client = proxy.connect().await;
    client.write(b"GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n").await;
    client.head().await;
    assert_eq!(client.bytes(10).await, b"5\r\nfirst\r\n", "the first part is here before the second exists");
    more.send_replace(true);
    assert_eq!(client.rest().await, "6\r\nsecond\r\n0\r\n\r\n");
}

#[tokio::test]
async fn a_name_with_an_address_inside_is_refused_unless_its_entry_is_private() {
    let shop = Server::saying("inside").await;
    let port = shop.address.port();
    let names = NameServer::knowing(&[
        ("inner.test", &[&["127.0.0.1"]]),
        ("mixed.test", &[&["1.1.1.1", "127.0.0.1"]]),
        ("meta.test", &[&["169.254.169.254"]]),
        ("mapped.test", &[&["::ffff:127.0.0.1"]]),
    ])
    .await;
    let entries =
        ["inner.test", "mixed.test", "meta.test", "mapped.test", "nowhere.test", "localhost", "127.0.0.1", "[::1]"];
    let entries: Vec<String> = entries.iter().map(|host| format!("{host}:{port}")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let mut ordinary = GateRules { hosts: hosts(&entries), ..GateRules::default() };
    let proxy = Proxy::asking(&[names.address], ordinary.clone()).await;
    for host in ["inner.test", "mixed.test", "meta.test", "mapped.test", "localhost", "127.0.0.1", "[::1]"] {
        let answer = proxy.get(&format!("http://{host}:{port}/")).await;
        assert!(answer.contains("x-transom-refused: address\r\n"), "{host}: {answer}");
    }
    let answer = proxy.get(&format!("http://nowhere.test:{port}/")).await;
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains("x-transom-failed: no-address\r\n"), "{answer}");
    assert_eq!(shop.hits(), 0);
    assert!(!names.questions().contains(&"localhost".to_owned()), "localhost is nobody's to answer");

    ordinary.private = hosts(&entries);
    proxy.gate.open(ordinary);
    for host in ["inner.test", "localhost", "127.0.0.1"] {
        let answer = proxy.get(&format!("http://{host}:{port}/")).await;
        assert!(answer.ends_with("inside"), "{host}: {answer}");
    }
    let answer = proxy.get(&format!("http://meta.test:{port}/")).await;
    assert!(answer.contains("x-transom-refused: address\r\n"), "private does not open metadata: {answer}");
}

#[tokio::test]
async fn what_is_dialled_is_the_address_that_was_judged() {
    // The second answer is for whoever asks again: nobody may.
    let shop = Server::saying("judged").await;
    let port = shop.address.port();
    let names = NameServer::knowing(&[("rebind.test", &[&["127.0.0.1"], &["127.0.0.2"]])]).await;
    let entry = format!("rebind.test:{port}");
    let private = GateRules { hosts: hosts(&[&entry]), private: hosts(&[&entry]), ..GateRules::default() };
    let proxy = Proxy::asking(&[names.address], private).await;
    assert!(proxy.get(&format!("http://rebind.test:{port}/")).await.ends_with("judged"));
    assert_eq!(names.questions(), ["rebind.test"]);
    assert_eq!(shop.hits(), 1);
}

#[tokio::test]
async fn chromiums_own_requests_are_refused_as_a_class_of_their_own() {
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[])).await;
    let answer = proxy.get("http://clients2.google.com/time/1/current").await;
    assert!(answer.contains("x-transom-refused: own-chatter\r\n"), "{answer}");
    let stats = proxy.gate.stats();
    assert_eq!((stats.own_chatter, stats.refused, stats.allowed), (1, 0, 0));
}

#[tokio::test]
async fn events_tell_host_port_and_verdict_and_no_more() {
    let shop = Server::saying("the shop").await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let mut events = proxy.gate.events();
    proxy.get("http://shop.test/private?token=1").await;
    proxy.get("http://evil.test:81/private?token=2").await;
    let event = within(events.recv()).await.unwrap();
    let allowed = EgressEvent { host: "shop.test".into(), port: 80, kind: EgressKind::Http, verdict: Verdict::Allowed };
    assert_eq!(event, allowed);
    let event = within(events.recv()).await.unwrap();
    assert_eq!((event.host.as_str(), event.port), ("evil.test", 81));
    assert!(matches!(&event.verdict, Verdict::Refused { why: Refusal::Host(_) }), "{event:?}");
    assert!(!format!("{event:?}").contains("token"), "{event:?}");
    let stats = proxy.gate.stats();
    assert_eq!((stats.allowed, stats.refused), (1, 1));
}
