//! How the pipe's bytes become messages: JSON texts, each ended by a NUL, none longer than a cap.
//!
//! A message beyond the cap is not kept and does not end the connection: its beginning and its end are, so that whoever waits for
//! it can be told ([`Oversized::reply_id`]) and a request that Chromium holds for us can be let go ([`Oversized::event`]). Without
//! that, one page that posts a very large form would leave its navigation paused for ever.
//!
//! Not here: what a message means.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

/// Bytes kept from each end of a message that is too long. Chromium writes `id` or `method` first and `sessionId` last; a paused
/// request's id comes right behind the method.
const KEPT: usize = 512;

/// One message from Chromium.
#[derive(Debug)]
pub(crate) enum Inbound {
    /// A whole message, without its NUL.
    Message(Bytes),
    /// What is left of one that was longer than the cap.
    Oversized(Oversized),
}

/// The ends of a message that was too long to keep.
#[derive(Debug, Default)]
pub(crate) struct Oversized {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// The message's length in bytes.
    pub(crate) length: u64,
}

impl Oversized {
    fn absorb(&mut self, chunk: &[u8]) {
        self.length += chunk.len() as u64;
        let room = KEPT.saturating_sub(self.head.len()).min(chunk.len());
        self.head.extend(chunk.iter().take(room));
        self.tail.extend_from_slice(chunk.get(chunk.len().saturating_sub(KEPT)..).unwrap_or_default());
        let surplus = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..surplus);
    }

    /// The call that this message answers.
    pub(crate) fn reply_id(&self) -> Option<u64> {
        let head = std::str::from_utf8(&self.head).ok().or_else(|| self.head_text())?;
        let digits: String = head.strip_prefix("{\"id\":")?.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    }

    /// The event that this message is: its method, the session it is for, and the `requestId` that it begins with.
    pub(crate) fn event(&self) -> Option<(String, Option<String>, Option<String>)> {
        let head = self.head_text()?;
        let method = quoted_after(head, "\"method\":\"")?;
        let request = quoted_after(head, "\"requestId\":\"");
        let tail = String::from_utf8_lossy(&self.tail);
        // Only at the very end: the same words inside the page's own data must not pass for the session.
        let session = tail.rfind("},\"sessionId\":\"").and_then(|at| {
            let rest = tail.get(at..)?;
            let id = quoted_after(rest, "\"sessionId\":\"")?;
            rest.ends_with(&format!("\"{id}\"}}")).then_some(id)
        });
        Some((method, session, request))
    }

    fn head_text(&self) -> Option<&str> {
        match std::str::from_utf8(&self.head) {
            Ok(text) => Some(text),
            // The cut may lie inside a character.
            Err(error) => std::str::from_utf8(self.head.get(..error.valid_up_to())?).ok(),
        }
    }
}

fn quoted_after(text: &str, key: &str) -> Option<String> {
    let (_, rest) = text.split_once(key)?;
    let (value, _) = rest.split_once('"')?;
    Some(value.to_owned())
}

/// Splits at NUL. See the module.
#[derive(Debug)]
pub(crate) struct PipeCodec {
    cap: usize,
    /// Bytes of the buffer that are known to hold no NUL, so that a long message is looked through once.
    scanned: usize,
    skipping: Option<Oversized>,
}

impl PipeCodec {
    /// A codec that keeps messages of up to `cap` bytes.
    pub(crate) fn new(cap: usize) -> PipeCodec {
        PipeCodec { cap, scanned: 0, skipping: None }
    }
}

impl Decoder for PipeCodec {
    type Item = Inbound;
    type Error = std::io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Inbound>, std::io::Error> {
        let unseen = buffer.get(self.scanned..).unwrap_or_default();
        let end = memchr::memchr(0, unseen).map(|at| self.scanned + at);
        let Some(end) = end else {
            if self.skipping.is_some() || buffer.len() > self.cap {
                self.skipping.get_or_insert_default().absorb(buffer);
                buffer.clear();
            }
            self.scanned = buffer.len();
            return Ok(None);
        };
        self.scanned = 0;
        let message = buffer.split_to(end);
        buffer.advance(1);
        if self.skipping.is_some() || message.len() > self.cap {
            let mut oversized = self.skipping.take().unwrap_or_default();
            oversized.absorb(&message);
            return Ok(Some(Inbound::Oversized(oversized)));
        }
        Ok(Some(Inbound::Message(message.freeze())))
    }

    /// A half message at the end of the pipe is dropped: Chromium died while writing it.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Inbound>, std::io::Error> {
        let message = self.decode(buffer)?;
        if message.is_none() {
            buffer.clear();
        }
        Ok(message)
    }
}

impl Encoder<Bytes> for PipeCodec {
    type Error = std::io::Error;

    fn encode(&mut self, message: Bytes, buffer: &mut BytesMut) -> Result<(), std::io::Error> {
        buffer.reserve(message.len() + 1);
        buffer.put(message);
        buffer.put_u8(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `bytes` in chunks of `size` and returns what came out, oversized ones as their length.
    fn decode(cap: usize, bytes: &[u8], size: usize) -> Vec<Result<String, Oversized>> {
        let mut codec = PipeCodec::new(cap);
        let mut buffer = BytesMut::new();
        let mut out = Vec::new();
        for chunk in bytes.chunks(size) {
            buffer.extend_from_slice(chunk);
            while let Some(message) = codec.decode(&mut buffer).unwrap() {
                out.push(match message {
                    Inbound::Message(bytes) => Ok(String::from_utf8(bytes.to_vec()).unwrap()),
                    Inbound::Oversized(oversized) => Err(oversized),
                });
            }
        }
        out
    }

    #[test]
    fn messages_are_the_same_however_the_bytes_arrive() {
        for size in [1, 2, 3, 7, 100] {
            let out = decode(100, b"{\"id\":1}\0{}\0{\"id\":2}\0half", size);
            let texts: Vec<_> = out.into_iter().map(Result::unwrap).collect();
            assert_eq!(texts, ["{\"id\":1}", "{}", "{\"id\":2}"]);
        }
    }

    #[test]
    fn a_message_at_the_cap_is_kept_and_one_beyond_is_skipped_without_losing_the_next() {
        for size in [1, 5, 4096] {
            let kept = format!("{{\"id\":7,{}}}", "x".repeat(91));
            let skipped = format!("{{\"id\":8,{}}}", "x".repeat(9000));
            let stream = format!("{kept}\0{skipped}\0{{\"id\":9}}\0");
            let mut out = decode(kept.len(), stream.as_bytes(), size).into_iter();
            assert_eq!(out.next().unwrap().unwrap(), kept);
            let oversized = out.next().unwrap().unwrap_err();
            assert_eq!((oversized.reply_id(), oversized.length), (Some(8), skipped.len() as u64));
            assert_eq!(out.next().unwrap().unwrap(), "{\"id\":9}");
        }
    }

    #[test]
    fn an_oversized_event_still_says_which_request_and_session_it_holds() {
        let fake = r#"},\"sessionId\":\"FAKE\"}"#;
        let event = format!(
            r#"{{"method":"Fetch.requestPaused","params":{{"requestId":"interception-job-3.0","request":{{"postData":"{}{fake}"}}}},"sessionId":"S1"}}"#,
            "é".repeat(3000)
        );
        let out = decode(100, format!("{event}\0").as_bytes(), 64);
        let (method, session, request) = out[0].as_ref().unwrap_err().event().unwrap();
        assert_eq!(method, "Fetch.requestPaused");
        assert_eq!(session.as_deref(), Some("S1"));
        assert_eq!(request.as_deref(), Some("interception-job-3.0"));

        let without =
            format!(r#"{{"method":"Fetch.requestPaused","params":{{"requestId":"r","x":"{}"}}}}"#, "y".repeat(3000));
        let out = decode(100, format!("{without}\0").as_bytes(), 64);
        assert_eq!(out[0].as_ref().unwrap_err().event().unwrap().1, None);
    }
}
