//! What is recorded of a request: host, port, kind and verdict. Never a path, a query, a header or a body.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::{Failure, Refusal};

/// Longest host that an event holds, in bytes: a name has at most 253; more is an attempt to fill a log.
const HOST_BYTES_MAX: usize = 255;

/// One verdict of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressEvent {
    /// The host that was asked for.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What kind of connection it was.
    pub kind: EgressKind,
    /// What became of it.
    pub verdict: Verdict,
}

/// The kind of a connection, as far as the proxy can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EgressKind {
    /// A request over plain HTTP.
    Http,
    /// A TLS connection; what is inside is not seen.
    Tls,
    /// A WebSocket over plain HTTP.
    Socket,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was let through, and connected.
    Allowed,
    /// It was refused.
    Refused {
        /// Why.
        why: Refusal,
    },
    /// It was Chromium's own and refused. Not the page's doing.
    OwnChatter,
    /// It was let through and could not be connected.
    Failed {
        /// Why.
        why: Failure,
    },
}

/// How many requests met which verdict since the gate was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct GateStats {
    /// Let through and connected.
    pub allowed: u64,
    /// Refused, Chromium's own left out.
    pub refused: u64,
    /// Chromium's own, refused.
    pub own_chatter: u64,
    /// Let through, but the host had no address or did not answer.
    pub failed: u64,
    /// Connections turned away because there were too many.
    pub over_limit: u64,
    /// Connections of the browser that are open now.
    pub open_connections: usize,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    allowed: AtomicU64,
    refused: AtomicU64,
    own_chatter: AtomicU64,
    failed: AtomicU64,
    over_limit: AtomicU64,
}

impl Counters {
    pub(super) fn count(&self, verdict: &Verdict) {
        let counter = match verdict {
            Verdict::Allowed => &self.allowed,
            Verdict::Refused { .. } => &self.refused,
            Verdict::OwnChatter => &self.own_chatter,
            Verdict::Failed { .. } => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_over_limit(&self) {
        self.over_limit.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self, open_connections: usize) -> GateStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        GateStats {
            allowed: read(&self.allowed),
            refused: read(&self.refused),
            own_chatter: read(&self.own_chatter),
            failed: read(&self.failed),
            over_limit: read(&self.over_limit),
            open_connections,
        }
    }
}

/// A host as an event holds it. Text that is no host (it was refused as such) must not write into a log freely.
pub(super) fn short(host: &str) -> String {
    let plain = host.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' });
    plain.take(HOST_BYTES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_an_event_is_short_and_printable() {
        assert_eq!(short("shop.test"), "shop.test");
        assert_eq!(short("a\nb\u{202e}"), "a?b?");
        assert_eq!(short(&"x".repeat(1000)).len(), HOST_BYTES_MAX);
    }
}
