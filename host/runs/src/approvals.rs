//! Calls that wait for a person: asked once, answered once, refused at their deadline.
//!
//! An approval belongs to the exact call that asked: the call holds it and goes on only by its answer, so what a person
//! approved can't be swapped for something else. Whoever answers sees only redacted text.
//!
//! Not here: which calls wait ([`crate::binding`]), and by which way an answer comes in (the front ends).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use tokio::{
    sync::{oneshot, watch},
    time::Instant,
};
use transom_policy::redact::Redacted;

use crate::journal::unix_ms;

/// A call that waits.
#[derive(Clone, Debug, Serialize)]
pub struct Approval {
    /// Its id: `appr_…`.
    pub id: String,
    /// The run that it belongs to.
    pub run: String,
    /// The tool's full name.
    pub tool: Redacted<String>,
    /// One line for the person: what will happen.
    pub what: Redacted<String>,
    /// The call's arguments.
    pub arguments: Redacted<Value>,
    /// Since when it waits, in milliseconds since 1970 UTC.
    pub asked_at: i64,
    /// Until when it waits, in milliseconds since 1970 UTC.
    pub deadline: i64,
}

/// What a person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Approve,
    /// Don't.
    Reject,
}

/// How the wait ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Answered { answer: Answer, by: String },
    TimedOut,
}

/// Why an answer was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// Nothing of that id waits: it was answered, or its deadline passed, or it never was.
    #[error("no call waits under this id: it was answered already, its time ran out, or there never was one")]
    NotWaiting,
}

/// What a call asks a person.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub run: String,
    pub tool: Redacted<String>,
    pub what: Redacted<String>,
    pub arguments: Redacted<Value>,
    pub timeout: Duration,
}

/// All calls that wait, of all runs of a host. A cheap handle.
#[derive(Clone, Debug)]
pub struct Approvals {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    waiting: Mutex<BTreeMap<String, Waiting>>,
    /// Counts changes, so that a watcher can't miss one.
    changes: watch::Sender<u64>,
}

#[derive(Debug)]
struct Waiting {
    approval: Approval,
    answer: oneshot::Sender<(Answer, String)>,
}

impl Default for Approvals {
    fn default() -> Approvals {
        Approvals { inner: Arc::new(Inner { waiting: Mutex::default(), changes: watch::Sender::new(0) }) }
    }
}

impl Approvals {
    fn waiting(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Waiting>> {
        self.inner.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls that wait, oldest first.
    #[must_use]
    pub fn pending(&self) -> Vec<Approval> {
        self.waiting().values().map(|each| each.approval.clone()).collect()
    }

    /// Answers a call that waits. `by` says who, for the journal.
    ///
    /// # Errors
    /// When nothing of that id waits (any more).
    pub fn answer(&self, id: &str, answer: Answer, by: &str) -> Result<Approval, AnswerError> {
        let Waiting { approval, answer: reply } = self.waiting().remove(id).ok_or(AnswerError::NotWaiting)?;
        self.inner.changes.send_modify(|n| *n += 1);
        // The call may have been taken back in this very moment: then nobody acts on the answer.
        reply.send((answer, by.to_owned())).map_err(|_| AnswerError::NotWaiting)?;
        Ok(approval)
    }

    /// Tells of changes: each new question, answer and timeout counts the number up.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Asks, and waits for the answer until the deadline.
    ///
    /// # Cancel safety
    /// Dropping the future takes the question back.
    pub(crate) async fn ask(&self, question: Question, asked: impl FnOnce(&Approval)) -> Verdict {
        let (answer, answered) = oneshot::channel();
        let id = format!("appr_{}", ulid::Ulid::new());
        let asked_at = unix_ms();
        let approval = Approval {
            id: id.clone(),
            run: question.run,
            tool: question.tool,
            what: question.what,
            arguments: question.arguments,
            asked_at,
            deadline: asked_at.saturating_add(i64::try_from(question.timeout.as_millis()).unwrap_or(i64::MAX)),
        };
        let until = Instant::now() + question.timeout;
        self.waiting().insert(id.clone(), Waiting { approval: approval.clone(), answer });
        let _taken_back = TakeBack { approvals: self, id };
        self.inner.changes.send_modify(|n| *n += 1);
        asked(&approval);
        match tokio::time::timeout_at(until, answered).await {
            Ok(Ok((answer, by))) => Verdict::Answered { answer, by },
            Ok(Err(_)) | Err(_) => Verdict::TimedOut,
        }
    }
}

struct TakeBack<'a> {
    approvals: &'a Approvals,
    id: String,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        let was_waiting = self.approvals.waiting().remove(&self.id).is_some();
        if was_waiting {
            self.approvals.inner.changes.send_modify(|n| *n += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use transom_policy::redact::Redactor;

    use super::*;

    fn question(timeout: Duration) -> Question {
        let redactor = Redactor::none();
        Question {
            run: "run_1".into(),
            tool: redactor.text("shop.upload"),
            what: redactor.text("attach orders.csv"),
            arguments: redactor.value(&json!({})),
            timeout,
        }
    }

    #[tokio::test]
    async fn an_answer_is_taken_once() {
        let approvals = Approvals::default();
        let asking = approvals.clone();
        let mut changes = approvals.changes();
        let call = tokio::spawn(async move { asking.ask(question(Duration::from_secs(60)), |_| ()).await });
        changes.changed().await.unwrap();
        let id = approvals.pending()[0].id.clone();
        assert_eq!(approvals.answer("appr_x", Answer::Approve, "me").unwrap_err(), AnswerError::NotWaiting);
        approvals.answer(&id, Answer::Reject, "me").unwrap();
        assert_eq!(call.await.unwrap(), Verdict::Answered { answer: Answer::Reject, by: "me".into() });
        assert_eq!(approvals.answer(&id, Answer::Approve, "me").unwrap_err(), AnswerError::NotWaiting);
        assert!(approvals.pending().is_empty());
    }

    #[tokio::test]
    async fn nobody_answers_and_the_question_is_gone_at_its_deadline() {
        let approvals = Approvals::default();
        assert_eq!(approvals.ask(question(Duration::from_millis(1)), |_| ()).await, Verdict::TimedOut);
        assert!(approvals.pending().is_empty());
    }

    #[tokio::test]
    async fn a_call_that_is_taken_back_takes_its_question_along() {
        let approvals = Approvals::default();
        let asking = approvals.clone();
        let mut changes = approvals.changes();
        let call = tokio::spawn(async move { asking.ask(question(Duration::from_secs(60)), |_| ()).await });
        changes.changed().await.unwrap();
        let id = approvals.pending()[0].id.clone();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        assert_eq!(approvals.answer(&id, Answer::Approve, "me").unwrap_err(), AnswerError::NotWaiting);
    }
}
