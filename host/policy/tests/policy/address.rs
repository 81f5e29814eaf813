//! What holds for every IP address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use transom_policy::address::{AddressClass, classify};

/// Every IPv6 address that carries `ip`, each with the arbitrary bits of its form taken from `noise`.
fn carriers(ip: Ipv4Addr, noise: u64) -> Vec<Ipv6Addr> {
    let v4 = u128::from(u32::from(ip));
    let noise = u128::from(noise);
    vec![
        Ipv6Addr::from(0xffff << 32 | v4),
        Ipv6Addr::from(v4),
        Ipv6Addr::from(0xffff << 48 | v4),
        Ipv6Addr::from(0x0064_ff9b << 96 | v4),
        Ipv6Addr::from(0x0064_ff9b_0001 << 80 | (noise & 0xffff) << 64 | v4),
        Ipv6Addr::from(0x2002 << 112 | v4 << 80 | noise),
        Ipv6Addr::from(0x2001_0000 << 96 | noise << 32 | (!v4 & 0xffff_ffff)),
        Ipv6Addr::from(0x2001_0000 << 96 | v4 << 64 | noise),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_form_of_ipv6_makes_an_address_public_that_is_not(
        ip in prop_oneof![
            any::<u32>(),
            (0..1u32 << 24).prop_map(|low| 127 << 24 | low),
            (0..1u32 << 24).prop_map(|low| 10 << 24 | low),
            (0..1u32 << 16).prop_map(|low| 0xa9fe << 16 | low),
        ],
        noise: u64,
    ) {
        let ip = Ipv4Addr::from(ip);
        let own = classify(IpAddr::V4(ip));
        for carrier in carriers(ip, noise) {
            let class = classify(IpAddr::V6(carrier));
            prop_assert!(!class.is_public() || own.is_public(), "{carrier} is {class}, {ip} is {own}");
            prop_assert!(own != AddressClass::Metadata || class == AddressClass::Metadata, "{carrier} for {ip}");
        }
    }

    #[test]
    fn whatever_the_standard_library_calls_special_is_not_public(bits: u32) {
        let ip = Ipv4Addr::from(bits);
        let special = ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_multicast()
            || ip.is_broadcast() || ip.is_documentation() || ip.is_unspecified();
        prop_assert!(!(special && classify(IpAddr::V4(ip)).is_public()), "{ip}");
    }

    #[test]
    fn only_global_unicast_and_the_two_live_carriers_are_public_in_ipv6(bits: u128) {
        let ip = Ipv6Addr::from(bits);
        if classify(IpAddr::V6(ip)).is_public() {
            let carrier = bits >> 32 == 0xffff || bits >> 32 == 0x0064_ff9b << 64;
            prop_assert!(bits >> 125 == 1 || carrier, "{ip}");
        }
    }

    #[test]
    fn public_addresses_are_what_private_rules_open_as_well(bits: u128, v4: u32) {
        for ip in [IpAddr::V6(Ipv6Addr::from(bits)), IpAddr::V4(Ipv4Addr::from(v4))] {
            let class = classify(ip);
            prop_assert!(!class.is_public() || class.is_opened_by_private());
        }
    }
}
