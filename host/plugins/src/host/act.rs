//! `act`: clicking, typing and answering dialogs.

use serde_json::Value;
use transom_verbs::verb::{click, dialog};
use transom_verbs::{ErrorCode, ToolError};
use wasmtime::component::Resource;

use super::kind;
use crate::{
    bindings::transom::plugin::{
        act::{Button, ClickOptions, Host, Modifiers, TypeMode, TypeOptions},
        types::{Acted, OpenDialog, Target},
    },
    interface::Interface,
    state::{Answer, Args, State, TabHandle},
};

/// How every placeholder of a secret begins.
const SECRET_PLACEHOLDER: &str = "{{secret:";

impl Host for State {
    async fn click(
        &mut self,
        tab: Resource<TabHandle>,
        target: Target,
        options: Option<ClickOptions>,
    ) -> Answer<Acted> {
        let mut args = Args::new(self.tab_id(&tab)?).target(Some(target));
        if let Some(ClickOptions { button, count, modifiers, timeout_ms }) = options {
            let button = button.map(|button| match button {
                Button::Left => "left",
                Button::Right => "right",
                Button::Middle => "middle",
            });
            args = args.opt("button", button).opt("count", count).opt("timeout_ms", timeout_ms);
            let modifiers = modifier_names(modifiers);
            if !modifiers.is_empty() {
                args = args.put("modifiers", modifiers);
            }
        }
        let output = self.verb::<click::Output>(Interface::Act, "click", args).await?;
        self.acted(output)
    }

    async fn type_(
        &mut self,
        tab: Resource<TabHandle>,
        target: Option<Target>,
        text: String,
        options: Option<TypeOptions>,
    ) -> Answer<Acted> {
        if text.contains(SECRET_PLACEHOLDER) {
            let message = "`act.type` types no secrets: a plugin does that by `secrets.type-secret`";
            let hint = "add \"secrets\" to needs.interfaces of the plugin, and call `secrets.type-secret`";
            return Ok(Err(self.give_error(ToolError::new(ErrorCode::NotGranted, message).with_hint(hint))));
        }
        let mut args = Args::new(self.tab_id(&tab)?).target(target).put("text", text);
        if let Some(TypeOptions { mode, submit, slowly, timeout_ms }) = options {
            let mode = mode.map(|mode| match mode {
                TypeMode::Replace => "replace",
                TypeMode::Append => "append",
                TypeMode::Insert => "insert",
            });
            args = args.opt("mode", mode).flag("submit", submit).flag("slowly", slowly).opt("timeout_ms", timeout_ms);
        }
        let output = self.verb::<click::Output>(Interface::Act, "type", args).await?;
        self.acted(output)
    }

    async fn dialog(&mut self, tab: Resource<TabHandle>, accept: bool, text: Option<String>) -> Answer<OpenDialog> {
        let args = Args::new(self.tab_id(&tab)?).put("accept", accept).opt("text", text);
        let output = self.verb::<dialog::Output>(Interface::Act, "dialog", args).await?;
        Ok(output.map(|output| OpenDialog { kind: kind(output.kind), message: output.message }))
    }
}

fn modifier_names(modifiers: Modifiers) -> Vec<Value> {
    let names = [
        (Modifiers::ALT, "Alt"),
        (Modifiers::CONTROL, "Control"),
        (Modifiers::META, "Meta"),
        (Modifiers::SHIFT, "Shift"),
    ];
    names.into_iter().filter(|(flag, _)| modifiers.contains(*flag)).map(|(_, name)| Value::from(name)).collect()
}
