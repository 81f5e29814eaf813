//! `script`: JavaScript in pages.

use transom_verbs::verb::{evaluate, wait};
use wasmtime::component::Resource;

use crate::{
    bindings::transom::plugin::{
        script::{Evaluated, Host},
        types::{OpenDialog, Target},
    },
    interface::Interface,
    state::{Answer, Args, State, TabHandle},
};

impl Host for State {
    async fn evaluate(
        &mut self,
        tab: Resource<TabHandle>,
        script: String,
        target: Option<Target>,
        timeout_ms: Option<u32>,
    ) -> Answer<Evaluated> {
        let args = Args::new(self.tab_id(&tab)?).put("script", script).target(target).opt("timeout_ms", timeout_ms);
        let output = self.verb::<evaluate::Output>(Interface::Script, "evaluate", args).await?;
        Ok(output
            .map(|output| Evaluated { value: output.value.to_string(), dialog: output.dialog.map(OpenDialog::from) }))
    }

    async fn wait_for(&mut self, tab: Resource<TabHandle>, script: String, timeout_ms: Option<u32>) -> Answer<u64> {
        let args = Args::new(self.tab_id(&tab)?).put("script", script).opt("timeout_ms", timeout_ms);
        let output = self.verb::<wait::Output>(Interface::Script, "wait", args).await?;
        Ok(output.map(|output| output.waited_ms))
    }
}
