//! Looks for a way out through WASI, as a component in Python or JavaScript could.

use serde::Serialize;
use transom_guest::prelude::*;
use wasip2::{
    cli::{environment, stderr, stdin, stdout},
    clocks::{monotonic_clock, wall_clock},
    filesystem::preopens,
    random::random,
    sockets::{
        instance_network::instance_network,
        ip_name_lookup::resolve_addresses,
        network::{IpAddressFamily, IpSocketAddress, Ipv4SocketAddress},
        tcp_create_socket::create_tcp_socket,
        udp_create_socket::create_udp_socket,
    },
};

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

#[derive(Deserialize, JsonSchema)]
struct LookArgs {
    /// A port on loopback where something listens
    port: u16,
}

/// What was found. Everything should be empty or refused.
#[derive(Serialize, JsonSchema)]
struct Found {
    environment: usize,
    arguments: usize,
    folders: usize,
    working_folder: bool,
    input_bytes: usize,
    names: bool,
    tcp: bool,
    udp: bool,
}

fn look(_: Call, args: LookArgs) -> Result<Answer> {
    let found = Found {
        environment: environment::get_environment().len(),
        arguments: environment::get_arguments().len(),
        folders: preopens::get_directories().len(),
        working_folder: environment::initial_cwd().is_some(),
        input_bytes: stdin::get_stdin().blocking_read(64).map_or(0, |bytes| bytes.len()),
        names: resolves("localhost"),
        tcp: connects([127, 0, 0, 1], args.port),
        udp: sends([127, 0, 0, 1], 53),
    };
    Answer::text("looked").structured(&found)
}

fn resolves(name: &str) -> bool {
    let Ok(addresses) = resolve_addresses(&instance_network(), name) else { return false };
    addresses.subscribe().block();
    matches!(addresses.resolve_next_address(), Ok(Some(_)))
}

fn address(octets: [u8; 4], port: u16) -> IpSocketAddress {
    let [a, b, c, d] = octets;
    IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (a, b, c, d) })
}

fn connects(octets: [u8; 4], port: u16) -> bool {
    let Ok(socket) = create_tcp_socket(IpAddressFamily::Ipv4) else { return false };
    if socket.start_connect(&instance_network(), address(octets, port)).is_err() {
        return false;
    }
    socket.subscribe().block();
    socket.finish_connect().is_ok()
}

fn sends(octets: [u8; 4], port: u16) -> bool {
    let Ok(socket) = create_udp_socket(IpAddressFamily::Ipv4) else { return false };
    if socket.start_bind(&instance_network(), address([0, 0, 0, 0], 0)).is_err() || socket.finish_bind().is_err() {
        return false;
    }
    socket.stream(Some(address(octets, port))).is_ok()
}

/// What WASI does give: output into the log, clocks, randomness.
fn print(_: Call, _: NoArgs) -> Result<Answer> {
    for (stream, text) in [
        (stdout::get_stdout(), "one\ntwo, not "),
        (stdout::get_stdout(), "ended"),
        (stderr::get_stderr(), "a warning\n"),
    ] {
        stream.blocking_write_and_flush(text.as_bytes()).map_err(|error| Error::new(format!("{error:?}")))?;
    }
    let bytes = random::get_random_bytes(16);
    let has_time = wall_clock::now().seconds > 1_500_000_000 && monotonic_clock::now() > 0;
    let is_random = bytes.len() == 16 && bytes.iter().any(|byte| *byte != 0);
    Ok(Answer::text(format!("time {has_time}, randomness {is_random}")))
}

/// Waits in WASI for longer than any deadline.
fn sleep(_: Call, _: NoArgs) -> Result<Answer> {
    monotonic_clock::subscribe_duration(3_600_000_000_000).block();
    Ok("slept".into())
}

#[derive(Deserialize, JsonSchema)]
struct OrderArgs {
    bytes: u64,
}

/// Orders that many random bytes at once: the host would make them.
fn order(_: Call, args: OrderArgs) -> Result<Answer> {
    Ok(Answer::text(format!("{} bytes", random::get_random_bytes(args.bytes).len())))
}

export_tools! {
    Tool::read("look", "Looks for a way out", look).gives::<Found>(),
    Tool::read("print", "Prints", print),
    Tool::read("sleep", "Sleeps for an hour", sleep),
    Tool::read("order", "Orders random bytes", order),
}
