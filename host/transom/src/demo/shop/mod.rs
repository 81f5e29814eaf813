//! The demo shop: a small web shop on loopback, made to be read, clicked, downloaded from and uploaded to.
//!
//! | page | what it is |
//! |---|---|
//! | `/` | where a visitor begins |
//! | `/login` | a form: `#email`, `#password`, `#signin` |
//! | `/orders?page=N` | for those who signed in: `table#orders`, `tr[data-order]`, `a[rel=next]`, `a[rel=prev]`, `a#export` |
//! | `/orders.csv` | for those who signed in: all orders, as an attachment |
//! | `/returns` | a form with a file: `#receipt`; what arrived is named with its size and SHA-256 |
//! | `/outside` | a page that tries to reach another host by a script, a picture, a fetch, a link and a redirect |
//!
//! Pages are rendered on the server, load nothing from elsewhere and hold no script of their own, but for `/outside`. Their data
//! never changes. The account's password is made anew at each start.
//!
//! HTML is written by askama, whose templates escape whatever they are given unless they say otherwise; none here does.
//!
//! Not here: a browser, a binding, anything of Transom. A test and a plugin's author use this shop as they would a real one.

pub mod orders;
mod outside;
mod pages;
mod returns;
mod session;
#[cfg(test)]
mod tests;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

pub use outside::Outside;
pub use session::EMAIL;

/// The shop's name, for a binding that maps it to the shop's address.
pub const SHOP_HOST: &str = "shop.localhost";

/// Why the shop could not start or answer.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    /// Its port can't be had.
    #[error("the demo shop can't listen on {addr}: {source}")]
    Listen {
        /// The address that was asked for.
        addr: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system gave no randomness.
    #[error("no random bytes for a password: {0}")]
    Random(String),
}

/// A running shop. Dropping it ends it.
#[derive(Debug)]
pub struct Shop {
    addr: SocketAddr,
    password: String,
    _server: Server,
}

impl Shop {
    /// Starts a shop on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// [`ShopError`], when there is no port or no randomness.
    pub async fn start() -> Result<Shop, ShopError> {
        Shop::start_on(0).await
    }

    /// Starts a shop on `port` of 127.0.0.1; 0 takes a free one.
    ///
    /// # Errors
    /// [`ShopError`], when the port is taken or there is no randomness.
    pub async fn start_on(port: u16) -> Result<Shop, ShopError> {
        let accounts = Arc::new(session::Accounts::new()?);
        let password = accounts.password().to_owned();
        let listener = listen(port).await?;
        let addr = address_of(&listener)?;
        let server = Server::spawn(listener, pages::router(accounts));
        Ok(Shop { addr, password, _server: server })
    }

    /// Where it listens, for a binding's `resolve`.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The account's email.
    #[must_use]
    pub fn email(&self) -> &'static str {
        EMAIL
    }

    /// The account's password, made at this start.
    #[must_use]
    pub fn password(&self) -> &str {
        &self.password
    }

    /// A page's address by the shop's name, which a binding's `resolve` maps: `http://shop.localhost/orders`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{SHOP_HOST}{path}")
    }
}

/// A task that serves one listener, and ends with its owner.
#[derive(Debug)]
struct Server {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Server {
    fn spawn(listener: impl axum::serve::Listener<Addr = SocketAddr>, router: axum::Router) -> Server {
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stopped).await {
                tracing::warn!(%error, "a demo server ended");
            }
        });
        Server { stop, task }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
    }
}

async fn listen(port: u16) -> Result<TcpListener, ShopError> {
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(addr).await.map_err(|source| ShopError::Listen { addr, source })
}

fn address_of(listener: &TcpListener) -> Result<SocketAddr, ShopError> {
    let unspecified = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    listener.local_addr().map_err(|source| ShopError::Listen { addr: unspecified, source })
}
