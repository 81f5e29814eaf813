//! `types`: the tab resource. Everything else in it is plain data.

use wasmtime::{Result, component::Resource};

use crate::{
    bindings::transom::plugin::types::{Host, HostTab},
    state::{State, TabHandle},
};

impl Host for State {}

impl HostTab for State {
    async fn id(&mut self, tab: Resource<TabHandle>) -> Result<String> {
        Ok(self.tab_id(&tab)?.map(String::from).unwrap_or_default())
    }

    async fn drop(&mut self, tab: Resource<TabHandle>) -> Result<()> {
        self.drop_tab(tab)
    }
}
