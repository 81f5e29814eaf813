//! The connection against a stand-in for Chromium: the other ends of two pipes.

use std::{
    io::{BufRead, BufReader, PipeReader, PipeWriter, Write},
    sync::mpsc,
};

use chromiumoxide_cdp::cdp::js_protocol::runtime::EvaluateParams;

use super::*;

struct Recorder(mpsc::SyncSender<String>);

impl EventSink for Recorder {
    fn event(&mut self, _: &Connection, session: Option<&str>, method: &str, params: &str) -> bool {
        self.0.send(format!("{} {method} {params}", session.unwrap_or("-"))).unwrap();
        method.starts_with("Known.")
    }
    fn oversized(&mut self, _: &Connection, session: Option<&str>, method: &str, request: Option<&str>) {
        self.0.send(format!("oversized {session:?} {method} {request:?}")).unwrap();
    }
    fn lost(&mut self) {
        self.0.send("lost".into()).unwrap();
    }
}

struct Fake {
    connection: Connection,
    tasks: Option<ConnectionTasks>,
    commands: BufReader<PipeReader>,
    answers: PipeWriter,
    events: mpsc::Receiver<String>,
}

fn fake(cap: usize) -> Fake {
    let (commands, ours) = std::io::pipe().unwrap();
    let (theirs, answers) = std::io::pipe().unwrap();
    let (sender, events) = mpsc::sync_channel(100);
    let (connection, tasks) = Connection::open(theirs.into(), ours.into(), cap, Recorder(sender)).unwrap();
    Fake { connection, tasks: Some(tasks), commands: BufReader::new(commands), answers, events }
}

impl Fake {
    async fn command(&mut self) -> serde_json::Value {
        tokio::task::block_in_place(|| {
            let mut bytes = Vec::new();
            self.commands.read_until(0, &mut bytes).unwrap();
            serde_json::from_slice(&bytes[..bytes.len() - 1]).unwrap()
        })
    }
    fn say(&mut self, text: &str) {
        self.answers.write_all(text.as_bytes()).unwrap();
        self.answers.write_all(b"\0").unwrap();
    }
    fn next_event(&self) -> String {
        tokio::task::block_in_place(|| self.events.recv_timeout(std::time::Duration::from_secs(10)).unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_comes_after_every_event_that_was_said_before_it() {
    let mut fake = fake(10_000);
    let reply = fake.connection.send(Some(&"S1".into()), &EvaluateParams::new("1"));
    let command = fake.command().await;
    assert_eq!((command["method"].as_str(), command["sessionId"].as_str()), (Some("Runtime.evaluate"), Some("S1")));
    fake.say(r#"{"method":"Known.event","params":{"a":1},"sessionId":"S1"}"#);
    fake.say(r#"{"method":"New.event"}"#);
    fake.say("no json");
    fake.say(&format!(r#"{{"id":{},"result":{{"x":true}},"sessionId":"S1"}}"#, command["id"]));
    assert_eq!(reply.await.unwrap(), r#"{"x":true}"#.as_bytes());
    assert_eq!(fake.events.try_recv().unwrap(), r#"S1 Known.event {"a":1}"#);
    assert_eq!(fake.events.try_recv().unwrap(), "- New.event {}");
    let skipped = fake.connection.skipped();
    assert_eq!((skipped.unheard.load(Ordering::Relaxed), skipped.malformed.load(Ordering::Relaxed)), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_command_says_which_one_and_why() {
    let mut fake = fake(10_000);
    let reply = fake.connection.send(None, &EvaluateParams::new("1"));
    let id = fake.command().await["id"].clone();
    fake.say(&format!(r#"{{"id":{id},"error":{{"code":-32000,"message":"No."}}}}"#));
    assert_eq!(reply.await.unwrap_err().to_string(), "Runtime.evaluate: No.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_pipe_fails_every_call_at_once_and_later_ones_too() {
    let mut fake = fake(10_000);
    let calls = [1, 2, 3].map(|n| fake.connection.send(None, &EvaluateParams::new(n.to_string())));
    fake.command().await;
    let (answers, _) = (fake.answers, fake.commands);
    drop(answers);
    for call in calls {
        assert!(matches!(call.await, Err(CallError::Lost)));
    }
    assert!(matches!(fake.connection.send(None, &EvaluateParams::new("4")).await, Err(CallError::Lost)));
    fake.connection.lost().await;
    assert_eq!(tokio::task::block_in_place(|| fake.events.recv().unwrap()), "lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_tasks_loses_the_connection_and_closes_the_pipe() {
    let mut fake = fake(10_000);
    let call = fake.connection.send(None, &EvaluateParams::new("1"));
    fake.command().await;
    fake.tasks.take();
    assert!(matches!(call.await, Err(CallError::Lost)));
    let mut rest = Vec::new();
    tokio::task::block_in_place(|| fake.commands.read_until(0, &mut rest).unwrap());
    assert!(rest.is_empty(), "Chromium sees the end of its commands and exits");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_can_be_failed_apart() {
    let mut fake = fake(10_000);
    let crashed = fake.connection.send(Some(&"S1".into()), &EvaluateParams::new("1"));
    let other = fake.connection.send(Some(&"S2".into()), &EvaluateParams::new("2"));
    fake.connection.fail_session("S1", &CallError::Crashed);
    assert!(matches!(crashed.await, Err(CallError::Crashed)));
    fake.command().await;
    let id = fake.command().await["id"].clone();
    fake.say(&format!(r#"{{"id":{id},"result":{{}}}}"#));
    assert_eq!(other.await.unwrap(), "{}".as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_beyond_the_cap_fails_its_call_and_an_event_beyond_it_gives_up_its_request() {
    let mut fake = fake(200);
    let reply = fake.connection.send(None, &EvaluateParams::new("1"));
    let id = fake.command().await["id"].clone();
    fake.say(&format!(r#"{{"id":{id},"result":{{"x":"{}"}}}}"#, "x".repeat(500)));
    assert!(matches!(reply.await, Err(CallError::TooLong { length: 500.., .. })));
    let event =
        format!(r#"{{"method":"Fetch.requestPaused","params":{{"requestId":"r1","x":"{}"}}}}"#, "x".repeat(500));
    fake.say(&event);
    assert_eq!(fake.next_event(), r#"oversized None Fetch.requestPaused Some("r1")"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_stops_reading_makes_calls_fail_instead_of_piling_up() {
    let fake = fake(10_000);
    let long = "x".repeat(100_000);
    let calls: Vec<Reply> =
        (0..OUTBOX + 200).map(|_| fake.connection.send(None, &EvaluateParams::new(&*long))).collect();
    let last = calls.into_iter().next_back().unwrap();
    assert!(matches!(last.await, Err(CallError::Busy)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_call_leaves_nothing_behind() {
    let fake = fake(10_000);
    drop(fake.connection.send(None, &EvaluateParams::new("1")));
    assert!(fake.connection.waiting().as_ref().unwrap().is_empty());
}
