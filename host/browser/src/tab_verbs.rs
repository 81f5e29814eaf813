//! `tabs`, `open`, `switch` and `close`.

use chromiumoxide_cdp::cdp::browser_protocol::{
    page::BringToFrontParams,
    target::{CloseTargetParams, GetTargetsParams},
};
use serde::Deserialize;
use tokio::time::Instant;
use transom_verbs::{
    Call, ToolError,
    verb::{
        navigate::Until,
        open,
        tabs::{Output, Tab},
    },
};

use crate::{browser::Inner, frames::is_error_page, world::Look};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Targets {
    target_infos: Vec<Target>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    target_id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
}

impl Target {
    /// The page's own title: Chromium shows the address, in several spellings, for a page that has none.
    fn own_title(self) -> String {
        let address = self.url.trim_end_matches('/');
        let is_address = !self.title.is_empty()
            && (self.url.contains(&self.title) || address.ends_with(self.title.trim_end_matches('/')));
        if is_address { String::new() } else { self.title }
    }
}

impl Inner {
    pub(crate) async fn list_tabs(&self) -> Result<Output, ToolError> {
        // From the browser itself: a page that is busy or stopped must not keep the list.
        let targets: Targets = self.browser().send(&GetTargetsParams::default()).parsed().await?;
        let mut titles: std::collections::HashMap<String, String> =
            targets.target_infos.into_iter().map(|target| (target.target_id.clone(), target.own_title())).collect();
        Ok(self.shared.look(|world| {
            let active = world.tabs.active().map(|tab| tab.id.clone());
            let tabs = world.tabs.shown().map(|tab| {
                let url = world.frames.get(&tab.frame).map(|frame| frame.document.url.clone()).unwrap_or_default();
                let title = titles.remove(tab.frame.as_str()).filter(|_| !is_error_page(&url)).unwrap_or_default();
                Tab { tab: tab.id.clone(), title, url, active: active.as_ref() == Some(&tab.id) }
            });
            Output { tabs: tabs.collect() }
        }))
    }

    pub(crate) async fn open(&self, input: &open::Input, deadline: Instant) -> Result<Output, ToolError> {
        let url = match (&input.url, &self.options.start_url) {
            (Some(url), _) | (None, Some(url)) => Some(self.judged_address(url)?),
            (None, None) => None,
        };
        let tab = self.new_tab().await?;
        let _turn = tab.turn.lock().await;
        if let Some(url) = url
            && let Err(error) = self.load(&tab, &url, Until::Load, deadline).await
        {
            self.discard(&tab);
            return Err(error);
        }
        self.list_tabs().await
    }

    pub(crate) async fn switch(&self, call: &Call) -> Result<Output, ToolError> {
        let Some(id) = &call.tab else {
            return Err(ToolError::invalid("`tab` is missing: name the tab to switch to, like `t2`"));
        };
        let tab = self.tab(Some(id))?;
        tab.session.post(&BringToFrontParams::default());
        self.shared.look(|world| {
            world.tabs.set_active(id);
            world.tabs.front = Some(id.clone());
        });
        self.list_tabs().await
    }

    pub(crate) async fn close_tab(&self, call: &Call) -> Result<Output, ToolError> {
        let tab = self.tab(call.tab.as_ref())?;
        self.browser().call(&CloseTargetParams::new(tab.frame.as_str().to_owned())).await?;
        self.shared
            .until(|world| match world.tabs.get(&tab.id) {
                Some(_) => Look::Later,
                None => {
                    world.changes.told_closed(&tab.id);
                    Look::Ready(())
                }
            })
            .await?;
        self.list_tabs().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_stands_for_a_title_is_none() {
        let title = |title: &str, url: &str| {
            Target { target_id: String::new(), title: title.into(), url: url.into() }.own_title()
        };
        assert_eq!(title("shop.test/a", "http://shop.test/a"), "");
        assert_eq!(title("http://shop.test/", "http://shop.test/"), "");
        assert_eq!(title("shop.test", "http://shop.test/"), "");
        assert_eq!(title("about:blank", "about:blank"), "");
        assert_eq!(title("Shop", "http://shop.test/"), "Shop");
    }
}
