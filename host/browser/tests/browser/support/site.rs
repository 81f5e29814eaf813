//! A small HTTP server: every `*.localhost` name leads to it, and pages are told apart by host and path.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
};

/// What a path answers.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Status, headers, body.
    Full(u16, Vec<(String, String)>, Vec<u8>),
    /// Takes the request and never answers.
    Never,
    /// Sends these headers and this beginning of a body, and never ends.
    Endless(Vec<(String, String)>, Vec<u8>),
}

impl Answer {
    pub(crate) fn html(body: &str) -> Answer {
        Answer::typed("text/html; charset=utf-8", body)
    }

    pub(crate) fn typed(kind: &str, body: &str) -> Answer {
        Answer::Full(200, vec![("content-type".into(), kind.into())], body.into())
    }

    pub(crate) fn status(status: u16) -> Answer {
        Answer::Full(status, vec![("content-type".into(), "text/html".into())], Vec::new())
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Answer {
        if let Answer::Full(_, headers, _) | Answer::Endless(headers, _) = &mut self {
            headers.push((name.into(), value.into()));
        }
        self
    }
}

#[derive(Default)]
struct Shared {
    answers: Mutex<HashMap<String, Answer>>,
    hits: Mutex<Vec<String>>,
    hit: Condvar,
}

pub(crate) struct Site {
    shared: Arc<Shared>,
    pub(crate) port: u16,
}

impl Site {
    pub(crate) fn new() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let serving = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = serving.clone();
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Site { shared, port }
    }

    /// `place` is `host/path`: `a/go` is the path `/go` of `a.localhost`.
    pub(crate) fn page(&self, place: &str, html: &str) {
        self.answer(place, Answer::html(&html.replace("{port}", &self.port.to_string())));
    }

    pub(crate) fn answer(&self, place: &str, answer: Answer) {
        self.shared.answers.lock().unwrap().insert(place.to_owned(), answer);
    }

    pub(crate) fn url(&self, place: &str) -> String {
        let (host, path) = place.split_once('/').unwrap();
        format!("http://{host}.localhost:{}/{path}", self.port)
    }

    /// How often a place was asked for.
    pub(crate) fn hits(&self, place: &str) -> usize {
        self.shared.hits.lock().unwrap().iter().filter(|hit| *hit == place).count()
    }

    /// Requests that any path of this host got.
    pub(crate) fn hits_of_host(&self, host: &str) -> usize {
        let prefix = format!("{host}/");
        self.shared.hits.lock().unwrap().iter().filter(|hit| hit.starts_with(&prefix)).count()
    }

    /// Waits until a place was asked for.
    pub(crate) async fn asked(&self, place: &str) {
        let shared = self.shared.clone();
        let place = place.to_owned();
        tokio::task::spawn_blocking(move || {
            let hits = shared.hits.lock().unwrap();
            let (_hits, timeout) = shared
                .hit
                .wait_timeout_while(hits, std::time::Duration::from_secs(20), |hits| !hits.contains(&place))
                .unwrap();
            assert!(!timeout.timed_out(), "{place} was never asked for");
        })
        .await
        .unwrap();
    }
}

fn serve(stream: &TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let field = |name: &str| {
            let line = head.lines().find(|line| line.to_lowercase().starts_with(name));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let length: usize = field("content-length:").parse().unwrap_or(0);
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let path = head.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").to_owned();
        let host = field("host:");
        let host = host.split(".localhost").next().unwrap_or_default();
        let place = format!("{host}{path}");
        let answer = shared.answers.lock().unwrap().get(&place).cloned();
        shared.hits.lock().unwrap().push(place);
        shared.hit.notify_all();
        let (status, headers, body, is_endless) = match answer {
            Some(Answer::Full(status, headers, body)) => (status, headers, body, false),
            Some(Answer::Endless(headers, body)) => (200, headers, body, true),
            Some(Answer::Never) => {
                let _ = reader.read_line(&mut String::new()); // until the other side gives up
                return;
            }
            None => (404, vec![("content-type".into(), "text/html".into())], b"no such page".to_vec(), false),
        };
        let mut out = format!("HTTP/1.1 {status} X\r\n");
        for (name, value) in headers {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        if !is_endless {
            out.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        out.push_str("\r\n");
        if stream.write_all(out.as_bytes()).and_then(|()| stream.write_all(&body)).is_err() {
            return;
        }
        if is_endless {
            let _ = reader.read_line(&mut String::new());
            return;
        }
    }
}
