//! Which IP addresses belong to the public internet, and what the others are.
//!
//! A name on a host list may resolve to anything, so the proxy asks this about *every* address before it dials. Public
//! is what the IANA special-purpose registries leave over; what they reserve is never public, and neither is what they
//! have not handed out yet.
//!
//! An IPv6 address can carry an IPv4 address that a translator or a tunnel somewhere will go to. Such an address is
//! judged by what it carries too: `64:ff9b::a9fe:a9fe` is a metadata address.
//!
//! | carries IPv4 | public |
//! |---|---|
//! | mapped `::ffff:0:0/96`: the kernel dials IPv4 | as the IPv4 address |
//! | NAT64 `64:ff9b::/96`: how IPv6-only machines reach the IPv4 internet | as the IPv4 address |
//! | compatible `::/96`, translated `::ffff:0:0:0/96`, 6to4 `2002::/16`, Teredo `2001::/32`, local NAT64 `64:ff9b:1::/48` | never |
//!
//! Not here: names (`hosts.rs`), and whether a rule opens an address that is not public: the class says what it is, the
//! caller's configuration says what is done about it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of address this is. Every class but `Public` is refused unless a rule of the operator says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// A host of the public internet.
    Public,
    /// This machine: `127.0.0.0/8`, `::1`.
    Loopback,
    /// A private network: RFC 1918, unique local IPv6 addresses, the retired site-local ones.
    Private,
    /// Between a provider and its customers: `100.64.0.0/10`.
    Shared,
    /// This network segment: `169.254.0.0/16`, `fe80::/10`.
    LinkLocal,
    /// Where a cloud hands out credentials or steers a machine. Some lie in ranges that would be public, private or
    /// shared otherwise; hence a class of its own, which no rule for a wider range opens by accident.
    Metadata,
    /// A group of hosts: `224.0.0.0/4`, `ff00::/8`.
    Multicast,
    /// Everybody on the segment: `255.255.255.255`.
    Broadcast,
    /// No address at all (`0.0.0.0`, `::`); kernels dial this machine instead.
    Unspecified,
    /// For laboratory measurements: `198.18.0.0/15`, `2001:2::/48`.
    Benchmarking,
    /// For examples in documents: `192.0.2.0/24`, `2001:db8::/32` and their like.
    Documentation,
    /// A tunnel or translation that carries a public IPv4 address in a form that is retired or local.
    Transition,
    /// Reserved for another purpose, or handed out to nobody yet.
    Reserved,
}

impl AddressClass {
    /// Whether an ordinary entry of a host list may lead here.
    #[must_use]
    pub fn is_public(self) -> bool {
        self == AddressClass::Public
    }

    /// Whether an entry that says `private = true` may lead here: to public hosts, this machine, private and shared
    /// networks. The rest, metadata above all, needs a `resolve` line that names the very address.
    #[must_use]
    pub fn is_opened_by_private(self) -> bool {
        match self {
            AddressClass::Public | AddressClass::Loopback | AddressClass::Private | AddressClass::Shared => true,
            AddressClass::LinkLocal
            | AddressClass::Metadata
            | AddressClass::Multicast
            | AddressClass::Broadcast
            | AddressClass::Unspecified
            | AddressClass::Benchmarking
            | AddressClass::Documentation
            | AddressClass::Transition
            | AddressClass::Reserved => false,
        }
    }
}

impl fmt::Display for AddressClass {
    /// With its article, for the middle of a sentence: `a loopback address`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressClass::Public => "a public address",
            AddressClass::Loopback => "a loopback address",
            AddressClass::Private => "a private address",
            AddressClass::Shared => "a carrier-grade NAT address",
            AddressClass::LinkLocal => "a link-local address",
            AddressClass::Metadata => "a cloud metadata address",
            AddressClass::Multicast => "a multicast address",
            AddressClass::Broadcast => "the broadcast address",
            AddressClass::Unspecified => "the unspecified address",
            AddressClass::Benchmarking => "a benchmarking address",
            AddressClass::Documentation => "a documentation address",
            AddressClass::Transition => "an address of a retired or local tunnel",
            AddressClass::Reserved => "a reserved address",
        })
    }
}

/// IPv4 addresses at which clouds answer machines.
const METADATA_V4: [Ipv4Addr; 9] = [
    Ipv4Addr::new(169, 254, 169, 254), // AWS, Azure, Google, Oracle, DigitalOcean, OpenStack and most others
    Ipv4Addr::new(169, 254, 170, 2),   // AWS ECS task credentials
    Ipv4Addr::new(169, 254, 170, 23),  // AWS EKS pod credentials
    Ipv4Addr::new(169, 254, 169, 253), // AWS resolver
    Ipv4Addr::new(169, 254, 0, 23),    // Tencent
    Ipv4Addr::new(169, 254, 42, 42),   // Scaleway
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba: in the shared range
    Ipv4Addr::new(192, 0, 0, 192),     // Oracle, older
    Ipv4Addr::new(168, 63, 129, 16),   // Azure's host agent: in a range that would be public
];

/// The same for IPv6, single addresses.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254), // Google
    Ipv6Addr::new(0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042), // Scaleway
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe), // OpenStack
];

/// What kind of address `ip` is; see the table at the head of this file for IPv6 that carries IPv4.
#[must_use]
pub fn classify(ip: IpAddr) -> AddressClass {
    match ip {
        IpAddr::V4(ip) => classify_v4(ip),
        IpAddr::V6(ip) => classify_v6(ip),
    }
}

fn classify_v4(ip: Ipv4Addr) -> AddressClass {
    if METADATA_V4.contains(&ip) {
        return AddressClass::Metadata;
    }
    match ip.octets() {
        [0, 0, 0, 0] => AddressClass::Unspecified,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [100, 64..=127, ..] => AddressClass::Shared,
        [169, 254, ..] => AddressClass::LinkLocal,
        [198, 18..=19, ..] => AddressClass::Benchmarking,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [233, 252, 0, _] => AddressClass::Documentation,
        [224..=239, ..] => AddressClass::Multicast,
        // "This network"; IETF protocol assignments; the retired 6to4 relays; the old class E.
        [0, ..] | [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

fn classify_v6(ip: Ipv6Addr) -> AddressClass {
    if METADATA_V6.contains(&ip) {
        return AddressClass::Metadata;
    }
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // Mapped, and the well-known NAT64 prefix: what is dialled in the end is the IPv4 address.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => classify_v4(joined(high, low)),
        // Compatible, and translated (RFC 2765).
        [0, 0, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => retired(&[joined(high, low)]),
        [0x64, 0xff9b, 1, ..] => retired(&local_nat64(ip)),
        // Teredo carries its server as it is, and its client with every bit turned.
        [0x2001, 0, server_high, server_low, _, _, client_high, client_low] => {
            retired(&[joined(server_high, server_low), joined(!client_high, !client_low)])
        }
        [0x2002, high, low, ..] => retired(&[joined(high, low)]),
        [0x2001, 2, 0, ..] => AddressClass::Benchmarking,
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => AddressClass::Documentation,
        // All that is left of the block for IETF protocol assignments.
        [0x2001, 0..=0x01ff, ..] => AddressClass::Reserved,
        // AWS answers at several addresses of this block, and adds more.
        [0xfd00, 0x0ec2, ..] => AddressClass::Metadata,
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => AddressClass::Private,
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        // Global unicast; nothing outside this block has been handed out.
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        _ => AddressClass::Reserved,
    }
}

/// The class of an address in a retired or local form: the worst that it carries, and never public.
fn retired(carried: &[Ipv4Addr]) -> AddressClass {
    let classes = carried.iter().map(|ip| classify_v4(*ip)).filter(|class| !class.is_public());
    // Metadata outranks the rest: it is the one that no wider rule may open.
    classes.fold(AddressClass::Transition, |worst, class| match worst {
        AddressClass::Metadata => worst,
        AddressClass::Transition => class,
        _ if class == AddressClass::Metadata => class,
        _ => worst,
    })
}

/// Every place where RFC 6052 (section 2.2) may put the IPv4 address below `64:ff9b:1::/48`. Which one is meant depends
/// on the prefix length that the local network chose, so all are judged; byte 8 is skipped by the shorter ones.
fn local_nat64(ip: Ipv6Addr) -> [Ipv4Addr; 4] {
    let [.., b6, b7, _, b9, b10, b11, b12, b13, b14, b15] = ip.octets();
    [
        Ipv4Addr::new(b6, b7, b9, b10),    // /48
        Ipv4Addr::new(b7, b9, b10, b11),   // /56
        Ipv4Addr::new(b9, b10, b11, b12),  // /64
        Ipv4Addr::new(b12, b13, b14, b15), // /96
    ]
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> AddressClass {
        classify(text.parse().unwrap())
    }

    #[test]
    fn every_special_range_has_its_class_at_both_ends_and_ends_there() {
        use AddressClass::{
            Benchmarking, Broadcast, Documentation, LinkLocal, Loopback, Multicast, Private, Public, Reserved, Shared,
            Unspecified,
        };
        for (text, wanted) in [
            ("0.0.0.0", Unspecified),
            ("0.0.0.1", Reserved),
            ("0.255.255.255", Reserved),
            ("1.0.0.0", Public),
            ("9.255.255.255", Public),
            ("10.0.0.0", Private),
            ("10.255.255.255", Private),
            ("11.0.0.0", Public),
            ("100.63.255.255", Public),
            ("100.64.0.0", Shared),
            ("100.127.255.255", Shared),
            ("100.128.0.0", Public),
            ("126.255.255.255", Public),
            ("127.0.0.0", Loopback),
            ("127.255.255.255", Loopback),
            ("128.0.0.0", Public),
            ("169.253.255.255", Public),
            ("169.254.0.0", LinkLocal),
            ("169.254.255.255", LinkLocal),
            ("169.255.0.0", Public),
            ("172.15.255.255", Public),
            ("172.16.0.0", Private),
            ("172.31.255.255", Private),
            ("172.32.0.0", Public),
            ("192.0.0.0", Reserved),
            ("192.0.0.255", Reserved),
            ("192.0.1.0", Public),
            ("192.0.2.255", Documentation),
            ("192.0.3.0", Public),
            ("192.88.99.1", Reserved),
            ("192.167.255.255", Public),
            ("192.168.0.0", Private),
            ("192.168.255.255", Private),
            ("192.169.0.0", Public),
            ("198.17.255.255", Public),
            ("198.18.0.0", Benchmarking),
            ("198.19.255.255", Benchmarking),
            ("198.20.0.0", Public),
            ("198.51.100.0", Documentation),
            ("203.0.113.255", Documentation),
            ("223.255.255.255", Public),
            ("224.0.0.0", Multicast),
            ("239.255.255.255", Multicast),
            ("240.0.0.0", Reserved),
            ("255.255.255.254", Reserved),
            ("255.255.255.255", Broadcast),
            ("::", Unspecified),
            ("::1", Loopback),
            ("100::1", Reserved),
            ("1fff:ffff::", Reserved),
            ("2001:1ff:ffff::", Reserved),
            ("2001:200::", Public),
            ("2001:2::1", Benchmarking),
            ("2001:2:1::", Reserved),
            ("2001:db8::1", Documentation),
            ("2001:db9::", Public),
            ("2606:4700::1111", Public),
            ("3fff:fff::", Documentation),
            ("3fff:1000::", Public),
            ("4000::", Reserved),
            ("5f00::1", Reserved),
            ("fbff::", Reserved),
            ("fc00::", Private),
            ("fdff::", Private),
            ("fe7f::", Reserved),
            ("fe80::1", LinkLocal),
            ("febf::", LinkLocal),
            ("fec0::", Private),
            ("ff02::1", Multicast),
        ] {
            assert_eq!(class(text), wanted, "{text}");
        }
    }

    #[test]
    fn metadata_is_a_class_of_its_own_and_private_does_not_open_it() {
        for text in [
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "::ffff:169.254.169.254",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::169.254.169.254",
            "64:ff9b:1:a9fe:00a9:fe00::",
            "2002:a9fe:a9fe::1",
            "::169.254.169.254",
        ] {
            assert_eq!(class(text), AddressClass::Metadata, "{text}");
        }
        assert!(!AddressClass::Metadata.is_opened_by_private());
        assert!(class("10.0.0.1").is_opened_by_private());
    }

    #[test]
    fn a_carried_address_counts_in_every_form() {
        assert_eq!(class("::ffff:127.0.0.1"), AddressClass::Loopback);
        assert_eq!(class("::ffff:8.8.8.8"), AddressClass::Public);
        assert_eq!(class("64:ff9b::10.0.0.1"), AddressClass::Private);
        assert_eq!(class("64:ff9b::8.8.8.8"), AddressClass::Public);
        assert_eq!(class("64:ff9b:1::8.8.8.8"), AddressClass::Unspecified);
        assert_eq!(class("::127.0.0.1"), AddressClass::Loopback);
        assert_eq!(class("::8.8.8.8"), AddressClass::Transition);
        assert_eq!(class("::ffff:0:10.0.0.1"), AddressClass::Private);
        assert_eq!(class("2002:7f00:1::"), AddressClass::Loopback);
        assert_eq!(class("2002:808:808::"), AddressClass::Transition);
        // Teredo: the client 127.0.0.1 with every bit turned, then the server 10.0.0.1.
        assert_eq!(class("2001:0:808:808::80ff:fffe"), AddressClass::Loopback);
        assert_eq!(class("2001:0:a00:1::f7f7:f7f7"), AddressClass::Private);
        assert_eq!(class("2001:0:808:808::f7f7:f7f7"), AddressClass::Transition);
    }
}
