//! Whether a request comes from this machine and not from somebody's web page.
//!
//! A page can make the user's browser send requests to loopback, and by DNS rebinding it can make them look like requests to its own
//! host. So the Host header has to be a loopback name or address with our port, which a rebound name never is, and an Origin header,
//! which every browser adds to what a page of another origin sends, has to be ours.
//!
//! Not here: tokens (`access`), which are needed all the same. The control socket is out of reach for pages and passes.

use std::net::IpAddr;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Uri, header, uri::Authority},
    middleware::Next,
    response::Response,
};

use super::{Api, ApiError, Door};

pub(super) async fn check(State(api): State<Api>, request: Request, next: Next) -> Result<Response, ApiError> {
    if let Door::Tcp { port, .. } = *api.door {
        let problem = judge(request.headers(), request.uri(), port);
        if let Some(problem) = problem {
            return Err(ApiError::forbidden(problem));
        }
    }
    Ok(next.run(request).await)
}

/// What is wrong with where the request comes from.
fn judge(headers: &HeaderMap, uri: &Uri, port: u16) -> Option<&'static str> {
    const HOST: &str = "the Host header has to be 127.0.0.1, localhost or [::1] with the host's port";
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return Some(HOST) };
    let Ok(host) = host.to_str() else { return Some(HOST) };
    // "GET http://other/ HTTP/1.1": the address in the request line counts for more than the header.
    let in_line = uri.authority().is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(host));
    if !in_line || !is_ours(host, port) {
        return Some(HOST);
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => None,
        (Some(origin), None) if origin.to_str().is_ok_and(|origin| is_origin_of(origin, host)) => None,
        _ => Some("pages of another origin may not use this API"),
    }
}

fn is_ours(host: &str, port: u16) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host();
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let is_loopback =
        name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let has_userinfo = host.contains('@');
    is_loopback && !has_userinfo && authority.port_u16().unwrap_or(80) == port
}

fn is_origin_of(origin: &str, host: &str) -> bool {
    origin.strip_prefix("http://").is_some_and(|rest| rest.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        judge(&headers, &Uri::from_static("/v1/health"), 7411).is_none()
    }

    #[test]
    fn only_loopback_with_our_port_is_our_host() {
        for ours in ["127.0.0.1:7411", "localhost:7411", "LOCALHOST:7411", "[::1]:7411", "127.0.0.2:7411"] {
            assert!(passes(ours, None), "{ours}");
        }
        for foreign in [
            "127.0.0.1",
            "127.0.0.1:80",
            "evil.test:7411",
            "localhost.evil.test:7411",
            "127.0.0.1.evil.test:7411",
            "evil@127.0.0.1:7411",
            "0.0.0.0:7411",
            "192.168.0.1:7411",
            "[::ffff:8.8.8.8]:7411",
            "2130706433:7411",
            "",
        ] {
            assert!(!passes(foreign, None), "{foreign}");
        }
    }

    #[test]
    fn an_origin_has_to_be_our_own() {
        let host = "127.0.0.1:7411";
        assert!(passes(host, Some("http://127.0.0.1:7411")));
        for foreign in [
            "https://evil.test",
            "null",
            "http://127.0.0.1:8080",
            "http://localhost:7411",
            "http://127.0.0.1",
            "https://127.0.0.1:7411",
            "",
        ] {
            assert!(!passes(host, Some(foreign)), "{foreign}");
        }
    }

    #[test]
    fn a_missing_or_doubled_header_is_refused() {
        let mut headers = HeaderMap::new();
        let uri = Uri::from_static("/");
        assert!(judge(&headers, &uri, 7411).is_some());
        headers.append(header::HOST, "127.0.0.1:7411".parse().unwrap());
        assert!(judge(&headers, &uri, 7411).is_none());
        headers.append(header::HOST, "evil.test:7411".parse().unwrap());
        assert!(judge(&headers, &uri, 7411).is_some());
    }

    #[test]
    fn the_address_in_the_request_line_counts_too() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "127.0.0.1:7411".parse().unwrap());
        assert!(judge(&headers, &Uri::from_static("http://127.0.0.1:7411/v1/health"), 7411).is_none());
        assert!(judge(&headers, &Uri::from_static("http://evil.test/v1/health"), 7411).is_some());
    }
}
