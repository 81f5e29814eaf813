//! Requests over plain HTTP: judged by their URL, written again from what was judged, and sent over a connection of their own.
//!
//! | of the request | what becomes of it |
//! |---|---|
//! | the URL | parsed once by the URL standard's parser; what is sent on is that parser's result |
//! | `Host` | must name the URL's host and port, and is written again from the URL |
//! | hop-by-hop and proxy headers | stay here, as those that `Connection` names |
//! | `Upgrade: websocket` | judged as a WebSocket; other upgrades are asked for as plain requests |
//! | framing | hyper's: read once, written once |
//!
//! A document can be told from a resource by what Chromium adds to navigations: `Sec-Fetch-Dest` where the origin is
//! trustworthy (loopback), `Upgrade-Insecure-Requests` everywhere. A page's script can add neither away.
//!
//! Not here: TLS and the tunnels that carry WebSockets (`connect`).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;
use transom_policy::hosts::Denial;
use url::{Position, Url};

use super::answer::{self, Body, FAILED, No, REFUSED};
use super::idle::Idle;
use super::{Continuation, HEAD_BYTES_MAX, HEADERS_MAX, IDLE_MAX, Next};
use crate::dial::dial;
use crate::dns::resolve;
use crate::gate::{Failure, Gate, Purpose, Refusal};

/// Headers that are between two neighbours only (RFC 9110, 7.6.1), those that are for a proxy, and `Expect`, which hyper
/// answers.
const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("keep-alive"),
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    header::EXPECT,
];

/// What `Sec-Fetch-Dest` says of a document and of what shows one inside a page.
const DOCUMENTS: [&str; 5] = ["document", "iframe", "frame", "embed", "object"];

/// Forwards a request that names its whole URL, if the gate admits it.
pub(crate) async fn forward(request: Request<Incoming>, gate: &Arc<Gate>, next: &Next) -> Result<Response<Body>, No> {
    let url = match whole_url(request.uri()) {
        Ok(url) => url,
        Err(refusal) => {
            let host = request.uri().host().unwrap_or_default().to_owned();
            return answer::recorded(
                gate,
                &host,
                request.uri().port_u16().unwrap_or(80),
                Purpose::Resource,
                Err(refusal.into()),
            );
        }
    };
    let host = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or(80);
    let purpose = purpose_of(&request);
    let connected = connect(&request, &url, &host, port, purpose, gate).await;
    let upstream = answer::recorded(gate, &host, port, purpose, connected)?;
    send(request, &url, Idle::new(upstream, IDLE_MAX), purpose, next).await
}

async fn connect(
    request: &Request<Incoming>,
    url: &Url,
    host: &str,
    port: u16,
    purpose: Purpose,
    gate: &Gate,
) -> Result<TcpStream, No> {
    let admission = gate.judge(host, port, purpose)?;
    check_host(request.headers(), url)?;
    check_coding(request.headers())?;
    let destination = resolve(&admission, gate.names()).await?;
    Ok(dial(&destination).await?)
}

/// The URL of a request to a proxy. It has to be whole, and plain HTTP: anything else comes as CONNECT.
fn whole_url(uri: &Uri) -> Result<Url, Refusal> {
    if uri.scheme_str() != Some("http") {
        return Err(Refusal::Malformed("this is a proxy: a request has to name an http URL"));
    }
    // Also an empty user name, which the URL parser would drop.
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(Refusal::Host(Denial::Userinfo));
    }
    Url::parse(&uri.to_string()).map_err(|_| Refusal::Host(Denial::Unparsable))
}

/// What a request over plain HTTP wants to be.
pub(crate) fn purpose_of<B>(request: &Request<B>) -> Purpose {
    let headers = request.headers();
    if is_websocket(headers) {
        return Purpose::Socket;
    }
    let destinations = headers.get_all("sec-fetch-dest");
    let is_navigation = headers.contains_key(header::UPGRADE_INSECURE_REQUESTS)
        || headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
        || destinations.iter().any(|value| DOCUMENTS.iter().any(|document| value.as_bytes() == document.as_bytes()));
    if is_navigation { Purpose::Document } else { Purpose::Resource }
}

/// Whether a request asks for a WebSocket and for nothing else.
pub(crate) fn is_websocket(headers: &HeaderMap) -> bool {
    let mut protocols = headers.get_all(header::UPGRADE).iter();
    let is_asked = protocols.next().is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    is_asked
        && protocols.next().is_none()
        && tokens(headers, &header::CONNECTION).any(|token| token.eq_ignore_ascii_case("upgrade"))
}

/// The one Host header names the URL's host and port.
pub(crate) fn check_host(headers: &HeaderMap, url: &Url) -> Result<(), Refusal> {
    let mut values = headers.get_all(header::HOST).iter();
    let is_right = match (values.next().map(HeaderValue::to_str), values.next()) {
        (Some(Ok(value)), None) => {
            // Only a host and a port can be meant: anything else would make it another part of the URL below.
            let is_plain = !value.contains(['/', '\\', '?', '#', '@']);
            let named = Url::parse(&format!("http://{value}/")).ok().filter(|_| is_plain);
            named.is_some_and(|named| {
                named.host_str() == url.host_str() && named.port_or_known_default() == url.port_or_known_default()
            })
        }
        _ => false,
    };
    is_right.then_some(()).ok_or_else(|| Refusal::HostHeader { host: url.host_str().unwrap_or_default().to_owned() })
}

/// The only transfer coding of a request is `chunked`. hyper undoes that one; another would go on unannounced.
fn check_coding(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut codings = tokens(headers, &header::TRANSFER_ENCODING);
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => Ok(()),
        _ => Err(Refusal::Malformed("a request's transfer coding has to be chunked")),
    }
}

fn tokens<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|token| !token.is_empty())
}

fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = tokens(headers, &header::CONNECTION)
        .filter_map(|token| HeaderName::from_bytes(token.as_bytes()).ok())
        .collect();
    // Framing and the host are ours to write: a request can't have them taken out by naming them.
    let named =
        named.iter().filter(|name| ![header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING].contains(name));
    for name in named.chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// Sends the request over a connection that is its own, and passes the answer back.
pub(crate) async fn send<S>(
    mut request: Request<Incoming>,
    url: &Url,
    upstream: S,
    purpose: Purpose,
    next: &Next,
) -> Result<Response<Body>, No>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let host = url.host_str().unwrap_or_default();
    let unanswered = || No::Failed(Failure::Answer { host: host.to_owned() });
    let client = (purpose == Purpose::Socket).then(|| hyper::upgrade::on(&mut request));
    let request = as_judged(request, url, purpose).ok_or_else(unanswered)?;

    let mut builder = http1::Builder::new();
    builder.max_headers(HEADERS_MAX).max_header_size(HEAD_BYTES_MAX).max_buf_size(HEAD_BYTES_MAX);
    let (mut sender, connection) = builder.handshake(TokioIo::new(upstream)).await.map_err(|_| unanswered())?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        // What goes wrong is told to whoever waits for the answer.
        connection.with_upgrades().await.ok();
    }));
    let mut response = sender.send_request(request).await.map_err(|_| unanswered())?;

    let server = (response.status() == StatusCode::SWITCHING_PROTOCOLS).then(|| hyper::upgrade::on(&mut response));
    // A server that speaks as a proxy would make Chromium ask for a proxy's password.
    if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        return Err(unanswered());
    }
    strip_hop_by_hop(response.headers_mut());
    response.headers_mut().remove(header::TRANSFER_ENCODING);
    response.headers_mut().remove(REFUSED);
    response.headers_mut().remove(FAILED);
    match (client, server) {
        (Some(client), Some(server)) => {
            say_upgrade(response.headers_mut());
            next.set(Continuation::Socket(Socket { client, server, connection }));
            Ok(response.map(|_| answer::empty()))
        }
        // Nobody asked to switch.
        (None, Some(_)) => Err(unanswered()),
        (_, None) => Ok(response.map(|body| Answered { body, _connection: connection }.boxed())),
    }
}

/// The request as it goes on: the URL that was judged, its host, no header that was meant for the proxy.
fn as_judged(request: Request<Incoming>, url: &Url, purpose: Purpose) -> Option<Request<Incoming>> {
    let (mut parts, body) = request.into_parts();
    parts.uri = url[Position::BeforePath..Position::AfterQuery].parse().ok()?;
    parts.version = http::Version::HTTP_11;
    strip_hop_by_hop(&mut parts.headers);
    parts.headers.remove(header::TRANSFER_ENCODING);
    let authority = &url[Position::BeforeHost..Position::AfterPort];
    parts.headers.insert(header::HOST, HeaderValue::from_str(authority).ok()?);
    if purpose == Purpose::Socket {
        say_upgrade(&mut parts.headers);
    }
    Some(Request::from_parts(parts, body))
}

fn say_upgrade(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}

/// A WebSocket whose two sides have agreed.
pub(crate) struct Socket {
    client: OnUpgrade,
    server: OnUpgrade,
    /// Drives the server's side until it has been taken out of hyper's hands.
    connection: AbortOnDropHandle<()>,
}

impl Socket {
    /// Passes bytes both ways until both sides have ended, or one fails. Both sides mind their idle time themselves.
    pub(crate) async fn run(self) {
        let Ok((client, server)) = futures::try_join!(self.client, self.server) else { return };
        tokio::io::copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(server)).await.ok();
        drop(self.connection);
    }
}

/// An answer's body, which keeps the connection that it comes from.
struct Answered {
    body: Incoming,
    _connection: AbortOnDropHandle<()>,
}

impl hyper::body::Body for Answered {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> Request<()> {
        let mut builder = Request::builder();
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        builder.body(()).unwrap()
    }

    #[test]
    fn only_a_whole_http_url_without_userinfo_is_taken() {
        let url = |text: &str| whole_url(&text.parse().unwrap()).map(String::from);
        assert_eq!(url("http://shop.test/a?b=c").unwrap(), "http://shop.test/a?b=c");
        assert_eq!(url("http://SHOP.test:80/").unwrap(), "http://shop.test/");
        for wrong in ["/a", "https://shop.test/", "ftp://shop.test/", "shop.test:80", "*"] {
            assert!(matches!(url(wrong), Err(Refusal::Malformed(_))), "{wrong}");
        }
        for wrong in ["http://me@shop.test/", "http://me:pw@shop.test/", "http://@shop.test/"] {
            assert_eq!(url(wrong), Err(Refusal::Host(Denial::Userinfo)), "{wrong}");
        }
    }

    #[test]
    fn the_host_header_is_there_once_and_names_the_host_of_the_url() {
        let url = Url::parse("http://shop.test:8080/x").unwrap();
        let check = |headers: &[(&str, &str)]| check_host(request(headers).headers(), &url).is_ok();
        assert!(check(&[("host", "shop.test:8080")]));
        assert!(check(&[("host", "SHOP.test:8080")]));
        for wrong in [
            "shop.test",
            "evil.test:8080",
            "shop.test:8080/../",
            "a@shop.test:8080",
            "shop.test:8080?x",
            "",
            "shop.test:8080\\",
        ] {
            assert!(!check(&[("host", wrong)]), "{wrong}");
        }
        assert!(!check(&[]));
        assert!(!check(&[("host", "shop.test:8080"), ("host", "shop.test:8080")]));
        let standard = Url::parse("http://shop.test/").unwrap();
        for host in ["shop.test", "shop.test:80"] {
            assert!(check_host(request(&[("host", host)]).headers(), &standard).is_ok());
        }
    }

    #[test]
    fn a_navigation_is_told_by_what_chromium_adds_to_it() {
        assert_eq!(purpose_of(&request(&[])), Purpose::Resource);
        assert_eq!(purpose_of(&request(&[("sec-fetch-dest", "script")])), Purpose::Resource);
        for destination in DOCUMENTS {
            assert_eq!(purpose_of(&request(&[("sec-fetch-dest", destination)])), Purpose::Document);
        }
        assert_eq!(purpose_of(&request(&[("upgrade-insecure-requests", "1")])), Purpose::Document);
        assert_eq!(purpose_of(&request(&[("sec-fetch-mode", "navigate")])), Purpose::Document);
        assert_eq!(
            purpose_of(&request(&[("connection", "keep-alive, Upgrade"), ("upgrade", "WebSocket")])),
            Purpose::Socket
        );
        assert_eq!(purpose_of(&request(&[("connection", "Upgrade"), ("upgrade", "h2c")])), Purpose::Resource);
        assert_eq!(purpose_of(&request(&[("upgrade", "websocket")])), Purpose::Resource);
        assert_eq!(
            purpose_of(&request(&[("connection", "Upgrade"), ("upgrade", "h2c"), ("upgrade", "websocket")])),
            Purpose::Resource
        );
    }

    #[test]
    fn headers_between_neighbours_stay_here_and_framing_can_not_be_named_away() {
        let mut headers = request(&[
            ("connection", "close, X-Secret, Host, Content-Length"),
            ("x-secret", "1"),
            ("proxy-authorization", "Basic x"),
            ("proxy-connection", "keep-alive"),
            ("te", "trailers"),
            ("host", "shop.test"),
            ("content-length", "3"),
            ("cookie", "a=b"),
        ])
        .into_parts()
        .0
        .headers;
        strip_hop_by_hop(&mut headers);
        let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["content-length", "cookie", "host"]);
    }

    #[test]
    fn no_transfer_coding_but_chunked_is_taken() {
        let check = |headers: &[(&str, &str)]| check_coding(request(headers).headers()).is_ok();
        assert!(check(&[]));
        assert!(check(&[("transfer-encoding", "Chunked")]));
        assert!(!check(&[("transfer-encoding", "gzip, chunked")]));
        assert!(!check(&[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")]));
    }
}
