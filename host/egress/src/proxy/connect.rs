//! CONNECT: a tunnel whose first bytes are read before any is sent on.
//!
//! Chromium asks for a tunnel for https and wss, and also for ws. What goes through one can't be seen, but what it begins
//! with can, and has to be one of two things:
//!
//! | first bytes | then |
//! |---|---|
//! | a TLS ClientHello that names the tunnel's host (none, for an IP address) | judged as https or wss, which look alike; bytes both ways |
//! | a WebSocket's HTTP request whose Host is the tunnel's | judged as ws; forwarded as one (`http`) |
//!
//! Anything else ends the tunnel, with nothing sent to the server.

use std::io::Cursor;
use std::sync::Arc;

use bytes::BytesMut;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use super::answer::{self, Body, No};
use super::idle::Idle;
use super::{Continuation, HEAD_WITHIN, IDLE_MAX, Next, http as plain};
use crate::dial::dial;
use crate::dns::{Destination, resolve};
use crate::gate::{Admission, Gate, Purpose, Refusal};
use crate::sni::{CLIENT_HELLO_MAX, FirstBytes, read_first_bytes};

/// A tunnel that was granted, of which the first bytes have not arrived.
pub(crate) struct Tunnel {
    client: OnUpgrade,
    upstream: Idle<TcpStream>,
    host: String,
    port: u16,
    /// What the lists say of each of the two things that it may turn out to be.
    as_tls: Result<Admission, Refusal>,
    as_socket: Result<Admission, Refusal>,
    destination: Destination,
}

/// Grants a tunnel, if the host may be reached by at least one of what tunnels carry.
pub(crate) async fn open(mut request: Request<Incoming>, gate: &Arc<Gate>, next: &Next) -> Result<Response<Body>, No> {
    let (host, port) = match authority(&request) {
        Some((host, port)) => (host.to_owned(), port),
        None => {
            let refusal = Refusal::Malformed("CONNECT has to name a host and a port");
            return answer::recorded(
                gate,
                request.uri().host().unwrap_or_default(),
                0,
                Purpose::Tls,
                Err(refusal.into()),
            );
        }
    };
    let as_tls = gate.judge(&host, port, Purpose::Tls);
    let as_socket = gate.judge(&host, port, Purpose::Socket);
    let connected = connect(as_tls.as_ref(), as_socket.as_ref(), gate).await;
    // A tunnel that is granted is recorded when it is known what it carries.
    let (upstream, destination) = match connected {
        Ok(connected) => connected,
        Err(no) => return answer::recorded(gate, &host, port, Purpose::Tls, Err(no)),
    };
    let client = hyper::upgrade::on(&mut request);
    let upstream = Idle::new(upstream, IDLE_MAX);
    let tunnel = Tunnel { client, upstream, host, port, as_tls, as_socket, destination };
    next.set(Continuation::Tunnel(Box::new(tunnel)));
    Ok(Response::new(answer::empty()))
}

/// The host and port of a CONNECT, which has nothing else.
fn authority<B>(request: &Request<B>) -> Option<(&str, u16)> {
    let uri = request.uri();
    let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
    let is_bare = uri.scheme().is_none() && uri.path_and_query().is_none();
    Some((authority.host(), authority.port_u16()?)).filter(|_| is_bare)
}

async fn connect(
    as_tls: Result<&Admission, &Refusal>,
    as_socket: Result<&Admission, &Refusal>,
    gate: &Gate,
) -> Result<(TcpStream, Destination), No> {
    let mut admission = match (as_tls, as_socket) {
        (Ok(admission), _) | (Err(_), Ok(admission)) => admission.clone(),
        (Err(refusal), Err(_)) => return Err(refusal.clone().into()),
    };
    // The addresses are judged again by the one rule that applies, once it is known which.
    admission.is_private = [as_tls, as_socket].iter().any(|one| one.is_ok_and(|admission| admission.is_private));
    let destination = resolve(&admission, gate.names()).await?;
    Ok((dial(&destination).await?, destination))
}

impl Tunnel {
    /// Reads the first bytes, judges them, and passes the rest both ways.
    pub(crate) async fn run(self, gate: &Arc<Gate>) {
        let Tunnel { client, mut upstream, host, port, as_tls, as_socket, destination } = self;
        let Ok(client) = client.await else { return };
        let mut client = TokioIo::new(client);
        let mut first = BytesMut::new();
        let reading = tokio::time::timeout(HEAD_WITHIN, read_first(&mut client, &mut first));
        let Ok(Ok(found)) = reading.await else { return };
        let purpose = if found == FirstBytes::NotTls { Purpose::Socket } else { Purpose::Tls };
        let admitted = match purpose {
            Purpose::Socket => as_socket,
            _ => as_tls,
        };
        let verdict = admitted
            .and_then(|admission| destination.suits(&admission))
            .and_then(|()| carries_what_it_says(&found, &first, &host))
            .map_err(No::from);
        match (purpose, verdict) {
            (Purpose::Socket, Ok(())) => {
                let (reader, writer) = tokio::io::split(client);
                let client = tokio::io::join(Cursor::new(first.freeze()).chain(reader), writer);
                serve_socket(client, upstream, host, port, gate).await;
            }
            (_, verdict) => {
                if answer::recorded(gate, &host, port, purpose, verdict).is_ok()
                    && upstream.write_all(&first).await.is_ok()
                {
                    drop(first);
                    tokio::io::copy_bidirectional(&mut client, &mut upstream).await.ok();
                }
            }
        }
    }
}

async fn read_first(client: &mut (impl AsyncRead + Unpin), first: &mut BytesMut) -> std::io::Result<FirstBytes> {
    loop {
        match read_first_bytes(first) {
            FirstBytes::Incomplete => {}
            found => return Ok(found),
        }
        first.reserve(CLIENT_HELLO_MAX / 4);
        if client.read_buf(first).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn carries_what_it_says(found: &FirstBytes, first: &[u8], host: &str) -> Result<(), Refusal> {
    match found {
        FirstBytes::ClientHello { server_name: Some(name) } if !is_address(host) && name.eq_ignore_ascii_case(host) => {
            Ok(())
        }
        FirstBytes::ClientHello { server_name: None } if is_address(host) => Ok(()),
        FirstBytes::ClientHello { .. } => Err(Refusal::ServerName { host: host.to_owned() }),
        // A WebSocket begins with GET; hyper reads the rest.
        FirstBytes::NotTls if first.first() == Some(&b'G') => Ok(()),
        FirstBytes::NotTls | FirstBytes::Malformed | FirstBytes::Incomplete => {
            Err(Refusal::Protocol { host: host.to_owned() })
        }
    }
}

fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// Serves the one request that a tunnel with plain HTTP may carry.
async fn serve_socket<C>(client: C, upstream: Idle<TcpStream>, host: String, port: u16, gate: &Arc<Gate>)
where
    C: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let next = Next::default();
    // The first request takes the connection; there is none for a second.
    let upstream = std::sync::Mutex::new(Some(upstream));
    let service = service_fn(|request: Request<Incoming>| {
        let upstream = upstream.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let judged = socket_url(&request, &host, port).map(|url| (url, upstream));
        let judged = answer::recorded(gate, &host, port, Purpose::Socket, judged.map_err(No::from));
        let next = next.clone();
        async move {
            let answer = match judged {
                Ok((url, Some(upstream))) => plain::send(request, &url, upstream, Purpose::Socket, &next).await,
                Ok((_, None)) => Err(Refusal::Malformed("a tunnel carries one WebSocket").into()),
                Err(no) => Err(no),
            };
            Ok::<_, std::convert::Infallible>(answer.unwrap_or_else(answer::refuse))
        }
    });
    let mut server = super::server();
    server.keep_alive(false);
    server.serve_connection(TokioIo::new(client), service).with_upgrades().await.ok();
    if let Some(Continuation::Socket(socket)) = next.take() {
        socket.run().await;
    }
}

/// The URL of a WebSocket's request inside a tunnel: a path on the tunnel's host.
fn socket_url(request: &Request<Incoming>, host: &str, port: u16) -> Result<Url, Refusal> {
    let not_a_socket = || Refusal::Protocol { host: host.to_owned() };
    let is_path = request.uri().scheme().is_none() && request.uri().authority().is_none();
    if plain::purpose_of(request) != Purpose::Socket || request.method() != http::Method::GET || !is_path {
        return Err(not_a_socket());
    }
    let url = Url::parse(&format!("http://{host}:{port}{}", request.uri())).map_err(|_| not_a_socket())?;
    plain::check_host(request.headers(), &url)?;
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_is_for_a_host_and_a_port_and_nothing_else() {
        let authority = |uri: &str| {
            let request = Request::connect(uri).body(()).unwrap();
            super::authority(&request).map(|(host, port)| format!("{host} {port}"))
        };
        assert_eq!(authority("shop.test:443").unwrap(), "shop.test 443");
        assert_eq!(authority("[::1]:8443").unwrap(), "[::1] 8443");
        for wrong in ["shop.test", "me@shop.test:443", "http://shop.test:443/", "/x"] {
            assert_eq!(authority(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_tunnel_carries_tls_for_its_host_or_the_beginning_of_a_request() {
        let hello = |name: Option<&str>| FirstBytes::ClientHello { server_name: name.map(str::to_owned) };
        let check = |found: FirstBytes, first: &[u8], host: &str| carries_what_it_says(&found, first, host).is_ok();
        assert!(check(hello(Some("shop.test")), &[22], "shop.test"));
        assert!(check(hello(Some("SHOP.test")), &[22], "shop.test"));
        assert!(check(hello(None), &[22], "192.0.2.1"));
        assert!(check(hello(None), &[22], "[2001:db8::1]"));
        assert!(check(FirstBytes::NotTls, b"GET /", "shop.test"));
        assert!(!check(hello(Some("evil.test")), &[22], "shop.test"));
        assert!(!check(hello(Some("shop.test.")), &[22], "shop.test"));
        assert!(!check(hello(None), &[22], "shop.test"));
        assert!(!check(hello(Some("192.0.2.1")), &[22], "192.0.2.1"));
        assert!(!check(hello(Some("shop.test")), &[22], "192.0.2.1"));
        assert!(!check(FirstBytes::NotTls, b"SSH-2.0", "shop.test"));
        assert!(!check(FirstBytes::Malformed, &[22], "shop.test"));
    }
}
