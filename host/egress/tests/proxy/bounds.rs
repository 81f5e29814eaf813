//! What the proxy does at its limits, and when it is told to end.

use transom_egress::gate::CONNECTIONS_MAX;

use crate::support::{Proxy, Server, client_hello, rules, within};

#[tokio::test]
async fn a_head_over_the_cap_is_answered_and_not_sent_on() {
    let shop = Server::saying("the shop").await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let large = format!("Cookie: {}\r\n", "x".repeat(70 * 1024));
    let many: String = (0..150).map(|n| format!("X-{n}: 1\r\n")).collect();
    for headers in [large, many] {
        let answer = proxy.get_with("http://shop.test/", &headers).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert_eq!(shop.hits(), 0);
    let ordinary = format!("Cookie: {}\r\n", "x".repeat(16 * 1024));
    assert!(proxy.get_with("http://shop.test/", &ordinary).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn an_answer_whose_head_is_over_the_cap_is_a_failure() {
    let head = format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(70 * 1024));
    let shop = Server::answering(head).await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    assert!(proxy.get("http://shop.test/").await.contains("x-transom-failed: answer\r\n"));
}

#[tokio::test]
async fn a_head_that_does_not_end_is_not_waited_for() {
    let shop = Server::saying("the shop").await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let mut slow = proxy.connect().await;
    slow.write(b"GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\n").await;
    let mut silent = proxy.tunnel("shop.test:443").await;
    silent.write(&client_hello(Some("shop.test"))[..20]).await;
    // From here on time flies whenever everybody waits.
    tokio::time::pause();
    let answer = slow.rest().await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert_eq!(silent.rest().await, "");
    assert_eq!(shop.seen(), "");
}

#[tokio::test]
async fn a_connection_over_the_limit_is_told_so_at_once_and_the_next_free_place_is_taken() {
    let shop = Server::saying("the shop").await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let mut held = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        held.push(proxy.connect().await);
    }
    let answer = proxy.get("http://shop.test/").await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("x-transom-refused: too-many\r\n"), "{answer}");
    assert_eq!((proxy.gate.stats().over_limit, shop.hits()), (1, 0));
    assert_eq!(proxy.gate.stats().open_connections, CONNECTIONS_MAX);
    drop(held.pop());
    within(async {
        while proxy.gate.stats().open_connections == CONNECTIONS_MAX {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(proxy.get("http://shop.test/").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_gate_that_closes_cuts_what_is_open_and_refuses_what_comes() {
    let shop = Server::echoing().await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let mut client = proxy.tunnel("shop.test:443").await;
    let hello = client_hello(Some("shop.test"));
    client.write(&hello).await;
    client.bytes(hello.len()).await;
    proxy.gate.close();
    assert_eq!(client.rest().await, "", "the tunnel ends with the rules that granted it");
    assert!(proxy.get("http://shop.test/").await.contains("x-transom-refused: closed\r\n"));
    assert_eq!(shop.hits(), 1);
}

#[tokio::test]
async fn the_proxy_ends_with_all_of_its_connections_when_told() {
    let shop = Server::echoing().await;
    let proxy = Proxy::with(rules(&["shop.test"], &[], &[("shop.test", shop.address)])).await;
    let mut client = proxy.tunnel("shop.test:443").await;
    let address = proxy.address;
    proxy.stop.cancel();
    proxy.ended().await;
    assert_eq!(client.rest().await, "");
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
