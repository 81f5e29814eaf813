//! The demo's steps: what is called, and what has to hold.
//!
//! Not here: shop, host and run (`stage.rs`), and how it looks (`screen.rs`).

use std::{io, time::Duration};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;
use transom_runs::{
    approvals::{Answer, Approval},
    journal::{Entry, JournalFilter},
};
use transom_verbs::{ErrorCode, ToolError};

use super::{
    leaks::{self, Needles},
    screen::{Screen, StepError},
    shop::{EMAIL, Outside, orders},
    stage::{SECRET, Stage},
};

type StepResult = Result<(), StepError>;

/// How long the upload may take to reach its approval. It is asked before anything else is done.
const ASKED_WITHIN: Duration = Duration::from_secs(10);

/// Characters of a journal row's detail that are shown.
const DETAIL_CHARS: usize = 80;

/// Tells the story until its end or the first step that fails; says whether all held.
pub(super) async fn tell(stage: &Stage, screen: &mut Screen, interactive: bool) -> io::Result<bool> {
    let mut story = Story { stage, screen, heard: Vec::new(), export: None };
    let prologue = story.prologue();
    if !story.close(prologue)? {
        return Ok(false);
    }
    let step = story.orders().await;
    if !story.close(step)? {
        return Ok(false);
    }
    let step = story.download().await;
    if !story.close(step)? {
        return Ok(false);
    }
    let step = story.upload(interactive).await;
    if !story.close(step)? {
        return Ok(false);
    }
    let step = story.outside().await;
    if !story.close(step)? {
        return Ok(false);
    }
    let step = story.journal().await;
    story.close(step)
}

struct Story<'a> {
    stage: &'a Stage,
    screen: &'a mut Screen,
    /// Everything that a caller was told, for the search at the end.
    heard: Vec<String>,
    /// The handle of the exported file.
    export: Option<String>,
}

impl Story<'_> {
    fn close(&mut self, step: StepResult) -> io::Result<bool> {
        self.screen.done(step)
    }

    /// Calls a tool, as a model would, and shows the call.
    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Result<Value, ToolError>, StepError> {
        self.screen.call(tool, &arguments)?;
        let result = self.stage.call(tool, arguments).await;
        let result = result.map(|value| value.into_inner()).map_err(|error| error.into_inner());
        self.heard.push(match &result {
            Ok(value) => value.to_string(),
            Err(error) => format!("{} {error} {}", error.code, error.hint.as_deref().unwrap_or_default()),
        });
        Ok(result)
    }

    /// The same, for a call that has to succeed.
    async fn must(&mut self, tool: &str, arguments: Value) -> Result<Value, StepError> {
        let result = self.call(tool, arguments).await?;
        result.map_err(|error| StepError::not_so(format!("{tool} failed: {}", describe(&error))))
    }

    fn prologue(&mut self) -> StepResult {
        self.screen.step("binding", "A shop, and a binding for it")?;
        self.screen.say(self.stage.binding.trim_end())?;
        self.screen.fact("binding", self.stage.binding.as_str());
        self.screen
            .fact("isolation", json!(self.stage.process.host.bindings().first().map(|binding| binding.isolation)));
        let n_tools = self.stage.run.tools().len();
        self.screen
            .check(n_tools > 0, format!("one run was made, with {n_tools} tools, a browser and a jail of its own"))
    }

    async fn orders(&mut self) -> StepResult {
        self.screen.step("plugin", "A plugin logs in with a password that it never sees, and reads all orders")?;
        let result = self.must("shop.orders_list", json!({"email": EMAIL})).await?;
        let rows: Vec<[String; 5]> = result
            .pointer("/structured/orders")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|order| ["order", "date", "customer", "status", "total"].map(|column| text(order, column)))
            .collect();
        self.screen
            .table(&["Order", "Date", "Customer", "Status", "Total"], rows.iter().map(|row| row.to_vec()).collect())?;
        self.screen.fact("orders", json!(rows));

        let expected: Vec<[String; 5]> = orders::ORDERS
            .iter()
            .map(|order| {
                let status = order.status.name().to_owned();
                [order.number.to_string(), order.date.to_owned(), order.customer.to_owned(), status, order.total()]
            })
            .collect();
        self.screen.check(
            rows == expected,
            format!("all {} orders came back, each as the shop has it", orders::ORDERS.len()),
        )?;
        self.screen.check(
            !Needles::of(self.stage.shop.password()).are_in(result.to_string().as_bytes()),
            "the answer does not hold the password: the host typed it, the component only named it",
        )
    }

    async fn download(&mut self) -> StepResult {
        self.screen.step("download", "A download becomes a file of the run")?;
        let result = self.must("shop.download", json!({"selector": "#export"})).await?;
        let handle = result.pointer("/file/id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = result.pointer("/file/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let size = result.pointer("/file/size").and_then(Value::as_u64).unwrap_or_default();
        self.screen.say(format!("{name}, {size} bytes, known to the caller as {handle}"))?;
        self.screen.fact("file", result.get("file").cloned().unwrap_or_default());
        self.screen.check(name == "orders.csv", "it has the name that the shop gave it")?;

        // As a person fetches it.
        let mut stored = self.stage.run.read_file(&handle).await.map_err(StepError::not_so)?;
        let mut bytes = Vec::new();
        stored.file.read_to_end(&mut bytes).await?;
        let is_whole = bytes == orders::csv().as_bytes() && size == bytes.len() as u64;
        self.screen.check(is_whole, "it is kept byte for byte, and a person can fetch it")?;
        self.export = Some(handle);
        Ok(())
    }

    async fn upload(&mut self, interactive: bool) -> StepResult {
        self.screen.step("approval", "An upload waits for a person")?;
        let handle = self.export.clone().unwrap_or_default();
        self.must("shop.navigate", json!({"url": self.stage.shop.url("/returns")})).await?;
        let arguments = json!({"selector": "#receipt", "file": handle});
        self.screen.call("shop.upload", &arguments)?;

        let upload = self.stage.call("shop.upload", arguments);
        tokio::pin!(upload);
        let waiting = tokio::select! {
            result = &mut upload => Err(StepError::not_so(match result {
                Ok(_) => "the upload did not wait for anybody".to_owned(),
                Err(error) => format!("the upload failed before anybody was asked: {}", describe(error.get())),
            })),
            waiting = tokio::time::timeout(ASKED_WITHIN, asked(self.stage)) => waiting.map_err(|_| StepError::not_so("nobody was asked")),
        }?;
        let approval: Value = serde_json::to_value(&waiting).map_err(StepError::not_so)?;
        let what = text(&approval, "what");
        self.screen.say(format!("waiting: {what}"))?;
        self.screen.fact("asked", what.as_str());
        let (answer, by) = if interactive {
            (ask_at_terminal().await?, "the person at the terminal")
        } else {
            self.screen
                .say("answer: approve, by the demo itself, which stands in for you here (--interactive asks you)")?;
            (Answer::Approve, "the demo, standing in for a person")
        };
        self.stage.process.host.approvals().answer(&waiting.id, answer, by).map_err(StepError::not_so)?;
        let result = upload.await;
        self.screen.fact("approved", answer == Answer::Approve);
        match (answer, result) {
            (Answer::Approve, Ok(_)) => self.submitted().await,
            (Answer::Reject, Err(error)) => self.screen.check(
                error.get().code == ErrorCode::UploadRejected,
                format!("you said no: {}", describe(error.get())),
            ),
            (Answer::Approve, Err(error)) => Err(StepError::not_so(describe(error.get()))),
            (Answer::Reject, Ok(_)) => Err(StepError::not_so("the file was attached although you said no")),
        }
    }

    /// Sends the form, and reads what the shop received.
    async fn submitted(&mut self) -> StepResult {
        self.must("shop.type", json!({"selector": "#reason", "text": "three hinges too many"})).await?;
        self.must("shop.click", json!({"selector": "#send"})).await?;
        let confirmation = self.must("shop.extract", json!({"selector": "#confirmation", "format": "text"})).await?;
        let confirmation = text(&confirmation, "text");
        self.screen.say(format!("the shop: {}", confirmation.split_whitespace().collect::<Vec<_>>().join(" ")))?;
        self.screen.fact("confirmation", confirmation.as_str());
        let csv = orders::csv();
        let sha256: String = Sha256::digest(csv.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let arrived = confirmation.contains("orders.csv") && confirmation.contains(&format!("{} bytes", csv.len()));
        self.screen
            .check(arrived && confirmation.contains(&sha256), "exactly the file that was approved arrived at the shop")
    }

    async fn outside(&mut self) -> StepResult {
        self.screen.step("refusal", "Nothing leaves the allowed hosts")?;
        let address = format!("http://{}/", Outside::HOST);
        match self.call("shop.navigate", json!({"url": address})).await? {
            Err(error) => {
                self.screen.say(describe(&error))?;
                self.screen.check(error.code == ErrorCode::SiteBlocked, "the model can't open another host")?;
            }
            Ok(_) => return Err(StepError::not_so("the model opened another host")),
        }
        // Now from inside: an allowed page tries by a script, a picture and a fetch, then by a link, then by moving itself.
        let page = self.stage.shop.url("/outside");
        self.must("shop.navigate", json!({"url": page})).await?;
        self.must("shop.wait", json!({"text": "The fetch: refused"})).await?;
        self.screen.check(true, "a page's own fetch to another host is refused")?;
        for (selector, what) in
            [("#leave", "a link to another host leads nowhere"), ("#move", "a script can't move the page there")]
        {
            self.must("shop.navigate", json!({"url": page})).await?;
            let told = match self.call("shop.click", json!({"selector": selector})).await? {
                Err(error) => (error.code == ErrorCode::SiteBlocked).then(|| describe(&error)),
                Ok(result) => refusal_in_state(&result),
            };
            match told {
                Some(told) => self.screen.say(told)?,
                None => return Err(StepError::not_so("the click went on, and no refusal was reported")),
            }
            let tabs = self.must("shop.tabs", json!({})).await?;
            self.screen.check(!tabs.to_string().contains(&format!("//{}", Outside::HOST)), what)?;
        }
        let connections = self.stage.outside.connections();
        self.screen.fact("outside_connections", connections);
        self.screen.check(connections == 0, format!("the server outside counted {connections} connections"))?;
        let control = tokio::net::TcpStream::connect(self.stage.outside.addr()).await;
        self.screen.check(
            control.is_ok() && counts_one(&self.stage.outside).await,
            "and it does count: one, from the demo itself",
        )
    }

    async fn journal(&mut self) -> StepResult {
        self.screen.step("journal", "The journal has it all, and the password nowhere")?;
        let filter = JournalFilter { run: Some(self.stage.run.id().to_owned()), after: None, limit: None };
        let entries = self.stage.process.host.journal().entries(filter).await.map_err(StepError::not_so)?;
        self.screen.table(&["", "Who", "Tool", "What", "Detail"], entries.iter().map(row).collect())?;
        self.screen.fact("entries", entries.len());
        let n_of = |kind: &str| entries.iter().filter(|entry| entry.kind == kind).count();
        self.screen.check(
            n_of("intent") > 0 && n_of("intent") == n_of("outcome"),
            format!("each of {} intents has its outcome", n_of("intent")),
        )?;
        self.screen.check(n_of("refusal") > 0 && n_of("approval") > 0, "refusals and approvals are in it")?;

        let typed = entries.iter().any(|entry| entry.detail.to_string().contains(&format!("{{{{secret:{SECRET}}}}}")));
        self.screen
            .check(typed, format!("what was typed as the password is written down as {{{{secret:{SECRET}}}}}"))?;

        let needles = Needles::of(self.stage.shop.password());
        let heard = self.heard.iter().any(|heard| needles.are_in(heard.as_bytes()));
        self.screen
            .check(!heard, format!("none of the {} answers to the caller holds the password", self.heard.len()))?;

        let state = self.stage.state().to_owned();
        let run = Needles::of(self.stage.run.id());
        let searched =
            tokio::task::spawn_blocking(move || Ok((leaks::search(&state, &needles)?, leaks::search(&state, &run)?)));
        let (leaked, control): (leaks::Search, leaks::Search) =
            searched.await.map_err(StepError::not_so)?.map_err(|error: io::Error| StepError::not_so(error))?;
        // The same search finds the run's own id: so it would find a password.
        let is_clean = leaked.found.is_empty() && !control.found.is_empty();
        self.screen
            .check(is_clean, format!("none of the {} files that the host keeps holds the password", leaked.n_files))
    }
}

/// The approval that waits, once one does.
async fn asked(stage: &Stage) -> Approval {
    let approvals = stage.process.host.approvals();
    let mut changes = approvals.changes();
    loop {
        changes.borrow_and_update();
        if let Some(approval) = approvals.pending().into_iter().next() {
            return approval;
        }
        if changes.changed().await.is_err() {
            // The host is gone: the caller's deadline ends this.
            std::future::pending::<()>().await;
        }
    }
}

async fn ask_at_terminal() -> Result<Answer, StepError> {
    crate::output::note("   approve? [y/N]");
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = line.await.map_err(StepError::not_so)??;
    let is_yes = matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    Ok(if is_yes { Answer::Approve } else { Answer::Reject })
}

/// Whether the server outside has counted the demo's own connection. It is accepted a moment after it was opened.
async fn counts_one(outside: &Outside) -> bool {
    let counted = async {
        while outside.connections() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(ASKED_WITHIN, counted).await.is_ok() && outside.connections() == 1
}

/// The refusal that a result reports in its `state`.
fn refusal_in_state(result: &Value) -> Option<String> {
    result.pointer("/state/refused/0/message").and_then(Value::as_str).map(str::to_owned)
}

fn describe(error: &ToolError) -> String {
    let reason = error.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{}{reason}: {}{hint}", error.code, error.message)
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn row(entry: &Entry) -> Vec<String> {
    let detail = entry.detail.to_string();
    let cut: String = detail.chars().take(DETAIL_CHARS).collect();
    let detail = if cut.len() < detail.len() { format!("{cut}…") } else { cut };
    vec![
        entry.seq.to_string(),
        entry.caller.clone(),
        entry.tool.clone().unwrap_or_default(),
        entry.kind.clone(),
        detail,
    ]
}
