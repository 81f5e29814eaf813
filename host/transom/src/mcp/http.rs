//! Each run at its own address: `/v1/runs/{id}/mcp`, streamable HTTP.
//!
//! What holds for the whole API (the run's token, Host, Origin, TCP only on loopback) is checked before a request comes here;
//! rmcp's own checks of Host and Origin are on as well, so that this stays safe wherever it is mounted.
//!
//! A run's service is made by its first request and goes with the run: its sessions end, its streams close. A client that forbids
//! dots in names says `?separator=_` in the address.
//!
//! Not here: what a client sees (`server.rs`), tokens (`crate::http::access`).

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Query, Request},
    response::IntoResponse,
    routing::any,
};
use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::{
            RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
            local::{LocalSessionManager, LocalSessionManagerError},
        },
    },
};
use serde::Deserialize;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use transom_runs::Run;
use transom_verbs::{Reason, ToolError};

use super::server::{Options, RunServer};
use crate::http::{Api, ApiError};

/// Sessions of one run. A client has one; those that went away without a word leave theirs behind, and the one that was used
/// longest ago makes room.
const SESSIONS_MAX: usize = 32;

/// Largest message, in bytes: as for a call over plain HTTP (`crate::http::body`).
const MESSAGE_BYTES_MAX: usize = 2 << 20;

/// Names that a client on this machine has for it. rmcp compares only the name where no port is given.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The route of every run's MCP. Whoever mounts it puts the [`Run`] into the request's extensions, once its token is checked.
pub fn router() -> Router<Api> {
    let services = Arc::new(Services::default());
    let serve =
        async move |Extension(run): Extension<Run>, Query(choice): Query<Choice>, request: Request| match Services::of(
            &services, &run, choice,
        ) {
            Ok(service) => service.handle(request).await.map(Body::new),
            Err(error) => error.into_response(),
        };
    Router::new().route("/v1/runs/{id}/mcp", any(serve))
}

type RunService = StreamableHttpService<RunServer, Sessions>;

/// What a client says in the address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
struct Choice {
    separator: Option<String>,
}

/// The services of the runs that were asked for MCP.
#[derive(Default)]
struct Services {
    by_run: Mutex<HashMap<(String, Choice), Served>>,
}

struct Served {
    service: RunService,
    /// The task that takes it away when the run ends.
    _watch: AbortOnDrop,
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Services {
    fn by_run(&self) -> MutexGuard<'_, HashMap<(String, Choice), Served>> {
        self.by_run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The service of a run that has not ended.
    fn of(services: &Arc<Services>, run: &Run, choice: Choice) -> Result<RunService, ApiError> {
        if let Some(why) = run.ended() {
            return Err(ToolError::failed(Reason::RunEnded, format!("the run has ended: {why}")).into());
        }
        let key = (run.id().to_owned(), choice);
        let mut by_run = services.by_run();
        if let Some(served) = by_run.get(&key) {
            return Ok(served.service.clone());
        }
        let options = Options { separator: key.1.separator.clone().unwrap_or(Options::default().separator) };
        let server = RunServer::new(run.clone(), &options).map_err(|error| ApiError::invalid(error.to_string()))?;
        let ended = CancellationToken::new();
        let service = service(server, ended.clone());
        let watch = tokio::spawn(end_with(run.clone(), ended, Arc::downgrade(services), key.clone()));
        by_run.insert(key, Served { service: service.clone(), _watch: AbortOnDrop(watch.abort_handle()) });
        Ok(service)
    }
}

async fn end_with(run: Run, ended: CancellationToken, services: Weak<Services>, key: (String, Choice)) {
    run.wait_ended().await;
    ended.cancel();
    if let Some(services) = services.upgrade() {
        services.by_run().remove(&key);
    }
}

fn service(server: RunServer, ended: CancellationToken) -> RunService {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(OWN_NAMES)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MESSAGE_BYTES_MAX)
        .with_cancellation_token(ended);
    StreamableHttpService::new(move || Ok::<_, io::Error>(server.clone()), Arc::new(Sessions::default()), config)
}

/// rmcp's sessions, at most [`SESSIONS_MAX`] of them.
struct Sessions {
    inner: LocalSessionManager,
    /// Those that are open, the one used last at the end.
    order: Mutex<VecDeque<SessionId>>,
}

impl Default for Sessions {
    fn default() -> Sessions {
        let mut inner = LocalSessionManager::default();
        // Sessions end with their run. rmcp's clock would count a call that waits for a person as idleness.
        inner.session_config.keep_alive = None;
        Sessions { inner, order: Mutex::default() }
    }
}

impl Sessions {
    /// Notes that a session was used; gives the one that has to make room for it, if any.
    fn used(&self, id: &SessionId) -> Option<SessionId> {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        order.retain(|each| each != id);
        order.push_back(id.clone());
        if order.len() > SESSIONS_MAX { order.pop_front() } else { None }
    }

    fn forget(&self, id: &SessionId) {
        self.order.lock().unwrap_or_else(PoisonError::into_inner).retain(|each| each != id);
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let made = self.inner.create_session().await?;
        if let Some(oldest) = self.used(&made.0) {
            self.inner.close_session(&oldest).await?;
        }
        Ok(made)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        let is_there = self.inner.has_session(id).await?;
        if is_there {
            // It is in the list already, so nothing has to make room.
            self.used(id);
        }
        Ok(is_there)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.forget(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.resume(id, last_event_id).await
    }

    async fn restore_session(&self, _id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        Ok(RestoreOutcome::NotSupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_that_was_used_longest_ago_makes_room() {
        let sessions = Sessions::default();
        let id = |n: usize| SessionId::from(format!("s{n}"));
        for n in 0..SESSIONS_MAX {
            assert_eq!(sessions.used(&id(n)), None);
        }
        assert_eq!(sessions.used(&id(0)), None, "it is in the list already");
        assert_eq!(sessions.used(&id(SESSIONS_MAX)), Some(id(1)));
        sessions.forget(&id(2));
        assert_eq!(sessions.used(&id(SESSIONS_MAX + 1)), None);
    }

    #[tokio::test]
    async fn a_session_beyond_the_bound_closes_another() {
        let sessions = Sessions::default();
        let mut made = Vec::new();
        for _ in 0..=SESSIONS_MAX {
            made.push(sessions.create_session().await.unwrap());
        }
        assert!(!sessions.inner.has_session(&made[0].0).await.unwrap());
        assert!(sessions.has_session(&made[1].0).await.unwrap());
        assert_eq!(sessions.inner.sessions.read().await.len(), SESSIONS_MAX);
    }
}
