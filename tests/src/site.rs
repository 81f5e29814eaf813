//! A site on loopback: answers from a table, and counts every connection and request, listed or not.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{FromRequestParts, Request, State, WebSocketUpgrade, ws::Message},
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// One answer.
#[derive(Clone, Debug)]
pub struct Page {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    never: bool,
}

impl Page {
    /// An HTML page.
    #[must_use]
    pub fn html(body: impl Into<String>) -> Page {
        Page {
            status: 200,
            headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
            body: body.into().into_bytes(),
            never: false,
        }
    }

    /// A text of another type.
    #[must_use]
    pub fn text(media_type: &str, body: impl Into<String>) -> Page {
        Page {
            status: 200,
            headers: vec![("content-type".into(), media_type.into())],
            body: body.into().into_bytes(),
            never: false,
        }
    }

    /// A redirect.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Page {
        Page { status, headers: vec![("location".into(), location.into())], body: Vec::new(), never: false }
    }

    /// An answer that never comes.
    #[must_use]
    pub fn never() -> Page {
        Page { status: 200, headers: Vec::new(), body: Vec::new(), never: true }
    }

    /// The same with a header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Page {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// What a site saw.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// `METHOD /path?query` of each request, and `WS /path` of each WebSocket.
    pub requests: Vec<String>,
    /// Connections that were accepted, whatever came over them.
    pub n_connections: usize,
}

#[derive(Debug)]
struct Shared {
    pages: Mutex<BTreeMap<String, Page>>,
    seen: watch::Sender<Seen>,
}

/// A running site. It ends when it is dropped.
#[derive(Debug)]
pub struct Site {
    /// Where it listens.
    pub addr: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    /// Starts a site with these pages, by path without the query.
    ///
    /// # Errors
    /// When no loopback port can be had.
    pub async fn start<'a>(pages: impl IntoIterator<Item = (&'a str, Page)>) -> anyhow::Result<Site> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let addr = listener.local_addr()?;
        let pages = pages.into_iter().map(|(path, page)| (path.to_owned(), page)).collect();
        let shared = Arc::new(Shared { pages: Mutex::new(pages), seen: watch::Sender::new(Seen::default()) });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let counted = Counted { listener, shared: shared.clone() };
        let task = tokio::spawn(async move {
            // Ends only with the task.
            let _ = axum::serve(counted, router).await;
        });
        Ok(Site { addr, shared, task })
    }

    /// Adds or changes a page.
    pub fn set(&self, path: &str, page: Page) {
        self.shared.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), page);
    }

    /// What it has seen so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.shared.seen.borrow().clone()
    }

    /// Forgets what it has seen.
    pub fn forget(&self) {
        self.shared.seen.send_modify(|seen| *seen = Seen::default());
    }

    /// Waits until it has seen what `is_it` looks for.
    ///
    /// # Errors
    /// When that has not come within `within`; says what has.
    pub async fn wait_for(&self, what: &str, within: Duration, is_it: impl Fn(&Seen) -> bool) -> anyhow::Result<()> {
        let mut seen = self.shared.seen.subscribe();
        match tokio::time::timeout(within, seen.wait_for(|seen| is_it(seen))).await {
            Ok(_) => Ok(()),
            Err(_) => anyhow::bail!("{what} did not come within {within:?}; seen: {:?}", self.seen()),
        }
    }
}

struct Counted {
    listener: TcpListener,
    shared: Arc<Shared>,
}

impl axum::serve::Listener for Counted {
    type Io = tokio::net::TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let accepted = axum::serve::Listener::accept(&mut self.listener).await;
        self.shared.seen.send_modify(|seen| seen.n_connections += 1);
        accepted
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let is_socket =
        request.headers().get("upgrade").is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let method = if is_socket { "WS".to_owned() } else { request.method().to_string() };
    let full = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    shared.seen.send_modify(|seen| seen.requests.push(format!("{method} {full}")));
    if is_socket {
        let (mut parts, _) = request.into_parts();
        return match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
            Ok(upgrade) => upgrade.on_upgrade(async |mut socket| {
                // The page may be gone already.
                let _ = socket.send(Message::Text("hello".into())).await;
            }),
            Err(rejection) => rejection.into_response(),
        };
    }
    let page = shared.pages.lock().unwrap_or_else(PoisonError::into_inner).get(&path).cloned();
    let Some(page) = page else { return StatusCode::NOT_FOUND.into_response() };
    if page.never {
        std::future::pending::<()>().await;
    }
    let mut response = Response::new(Body::from(page.body));
    *response.status_mut() = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &page.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
