//! `call`: the tab, the tool's name and the time left.

use tokio::time::Instant;
use wasmtime::{Result, component::Resource};

use crate::{
    bindings::transom::plugin::call::Host,
    state::{State, TabHandle},
};

impl Host for State {
    async fn tab(&mut self) -> Result<Resource<TabHandle>> {
        self.give_tab(self.tab.clone())
    }

    async fn tool(&mut self) -> Result<String> {
        Ok(self.tool.clone())
    }

    async fn time_left(&mut self) -> Result<u32> {
        let left = self.deadline.at.saturating_duration_since(Instant::now());
        Ok(u32::try_from(left.as_millis()).unwrap_or(u32::MAX))
    }
}
