//! CONNECT and WebSockets: what a tunnel may carry, and that nothing else gets a byte through one.

use crate::support::{Client, Proxy, Server, client_hello, hosts, rules};

#[tokio::test]
async fn a_tunnel_to_a_listed_host_carries_tls_for_that_host() {
    let shop = Server::echoing().await;
    let proxy =
        Proxy::with(rules(&["shop.test"], &["cdn.test"], &[("shop.test", shop.address), ("cdn.test", shop.address)]))
            .await;
    for host in ["shop.test", "cdn.test"] {
        let mut client = proxy.tunnel(&format!("{host}:443")).await;
        let hello = client_hello(Some(host));
        client.write(&hello).await;
        assert_eq!(client.bytes(hello.len()).await, hello);
        client.write(b"more").await;
        assert_eq!(client.bytes(4).await, b"more");
    }
    assert_eq!(shop.hits(), 2);
    assert_eq!(proxy.gate.stats().allowed, 2);
}

#[tokio::test]
async fn a_hello_in_pieces_is_put_together() {
    let shop = Server::echoing().await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let mut client = proxy.tunnel("shop.test:443").await;
    client.0.set_nodelay(true).unwrap();
    let hello = client_hello(Some("shop.test"));
    for piece in hello.chunks(7) {
        client.write(piece).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.bytes(hello.len()).await, hello);
}

#[tokio::test]
async fn a_tunnel_to_a_host_that_is_not_listed_is_refused_untouched() {
    let mut evil = Server::echoing().await;
    let shop = Server::echoing().await;
    let proxy =
        Proxy::with(rules(&["shop.test"], &[], &[("evil.test", evil.address), ("shop.test", shop.address)])).await;
    for authority in ["evil.test:443", "evil.test:80", "shop.test:22", "shop.test:8443"] {
        let answer =
            proxy.ask(&format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n")).await;
        assert!(
            answer.starts_with("HTTP/1.1 403") && answer.contains("x-transom-refused: host\r\n"),
            "{authority}: {answer}"
        );
    }
    for malformed in ["shop.test", "me@shop.test:443"] {
        let answer =
            proxy.ask(&format!("CONNECT {malformed} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{malformed}: {answer}");
    }
    assert_eq!((evil.hits(), shop.hits()), (0, 0));
    evil.is_reachable_without_the_proxy().await;
}

#[tokio::test]
async fn a_tunnel_that_carries_something_else_ends_before_a_byte_gets_through() {
    let shop = Server::echoing().await;
    let servers = [("shop.test", shop.address), ("10.1.2.3", shop.address)];
    let proxy = Proxy::with(rules(&["shop.test", "10.1.2.3"], &[], &servers)).await;
    let malformed = [&[22, 3, 1, 0, 4][..], &[2, 0, 0, 0]].concat();
    let attempts = [
        ("shop.test:443", client_hello(Some("evil.test"))),
        ("shop.test:443", client_hello(None)),
        ("shop.test:443", b"SSH-2.0-x\r\n".to_vec()),
        ("shop.test:443", malformed),
        ("10.1.2.3:443", client_hello(Some("shop.test"))),
        ("shop.test:80", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
    ];
    let n_attempts = u64::try_from(attempts.len()).unwrap();
    for (authority, first) in attempts {
        let mut client = proxy.tunnel(authority).await;
        client.write(&first).await;
        assert_eq!(client.rest().await, "", "{authority} {first:?}");
    }
    assert_eq!(shop.seen(), "");
    assert_eq!((proxy.gate.stats().refused, proxy.gate.stats().allowed), (n_attempts, 0));

    let mut client = proxy.tunnel("10.1.2.3:443").await;
    let hello = client_hello(None);
    client.write(&hello).await;
    assert_eq!(client.bytes(hello.len()).await, hello, "an address has no server name");
}

#[tokio::test]
async fn an_entry_for_one_scheme_opens_a_tunnel_for_that_scheme_only() {
    let shop = Server::echoing().await;
    let socket = Server::upgrading().await;
    let servers = [("tls.test", shop.address), ("plain.test", socket.address)];
    let proxy = Proxy::with(rules(&["https://tls.test:8000", "http://plain.test:8000"], &[], &servers)).await;

    let mut client = proxy.tunnel("tls.test:8000").await;
    client.write(&client_hello(Some("tls.test"))).await;
    client.bytes(5).await;
    let mut client = proxy.tunnel("plain.test:8000").await;
    client.write(&client_hello(Some("plain.test"))).await;
    assert_eq!(client.rest().await, "");

    let mut client = proxy.tunnel("plain.test:8000").await;
    assert!(ask_for_websocket(&mut client, "/", "plain.test:8000").await.starts_with("HTTP/1.1 101"));
    let mut client = proxy.tunnel("tls.test:8000").await;
    assert_eq!(ask_for_websocket(&mut client, "/", "tls.test:8000").await, "");
}

#[tokio::test]
async fn a_websocket_goes_through_a_tunnel_both_ways() {
    let shop = Server::upgrading().await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let mut client = proxy.tunnel("shop.test:80").await;
    let answer = ask_for_websocket(&mut client, "/live?x=1", "shop.test").await.to_lowercase();
    assert!(answer.starts_with("http/1.1 101") && answer.contains("upgrade: websocket"), "{answer}");
    assert!(answer.contains("sec-websocket-accept: x"), "{answer}");
    for message in [&b"to and fro"[..], b"again"] {
        client.write(message).await;
        assert_eq!(client.bytes(message.len()).await, message);
    }
    let seen = shop.seen().to_lowercase();
    assert!(seen.starts_with("get /live?x=1 http/1.1\r\n") && seen.contains("sec-websocket-key: k\r\n"), "{seen}");
    assert!(seen.contains("host: shop.test\r\n"), "{seen}");
}

#[tokio::test]
async fn a_websocket_that_is_asked_for_like_a_page_is_judged_as_a_websocket() {
    let shop = Server::upgrading().await;
    let mut evil = Server::upgrading().await;
    let proxy =
        Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address), ("evil.test", evil.address)])).await;
    let mut client = proxy.connect().await;
    assert!(ask_for_websocket(&mut client, "http://shop.test/live", "shop.test").await.starts_with("HTTP/1.1 101"));
    client.write(b"to and fro").await;
    assert_eq!(client.bytes(10).await, b"to and fro");
    let mut client = proxy.connect().await;
    assert!(ask_for_websocket(&mut client, "http://evil.test/live", "evil.test").await.starts_with("HTTP/1.1 403"));
    assert_eq!((shop.hits(), evil.hits()), (1, 0));
    evil.is_reachable_without_the_proxy().await;
}

#[tokio::test]
async fn a_tunnel_carries_no_plain_request_but_a_websocket_for_its_own_host() {
    let shop = Server::upgrading().await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let attempts = [
        "GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        "GET http://evil.test/ HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ];
    for attempt in attempts {
        let mut client = proxy.tunnel("shop.test:80").await;
        client.write(attempt.as_bytes()).await;
        let answer = client.rest().await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{attempt}: {answer}");
    }
    assert_eq!(shop.seen(), "");
    let mut client = proxy.tunnel("shop.test:80").await;
    assert!(ask_for_websocket(&mut client, "/", "shop.test").await.starts_with("HTTP/1.1 101"));
}

#[tokio::test]
async fn a_private_address_needs_a_private_entry_also_once_the_tunnel_shows_what_it_is() {
    let shop = Server::echoing().await;
    let port = shop.address.port();
    // The plain entry may lead inside, the TLS entry may not: the tunnel is granted for the one and used for the other.
    let entries = [format!("http://localhost:{port}"), format!("https://localhost:{port}")];
    let mut mixed = rules(&[&entries[0], &entries[1]], &[], &[]);
    mixed.private = hosts(&[&entries[0]]);
    let proxy = Proxy::with(mixed.clone()).await;
    let mut client = proxy.tunnel(&format!("localhost:{port}")).await;
    client.write(&client_hello(Some("localhost"))).await;
    assert_eq!(client.rest().await, "");
    assert_eq!(shop.seen(), "");

    mixed.private = hosts(&[&entries[1]]);
    proxy.gate.open(mixed);
    let mut client = proxy.tunnel(&format!("localhost:{port}")).await;
    let hello = client_hello(Some("localhost"));
    client.write(&hello).await;
    assert_eq!(client.bytes(hello.len()).await, hello);
}

async fn ask_for_websocket(client: &mut Client, target: &str, host: &str) -> String {
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    client.write(request.as_bytes()).await;
    client.head().await
}
