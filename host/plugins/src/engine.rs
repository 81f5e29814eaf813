//! One engine for all plugins: how guest code is compiled, where its instances live, and how many run at once.
//!
//! Instances come from a pool: their memories, tables and stacks are reserved once, so that making one is a matter of
//! microseconds. A pool that is full is an error in wasmtime, so a semaphore stands in front of it and callers wait.
//!
//! Rejected: fuel (it counts instructions, costs a third of the speed, and says nothing of time; epochs do), Winch (no
//! tier for hostile code), on-demand allocation (a `mmap` and a `munmap` for every memory of every call).

use std::{io, sync::Arc};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::Instant,
};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store, UpdateDeadline};

use crate::{
    limits::{CORE_INSTANCES_MAX, MEMORIES_MAX, TABLE_ELEMENTS_MAX, TABLES_MAX},
    manifest::MEMORY_BOUNDS,
    state::State,
    ticker::{Running, Ticker},
};

/// Calls that run at once unless the configuration says otherwise. Most of a call is waiting for pages; a host has a browser
/// for each run, and sixty-four of those fill any machine.
pub(crate) const CALLS_AT_ONCE: u32 = 64;

/// Stack of guest code, in bytes: wasmtime's own default, deep enough for CPython's interpreter.
const WASM_STACK_BYTES: usize = 512 * 1024;

/// Stack of a call, in bytes: the guest's, and what is above it for the host's part, which runs on the same stack.
const CALL_STACK_BYTES: usize = 2 * 1024 * 1024;

/// Tables that one module may define. Python's shared libraries have two; hostile ones could have thousands.
const TABLES_PER_MODULE: u32 = 8;

/// Bytes of a used memory that are cleared by hand instead of being given back to the kernel. A small Rust guest touches
/// about this much, and clearing it costs less than the page faults of getting it again.
const MEMORY_KEPT_BYTES: usize = 128 * 1024;

/// The same for a table: a small guest's whole one.
const TABLE_KEPT_BYTES: usize = 16 * 1024;

/// The same for a stack: what a call that doesn't recurse uses of it.
const STACK_KEPT_BYTES: usize = 64 * 1024;

/// Ticks between two looks at a running guest's deadline.
const TICKS_BETWEEN_LOOKS: u64 = 1;

/// An engine, its clock, and the places in its pool.
pub(crate) struct PluginEngine {
    engine: Engine,
    ticker: Ticker,
    places: Semaphore,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum PluginHostError {
    /// The pool could not be reserved, or this processor can't be compiled for.
    #[error("the plugin engine could not be made: {0:#}")]
    Engine(wasmtime::Error),
    /// No thread could be started.
    #[error("the plugin engine's clock could not be started: {0}")]
    Ticker(#[source] io::Error),
}

impl PluginEngine {
    /// Reserves the pool (address space, not memory) and starts the clock.
    pub(crate) fn new(calls_at_once: u32) -> Result<Arc<PluginEngine>, PluginHostError> {
        let n_calls = calls_at_once.max(1);
        let engine = Engine::new(&config(n_calls)).map_err(PluginHostError::Engine)?;
        let ticker = Ticker::start(&engine).map_err(PluginHostError::Ticker)?;
        Ok(Arc::new(PluginEngine { engine, ticker, places: Semaphore::new(n_calls as usize) }))
    }

    pub(crate) fn wasmtime(&self) -> &Engine {
        &self.engine
    }

    /// Waits for a place in the pool. While the place is held, the engine's clock runs.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the queue.
    pub(crate) async fn place(&self) -> Place<'_> {
        // The semaphore is never closed; were it, calls would go on and the pool would refuse those that are too many.
        let permit = self.places.acquire().await.ok();
        Place { _permit: permit, _running: self.ticker.run() }
    }

    /// A store for one call. It must not be used again after a trap, a limit or a dropped call.
    pub(crate) fn store(&self, state: State, passed_bytes: usize) -> Store<State> {
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(passed_bytes);
        store.set_epoch_deadline(TICKS_BETWEEN_LOOKS);
        store.epoch_deadline_callback(|context| {
            context.data().deadline.check(Instant::now())?;
            Ok(UpdateDeadline::Yield(TICKS_BETWEEN_LOOKS))
        });
        store
    }
}

/// A place in the pool, for one call.
pub(crate) struct Place<'a> {
    _permit: Option<SemaphorePermit<'a>>,
    _running: Running,
}

fn config(n_calls: u32) -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(CALL_STACK_BYTES)
        // What no guest needs and every one could attack.
        .wasm_threads(false)
        .wasm_memory64(false)
        .concurrency_support(false)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(n_calls)));
    config
}

/// The pool has what `n_calls` of the greediest components that are let in could use, so a place in it is always enough.
fn pool(n_calls: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(n_calls)
        .total_stacks(n_calls)
        .total_core_instances(n_calls.saturating_mul(CORE_INSTANCES_MAX))
        .total_memories(n_calls.saturating_mul(MEMORIES_MAX))
        .total_tables(n_calls.saturating_mul(TABLES_MAX))
        .max_core_instances_per_component(CORE_INSTANCES_MAX)
        .max_memories_per_component(MEMORIES_MAX)
        .max_tables_per_component(TABLES_MAX)
        .max_tables_per_module(TABLES_PER_MODULE)
        .table_elements(TABLE_ELEMENTS_MAX)
        .max_memory_size(usize::try_from(MEMORY_BOUNDS.1).unwrap_or(usize::MAX))
        .linear_memory_keep_resident(MEMORY_KEPT_BYTES)
        .table_keep_resident(TABLE_KEPT_BYTES)
        .async_stack_keep_resident(STACK_KEPT_BYTES);
    pool
}
