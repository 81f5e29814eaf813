//! What a plugin's call costs beyond its verbs: `cargo bench -p transom-plugins` (release), with a host that answers at once.
//!
//! `three host calls` is the figure that the design promises: under 0.1 ms beyond the verbs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a benchmark fails by panicking"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use support::{Answering, plugin_host, try_load};
use tokio::{
    runtime::Builder,
    time::{Duration, Instant},
};
use transom_verbs::TabId;

fn calls(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let plugin = runtime.block_on(try_load(&plugin_host(), "honest")).unwrap();
    let host = Answering::new();
    let mut measure = |name: &str, tool: &'static str, args: Value| {
        criterion.bench_function(name, |bencher| {
            bencher.to_async(&runtime).iter(|| async {
                let tab = Some(TabId::parse("t1").unwrap());
                let deadline = Instant::now() + Duration::from_secs(30);
                plugin.call(tool, args.clone(), tab, host.clone(), deadline).await.unwrap()
            });
        });
    };
    measure("no host call", "nothing", json!({}));
    measure("three host calls", "three", json!({}));
    measure("arguments and structured result", "say", json!({"text": "hello", "times": 3}));
}

fn loading(criterion: &mut Criterion) {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    let mut group = criterion.benchmark_group("load");
    group.sample_size(10);
    for name in ["honest", "orders"] {
        group.bench_function(name, |bencher| {
            bencher.to_async(&runtime).iter(|| async { try_load(&plugin_host(), name).await.unwrap() });
        });
    }
    group.finish();
}

criterion_group!(benches, calls, loading);
criterion_main!(benches);
