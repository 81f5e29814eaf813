//! WASI is linked, since Python and JavaScript need it, and gives nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Recording, call, call_until, load, refusal};
use transom_plugins::LogLevel;
use transom_verbs::Reason;

#[tokio::test]
async fn there_is_no_way_out_through_wasi() {
    let (plugin, host) = (load("wasi").await, Recording::new());
    assert!(plugin.imports().has_wasi());
    assert!(plugin.imports().interfaces().is_empty());
    // So that a refusal is not for want of something that listens there.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let result = call(&plugin, "look", json!({"port": port}), &host).await.unwrap();
    let nothing = json!({
        "environment": 0, "arguments": 0, "folders": 0, "working_folder": false, "input_bytes": 0,
        "names": false, "tcp": false, "udp": false,
    });
    assert_eq!(Value::Object(result.structured.unwrap()), nothing);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody connected");
}

#[tokio::test]
async fn output_becomes_lines_of_the_log_and_clocks_and_randomness_work() {
    let (plugin, host) = (load("wasi").await, Recording::new());
    let result = call(&plugin, "print", json!({}), &host).await.unwrap();
    assert_eq!(result.content, "time true, randomness true");
    let lines = host.lines();
    let lines: Vec<(LogLevel, &str)> = lines.iter().map(|(level, line)| (*level, line.as_str())).collect();
    assert_eq!(lines, [(LogLevel::Info, "one"), (LogLevel::Warn, "a warning"), (LogLevel::Info, "two, not ended")]);
}

#[tokio::test]
async fn a_wait_inside_wasi_ends_at_the_deadline() {
    let (plugin, host) = (load("wasi").await, Recording::new());
    let begin = Instant::now();
    let result = call_until(&plugin, "sleep", json!({}), &host, Duration::from_millis(100)).await;
    assert_eq!(refusal(result).1, Some(Reason::Timeout));
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn random_bytes_are_not_made_by_the_gigabyte() {
    let (plugin, host) = (load("wasi").await, Recording::new());
    let (_, reason, text) = refusal(call(&plugin, "order", json!({"bytes": 1_u64 << 30}), &host).await);
    assert_eq!(reason, Some(Reason::PluginTrap), "{text}");
    assert_eq!(call(&plugin, "order", json!({"bytes": 1_000}), &host).await.unwrap().content, "1000 bytes");
}
