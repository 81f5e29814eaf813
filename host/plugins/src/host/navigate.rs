//! `navigate`: pages, tabs and waiting.

use transom_verbs::verb::{navigate, tabs, wait};
use wasmtime::component::Resource;

use super::tab_list;
use crate::{
    bindings::transom::plugin::{
        navigate::{Condition, Host, LoadState, NavigateOptions, Waited},
        types::{File, OpenDialog, Page, TabInfo, Until},
    },
    interface::Interface,
    state::{Answer, Args, State, TabHandle},
};

impl Host for State {
    async fn navigate(
        &mut self,
        tab: Resource<TabHandle>,
        url: String,
        options: Option<NavigateOptions>,
    ) -> Answer<Page> {
        let mut args = Args::new(self.tab_id(&tab)?).put("url", url);
        if let Some(NavigateOptions { until, timeout_ms }) = options {
            args = args.opt("until", until.map(until_name)).opt("timeout_ms", timeout_ms);
        }
        self.page("navigate", args).await
    }

    async fn back(&mut self, tab: Resource<TabHandle>, timeout_ms: Option<u32>) -> Answer<Page> {
        let args = Args::new(self.tab_id(&tab)?).opt("timeout_ms", timeout_ms);
        self.page("back", args).await
    }

    async fn forward(&mut self, tab: Resource<TabHandle>, timeout_ms: Option<u32>) -> Answer<Page> {
        let args = Args::new(self.tab_id(&tab)?).opt("timeout_ms", timeout_ms);
        self.page("forward", args).await
    }

    async fn reload(&mut self, tab: Resource<TabHandle>, timeout_ms: Option<u32>) -> Answer<Page> {
        let args = Args::new(self.tab_id(&tab)?).opt("timeout_ms", timeout_ms);
        self.page("reload", args).await
    }

    async fn tabs(&mut self) -> Answer<Vec<TabInfo>> {
        let output = self.verb::<tabs::Output>(Interface::Navigate, "tabs", Args::default()).await?;
        Ok(output.map(tab_list))
    }

    async fn open(&mut self, url: Option<String>, timeout_ms: Option<u32>) -> Answer<Resource<TabHandle>> {
        let args = Args::default().opt("url", url).opt("timeout_ms", timeout_ms);
        let output = self.verb(Interface::Navigate, "open", args).await?;
        self.active_tab(output)
    }

    async fn switch(&mut self, tab: String) -> Answer<Resource<TabHandle>> {
        let output = self.verb(Interface::Navigate, "switch", Args::default().put("tab", tab)).await?;
        self.active_tab(output)
    }

    async fn close(&mut self, tab: Resource<TabHandle>) -> Answer<Vec<TabInfo>> {
        let args = Args::new(self.tab_id(&tab)?);
        let output = self.verb::<tabs::Output>(Interface::Navigate, "close", args).await?;
        Ok(output.map(tab_list))
    }

    async fn wait(
        &mut self,
        tab: Resource<TabHandle>,
        condition: Condition,
        timeout_ms: Option<u32>,
    ) -> Answer<Waited> {
        let args = Args::new(self.tab_id(&tab)?).opt("timeout_ms", timeout_ms);
        let args = match condition {
            Condition::Ms(ms) => args.put("ms", ms),
            Condition::Text(text) => args.put("text", text),
            Condition::TextGone(text) => args.put("text_gone", text),
            Condition::Selector(selector) => args.put("selector", selector),
            Condition::Url(url) => args.put("url", url),
            Condition::State(state) => args.put("state", state_name(state)),
        };
        let output = self.verb::<wait::Output>(Interface::Navigate, "wait", args).await?;
        Ok(output.map(|output| Waited { url: output.url, waited_ms: output.waited_ms }))
    }
}

impl State {
    async fn page(&mut self, verb: &'static str, args: Args) -> Answer<Page> {
        let output = self.verb::<navigate::Output>(Interface::Navigate, verb, args).await?;
        Ok(output.map(|output| Page {
            url: output.url,
            title: output.title,
            status: output.status,
            download: output.download.map(File::from),
            dialog: output.dialog.map(OpenDialog::from),
        }))
    }
}

fn until_name(until: Until) -> &'static str {
    match until {
        Until::Load => "load",
        Until::Domcontentloaded => "domcontentloaded",
        Until::Idle => "idle",
        Until::None => "none",
    }
}

fn state_name(state: LoadState) -> &'static str {
    match state {
        LoadState::Load => "load",
        LoadState::Domcontentloaded => "domcontentloaded",
        LoadState::Idle => "idle",
    }
}
