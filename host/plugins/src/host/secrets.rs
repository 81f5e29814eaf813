//! `secrets`: typing by name. The value is put in behind [`Host::verb`](crate::Host::verb) and never comes here.

use transom_verbs::verb::click;
use transom_verbs::{ErrorCode, ToolError};
use wasmtime::{Result, component::Resource};

use crate::{
    bindings::transom::plugin::{
        secrets::Host,
        types::{Acted, Target},
    },
    interface::Interface,
    state::{Answer, Args, State, TabHandle},
};

/// Longest name that a refusal repeats, in characters.
const NAME_SHOWN_CHARS: usize = 40;

impl Host for State {
    async fn names(&mut self) -> Result<Vec<String>> {
        Ok(self.host.secret_names())
    }

    async fn type_secret(
        &mut self,
        tab: Resource<TabHandle>,
        target: Target,
        name: String,
        submit: bool,
    ) -> Answer<Acted> {
        let args = Args::new(self.tab_id(&tab)?).target(Some(target));
        // Checked here too, since the name goes into a text with a syntax of its own.
        if !self.host.secret_names().contains(&name) {
            let shown: String = name.chars().filter(|c| !c.is_control()).take(NAME_SHOWN_CHARS).collect();
            let error = ToolError::new(
                ErrorCode::NotGranted,
                format!("the secret `{shown}` is not one that this plugin may type"),
            )
            .with_hint(format!("add \"{shown}\" to secrets of this plugin's [[binding.plugin]]"));
            return Ok(Err(self.give_error(error)));
        }
        let args = args.put("text", format!("{{{{secret:{name}}}}}")).put("mode", "replace").flag("submit", submit);
        let output = self.verb::<click::Output>(Interface::Secrets, "type", args).await?;
        self.acted(output)
    }
}
