//! The rules of one browser's network: what may be reached, judged anew for every request, and a record of each verdict.
//!
//! A gate starts closed and denies everything; a run that claims the browser opens it with its rules. Whatever was
//! connected under earlier rules is cut when they change.
//!
//! In this order, a request is judged by
//!
//! 1. the host lists: a document needs `hosts`, anything else `hosts` or `resources`;
//! 2. if they deny it: is it Chromium talking for itself (`chatter`)? Refused all the same, but not the page's doing;
//! 3. the addresses that the name has ([`crate::dns`]): all public, unless the entry is `private` or a `resolve` line
//!    names the address.
//!
//! A verdict is about host and port only: no path, query or header of a request is recorded.
//!
//! Not here: what a host entry matches and which addresses are public (`transom-policy`), how a verdict is told to
//! Chromium ([`crate::proxy`]).

mod chatter;
mod event;
mod refusal;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use transom_policy::hosts::HostRules;

use crate::dns::Names;
use event::Counters;
pub use event::{EgressEvent, EgressKind, GateStats, Verdict};
pub use refusal::{Failure, Refusal};

/// The most connections that one browser has through its gate. Chromium itself opens at most 32 through a proxy, and 255
/// WebSockets; what needs more is not a page that works.
pub const CONNECTIONS_MAX: usize = 300;

/// How many events wait for a slow reader before it loses the oldest. A page that loads hundreds of resources at once
/// fits; a reader that falls behind is told how many it lost.
const EVENTS_KEPT: usize = 512;

/// What one gate lets through. The default lets nothing through.
#[derive(Debug, Clone, Default)]
pub struct GateRules {
    /// May be opened as documents, and loaded from.
    pub hosts: HostRules,
    /// May only be loaded from by pages.
    pub resources: HostRules,
    /// Those entries of both lists that may resolve to addresses that are not public. Alone, they allow nothing.
    pub private: HostRules,
    /// Canonical host (or `host:port`) to the address that stands for it, which is then dialled as it is, at its own
    /// port. Alone, this allows nothing: the name has to pass the lists, with the port of the URL.
    pub resolve: HashMap<String, SocketAddr>,
}

/// What a request wants to be, as far as the proxy can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A page or a frame, over plain HTTP.
    Document,
    /// Anything else over plain HTTP.
    Resource,
    /// A WebSocket over plain HTTP.
    Socket,
    /// A TLS connection, whatever is inside.
    Tls,
}

impl Purpose {
    fn kind(self) -> EgressKind {
        match self {
            Purpose::Document | Purpose::Resource => EgressKind::Http,
            Purpose::Socket => EgressKind::Socket,
            Purpose::Tls => EgressKind::Tls,
        }
    }
}

/// A host and port that the lists let through. Only [`Gate::judge`] makes one; its addresses are still to be judged.
#[derive(Debug, Clone)]
pub(crate) struct Admission {
    /// The canonical host, an IPv6 address in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether addresses that are not public will do.
    pub(crate) is_private: bool,
    /// The address that the operator named.
    pub(crate) pinned: Option<SocketAddr>,
}

/// The rules of one browser's network. Shared between the proxy, which asks, and the run, which opens and closes it.
#[derive(Debug)]
pub struct Gate {
    state: RwLock<State>,
    names: Names,
    events: broadcast::Sender<EgressEvent>,
    counters: Counters,
    /// One permit for each connection of the browser.
    pub(crate) connections: Arc<Semaphore>,
}

#[derive(Debug)]
struct State {
    rules: Option<Arc<GateRules>>,
    /// Cancelled when the rules change.
    epoch: CancellationToken,
}

impl Gate {
    /// A gate that denies everything, until [`Gate::open`]. Names are resolved as the system is configured to.
    pub fn closed() -> Arc<Gate> {
        Gate::closed_with(Names::system())
    }

    /// The same, with names resolved by `names`.
    pub fn closed_with(names: Names) -> Arc<Gate> {
        Arc::new(Gate {
            state: RwLock::new(State { rules: None, epoch: CancellationToken::new() }),
            names,
            events: broadcast::Sender::new(EVENTS_KEPT),
            counters: Counters::default(),
            connections: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
        })
    }

    /// Lets through what `rules` allow, and nothing else. Connections under earlier rules are cut.
    pub fn open(&self, rules: GateRules) {
        self.change(Some(Arc::new(rules)));
    }

    /// Denies everything again and cuts every connection.
    pub fn close(&self) {
        self.change(None);
    }

    /// Every verdict from now on. A reader that falls more than a few hundred behind loses the oldest and is told so.
    pub fn events(&self) -> broadcast::Receiver<EgressEvent> {
        self.events.subscribe()
    }

    /// The verdicts up to now, counted.
    pub fn stats(&self) -> GateStats {
        self.counters.read(CONNECTIONS_MAX - self.connections.available_permits())
    }

    fn change(&self, rules: Option<Arc<GateRules>>) {
        let next = State { rules, epoch: CancellationToken::new() };
        let last = std::mem::replace(&mut *self.state.write().unwrap_or_else(PoisonError::into_inner), next);
        last.epoch.cancel();
    }

    /// Cancelled when the rules that hold now hold no longer.
    pub(crate) fn epoch(&self) -> CancellationToken {
        self.state.read().unwrap_or_else(PoisonError::into_inner).epoch.clone()
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Judges a canonical host by the lists.
    pub(crate) fn judge(&self, host: &str, port: u16, purpose: Purpose) -> Result<Admission, Refusal> {
        let rules = self.state.read().unwrap_or_else(PoisonError::into_inner).rules.clone();
        let denied = |refusal| if chatter::is_chatter(host) { Refusal::OwnChatter } else { refusal };
        let Some(rules) = rules else { return Err(denied(Refusal::Closed)) };
        let tls = purpose == Purpose::Tls;
        let as_document = rules.hosts.decide_authority(host, port, tls);
        if let Err(denial) = as_document.into_result() {
            let as_resource = rules.resources.decide_authority(host, port, tls).is_allowed();
            match (as_resource, purpose) {
                (true, Purpose::Document) => return Err(Refusal::DocumentFromResourceHost { host: host.to_owned() }),
                (true, _) => {}
                (false, _) => return Err(denied(Refusal::Host(denial))),
            }
        }
        let host = host.to_ascii_lowercase();
        let pinned = rules.resolve.get(&format!("{host}:{port}")).or_else(|| rules.resolve.get(&host)).copied();
        let is_private = rules.private.decide_authority(&host, port, tls).is_allowed();
        Ok(Admission { host, port, is_private, pinned })
    }

    /// Counts a verdict and tells whoever listens.
    pub(crate) fn record(&self, host: &str, port: u16, purpose: Purpose, verdict: Verdict) {
        self.counters.count(&verdict);
        let event = EgressEvent { host: event::short(host), port, kind: purpose.kind(), verdict };
        tracing::debug!(host = event.host, port, kind = ?event.kind, verdict = ?event.verdict, "egress");
        // Without a listener there is nobody to tell.
        self.events.send(event).ok();
    }

    /// Counts a connection that was turned away because there were too many.
    pub(crate) fn record_over_limit(&self) {
        self.counters.count_over_limit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(hosts: &[&str], resources: &[&str]) -> GateRules {
        GateRules {
            hosts: HostRules::parse(hosts).unwrap(),
            resources: HostRules::parse(resources).unwrap(),
            ..GateRules::default()
        }
    }

    #[test]
    fn a_gate_denies_everything_before_it_is_opened_and_after_it_is_closed() {
        let gate = Gate::closed();
        let judge = || gate.judge("shop.test", 80, Purpose::Document).map(drop);
        assert_eq!(judge(), Err(Refusal::Closed));
        gate.open(rules(&["shop.test"], &[]));
        assert_eq!(judge(), Ok(()));
        gate.close();
        assert_eq!(judge(), Err(Refusal::Closed));
    }

    #[test]
    fn a_resource_host_may_be_loaded_from_and_not_opened() {
        let gate = Gate::closed();
        gate.open(rules(&["shop.test"], &["cdn.test"]));
        for purpose in [Purpose::Resource, Purpose::Socket] {
            assert!(gate.judge("cdn.test", 80, purpose).is_ok(), "{purpose:?}");
        }
        assert!(gate.judge("cdn.test", 443, Purpose::Tls).is_ok());
        let refused = gate.judge("cdn.test", 80, Purpose::Document).map(drop);
        assert_eq!(refused, Err(Refusal::DocumentFromResourceHost { host: "cdn.test".into() }));
        assert!(gate.judge("shop.test", 80, Purpose::Document).is_ok());
        assert!(matches!(gate.judge("evil.test", 80, Purpose::Resource), Err(Refusal::Host(_))));
    }

    #[test]
    fn chatter_is_refused_as_such_unless_the_operator_lists_the_host() {
        let gate = Gate::closed();
        let judge = || gate.judge("clients2.google.com", 443, Purpose::Tls).map(drop);
        assert_eq!(judge(), Err(Refusal::OwnChatter));
        gate.open(rules(&["shop.test"], &[]));
        assert_eq!(judge(), Err(Refusal::OwnChatter));
        gate.open(rules(&["*.google.com"], &[]));
        assert_eq!(judge(), Ok(()));
    }

    #[test]
    fn a_private_entry_or_a_named_address_alone_allows_nothing() {
        let gate = Gate::closed();
        let address = "127.0.0.1:9000".parse().unwrap();
        gate.open(GateRules {
            private: HostRules::parse(&["inner.test"]).unwrap(),
            resolve: [("inner.test".to_owned(), address)].into(),
            ..rules(&["shop.test"], &[])
        });
        assert!(gate.judge("inner.test", 80, Purpose::Document).is_err());
        gate.open(GateRules {
            private: HostRules::parse(&["inner.test"]).unwrap(),
            resolve: [("shop.test".to_owned(), address)].into(),
            ..rules(&["inner.test", "shop.test"], &[])
        });
        assert!(gate.judge("inner.test", 80, Purpose::Document).unwrap().is_private);
        let shop = gate.judge("shop.test", 80, Purpose::Document).unwrap();
        assert_eq!((shop.is_private, shop.pinned), (false, Some(address)));
        assert!(
            gate.judge("shop.test", 9000, Purpose::Document).is_err(),
            "the port of the URL is judged, not the address's"
        );
    }

    #[test]
    fn new_rules_cut_what_was_connected_under_the_old_ones() {
        let gate = Gate::closed();
        let before = gate.epoch();
        gate.open(rules(&["shop.test"], &[]));
        assert!(before.is_cancelled() && !gate.epoch().is_cancelled());
        let during = gate.epoch();
        gate.close();
        assert!(during.is_cancelled());
    }
}
