//! From a name that was let through to the addresses that may be dialled, each of them judged.
//!
//! *All* addresses are looked up and all are judged: one that is not public refuses the name, since a name that mixes
//! them is an attempt at getting inside. What is dialled is what was judged: nothing resolves a name again
//! that was judged (DNS rebinding).
//!
//! | the host is | its addresses |
//! |---|---|
//! | named by a `resolve` line | that one, at its own port, as it is |
//! | an IP address | itself |
//! | `localhost` or below it | 127.0.0.1 and ::1 (RFC 6761), whatever a name server says |
//! | any other name | what `/etc/hosts` or the system's name servers say; search domains are not tried |
//!
//! Not here: which addresses are public (`transom-policy`), connecting (`dial`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use transom_policy::address::{AddressClass, classify};

use crate::gate::{Admission, Failure, Refusal};

/// How long one question to one server may take. Resolvers answer within a second or lost the packet.
const QUESTION_WITHIN: Duration = Duration::from_secs(2);

/// How long a look-up may take in all, retries and several servers included.
const LOOKUP_WITHIN: Duration = Duration::from_secs(8);

/// How many answers are kept. A page has tens of hosts; more would only remember for an attacker.
const ANSWERS_KEPT: u64 = 256;

/// The addresses of one host and port, all judged. Only [`resolve`] makes one.
#[derive(Debug, Clone)]
pub(crate) struct Destination {
    host: String,
    addresses: Vec<SocketAddr>,
    /// The first class that needs more than an ordinary entry.
    needs_private: Option<AddressClass>,
}

impl Destination {
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Never empty.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Whether this admission alone would have let the addresses through.
    pub(crate) fn suits(&self, admission: &Admission) -> Result<(), Refusal> {
        match self.needs_private {
            Some(class) if !admission.is_private => Err(Refusal::Address { host: self.host.clone(), class }),
            _ => Ok(()),
        }
    }
}

/// Why there is no destination.
#[derive(Debug)]
pub(crate) enum NoDestination {
    Refused(Refusal),
    Failed(Failure),
}

/// Who is asked for the addresses of names. Cheap to clone; clones share their cache.
#[derive(Debug, Clone)]
pub struct Names {
    servers: Option<Arc<[SocketAddr]>>,
    /// Made when the first name is looked up; `None` if the system's configuration can't be read.
    resolver: Arc<OnceLock<Option<TokioResolver>>>,
}

impl Names {
    /// `/etc/hosts` and the name servers of the system.
    pub fn system() -> Names {
        Names { servers: None, resolver: Arc::default() }
    }

    /// These name servers and nothing else, over UDP with TCP for what does not fit.
    pub fn asking(servers: &[SocketAddr]) -> Names {
        Names { servers: Some(servers.into()), resolver: Arc::default() }
    }

    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, Failure> {
        let unanswered = || Failure::Resolver { host: host.to_owned() };
        let resolver = self.resolver.get_or_init(|| self.make_resolver()).as_ref().ok_or_else(unanswered)?;
        // The dot makes the name complete: `intranet` must not become `intranet.corp.example` by a search list.
        let lookup = tokio::time::timeout(LOOKUP_WITHIN, resolver.lookup_ip(format!("{host}.")));
        match lookup.await {
            Ok(Ok(found)) => Ok(found.iter().collect()),
            Ok(Err(error)) if error.is_no_records_found() || error.is_nx_domain() => {
                Err(Failure::NoAddress { host: host.to_owned() })
            }
            Ok(Err(_)) | Err(_) => Err(unanswered()),
        }
    }

    fn make_resolver(&self) -> Option<TokioResolver> {
        let mut builder = match &self.servers {
            Some(servers) => {
                let servers = servers.iter().map(|server| {
                    let at = |mut connection: ConnectionConfig| {
                        connection.port = server.port();
                        connection
                    };
                    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(at).into();
                    NameServerConfig::new(server.ip(), true, connections)
                });
                let config = ResolverConfig::from_parts(None, Vec::new(), servers.collect());
                TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
            }
            None => match TokioResolver::builder_tokio() {
                Ok(builder) => builder,
                Err(error) => {
                    tracing::error!(%error, "the system's name servers can't be read; no name will resolve");
                    return None;
                }
            },
        };
        tune(builder.options_mut());
        let built = builder.build();
        built.inspect_err(|error| tracing::error!(%error, "no resolver could be made; no name will resolve")).ok()
    }
}

fn tune(options: &mut ResolverOpts) {
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.timeout = QUESTION_WITHIN;
    options.attempts = 2;
    options.cache_size = ANSWERS_KEPT;
}

/// Looks up and judges the addresses of what the lists let through.
pub(crate) async fn resolve(admission: &Admission, names: &Names) -> Result<Destination, NoDestination> {
    let host = admission.host.clone();
    if let Some(address) = admission.pinned {
        return Ok(Destination { host, addresses: vec![address], needs_private: None });
    }
    let ips = match literal(&host) {
        Some(ip) => vec![ip],
        None if is_localhost(&host) => vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)],
        None => names.look_up(&host).await.map_err(NoDestination::Failed)?,
    };
    if ips.is_empty() {
        return Err(NoDestination::Failed(Failure::NoAddress { host }));
    }
    let needs_private = judge(&ips, admission.is_private)
        .map_err(|class| NoDestination::Refused(Refusal::Address { host: host.clone(), class }))?;
    let addresses = ips.into_iter().map(|ip| SocketAddr::new(ip, admission.port)).collect();
    Ok(Destination { host, addresses, needs_private })
}

/// Judges every address; the first class that needed `private`, if any did, or the class that is refused.
fn judge(ips: &[IpAddr], is_private: bool) -> Result<Option<AddressClass>, AddressClass> {
    let mut needs_private = None;
    for class in ips.iter().map(|ip| classify(*ip)).filter(|class| !class.is_public()) {
        if !is_private || !class.is_opened_by_private() {
            return Err(class);
        }
        needs_private.get_or_insert(class);
    }
    Ok(needs_private)
}

fn literal(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']')?.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    }
}

fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(host: &str, is_private: bool, pinned: Option<&str>) -> Admission {
        Admission { host: host.into(), port: 8080, is_private, pinned: pinned.map(|address| address.parse().unwrap()) }
    }

    async fn addresses(admission: &Admission) -> Result<String, String> {
        // A server that nobody runs: whoever asks it fails.
        let names = Names::asking(&["127.0.0.1:9".parse().unwrap()]);
        match resolve(admission, &names).await {
            Ok(destination) => {
                Ok(destination.addresses().iter().map(|a| format!("{a} ")).collect::<String>().trim().into())
            }
            Err(NoDestination::Refused(refusal)) => Err(refusal.to_string()),
            Err(NoDestination::Failed(failure)) => Err(failure.to_string()),
        }
    }

    #[tokio::test]
    async fn a_literal_is_judged_as_the_address_that_it_is() {
        assert_eq!(addresses(&admission("1.1.1.1", false, None)).await.unwrap(), "1.1.1.1:8080");
        assert_eq!(addresses(&admission("[2606:4700::1]", false, None)).await.unwrap(), "[2606:4700::1]:8080");
        for host in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "[fe80::1]", "0.0.0.0"]
        {
            assert!(addresses(&admission(host, false, None)).await.is_err(), "{host}");
        }
        assert_eq!(addresses(&admission("10.0.0.1", true, None)).await.unwrap(), "10.0.0.1:8080");
        assert!(addresses(&admission("169.254.169.254", true, None)).await.is_err(), "private does not open metadata");
    }

    #[tokio::test]
    async fn localhost_is_this_machine_without_asking_and_needs_private() {
        for host in ["localhost", "shop.localhost"] {
            assert_eq!(addresses(&admission(host, true, None)).await.unwrap(), "127.0.0.1:8080 [::1]:8080");
            assert!(addresses(&admission(host, false, None)).await.unwrap_err().contains("loopback"));
        }
    }

    #[tokio::test]
    async fn an_address_that_the_operator_named_is_taken_as_it_is() {
        let pinned = admission("shop.test", false, Some("169.254.169.254:81"));
        assert_eq!(addresses(&pinned).await.unwrap(), "169.254.169.254:81");
    }

    #[test]
    fn one_address_that_is_not_public_refuses_them_all() {
        let ips = |list: &[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect::<Vec<IpAddr>>();
        assert_eq!(judge(&ips(&["1.1.1.1", "2606:4700::1"]), false), Ok(None));
        assert_eq!(judge(&ips(&["1.1.1.1", "192.168.0.1"]), false), Err(AddressClass::Private));
        assert_eq!(judge(&ips(&["1.1.1.1", "192.168.0.1"]), true), Ok(Some(AddressClass::Private)));
        assert_eq!(judge(&ips(&["192.168.0.1", "169.254.169.254"]), true), Err(AddressClass::Metadata));
    }

    #[test]
    fn a_destination_that_needed_private_does_not_suit_an_entry_without_it() {
        let destination = Destination {
            host: "inner.test".into(),
            addresses: vec!["10.0.0.1:80".parse().unwrap()],
            needs_private: Some(AddressClass::Private),
        };
        assert!(destination.suits(&admission("inner.test", true, None)).is_ok());
        assert!(destination.suits(&admission("inner.test", false, None)).is_err());
    }
}
