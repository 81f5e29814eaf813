//! Why a request did not get through: refused by a rule, or let through and failed on the way.
//!
//! `Display` names no more than the host: it is what a page and a model may read.

use transom_policy::address::AddressClass;
use transom_policy::hosts::Denial;

/// A rule said no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The gate is not open: no run has claimed the browser.
    #[error("no run is using this browser yet")]
    Closed,
    /// Chromium called for its own sake.
    #[error("the browser's own services are not reached")]
    OwnChatter,
    /// The host lists deny it.
    #[error("{0}")]
    Host(Denial),
    /// The host may be loaded from, but not opened.
    #[error("{host} may only be loaded from by pages, not opened")]
    DocumentFromResourceHost {
        /// The host.
        host: String,
    },
    /// One of the host's addresses is not public, and no rule says that it need not be.
    #[error("{host} has {class}, which is not on the public internet")]
    Address {
        /// The host.
        host: String,
        /// What the address is.
        class: AddressClass,
    },
    /// The request's Host header is missing, doubled, or names another host than its URL.
    #[error("the Host header is not that of the URL, {host}")]
    HostHeader {
        /// The host of the URL.
        host: String,
    },
    /// A TLS connection names another server than was asked for.
    #[error("the TLS connection is not for {host}")]
    ServerName {
        /// The host that was asked for.
        host: String,
    },
    /// A tunnel carries neither TLS nor a WebSocket's beginning.
    #[error("what was sent to {host} is neither TLS nor a WebSocket")]
    Protocol {
        /// The host.
        host: String,
    },
    /// The request is not one that a browser sends to a proxy.
    #[error("{0}")]
    Malformed(&'static str),
}

impl Refusal {
    /// One word for the kind of refusal; the `x-transom-refused` header has it.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::Closed => "closed",
            Refusal::OwnChatter => "own-chatter",
            Refusal::Host(_) => "host",
            Refusal::DocumentFromResourceHost { .. } => "document",
            Refusal::Address { .. } => "address",
            Refusal::HostHeader { .. } => "host-header",
            Refusal::ServerName { .. } => "server-name",
            Refusal::Protocol { .. } => "protocol",
            Refusal::Malformed(_) => "malformed",
        }
    }
}

/// The rules let it through, and the network did not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The name has no address.
    #[error("{host} has no address")]
    NoAddress {
        /// The host.
        host: String,
    },
    /// The name servers did not answer, or there are none.
    #[error("the address of {host} could not be looked up")]
    Resolver {
        /// The host.
        host: String,
    },
    /// No address of the host accepted a connection.
    #[error("{host} did not accept a connection")]
    Unreachable {
        /// The host.
        host: String,
    },
    /// The host accepted a connection and answered with something that is not HTTP, or not in time.
    #[error("{host} did not answer as a web server")]
    Answer {
        /// The host.
        host: String,
    },
}

impl Failure {
    /// One word for the kind of failure; the `x-transom-failed` header has it.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::NoAddress { .. } => "no-address",
            Failure::Resolver { .. } => "resolver",
            Failure::Unreachable { .. } => "unreachable",
            Failure::Answer { .. } => "answer",
        }
    }
}
