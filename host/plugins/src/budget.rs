//! What one call may ask of the host: calls, their rate, handles, log lines, and how much it may pass.
//!
//! Too many calls end the call. Calls that come too fast are only slowed down: a plugin that reads a thousand cells in a row
//! is no attack, and one that floods is then bounded by its count and its deadline.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::Limit;

/// The figures; the same for every call of a [`PluginHost`](crate::PluginHost).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallBudget {
    /// Verbs in one call. The longest extractions seen take some hundreds; ten thousand would be ten minutes of clicks.
    pub host_calls: u32,
    /// Verbs in a second, above which they are slowed down. A page answers some hundreds at most.
    pub host_calls_per_second: u32,
    /// Verbs that may come at once before the rate counts.
    pub host_calls_burst: u32,
    /// Handles to tabs that it may hold at once. A browser with more tabs than that is of no use to anyone.
    pub handles: u32,
    /// Bytes of its log, over all its lines. Beyond, lines are dropped and counted.
    pub log_bytes: usize,
    /// Bytes of its result, all fields together. A megabyte of text is more than any model reads.
    pub result_bytes: usize,
    /// Bytes that it may pass to the host in one go, the result included. The longest argument of any verb is `type`'s
    /// text, up to 400 KB.
    pub passed_bytes: usize,
}

impl Default for CallBudget {
    fn default() -> CallBudget {
        CallBudget {
            host_calls: 10_000,
            host_calls_per_second: 1_000,
            host_calls_burst: 500,
            handles: 64,
            log_bytes: 64 * 1024,
            result_bytes: 1024 * 1024,
            passed_bytes: 2 * 1024 * 1024,
        }
    }
}

/// What is left of it for one call.
#[derive(Debug)]
pub(crate) struct Budget {
    figures: CallBudget,
    n_calls: u32,
    n_handles: u32,
    /// When the calls made so far are paid for, at the rate (GCRA: no counter to refill, no timer).
    paid_until: Option<Instant>,
}

impl Budget {
    pub(crate) fn new(figures: CallBudget) -> Budget {
        Budget { figures, n_calls: 0, n_handles: 0, paid_until: None }
    }

    /// Counts one host call at `now`. It has to wait until the returned time, if there is one.
    pub(crate) fn host_call(&mut self, now: Instant) -> Result<Option<Instant>, Limit> {
        let figures = &self.figures;
        if self.n_calls == figures.host_calls {
            return Err(Limit::HostCalls { calls: figures.host_calls });
        }
        self.n_calls += 1;
        let each = Duration::from_secs(1) / figures.host_calls_per_second.max(1);
        let paid_until = self.paid_until.map_or(now, |paid_until| paid_until.max(now)) + each;
        self.paid_until = Some(paid_until);
        let ahead = paid_until.saturating_duration_since(now);
        let allowed = each * figures.host_calls_burst.max(1);
        Ok(ahead.checked_sub(allowed).filter(|wait| !wait.is_zero()).map(|wait| now + wait))
    }

    /// Counts one handle that the guest gets.
    pub(crate) fn take_handle(&mut self) -> Result<(), Limit> {
        if self.n_handles == self.figures.handles {
            return Err(Limit::Handles { handles: self.figures.handles });
        }
        self.n_handles += 1;
        Ok(())
    }

    /// Counts one handle that the guest dropped.
    pub(crate) fn give_handle_back(&mut self) {
        self.n_handles = self.n_handles.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(host_calls: u32, host_calls_per_second: u32, host_calls_burst: u32) -> Budget {
        let handles = 2;
        Budget::new(CallBudget {
            host_calls,
            host_calls_per_second,
            host_calls_burst,
            handles,
            ..CallBudget::default()
        })
    }

    #[test]
    fn calls_within_the_burst_do_not_wait_and_later_ones_keep_the_rate() {
        let (mut budget, now) = (budget(100, 10, 3), Instant::now());
        for _ in 0..3 {
            assert_eq!(budget.host_call(now), Ok(None));
        }
        assert_eq!(budget.host_call(now), Ok(Some(now + Duration::from_millis(100))));
        assert_eq!(budget.host_call(now), Ok(Some(now + Duration::from_millis(200))));
        // A second later everything is paid for.
        assert_eq!(budget.host_call(now + Duration::from_secs(1)), Ok(None));
    }

    #[test]
    fn a_steady_caller_below_the_rate_never_waits() {
        let (mut budget, start) = (budget(1_000, 10, 1), Instant::now());
        for n in 0..50 {
            assert_eq!(budget.host_call(start + Duration::from_millis(101) * n), Ok(None), "{n}");
        }
    }

    #[test]
    fn one_call_too_many_ends_the_call() {
        let (mut budget, now) = (budget(2, 10, 10), Instant::now());
        assert_eq!(budget.host_call(now), Ok(None));
        assert_eq!(budget.host_call(now), Ok(None));
        assert_eq!(budget.host_call(now), Err(Limit::HostCalls { calls: 2 }));
    }

    #[test]
    fn handles_that_are_dropped_count_no_more() {
        let mut budget = budget(1, 1, 1);
        assert_eq!(budget.take_handle(), Ok(()));
        assert_eq!(budget.take_handle(), Ok(()));
        assert_eq!(budget.take_handle(), Err(Limit::Handles { handles: 2 }));
        budget.give_handle_back();
        assert_eq!(budget.take_handle(), Ok(()));
    }
}
