//! A browser, its sites and its hooks, so that a test is a few lines.

mod chromium;
mod hooks;
mod site;

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tokio::time::Instant;
use transom_browser::{Browser, BrowserOptions, Performed};
use transom_verbs::{Call, ToolError, Verb, error::Reason};

pub(crate) use chromium::Chromium;
pub(crate) use hooks::TestHooks;
pub(crate) use site::{Answer, Site};

/// A browser, the sites that it can reach, and what it asked for.
pub(crate) struct Fixture {
    pub(crate) browser: Browser,
    pub(crate) site: Site,
    pub(crate) hooks: Arc<TestHooks>,
    pub(crate) chromium: Chromium,
}

/// What a call gave, as JSON.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) value: Value,
    pub(crate) state: Value,
}

impl std::ops::Index<&str> for Got {
    type Output = Value;
    fn index(&self, key: &str) -> &Value {
        &self.value[key]
    }
}

/// A browser with these pages: `("a/path", html)` is that path on the host `a.localhost`. `{port}` in a page is the server's.
pub(crate) async fn browser(pages: &[(&str, &str)]) -> Fixture {
    browser_with(pages, |_| {}).await
}

pub(crate) async fn browser_with(pages: &[(&str, &str)], change: impl FnOnce(&mut BrowserOptions)) -> Fixture {
    let site = Site::new();
    for (place, html) in pages {
        site.page(place, html);
    }
    let chromium = Chromium::start();
    let hooks = Arc::new(TestHooks::new(chromium.downloads(), chromium.uploads()));
    let mut options = BrowserOptions::new(chromium.downloads().to_str().unwrap());
    change(&mut options);
    if let Some(start) = &mut options.start_url {
        *start = site.url(start);
    }
    let (chromium, read, write) = chromium.into_parts();
    let browser = Browser::connect(read, write, options, hooks.clone()).await.unwrap();
    Fixture { browser, site, hooks, chromium }
}

impl Fixture {
    /// Calls a verb, and returns its result or its error.
    pub(crate) async fn try_call(&self, verb: &str, arguments: Value) -> Result<Got, ToolError> {
        let call = Call::parse(Verb::from_name(verb).unwrap(), &arguments)?;
        let deadline = Instant::now() + call.deadline();
        let began = Instant::now();
        let result = self.browser.perform(&call, deadline).await;
        assert!(Instant::now() <= deadline + Duration::from_millis(500), "{verb} took {:?}", began.elapsed());
        let Performed { outcome, state } = result?;
        Ok(Got { value: serde_json::to_value(outcome).unwrap(), state: serde_json::to_value(state).unwrap() })
    }

    /// Calls a verb that has to succeed.
    pub(crate) async fn call(&self, verb: &str, arguments: Value) -> Got {
        match self.try_call(verb, arguments.clone()).await {
            Ok(got) => got,
            Err(error) => panic!("{verb} {arguments}: {error:?}"),
        }
    }

    /// Calls a verb that has to fail.
    pub(crate) async fn fail(&self, verb: &str, arguments: Value) -> ToolError {
        match self.try_call(verb, arguments.clone()).await {
            Ok(got) => panic!("{verb} {arguments} succeeded: {got:?}"),
            Err(error) => error,
        }
    }

    /// Calls a verb that has to fail for this reason, and returns its message.
    pub(crate) async fn fail_for(&self, verb: &str, arguments: Value, reason: Reason) -> String {
        let error = self.fail(verb, arguments).await;
        assert!(error.is(reason), "{error:?}");
        error.message
    }

    pub(crate) async fn go(&self, place: &str) -> Got {
        self.call("navigate", serde_json::json!({"url": self.site.url(place)})).await
    }

    pub(crate) async fn eval(&self, script: &str) -> Value {
        self.call("evaluate", serde_json::json!({"script": script})).await["value"].clone()
    }

    pub(crate) async fn text(&self) -> String {
        self.call("extract", serde_json::json!({})).await["text"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn snapshot(&self) -> String {
        self.call("snapshot", serde_json::json!({})).await["snapshot"].as_str().unwrap().to_owned()
    }

    /// The ref in the first line of a snapshot that holds `what`.
    pub(crate) async fn ref_of(&self, what: &str) -> String {
        let snapshot = self.snapshot().await;
        let line = snapshot.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{what} in\n{snapshot}"));
        line.split("[ref=")
            .nth(1)
            .and_then(|rest| rest.split(']').next())
            .unwrap_or_else(|| panic!("{line}"))
            .to_owned()
    }
}
