//! How connections are accepted, bounded and ended, for TCP and for the control socket.
//!
//! HTTP/1 only: what talks to us is on the same machine. A client that sends its header slowly is cut off, connections beyond the bound
//! wait to be accepted, and at the end those that are idle close at once and those that work get a moment.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// Connections at the same time. Each costs a few kilobytes and a descriptor; the usual limit of those is 1,024.
const CONNECTIONS_MAX: usize = 256;

/// How long the header of a request may take.
const HEADER_WITHIN: Duration = Duration::from_secs(10);

/// Largest header of a request, in bytes: what other servers take.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// How long a failing `accept` is left alone. It fails when descriptors run out, and then fails again at once.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// How long requests may take to end once the server stops.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// What connections come from.
pub trait Accept: Send + 'static {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    /// Waits for the next connection; `None` for one that was refused.
    ///
    /// # Errors
    /// What the system said.
    fn accept(&mut self) -> impl Future<Output = io::Result<Option<Self::Stream>>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<Option<TcpStream>> {
        let (stream, _) = TcpListener::accept(self).await?;
        // An answer is one small write: waiting for more to send with it only costs time.
        stream.set_nodelay(true)?;
        Ok(Some(stream))
    }
}

/// Serves `router` on what `listener` accepts, until `stop`; resolves when every connection has ended or was cut off.
pub async fn serve(mut listener: impl Accept, router: Router, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        let place = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            place = places.clone().acquire_owned() => place,
        };
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok(Some(stream)) => stream,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                continue;
            }
        };
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADER_WITHIN).max_buf_size(HEADER_BYTES_MAX);
        let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        connections.spawn(async move {
            let _place = place;
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(STOP_WITHIN, graceful.shutdown()).await.is_err() {
        tracing::debug!("some requests did not end in time and were cut off");
    }
    connections.shutdown().await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::{io::AsyncReadExt as _, sync::Notify};

    use super::*;
    use crate::client::Client;

    #[tokio::test]
    async fn a_request_that_is_under_way_is_answered_before_the_server_ends_and_idle_connections_close() {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begin, wait) = (begun.clone(), go_on.clone());
        let slow = async move || {
            begin.notify_one();
            wait.notified().await;
            "1"
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, Router::new().route("/slow", get(slow)), stop.clone()));

        let mut idle = TcpStream::connect(address).await.unwrap();
        let client = Client::of_url(&format!("http://{address}"), None).unwrap();
        let asking = tokio::spawn(async move { client.get("/slow").await });
        begun.notified().await;
        stop.cancel();
        assert_eq!(idle.read(&mut [0; 1]).await.unwrap(), 0);
        go_on.notify_one();
        assert_eq!(asking.await.unwrap().unwrap(), 1);
        serving.await.unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    }
}
