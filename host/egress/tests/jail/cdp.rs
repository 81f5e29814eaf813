//! The few words of CDP that these tests need, over the pipe.

use std::os::fd::OwnedFd;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;

use crate::support::within;

pub(crate) struct Cdp {
    commands: pipe::Sender,
    replies: BufReader<pipe::Receiver>,
    last_id: u64,
}

impl Cdp {
    pub(crate) fn new(cdp_in: OwnedFd, cdp_out: OwnedFd) -> Cdp {
        Cdp {
            commands: pipe::Sender::from_owned_fd(cdp_in).unwrap(),
            replies: BufReader::new(pipe::Receiver::from_owned_fd(cdp_out).unwrap()),
            last_id: 0,
        }
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        self.call_in(None, method, params).await
    }

    /// Opens `url` and returns its text once that contains `marker`.
    pub(crate) async fn text_of_page(&mut self, url: &str, marker: &str) -> String {
        let script = format!(
            "new Promise(done => {{ const look = () => document.body?.innerText.includes({marker:?}) \
             ? done(document.body.innerText) : setTimeout(look, 20); look(); }})"
        );
        self.value_in_page(url, &script).await
    }

    /// Opens `url` and returns what `script` comes to there, once the page has loaded.
    pub(crate) async fn value_in_page(&mut self, url: &str, script: &str) -> String {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" })).await["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await;
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        self.call_in(Some(&session), "Page.enable", json!({})).await;
        let params = json!({ "url": url });
        self.call_in(Some(&session), "Page.navigate", params).await;
        while within(self.next()).await["method"] != "Page.domContentEventFired" {}
        let params = json!({ "expression": script, "awaitPromise": true });
        let result = self.call_in(Some(&session), "Runtime.evaluate", params).await;
        result["result"]["value"].as_str().unwrap_or_default().to_owned()
    }

    async fn call_in(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).await.unwrap();
        loop {
            let message = within(self.next()).await;
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    async fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        loop {
            match self.replies.read_u8().await.expect("Chromium closed its pipe") {
                0 => return serde_json::from_slice(&bytes).unwrap(),
                byte => bytes.push(byte),
            }
        }
    }
}

/// All that is written to the pipe until its end.
pub(crate) async fn read_to_end(cdp_out: OwnedFd) -> String {
    let mut text = String::new();
    pipe::Receiver::from_owned_fd(cdp_out).unwrap().read_to_string(&mut text).await.unwrap();
    text
}
