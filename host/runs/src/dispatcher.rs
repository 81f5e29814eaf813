//! The only way through: every call, from a model or from inside a plugin, is one `perform`.
//!
//! ```text
//! grant → input → approval → intent row → act → live page → redact → outcome row → result
//! ```
//!
//! What leaves is [`Redacted`], which only the redactor makes; no front end and no guest takes anything else. A call that is refused
//! before it acts has one refusal row; one that acts has an intent row before and an outcome row after, whatever happens in
//! between.
//!
//! Not here: the checks before acting (`admission.rs`), the words for a person (`question.rs`), how a verb is performed (`session.rs`).

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;
use transom_policy::redact::{Redacted, Redactor};
use transom_verbs::{Call, ErrorCode, Reason, Retry, ToolError, Verb};

use crate::{
    admission::{self, Admitted, Work},
    approvals::{Answer, Approvals, Verdict},
    caller::Caller,
    cut::Cut,
    journal::{Journal, Kind, Record},
    plugin_caller::PluginCaller,
    question::{self, AskedOn},
    run::RunInner,
    session::{Moment, Session, run_ended},
    settings::ApprovalRule,
};

/// What a caller gets: a result object, or an error.
pub type CallResult = Result<Redacted<Value>, Redacted<ToolError>>;

/// How often a call that waits for a person says so.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Longest message of an error, a dialog or a change that is told, in characters. The browser layer collects more of a page's text than
/// this, so that no secret is cut in half before the redactor has seen it.
const MESSAGE_CHARS: usize = 1_200;

/// What a caller may add to a call.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// Takes the call back when it is cancelled.
    pub cancel: CancellationToken,
    /// Told while the call waits for a person.
    pub progress: Option<mpsc::Sender<Progress>>,
}

/// Word from a call that waits.
#[derive(Clone, Debug)]
pub struct Progress {
    /// For how long it has waited.
    pub elapsed: Duration,
    /// What it waits for.
    pub message: String,
}

/// What all runs of a host share on the way through.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    pub redactor: Redactor,
    pub journal: Journal,
    pub approvals: Approvals,
}

/// The rows of one call.
struct Rows<'a> {
    dispatcher: &'a Dispatcher,
    run: &'a RunInner,
    call: String,
    caller: String,
    tool: &'a str,
}

impl Rows<'_> {
    async fn write(&self, kind: Kind, detail: &Value) -> Result<(), ToolError> {
        let record = Record {
            run: self.run.id.clone(),
            call: Some(self.call.clone()),
            caller: self.caller.clone(),
            tool: Some(self.dispatcher.redactor.text(self.tool)),
            kind,
            detail: self.dispatcher.redactor.value(detail),
        };
        self.dispatcher.journal.write(record).await.map(|_| ()).map_err(|error| {
            tracing::error!(%error, "the journal failed");
            ToolError::new(
                ErrorCode::BrowserUnavailable,
                "the call was not performed: the host's journal can't be written",
            )
        })
    }
}

impl Dispatcher {
    /// Performs one call of a tool.
    ///
    /// # Errors
    /// Whatever stands between the call and its result, redacted.
    ///
    /// # Cancel safety
    /// Run it in a task of its own: a dropped future may leave an intent row without an outcome row.
    pub(crate) async fn perform(
        self: &Arc<Self>,
        run: &Arc<RunInner>,
        caller: &Caller,
        tool: &str,
        arguments: &Value,
        options: &CallOptions,
    ) -> CallResult {
        let rows =
            Rows { dispatcher: self, run, call: ulid::Ulid::new().to_string(), caller: caller.to_string(), tool };
        let result = self.perform_checked(&rows, run, caller, arguments, options).await;
        result.map_err(|error| self.redactor.error(&error).cut_message(MESSAGE_CHARS))
    }

    async fn perform_checked(
        self: &Arc<Self>,
        rows: &Rows<'_>,
        run: &Arc<RunInner>,
        caller: &Caller,
        arguments: &Value,
        options: &CallOptions,
    ) -> Result<Redacted<Value>, ToolError> {
        let admitted = match self.admit(rows, run, caller, arguments, options).await {
            Ok(admitted) => admitted,
            Err(error) => {
                rows.write(Kind::Refusal, &json!({"arguments": arguments, "error": &error})).await?;
                return Err(error);
            }
        };
        rows.write(Kind::Intent, &json!({"arguments": arguments})).await?;
        let began = Instant::now();
        let result = self.act(run, caller, admitted, options).await;
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let detail = match &result {
            Ok(value) => summary(value.get(), ms),
            Err(error) => json!({"ms": ms, "error": error}),
        };
        if let Err(error) = rows.write(Kind::Outcome, &detail).await {
            // It was performed; that its row is lost must not read as if it was not.
            return Err(ToolError::failed(
                Reason::OutcomeUnknown,
                error.message.replace("was not performed", "was performed, but not written down"),
            ));
        }
        result
    }

    /// Everything that stands before acting: grant, input, approval.
    async fn admit(
        &self,
        rows: &Rows<'_>,
        run: &RunInner,
        caller: &Caller,
        arguments: &Value,
        options: &CallOptions,
    ) -> Result<Admitted, ToolError> {
        if run.is_ended() {
            return Err(run_ended());
        }
        let admitted = admission::admit(run, caller, rows.tool, arguments)?;
        let (rule_name, rule) = admitted.rule();
        match rule {
            ApprovalRule::Allow => Ok(admitted),
            ApprovalRule::Deny => Err(ToolError::new(
                ErrorCode::NotGranted,
                format!("refused: the operator's rule for `{}` is to deny it", rows.tool),
            )
            .with_hint(format!("an operator can change `{rule_name} = \"deny\"` under `approvals` of the binding"))),
            ApprovalRule::Ask => {
                let asked_on = AskedOn::now(&admitted);
                self.ask(rows, run, &admitted, arguments, options).await?;
                Ok(Admitted { asked_on, ..admitted })
            }
        }
    }

    async fn ask(
        &self,
        rows: &Rows<'_>,
        run: &RunInner,
        admitted: &Admitted,
        arguments: &Value,
        options: &CallOptions,
    ) -> Result<(), ToolError> {
        let question = question::about(run, admitted, rows.tool, arguments, &self.redactor);
        let what = question.what.get().clone();
        rows.write(Kind::Approval, &json!({"asked": &what})).await?;
        let began = Instant::now();
        let mut ticks = tokio::time::interval_at(began + PROGRESS_EVERY, PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let asking =
            self.approvals.ask(question, |approval| tracing::info!(id = approval.id, "a call waits for a person"));
        tokio::pin!(asking);
        let verdict = loop {
            tokio::select! {
                biased;
                verdict = &mut asking => break verdict,
                () = options.cancel.cancelled() => return Err(ToolError::failed(Reason::Cancelled, "the call was taken back before a person answered; nothing was done")),
                () = run.cancel.cancelled() => return Err(run_ended()),
                _ = ticks.tick() => {
                    if let Some(progress) = &options.progress {
                        // A reader that is behind has news enough.
                        let _ = progress.try_send(Progress { elapsed: began.elapsed(), message: format!("waiting for a person: {what}") });
                    }
                }
            }
        };
        let (approved, detail) = match &verdict {
            Verdict::Answered { answer, by } => (
                *answer == Answer::Approve,
                json!({"answer": if *answer == Answer::Approve { "approve" } else { "reject" }, "by": by}),
            ),
            Verdict::TimedOut => (false, json!({"answer": null})),
        };
        rows.write(Kind::Approval, &detail).await?;
        if approved {
            return Ok(());
        }
        let is_upload = admitted.verb() == Some(Verb::Upload);
        Err(match (verdict, is_upload) {
            (Verdict::Answered { .. }, true) => {
                ToolError::new(ErrorCode::UploadRejected, "a person rejected the upload; nothing was attached")
            }
            (Verdict::Answered { .. }, false) => {
                ToolError::new(ErrorCode::ApprovalRejected, "a person rejected the call; nothing was done")
            }
            (Verdict::TimedOut, true) => {
                ToolError::new(ErrorCode::UploadTimedOut, "nobody answered in time; nothing was attached")
            }
            (Verdict::TimedOut, false) => {
                ToolError::new(ErrorCode::ApprovalTimedOut, "nobody answered in time; nothing was done")
            }
        })
    }

    async fn act(
        self: &Arc<Self>,
        run: &Arc<RunInner>,
        caller: &Caller,
        admitted: Admitted,
        options: &CallOptions,
    ) -> Result<Redacted<Value>, ToolError> {
        let may_have_happened = match &admitted.work {
            Work::Verb(call) => call.retry() == Retry::Never,
            Work::Tool { .. } => true,
        };
        let working = async {
            let Admitted { prefix, work, asked_on } = admitted;
            match work {
                Work::Verb(call) => {
                    self.act_verb(&prefix.session, &prefix.binding, caller, asked_on.as_ref(), call).await
                }
                Work::Tool { plugin, tool, arguments } => {
                    let host = PluginCaller::new(
                        self.clone(),
                        run.clone(),
                        prefix.binding.prefix.clone(),
                        plugin.clone(),
                        options.cancel.clone(),
                    );
                    let result = plugin.call(&tool, arguments, None, Arc::new(host)).await?;
                    Ok(self.redactor.value(&result))
                }
            }
        };
        tokio::select! {
            biased;
            result = working => result,
            () = options.cancel.cancelled() => Err(ToolError::failed(Reason::Cancelled, if may_have_happened {
                "the call was taken back while it was under way: it may have happened"
            } else {
                "the call was taken back"
            })),
            () = run.cancel.cancelled() => Err(run_ended()),
        }
    }

    async fn act_verb(
        &self,
        session: &Session,
        binding: &crate::binding::Binding,
        caller: &Caller,
        asked_on: Option<&AskedOn>,
        mut call: Call,
    ) -> Result<Redacted<Value>, ToolError> {
        let cut = Cut::widen(&mut call, self.redactor.margin_chars());
        let check = |moment: Moment, address: &str| {
            binding.admit(address)?;
            caller.admit(address)?;
            match asked_on {
                // What a person agreed to begins on the site that they were told; it may well lead to another.
                Some(asked) if moment == Moment::Before => asked.still_holds(address),
                _ => Ok(()),
            }
        };
        let performed = session.perform(&call, &check).await?;
        let mut value = serde_json::to_value(&performed.outcome).map_err(|error| {
            tracing::error!(%error, "an outcome is no JSON");
            ToolError::failed(Reason::Script, "the result is no JSON")
        })?;
        if let (Some(object), false) = (value.as_object_mut(), performed.state.is_empty()) {
            object.insert("state".into(), serde_json::to_value(&performed.state).unwrap_or_default());
        }
        let mut redacted = self.redactor.value(&value);
        cut.apply(&mut redacted);
        for told in ["state", "dialog", "message"] {
            redacted.cut_within(told, MESSAGE_CHARS);
        }
        Ok(redacted)
    }
}

/// What an outcome row keeps of a result: where it led and which file it made, not the page's text.
fn summary(result: &Value, ms: u64) -> Value {
    let mut row = json!({"ms": ms, "ok": true});
    if let Some(row) = row.as_object_mut() {
        for field in ["url", "status", "opened_tab", "state"] {
            if let Some(value) = result.get(field) {
                row.insert(field.into(), value.clone());
            }
        }
        if let Some(file) = result.get("file").or_else(|| result.get("download")) {
            row.insert("file".into(), file.clone());
        }
    }
    row
}
