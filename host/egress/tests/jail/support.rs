//! What the jail's tests share: a launch that is only the tests', a host server that counts, a host to be killed.

use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use transom_egress::Isolation;
use transom_egress::jail::{Exchange, LaunchSpec};

/// A user that no system has, so that nothing is readable by accident.
const ORDINARY_USER: u32 = 61_234;

/// No single step takes longer, however busy the machine.
pub(crate) async fn within<F: Future>(step: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(30), step).await.expect("the step took over 30 s")
}

/// Exchange folders in a folder that only their owner may enter, as a state folder is.
pub(crate) struct TestExchange(tempfile::TempDir);

impl TestExchange {
    pub(crate) fn new() -> TestExchange {
        TestExchange(tempfile::Builder::new().prefix("egress-exchange-").tempdir().unwrap())
    }
    pub(crate) fn downloads(&self) -> PathBuf {
        self.0.path().join("downloads")
    }
    pub(crate) fn uploads(&self) -> PathBuf {
        self.0.path().join("uploads")
    }
    /// As a launch would.
    pub(crate) fn prepare(&self) {
        std::fs::create_dir(self.uploads()).unwrap();
    }
}

pub(crate) fn spec(isolation: Isolation, exchange: &TestExchange) -> LaunchSpec {
    LaunchSpec {
        program: "/usr/lib/chromium/chromium".into(),
        args: [
            "--headless=new",
            "--remote-debugging-pipe",
            "--proxy-server={proxy}",
            "--proxy-bypass-list=<-loopback>",
            "--user-data-dir={profile}",
            "--no-first-run",
            "--disable-gpu",
        ]
        .map(Into::into)
        .into(),
        isolation,
        launcher: env!("CARGO_BIN_EXE_transom-jail-launcher").into(),
        exchange: Exchange { downloads: exchange.downloads(), uploads: exchange.uploads() },
        ready_within: Duration::from_secs(20),
    }
}

/// Runs one of this binary's tests as an ordinary user.
pub(crate) fn again_as_an_ordinary_user(test: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .uid(ORDINARY_USER)
        .gid(ORDINARY_USER)
        .current_dir("/")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{test} as an ordinary user:\n{said}\n{complained}");
}

/// How often the host's server was reached.
pub(crate) struct Hits(watch::Receiver<usize>);

impl Hits {
    pub(crate) fn count(&self) -> usize {
        *self.0.borrow()
    }
    pub(crate) async fn wait_for(mut self, n: usize) {
        within(self.0.wait_for(|hits| *hits >= n)).await.unwrap();
    }
}

/// A server on the host's loopback, on both address families where there are two.
pub(crate) fn host_server() -> (SocketAddr, Hits) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (count, hits) = watch::channel(0);
    for listener in [Some(listener), std::net::TcpListener::bind(("::1", address.port())).ok()].into_iter().flatten() {
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let count = count.clone();
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                count.send_modify(|hits| *hits += 1);
            }
        });
    }
    (address, Hits(hits))
}

/// The request line of the next connection to the proxy.
pub(crate) async fn next_request(listener: &TcpListener) -> (String, TcpStream) {
    let (connection, _) = listener.accept().await.unwrap();
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line).await.unwrap();
    let mut header = String::new();
    while reader.read_line(&mut header).await.unwrap() > 2 {
        header.clear();
    }
    (line, reader.into_inner())
}

pub(crate) async fn answer_with_page(mut connection: TcpStream) {
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
    connection.write_all(answer.as_bytes()).await.unwrap();
}

/// A host in a process of its own that has launched a Chromium.
pub(crate) struct HostProcess {
    child: std::process::Child,
    /// Where it leaves what a killed process can't clean up.
    _leavings: tempfile::TempDir,
    pub(crate) chromium: u32,
}

impl HostProcess {
    pub(crate) async fn start(isolation: Isolation) -> HostProcess {
        let leavings = tempfile::tempdir().unwrap();
        let passable = std::fs::Permissions::from_mode(0o711);
        std::fs::set_permissions(leavings.path(), passable).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_host_that_waits_to_be_killed", "--ignored", "--nocapture"])
            .env("EGRESS_TEST_ISOLATION", isolation.as_str())
            .env("TMPDIR", leavings.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = child.stdout.take().unwrap();
        let chromium = tokio::task::spawn_blocking(move || {
            let mut said = String::new();
            let mut byte = [0];
            loop {
                assert_eq!(output.read(&mut byte).unwrap(), 1, "the host ended: {said}");
                said.push(char::from(byte[0]));
                if let Some(pid) =
                    said.strip_suffix('\n').and_then(|said| said.rsplit("chromium ").next()?.parse().ok())
                {
                    return pid;
                }
            }
        });
        HostProcess { child, _leavings: leavings, chromium: within(chromium).await.unwrap() }
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
