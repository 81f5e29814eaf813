//! The HTTP API: the same run that MCP offers, as plain requests.
//!
//! | request | opened by | does |
//! |---|---|---|
//! | `GET /v1/health` | nothing | says that the host lives |
//! | `POST /v1/runs` | operator | makes a run: `{tools or binding, files?, model?, idle?}` → `{id, token, url, mcp_url, tools}` |
//! | `GET /v1/runs`, `GET /v1/runs/{id}`, `DELETE /v1/runs/{id}` | operator | lists, shows, ends |
//! | `GET /v1/runs/{id}/journal?after=&limit=` | operator | what happened |
//! | `GET /v1/approvals?since=` | operator | what waits for a person; with `since`, once that has changed |
//! | `POST /v1/approvals/{id}` | operator | `{answer: "approve" or "reject"}` |
//! | `GET /v1/runs/{id}/tools` | the run | its tools with their schemas |
//! | `POST /v1/runs/{id}/calls` | the run | `{tool, arguments}` → `{result}` |
//! | `GET`, `POST /v1/runs/{id}/files`, `GET /v1/runs/{id}/files/{file}` | the run | lists, takes in, hands out |
//! | `/v1/runs/{id}/mcp` | the run | MCP (`crate::mcp::http`) |
//!
//! "Opened by": the operator's token opens everything, a run's token that run only, and for whatever else it is as if it did not
//! exist. An error is `{error: {code, reason?, message, hint?}}`.
//!
//! | file | the one question that it answers |
//! |---|---|
//! | `guard` | does the request come from this machine, and not from a web page? |
//! | `access` | does its token open what it asks for? |
//! | `body` | is its body small, quick and of the right form? |
//! | `error` | what does a caller read when it fails? |
//! | `server` | how is a connection served, bounded and ended? |
//! | `runs`, `calls`, `files`, `approvals`, `journal` | one resource each |
//!
//! Not here: any decision about a call. No CORS: no page of another origin is meant to talk to this.

pub mod access;
mod approvals;
mod body;
mod calls;
pub mod error;
mod files;
mod guard;
mod journal;
mod runs;
pub mod server;

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Request},
    http::{HeaderValue, header},
    middleware::{self, Next},
    response::Response,
    routing::{get, post},
};
use serde_json::{Value, json};
use transom_runs::Host;

pub use access::OperatorToken;
pub use error::ApiError;

/// How long a request of the operator may take, its body included. Each does local work only; the longest is the wait of
/// [`approvals::CHANGE_WITHIN`].
const OPERATOR_REQUEST_WITHIN: Duration = Duration::from_secs(60);

/// Which way requests come in, and so who may send them.
#[derive(Clone, Debug)]
pub enum Door {
    /// TCP on loopback: any program and any web page of this machine can knock, so each request shows a token.
    Tcp {
        /// The operator's.
        operator: OperatorToken,
        /// The port that the host listens on.
        port: u16,
    },
    /// A Unix socket that only the operator's own user can open: whoever is through is the operator.
    Control,
}

/// What every handler has.
#[derive(Clone, Debug)]
pub struct Api {
    /// The host.
    pub(crate) host: Host,
    /// The way in.
    pub(crate) door: Arc<Door>,
}

impl Api {
    /// The API of a host for one way in.
    #[must_use]
    pub fn new(host: Host, door: Door) -> Api {
        Api { host, door: Arc::new(door) }
    }
}

/// The router of the whole API.
pub fn router(api: Api) -> Router {
    let operator = Router::new()
        .route("/v1/runs", get(runs::list).post(runs::create))
        .route("/v1/runs/{id}", get(runs::show).delete(runs::end))
        .route("/v1/runs/{id}/journal", get(journal::of_run))
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/approvals/{id}", post(approvals::answer))
        .route_layer(middleware::from_fn(within_time))
        .route_layer(middleware::from_fn_with_state(api.clone(), access::operator));
    let of_run = Router::new()
        .route("/v1/runs/{id}/tools", get(runs::tools))
        .route("/v1/runs/{id}/calls", post(calls::call))
        .route("/v1/runs/{id}/files", get(files::list).post(files::add))
        .route("/v1/runs/{id}/files/{file}", get(files::fetch))
        .merge(crate::mcp::http::router())
        .route_layer(middleware::from_fn_with_state(api.clone(), access::run));
    Router::new()
        .route("/v1/health", get(health))
        .merge(operator)
        .merge(of_run)
        .fallback(async || ApiError::not_found("there is no such address"))
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
        // `body` counts for itself, with a limit for each kind of request.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(api.clone(), guard::check))
        .layer(middleware::map_response(plain_headers))
        .with_state(api)
}

async fn health() -> Json<Value> {
    Json(json!({"ok": true}))
}

async fn within_time(request: Request, next: Next) -> Result<Response, ApiError> {
    tokio::time::timeout(OPERATOR_REQUEST_WITHIN, next.run(request)).await.map_err(|_| ApiError::timeout())
}

/// Nothing of this is for a cache, and nothing is what a browser guesses it to be.
async fn plain_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests;
