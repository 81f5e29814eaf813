//! Connects to one of the addresses that were judged, and to no other.
//!
//! Addresses are tried in turn; one that hangs does not hold up the next for longer than a quarter of a second (RFC 8305,
//! without its sorting: the resolver's order is the system's). The first that connects wins and the others are dropped.

use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::net::TcpStream;

use crate::dns::Destination;
use crate::gate::Failure;

/// How long all attempts together may take. A host that needs longer is down as far as a person can tell.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// How long an attempt goes on alone before the next address is tried beside it: RFC 8305's recommended delay.
const NEXT_AFTER: Duration = Duration::from_millis(250);

/// How many addresses are tried. All were judged; one name must not make the host knock at hundreds of doors.
const ADDRESSES_TRIED: usize = 6;

/// Connects to the first address that accepts.
pub(crate) async fn dial(destination: &Destination) -> Result<TcpStream, Failure> {
    let unreachable = || Failure::Unreachable { host: destination.host().to_owned() };
    let attempts = race(destination.addresses().iter().copied().take(ADDRESSES_TRIED));
    let stream = tokio::time::timeout(CONNECT_WITHIN, attempts).await.ok().flatten().ok_or_else(unreachable)?;
    // Small frames are what a proxy carries; waiting to fill packets would only add delay.
    stream.set_nodelay(true).ok();
    Ok(stream)
}

async fn race(mut addresses: impl Iterator<Item = SocketAddr>) -> Option<TcpStream> {
    let mut attempts = FuturesUnordered::new();
    attempts.push(TcpStream::connect(addresses.next()?));
    loop {
        let started_next = tokio::select! {
            biased;
            finished = attempts.next() => match finished {
                Some(Ok(stream)) => return Some(stream),
                Some(Err(_)) => addresses.next(),
                None => return None,
            },
            () = tokio::time::sleep(NEXT_AFTER) => addresses.next(),
        };
        match started_next {
            Some(address) => attempts.push(TcpStream::connect(address)),
            None if attempts.is_empty() => return None,
            // Nothing left to start: only the ones under way can win now.
            None => loop {
                match attempts.next().await {
                    Some(Ok(stream)) => return Some(stream),
                    Some(Err(_)) => {}
                    None => return None,
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_that_refuses_is_passed_over() {
        let closed = {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            listener.local_addr().unwrap()
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let open = listener.local_addr().unwrap();
        let stream = race([closed, closed, open].into_iter()).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), open);
        assert!(race([closed, closed].into_iter()).await.is_none());
        assert!(race(std::iter::empty()).await.is_none());
    }
}
