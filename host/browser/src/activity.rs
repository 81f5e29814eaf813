//! Whether a tab's network has been quiet: what `idle` waits for.
//!
//! Idle is [`QUIET`] without a request that counts. Event streams and sockets don't count: they never end. Nor does any request that
//! is older than [`LONG_LIVED`]: it is a long poll or a stream, and would keep a page from ever being idle.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

/// How long the network has to be quiet: the contract's half a second.
pub(crate) const QUIET: Duration = Duration::from_millis(500);

/// A request that takes longer is waited for no more.
const LONG_LIVED: Duration = Duration::from_secs(5);

/// Requests that are followed for one tab; beyond it the page is never idle anyhow, and memory is not its to fill.
const REQUESTS_MAX: usize = 2_000;

/// The requests of one tab.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    in_flight: HashMap<String, Instant>,
    last_change: Option<Instant>,
}

impl Activity {
    pub(crate) fn began(&mut self, request: &str, kind: &str, now: Instant) {
        if matches!(kind, "EventSource" | "WebSocket" | "Ping" | "CSPViolationReport" | "Media") {
            return;
        }
        if self.in_flight.len() < REQUESTS_MAX {
            self.in_flight.insert(request.to_owned(), now);
        }
        self.last_change = Some(now);
    }

    pub(crate) fn ended(&mut self, request: &str, now: Instant) {
        if self.in_flight.remove(request).is_some() {
            self.last_change = Some(now);
        }
    }

    /// A new document: what the last one asked for is nobody's business.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.in_flight.clear();
        self.last_change = Some(now);
    }

    /// `Ok` when the network is quiet, else when it could be at the earliest.
    pub(crate) fn quiet(&self, now: Instant) -> Result<(), Instant> {
        let busy_until = self.in_flight.values().map(|began| *began + LONG_LIVED).filter(|end| *end > now).max();
        if let Some(end) = busy_until {
            return Err(end);
        }
        // Requests that outlived their count made no change of their own when they did.
        let calm_since = self.in_flight.values().map(|began| *began + LONG_LIVED).chain(self.last_change).max();
        match calm_since.map(|since| since + QUIET) {
            Some(then) if then > now => Err(then),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_is_idle_half_a_second_after_its_last_request_ended() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut activity = Activity::default();
        assert_eq!(activity.quiet(start), Ok(()));
        activity.began("1", "Fetch", at(0));
        activity.began("2", "Image", at(100));
        activity.ended("1", at(200));
        assert!(activity.quiet(at(900)).is_err());
        activity.ended("2", at(1000));
        assert_eq!(activity.quiet(at(1200)), Err(at(1500)));
        assert_eq!(activity.quiet(at(1500)), Ok(()));
    }

    #[test]
    fn streams_and_long_polls_do_not_keep_a_tab_busy() {
        let start = Instant::now();
        let mut activity = Activity::default();
        activity.began("1", "EventSource", start);
        assert_eq!(activity.quiet(start), Ok(()));
        activity.began("2", "Fetch", start);
        assert_eq!(activity.quiet(start), Err(start + LONG_LIVED));
        assert_eq!(activity.quiet(start + LONG_LIVED + QUIET), Ok(()));
    }
}
