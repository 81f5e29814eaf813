//! The clock that lets guest code be stopped: one thread for each engine, which counts the engine's epoch up while calls run.
//!
//! Compiled code compares the epoch with its store's at every loop and function entry. Each tick makes a running guest yield
//! once to the executor, so a guest that computes for seconds takes turns with everything else, and its deadline is looked at.
//!
//! Without running calls the thread is parked: an idle host wakes up for nothing.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use wasmtime::Engine;

/// Time between ticks. A guest holds an executor's thread for at most this long, and overruns its deadline by at most this
/// much; shorter ones cost wake-ups and yields for nothing that a caller could notice.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Ticks without a running call before the thread parks: a busy host does not pay for parking and waking with each call.
const IDLE_TICKS: u32 = 100;

/// Owns the thread. Dropping it ends the thread and waits for it.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    n_running: AtomicUsize,
    is_parked: AtomicBool,
    is_stopped: AtomicBool,
}

impl Ticker {
    /// Starts the thread.
    pub(crate) fn start(engine: &Engine) -> io::Result<Ticker> {
        let shared = Arc::new(Shared::default());
        let (engine, seen) = (engine.weak(), Arc::clone(&shared));
        let thread = thread::Builder::new().name("plugin-ticker".into()).spawn(move || {
            let mut n_idle = 0;
            while !seen.is_stopped.load(SeqCst) {
                if seen.n_running.load(SeqCst) > 0 {
                    n_idle = 0;
                } else if n_idle < IDLE_TICKS {
                    n_idle += 1;
                } else {
                    // A call that begins now either is seen by the second look or sees the flag and unparks.
                    seen.is_parked.store(true, SeqCst);
                    if seen.n_running.load(SeqCst) == 0 && !seen.is_stopped.load(SeqCst) {
                        thread::park();
                    }
                    seen.is_parked.store(false, SeqCst);
                    continue;
                }
                thread::park_timeout(TICK);
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => break,
                }
            }
        })?;
        Ok(Ticker { shared, thread: Some(thread) })
    }

    /// Ticks at least until the guard is dropped.
    pub(crate) fn run(&self) -> Running {
        self.shared.n_running.fetch_add(1, SeqCst);
        if self.shared.is_parked.load(SeqCst) {
            self.unpark();
        }
        Running(Arc::clone(&self.shared))
    }

    fn unpark(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, SeqCst);
        self.unpark();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the plugin ticker had panicked");
        }
    }
}

/// While it lives, the engine's epoch advances.
pub(crate) struct Running(Arc<Shared>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.n_running.fetch_sub(1, SeqCst);
    }
}
