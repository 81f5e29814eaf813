//! A proxy with a gate, servers that count who comes, a name server, and a client that writes bytes.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use transom_egress::dns::Names;
use transom_egress::gate::{Gate, GateRules};
use transom_egress::proxy;
use transom_policy::hosts::HostRules;

/// No single step takes longer, however busy the machine.
pub(crate) async fn within<F: Future>(step: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), step).await.expect("the step took over 20 s")
}

pub(crate) fn hosts(entries: &[&str]) -> HostRules {
    HostRules::parse(entries).unwrap()
}

/// Rules whose names all lead to these servers; what the lists say is left to the test.
pub(crate) fn rules(hosts_: &[&str], resources: &[&str], servers: &[(&str, SocketAddr)]) -> GateRules {
    GateRules {
        hosts: hosts(hosts_),
        resources: hosts(resources),
        private: HostRules::default(),
        resolve: servers.iter().map(|(name, address)| ((*name).to_owned(), *address)).collect(),
    }
}

/// A running proxy.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) gate: Arc<Gate>,
    pub(crate) stop: CancellationToken,
    task: AbortOnDropHandle<()>,
}

impl Proxy {
    pub(crate) async fn with(rules: GateRules) -> Proxy {
        Proxy::asking(&[], rules).await
    }

    pub(crate) async fn asking(name_servers: &[SocketAddr], rules: GateRules) -> Proxy {
        let gate = Gate::closed_with(Names::asking(name_servers));
        gate.open(rules);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let task = AbortOnDropHandle::new(tokio::spawn(proxy::serve(listener, Arc::clone(&gate), stop.clone())));
        Proxy { address, gate, stop, task }
    }

    pub(crate) async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).await.unwrap())
    }

    /// One request on a connection of its own; everything that comes back.
    pub(crate) async fn ask(&self, request: &str) -> String {
        let mut client = self.connect().await;
        client.write(request.as_bytes()).await;
        client.rest().await
    }

    /// GET of a URL as Chromium asks a proxy for a page's resource.
    pub(crate) async fn get(&self, url: &str) -> String {
        self.get_with(url, "").await
    }

    /// The same with more header lines, each ended by CRLF.
    pub(crate) async fn get_with(&self, url: &str, headers: &str) -> String {
        let authority = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        self.ask(&format!("GET {url} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{headers}\r\n")).await
    }

    /// A granted tunnel.
    pub(crate) async fn tunnel(&self, authority: &str) -> Client {
        let mut client = self.connect().await;
        client.write(format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n").as_bytes()).await;
        let answer = client.head().await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        client
    }

    pub(crate) async fn ended(self) {
        within(self.task).await.unwrap();
    }
}

pub(crate) struct Client(pub(crate) TcpStream);

impl Client {
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        within(self.0.write_all(bytes)).await.unwrap();
    }

    /// Up to the end of a head.
    pub(crate) async fn head(&mut self) -> String {
        within(read_head(&mut self.0)).await
    }

    /// Exactly this many bytes.
    pub(crate) async fn bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        within(self.0.read_exact(&mut bytes)).await.unwrap();
        bytes
    }

    /// All until the connection ends, in whatever way.
    pub(crate) async fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        within(async { while let Ok(1..) = self.0.read_buf(&mut bytes).await {} }).await;
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Reads up to an empty line, a byte at a time; what was read before the end if there is none.
pub(crate) async fn read_head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// A server that counts connections and keeps what it was sent.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    hits: watch::Receiver<usize>,
    seen: Arc<Mutex<Vec<u8>>>,
    _task: AbortOnDropHandle<()>,
}

impl Server {
    /// Answers each connection's first head with these bytes and closes.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::with(move |mut stream, seen| {
            let answer = answer.clone();
            async move {
                let head = read_head(&mut stream).await;
                seen.lock().unwrap().extend(head.into_bytes());
                stream.write_all(&answer).await.ok();
                stream.shutdown().await.ok();
                let mut rest = [0; 4096];
                while let Ok(n @ 1..) = stream.read(&mut rest).await {
                    seen.lock().unwrap().extend(&rest[..n]);
                }
            }
        })
        .await
    }

    /// Answers `200` with this text.
    pub(crate) async fn saying(text: &str) -> Server {
        Server::answering(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len())).await
    }

    /// Sends back every byte.
    pub(crate) async fn echoing() -> Server {
        Server::with(|mut stream, seen| async move {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = stream.read(&mut bytes).await {
                seen.lock().unwrap().extend(&bytes[..n]);
                stream.write_all(&bytes[..n]).await.ok();
            }
        })
        .await
    }

    /// Agrees to a WebSocket, then sends back every byte.
    pub(crate) async fn upgrading() -> Server {
        Server::with(|mut stream, seen| async move {
            let head = read_head(&mut stream).await;
            seen.lock().unwrap().extend(head.into_bytes());
            let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n";
            stream.write_all(answer.as_bytes()).await.ok();
            let (mut reader, mut writer) = stream.split();
            tokio::io::copy(&mut reader, &mut writer).await.ok();
        })
        .await
    }

    pub(crate) async fn with<F, T>(serve: F) -> Server
    where
        F: Fn(TcpStream, Arc<Mutex<Vec<u8>>>) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (count, hits) = watch::channel(0);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let task = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.send_modify(|hits| *hits += 1);
                connections.spawn(serve(stream, Arc::clone(&kept)));
            }
        }));
        Server { address, hits, seen, _task: task }
    }

    pub(crate) fn hits(&self) -> usize {
        *self.hits.borrow()
    }

    /// What all connections sent, as text.
    pub(crate) fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Proves that the counter counts: a connection that does not go through the proxy.
    pub(crate) async fn is_reachable_without_the_proxy(&mut self) {
        let before = self.hits();
        drop(TcpStream::connect(self.address).await.unwrap());
        within(self.hits.wait_for(|hits| *hits > before)).await.unwrap();
    }
}

/// A name server on loopback that knows a few names, and keeps the questions that it was asked.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    questions: Arc<Mutex<Vec<String>>>,
    _task: AbortOnDropHandle<()>,
}

impl NameServer {
    /// Each name has a list of answers, one for each time that it is asked for; the last one stays.
    pub(crate) async fn knowing(names: &[(&str, &[&[&str]])]) -> NameServer {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let mut known: HashMap<String, Vec<Vec<IpAddr>>> = HashMap::new();
        for (name, answers) in names {
            let mut answers: Vec<Vec<IpAddr>> =
                answers.iter().map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect()).collect();
            answers.reverse();
            known.insert((*name).to_owned(), answers);
        }
        let questions = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&questions);
        let task = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut packet = [0; 1500];
            while let Ok((n, from)) = socket.recv_from(&mut packet).await {
                let (name, kind, question_end) = question(&packet[..n]);
                let answers = known.get_mut(&name);
                let known_name = answers.is_some();
                let ips = answers.map_or(Vec::new(), |answers| {
                    // Only the questions for A advance: the one for AAAA comes beside it.
                    if kind == 1 && answers.len() > 1 {
                        answers.pop().unwrap()
                    } else {
                        answers.last().unwrap().clone()
                    }
                });
                if kind == 1 {
                    asked.lock().unwrap().push(name);
                }
                let ips: Vec<IpAddr> = ips.into_iter().filter(|ip| ip.is_ipv4() == (kind == 1)).collect();
                let mut answer = packet[..2].to_vec();
                answer.extend([
                    0x85,
                    if known_name { 0x80 } else { 0x83 },
                    0,
                    1,
                    0,
                    u8::try_from(ips.len()).unwrap(),
                    0,
                    0,
                    0,
                    0,
                ]);
                answer.extend(&packet[12..question_end]);
                for ip in ips {
                    answer.extend([0xc0, 12, 0, u8::try_from(kind).unwrap(), 0, 1, 0, 0, 0, 0]);
                    match ip {
                        IpAddr::V4(ip) => answer.extend([&[0, 4][..], &ip.octets()].concat()),
                        IpAddr::V6(ip) => answer.extend([&[0, 16][..], &ip.octets()].concat()),
                    }
                }
                socket.send_to(&answer, from).await.ok();
            }
        }));
        NameServer { address, questions, _task: task }
    }

    pub(crate) fn questions(&self) -> Vec<String> {
        self.questions.lock().unwrap().clone()
    }
}

/// The name and type of a packet's question, and where it ends.
fn question(packet: &[u8]) -> (String, u16, usize) {
    let mut labels = Vec::new();
    let mut at = 12;
    while packet[at] != 0 {
        let length = usize::from(packet[at]);
        labels.push(String::from_utf8_lossy(&packet[at + 1..=at + length]).to_lowercase());
        at += length + 1;
    }
    (labels.join("."), u16::from_be_bytes([packet[at + 1], packet[at + 2]]), at + 5)
}

/// The bytes of a TLS ClientHello with this server name.
pub(crate) fn client_hello(server_name: Option<&str>) -> Vec<u8> {
    let sized = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    let mut extensions = vec![0x0a, 0x0a, 0, 0];
    if let Some(name) = server_name {
        let entry = [&[0][..], &sized(name.as_bytes())].concat();
        extensions.extend([&[0, 0][..], &sized(&sized(&entry))].concat());
    }
    let mut body = [&[3, 3][..], &[7; 32], &[0, 0, 2, 0x13, 0x01, 1, 0]].concat();
    body.extend(sized(&extensions));
    let message = [&[1, 0][..], &sized(&body)].concat();
    [&[22, 3, 1][..], &sized(&message)].concat()
}
