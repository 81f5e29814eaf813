//! `wait`: until something is so.
//!
//! What the browser tells by itself (an address, a load) is waited for by its events. What only the page knows (a text, an element) is
//! watched by the page script, in the page. A script of the caller's has no event, so it is asked again in the page, a few times a
//! second. A page that moves on meanwhile is waited in anew.

use serde_json::{Value, json};
use tokio::time::Instant;
use transom_verbs::{
    Call, ToolError,
    error::Reason,
    verb::wait::{Condition, Input, LoadState, Output},
};

use chromiumoxide_cdp::cdp::js_protocol::runtime::EvaluateParams;

use crate::{
    browser::{Inner, TabView},
    failure,
    motion::Moving,
    page::{Evaluated, PageFault},
    world::Look,
};

/// How often a caller's script is asked whether it is true by now, in milliseconds.
const SCRIPT_EVERY_MS: u32 = 100;

impl Inner {
    pub(crate) async fn wait(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        let condition = input.condition()?;
        let tab = self.ready_tab(call.tab.as_ref())?;
        let began = Instant::now();
        let by = Self::last_words(deadline);
        match condition {
            Condition::Ms(ms) => {
                let until = began + std::time::Duration::from_millis(u64::from(ms));
                tokio::select! {
                    () = tokio::time::sleep_until(until) => {}
                    () = self.connection.lost() => return Err(crate::cdp::CallError::Lost.into()),
                }
            }
            Condition::Text(text) => self.wait_in_page(&tab, "text", text, by).await?,
            Condition::TextGone(text) => self.wait_in_page(&tab, "textGone", text, by).await?,
            Condition::Selector(selector) => self.wait_in_page(&tab, "selector", selector, by).await?,
            Condition::Url(url) => self.wait_for_url(&tab, url, by).await?,
            Condition::State(state) => self.wait_for_state(&tab, state, by).await?,
            Condition::Script(script) => self.wait_for_script(&tab, script, by).await?,
        }
        let waited_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Output { url: self.url_of(&tab.frame), waited_ms })
    }

    async fn wait_in_page(&self, tab: &TabView, what: &str, value: &str, by: Instant) -> Result<(), ToolError> {
        loop {
            let script = match tokio::time::timeout_at(by, self.script_of(tab, &tab.frame)).await {
                Ok(script) => script?,
                Err(_) => return Err(not_in_time()),
            };
            let left = by.saturating_duration_since(Instant::now()).as_millis();
            let arguments = json!({what: value, "timeoutMs": u64::try_from(left).unwrap_or(u64::MAX)});
            match self.ask::<serde::de::IgnoredAny>(tab, &script.context, "wait", &arguments).await {
                Ok(_) => return Ok(()),
                Err(PageFault::Gone) if Instant::now() < by => self.script_change(tab, &script).await?,
                Err(PageFault::Gone) => return Err(not_in_time()),
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    async fn wait_for_url(&self, tab: &TabView, wanted: &str, by: Instant) -> Result<(), ToolError> {
        let waiting = self.shared.until(|world| {
            let Some(frame) = world.frames.get(&tab.frame) else { return Look::Ready(Err(failure::moved_on())) };
            let url = &frame.document.url;
            if url == wanted || url.contains(wanted) {
                Look::Ready(Ok(()))
            } else if Instant::now() >= by {
                Look::Ready(Err(not_in_time()))
            } else {
                Look::At(by)
            }
        });
        waiting.await?
    }

    async fn wait_for_state(&self, tab: &TabView, state: LoadState, by: Instant) -> Result<(), ToolError> {
        let waiting = self.shared.until(|world| {
            let now = Instant::now();
            let (Some(known), Some(frame)) = (world.tabs.with_frame(&tab.frame), world.frames.get(&tab.frame)) else {
                return Look::Ready(Err(failure::moved_on()));
            };
            if known.is_crashed {
                return Look::Ready(Err(failure::crashed()));
            }
            let is_moving = frame.motion.moving(now) == Moving::Started;
            let document = &frame.document;
            let quiet = match state {
                LoadState::Idle => known.activity.quiet(now),
                LoadState::Load | LoadState::Domcontentloaded => Ok(()),
            };
            let has_come = match state {
                LoadState::Domcontentloaded => document.is_ready,
                LoadState::Load | LoadState::Idle => document.is_loaded,
            };
            match quiet {
                Ok(()) if has_come && !is_moving => Look::Ready(Ok(())),
                _ if now >= by => Look::Ready(Err(not_in_time())),
                Err(time) => Look::At(time.min(by)),
                Ok(()) => Look::At(by),
            }
        });
        waiting.await?
    }

    async fn wait_for_script(&self, tab: &TabView, script: &str, by: Instant) -> Result<(), ToolError> {
        self.refuse_where_secrets_are(tab)?;
        let script = script.trim().trim_end_matches(';');
        loop {
            let left = by.saturating_duration_since(Instant::now()).as_millis();
            // The page's own timers: they run in front of or behind whatever the page does.
            let expression = format!(
                "(async () => {{ const until = performance.now() + {left}; for (;;) {{ \
                 if (await (async () => (\n{script}\n))()) return true; \
                 if (performance.now() >= until) return false; \
                 await new Promise((done) => setTimeout(done, {SCRIPT_EVERY_MS})); }} }})()"
            );
            let mut command = EvaluateParams::new(expression);
            command.return_by_value = Some(true);
            command.await_promise = Some(true);
            let context = self.script_of(tab, &tab.frame).await?;
            let answer = match tokio::time::timeout_at(by, self.answer_of(tab, tab.session.send(&command))).await {
                Err(_) => return Err(not_in_time()),
                Ok(answer) => answer?,
            };
            let answer: Evaluated<Value> = match answer {
                Ok(answer) => serde_json::from_slice(&answer).map_err(|_| failure::moved_on())?,
                Err(error) if error.is_context_gone() && Instant::now() < by => {
                    self.script_change(tab, &context).await?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if let Some(exception) = answer.exception_details {
                let message = format!("the script threw: {}", crate::evaluate::message_of(&exception));
                return Err(ToolError::failed(Reason::Script, message));
            }
            return if answer.result.value == Some(Value::Bool(true)) { Ok(()) } else { Err(not_in_time()) };
        }
    }
}

fn not_in_time() -> ToolError {
    ToolError::failed(Reason::Timeout, "what was waited for did not come in time")
}
