//! What the proxy itself answers: refusals and failures, in a form that the browser layer recognises.
//!
//! | header | says |
//! |---|---|
//! | `x-transom-refused: KIND` | a rule said no (403); KIND is [`Refusal::kind`] |
//! | `x-transom-failed: KIND` | it was let through and failed (502); KIND is [`Failure::kind`] |
//!
//! A page may read these answers, so they name no more than the host. The headers are taken out of what servers answer.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};

use crate::dns::NoDestination;
use crate::gate::{Failure, Gate, Purpose, Refusal, Verdict};

/// Says that a rule said no, and which.
pub(crate) const REFUSED: HeaderName = HeaderName::from_static("x-transom-refused");
/// Says that a request was let through and failed.
pub(crate) const FAILED: HeaderName = HeaderName::from_static("x-transom-failed");

/// A body of either side.
pub(crate) type Body = BoxBody<Bytes, hyper::Error>;

/// Why a request has no answer but the proxy's own.
#[derive(Debug)]
pub(crate) enum No {
    Refused(Refusal),
    Failed(Failure),
}

impl From<Refusal> for No {
    fn from(refusal: Refusal) -> No {
        No::Refused(refusal)
    }
}

impl From<Failure> for No {
    fn from(failure: Failure) -> No {
        No::Failed(failure)
    }
}

impl From<NoDestination> for No {
    fn from(why: NoDestination) -> No {
        match why {
            NoDestination::Refused(refusal) => No::Refused(refusal),
            NoDestination::Failed(failure) => No::Failed(failure),
        }
    }
}

impl No {
    fn verdict(&self) -> Verdict {
        match self {
            No::Refused(Refusal::OwnChatter) => Verdict::OwnChatter,
            No::Refused(refusal) => Verdict::Refused { why: refusal.clone() },
            No::Failed(failure) => Verdict::Failed { why: failure.clone() },
        }
    }
}

/// Counts what became of a request and passes it on.
pub(crate) fn recorded<T>(
    gate: &Gate,
    host: &str,
    port: u16,
    purpose: Purpose,
    result: Result<T, No>,
) -> Result<T, No> {
    let verdict = result.as_ref().map_or_else(No::verdict, |_| Verdict::Allowed);
    gate.record(host, port, purpose, verdict);
    result
}

/// The proxy's own answer.
pub(crate) fn refuse(no: No) -> Response<Body> {
    let (status, header, kind, text) = match no {
        No::Refused(refusal) => (StatusCode::FORBIDDEN, REFUSED, refusal.kind(), format!("refused: {refusal}\n")),
        No::Failed(failure) => (StatusCode::BAD_GATEWAY, FAILED, failure.kind(), format!("failed: {failure}\n")),
    };
    let mut response = Response::new(Full::from(text).map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header, HeaderValue::from_static(kind));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// No body.
pub(crate) fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed()
}
