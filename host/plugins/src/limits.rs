//! What ends a call that takes too much, and the part of it that wasmtime asks about: memory, tables and instances.
//!
//! Not here: what is counted per host call (`budget.rs`), and time (`call.rs`, `ticker.rs`).

use std::{fmt, time::Duration};

use wasmtime::{Result, StoreLimits, StoreLimitsBuilder};

/// Core instances of one component. Python's needs some thirty; hostile ones could have thousands.
pub(crate) const CORE_INSTANCES_MAX: u32 = 64;

/// Tables of one component: each of Python's modules brings one or two.
pub(crate) const TABLES_MAX: u32 = 64;

/// Linear memories of one component: its own, and an adapter's.
pub(crate) const MEMORIES_MAX: u32 = 8;

/// Elements of one table. Python's largest has about 40,000.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 100_000;

/// A limit that a call passed; it ended the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// The sum of its memories, in bytes.
    #[error("it needs more than its {} MiB of memory", .bytes / (1 << 20))]
    Memory {
        /// What it may have.
        bytes: u64,
    },
    /// The deadline of the manifest.
    #[error("it did not end within its {}", humantime::format_duration(*.deadline))]
    Deadline {
        /// What it may take.
        deadline: Duration,
    },
    /// Host calls in one call.
    #[error("it made more than {calls} calls to the host")]
    HostCalls {
        /// What it may make.
        calls: u32,
    },
    /// Handles that it held at once.
    #[error("it held more than {handles} handles at once")]
    Handles {
        /// What it may hold.
        handles: u32,
    },
    /// What it passed to the host in one go, or its result, in bytes.
    #[error("it passed more than {} KiB to the host at once", .bytes / 1024)]
    Passed {
        /// What it may pass.
        bytes: usize,
    },
    /// Its stack.
    #[error("it ran out of stack")]
    Stack,
    /// Its result, in bytes.
    #[error("its result has more than {} KiB", .bytes / 1024)]
    Result {
        /// What it may give.
        bytes: usize,
    },
}

/// Answers wasmtime's questions for one call, and remembers what it refused.
///
/// A memory that may not grow makes the guest's own `memory.grow` fail. What most guests make of that is a trap, which is
/// then known to be the limit's doing.
pub(crate) struct Limiter {
    memory_max: u64,
    memory: u64,
    refused_memory: bool,
    counts: StoreLimits,
}

impl Limiter {
    pub(crate) fn new(memory_max: u64) -> Limiter {
        let counts = StoreLimitsBuilder::new()
            .instances(CORE_INSTANCES_MAX as usize)
            .tables(TABLES_MAX as usize)
            .memories(MEMORIES_MAX as usize)
            .table_elements(TABLE_ELEMENTS_MAX)
            .build();
        Limiter { memory_max, memory: 0, refused_memory: false, counts }
    }

    /// The limit that a trap was probably due to.
    pub(crate) fn refused(&self) -> Option<Limit> {
        self.refused_memory.then_some(Limit::Memory { bytes: self.memory_max })
    }
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limiter({} of {} bytes)", self.memory, self.memory_max)
    }
}

impl wasmtime::ResourceLimiter for Limiter {
    /// `current` and `desired` are of one memory; the limit is for the sum of all.
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let sum = self.memory.saturating_sub(current as u64).saturating_add(desired as u64);
        if sum > self.memory_max {
            self.refused_memory = true;
            return Ok(false);
        }
        self.memory = sum;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        self.counts.table_growing(current, desired, maximum)
    }

    fn instances(&self) -> usize {
        self.counts.instances()
    }

    fn tables(&self) -> usize {
        self.counts.tables()
    }

    fn memories(&self) -> usize {
        self.counts.memories()
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::ResourceLimiter;

    use super::*;

    #[test]
    fn the_sum_of_all_memories_is_limited_and_the_refusal_is_remembered() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.memory_growing(0, 40, None).unwrap());
        assert_eq!(limiter.refused(), None);
        assert!(!limiter.memory_growing(40, 41, None).unwrap());
        assert_eq!(limiter.refused(), Some(Limit::Memory { bytes: 100 }));
    }

    #[test]
    fn a_memory_that_was_refused_may_still_grow_by_less() {
        let mut limiter = Limiter::new(100);
        assert!(!limiter.memory_growing(0, 101, None).unwrap());
        assert!(limiter.memory_growing(0, 100, None).unwrap());
    }
}
