//! What ends a call that takes too much, with the canaries that do; and that the engine goes on after each of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::{Recording, call, call_until, load, plugin_host, refusal, try_load};
use transom_plugins::{CallBudget, PluginHost, PluginHostConfig};
use transom_verbs::{ErrorCode, Reason};

#[tokio::test]
async fn a_guest_that_never_ends_is_stopped_at_its_deadline_and_the_next_call_goes_on() {
    let (plugin, host) = (load("endless").await, Recording::new());
    let begin = Instant::now();
    let (code, reason, text) = refusal(call(&plugin, "spin", json!({}), &host).await);
    assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::PluginLimit)));
    assert!(text.contains("within its 500ms") && text.contains("limits.deadline"), "{text}");
    assert!(begin.elapsed() >= Duration::from_millis(500), "{:?}", begin.elapsed());
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(call(&plugin, "fine", json!({}), &host).await.unwrap().content, "fine");
}

#[tokio::test]
async fn waiting_for_the_host_counts_and_the_verb_is_dropped() {
    let (plugin, host) = (load("endless").await, Recording::new());
    let (code, reason, _) = refusal(call(&plugin, "wait_forever", json!({}), &host).await);
    assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::PluginLimit)));
    assert_eq!((host.n_calls(), host.n_waiting()), (1, 0));
    assert_eq!(call(&plugin, "fine", json!({}), &host).await.unwrap().content, "fine");
}

#[tokio::test]
async fn a_nearer_deadline_of_the_caller_is_a_timeout_and_not_the_plugins_fault() {
    let (plugin, host) = (load("endless").await, Recording::new());
    for tool in ["spin", "wait_forever"] {
        let result = call_until(&plugin, tool, json!({}), &host, Duration::from_millis(50)).await;
        let (code, reason, _) = refusal(result);
        assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::Timeout)), "{tool}");
    }
}

#[tokio::test]
async fn a_deadline_that_has_passed_runs_nothing() {
    let (plugin, host) = (load("honest").await, Recording::new());
    let result = call_until(&plugin, "three", json!({}), &host, Duration::ZERO).await;
    assert_eq!(refusal(result).1, Some(Reason::Timeout));
    assert_eq!(host.n_calls(), 0);
}

/// On one thread: a guest that computes gives way at every tick.
#[tokio::test(flavor = "current_thread")]
async fn a_guest_that_computes_does_not_hold_the_executor() {
    let (plugin, host) = (load("endless").await, Recording::new());
    let spinning = call(&plugin, "spin", json!({}), &host);
    let counting = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        let mut n_ticks = 0;
        loop {
            ticks.tick().await;
            n_ticks += 1;
            if n_ticks == 3 {
                break;
            }
        }
    };
    let begin = Instant::now();
    tokio::select! {
        () = counting => {}
        _ = spinning => panic!("three ticks of 20 ms should be over before the guest's 500 ms"),
    }
    assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn dropping_a_call_ends_its_guest_and_its_verb() {
    let (plugin, host) = (load("endless").await, Recording::new());
    for tool in ["wait_forever", "spin"] {
        let in_flight = call(&plugin, tool, json!({}), &host);
        let dropped = tokio::time::timeout(Duration::from_millis(100), in_flight).await;
        assert!(dropped.is_err(), "{tool} should not have ended");
        assert_eq!(host.n_waiting(), 0);
    }
    // Each place in the pool came back: more calls than there are places.
    for _ in 0..8 {
        assert_eq!(call(&plugin, "fine", json!({}), &host).await.unwrap().content, "fine");
    }
}

#[tokio::test]
async fn memory_is_limited_to_what_the_manifest_says() {
    let (plugin, host) = (load("memory").await, Recording::new());
    let (code, reason, text) = refusal(call(&plugin, "take", json!({}), &host).await);
    assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::PluginLimit)));
    assert!(text.contains("more than its 4 MiB of memory") && text.contains("limits.memory"), "{text}");
    let result = call(&plugin, "take", json!({"bytes": 1 << 20}), &host).await.unwrap();
    assert_eq!(result.content, "1048576 bytes");
}

#[tokio::test]
async fn results_and_arguments_have_a_size() {
    let (plugin, host) = (load("huge").await, Recording::new());
    let mebibyte = 1 << 20;
    let (_, reason, text) = refusal(call(&plugin, "result", json!({"n": mebibyte + 1}), &host).await);
    assert_eq!(reason, Some(Reason::PluginLimit));
    assert!(text.contains("its result has more than 1024 KiB"), "{text}");
    // So large that it is not even copied out of the guest.
    let (_, reason, text) = refusal(call(&plugin, "result", json!({"n": 16 * mebibyte}), &host).await);
    assert_eq!(reason, Some(Reason::PluginLimit));
    assert!(text.contains("more than 2048 KiB to the host at once"), "{text}");
    let (_, reason, text) = refusal(call(&plugin, "argument", json!({"n": 16 * mebibyte}), &host).await);
    assert_eq!(reason, Some(Reason::PluginLimit));
    assert!(text.contains("more than 2048 KiB to the host at once"), "{text}");
    assert_eq!(host.n_calls(), 0);

    assert_eq!(call(&plugin, "result", json!({"n": mebibyte}), &host).await.unwrap().content.len(), mebibyte);
    assert!(call(&plugin, "argument", json!({"n": 400_000}), &host).await.is_ok());
    assert_eq!(host.n_calls(), 1);
}

#[tokio::test]
async fn a_log_has_a_volume_and_says_what_was_dropped() {
    let (plugin, host) = (load("huge").await, Recording::new());
    call(&plugin, "lines", json!({"n": 100}), &host).await.unwrap();
    assert_eq!(host.lines().len(), 100);

    let host = Recording::new();
    call(&plugin, "lines", json!({"n": 100_000}), &host).await.unwrap();
    let lines = host.lines();
    assert!(lines.len() < 10_000, "{}", lines.len());
    let (_, last) = lines.last().unwrap();
    assert_eq!(*last, format!("{} more lines of the plugin's log were dropped", 100_000 - (lines.len() - 1)));
}

#[tokio::test]
async fn handles_are_limited_at_once_and_not_in_turn() {
    let (plugin, host) = (load("huge").await, Recording::new());
    let (_, reason, text) = refusal(call(&plugin, "handles", json!({"n": 100_000}), &host).await);
    assert_eq!(reason, Some(Reason::PluginLimit));
    assert!(text.contains("more than 64 handles"), "{text}");
    assert_eq!(call(&plugin, "handles", json!({"n": 64}), &host).await.unwrap().content, "64 handles");
    assert_eq!(call(&plugin, "handles_in_turn", json!({"n": 5_000}), &host).await.unwrap().content, "5000 handles");
}

fn with_budget(budget: CallBudget) -> PluginHost {
    PluginHost::new(PluginHostConfig { calls_at_once: 2, budget }).unwrap()
}

#[tokio::test]
async fn a_flood_of_host_calls_ends_the_call() {
    let plugins = with_budget(CallBudget { host_calls: 400, ..CallBudget::default() });
    let (plugin, host) = (try_load(&plugins, "flood").await.unwrap(), Recording::new());
    let (_, reason, text) = refusal(call(&plugin, "flood", json!({}), &host).await);
    assert_eq!(reason, Some(Reason::PluginLimit));
    assert!(text.contains("more than 400 calls to the host"), "{text}");
    assert_eq!(host.n_calls(), 400);
    assert_eq!(call(&plugin, "flood", json!({"n": 400}), &host).await.unwrap().content, "400 calls");
}

#[tokio::test]
async fn host_calls_that_come_too_fast_are_slowed_down() {
    let plugins = with_budget(CallBudget { host_calls_per_second: 10, host_calls_burst: 10, ..CallBudget::default() });
    let (plugin, host) = (try_load(&plugins, "flood").await.unwrap(), Recording::new());
    let begin = Instant::now();
    call(&plugin, "flood", json!({"n": 20}), &host).await.unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(990), "{:?}", begin.elapsed());
    // Within the burst nothing waits.
    let begin = Instant::now();
    call(&plugin, "flood", json!({"n": 10}), &host).await.unwrap();
    assert!(begin.elapsed() < Duration::from_millis(900), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn a_trap_shows_no_backtrace_and_the_next_call_goes_on() {
    let (plugin, host) = (load("trap").await, Recording::new());
    for tool in ["panic", "after_navigating", "forge_handle"] {
        let (code, reason, text) = refusal(call(&plugin, tool, json!({}), &host).await);
        assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::PluginTrap)), "{tool}: {text}");
        assert_eq!(
            text,
            format!(
                "the plugin `trap` broke off in `{tool}` | its trace is in the operator's log; a call with other \
                 arguments may work"
            )
        );
        assert_eq!(call(&plugin, "fine", json!({}), &host).await.unwrap().content, "fine");
    }
}

#[tokio::test]
async fn the_stack_is_a_limit() {
    let (plugin, host) = (load("trap").await, Recording::new());
    let (_, reason, text) = refusal(call(&plugin, "recurse", json!({"depth": 10_000_000}), &host).await);
    assert_eq!(reason, Some(Reason::PluginLimit));
    assert!(text.contains("it ran out of stack"), "{text}");
    assert_eq!(call(&plugin, "recurse", json!({"depth": 100}), &host).await.unwrap().content, "100 deep");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_calls_than_places_wait_for_their_turn() {
    let plugins = plugin_host();
    let (plugin, host) = (try_load(&plugins, "honest").await.unwrap(), Recording::new());
    let calls = (0..200).map(|_| {
        let (plugin, host) = (plugin.clone(), host.clone());
        tokio::spawn(async move { call(&plugin, "three", json!({}), &host).await })
    });
    for ended in futures::future::join_all(calls).await {
        assert_eq!(ended.unwrap().unwrap().content, "Orders: € 12.50");
    }
    assert_eq!(host.n_calls(), 600);
}
