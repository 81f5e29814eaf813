//! A server outside the shop that nobody may reach: it counts who does.
//!
//! It counts connections and not only requests, so that a browser which merely opens one is caught as well. Under its own
//! name, `outside.localhost`, a binding's `resolve` can point to it: when nothing arrives, it is because it was refused and not
//! because the name leads nowhere.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{http::header, serve::ListenerExt};

use super::{Server, ShopError, address_of, listen};

/// A running outside server. Dropping it ends it.
#[derive(Debug)]
pub struct Outside {
    addr: SocketAddr,
    connections: Arc<AtomicU64>,
    _server: Server,
}

impl Outside {
    /// Its name, as the shop's page `/outside` uses it.
    pub const HOST: &str = "outside.localhost";

    /// Starts it on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// [`ShopError::Listen`], when there is no port.
    pub async fn start() -> Result<Outside, ShopError> {
        let listener = listen(0).await?;
        let addr = address_of(&listener)?;
        let connections = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&connections);
        let counting = listener.tap_io(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        // Any page may read the answer, so that a page's script can tell whether it got one.
        let open = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
        let answer = axum::Router::new().fallback(async move || (open, "you are outside\n"));
        Ok(Outside { addr, connections, _server: Server::spawn(counting, answer) })
    }

    /// Where it listens, for a binding's `resolve`.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// How many connections it has been sent since it started.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}
