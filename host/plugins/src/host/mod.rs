//! What each import does: `host/X.rs` is `wit/X.wit`.
//!
//! Every function that is a verb makes the verb's JSON arguments and asks the call's [`Host`](crate::Host); nothing is
//! allowed or refused here, but for what one interface must not do in place of another.

mod act;
mod call;
mod files;
mod log;
mod navigate;
mod read;
mod script;
mod secrets;
mod types;

use transom_verbs::verb::{FileInfo, click, tabs};
use transom_verbs::{Reason, TabId, ToolError};
use wasmtime::component::{HasSelf, Linker};

use crate::{
    bindings::transom::plugin::{
        self as wit,
        types::{Acted, File, OpenDialog, TabInfo},
    },
    interface::Interface,
    state::{Answer, State},
};

/// Links `types`, `call` and the interfaces that a component imports. What is not linked can't be called, whatever else
/// goes wrong.
pub(crate) fn link(
    linker: &mut Linker<State>,
    interfaces: impl IntoIterator<Item = Interface>,
) -> wasmtime::Result<()> {
    wit::types::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    wit::call::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    for interface in interfaces {
        match interface {
            Interface::Call => {}
            Interface::Navigate => wit::navigate::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?,
            Interface::Read => wit::read::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?,
            Interface::Act => wit::act::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?,
            Interface::Script => wit::script::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?,
            Interface::Files => wit::files::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?,
            Interface::Secrets => wit::secrets::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?,
            Interface::Log => wit::log::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?,
        }
    }
    Ok(())
}

impl State {
    /// The result of an action, a tab that it opened as a handle.
    fn acted(&mut self, output: Result<click::Output, wit::types::Error>) -> Answer<Acted> {
        let output = match output {
            Ok(output) => output,
            Err(error) => return Ok(Err(error)),
        };
        let opened_tab = output.opened_tab.map(|id| self.give_tab(Some(id))).transpose()?;
        Ok(Ok(Acted {
            url: output.url,
            opened_tab,
            dialog: output.dialog.map(OpenDialog::from),
            download: output.download.map(File::from),
        }))
    }

    /// A handle to the tab that is active after a verb.
    fn active_tab(
        &mut self,
        output: Result<tabs::Output, wit::types::Error>,
    ) -> Answer<wasmtime::component::Resource<crate::state::TabHandle>> {
        let tabs = match output {
            Ok(output) => output.tabs,
            Err(error) => return Ok(Err(error)),
        };
        match tabs.into_iter().find(|tab| tab.active) {
            Some(tab) => Ok(Ok(self.give_tab(Some(tab.tab))?)),
            None => Ok(Err(self.give_error(ToolError::failed(Reason::NotFound, "no tab is active")))),
        }
    }
}

fn tab_list(output: tabs::Output) -> Vec<TabInfo> {
    let info =
        |tab: tabs::Tab| TabInfo { tab: TabId::into(tab.tab), title: tab.title, url: tab.url, active: tab.active };
    output.tabs.into_iter().map(info).collect()
}

impl From<FileInfo> for File {
    fn from(file: FileInfo) -> File {
        let FileInfo { id, name, size, media_type, source_url } = file;
        File { id: id.into(), name, size, media_type, source_url }
    }
}

/// The kind's spelling in the contract.
fn kind(kind: transom_verbs::state::DialogKind) -> String {
    serde_json::to_value(kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default()
}

impl From<transom_verbs::state::OpenDialog> for OpenDialog {
    fn from(dialog: transom_verbs::state::OpenDialog) -> OpenDialog {
        OpenDialog { kind: kind(dialog.kind), message: dialog.message }
    }
}
