//! What a person reads before they say yes: what will happen, with which file, where.

use serde_json::Value;
use transom_policy::redact::Redactor;
use transom_verbs::{Reason, TabId, ToolError, registry::Input};
use url::Url;

use crate::{
    admission::{Admitted, Work},
    approvals::Question,
    run::RunInner,
};

/// The question for an admitted call. Everything in it is redacted.
pub(crate) fn about(
    run: &RunInner,
    admitted: &Admitted,
    tool: &str,
    arguments: &Value,
    redactor: &Redactor,
) -> Question {
    Question {
        run: run.id.clone(),
        tool: redactor.text(tool),
        what: redactor.text(&what(run, admitted, tool)),
        arguments: redactor.value(arguments),
        timeout: admitted.prefix.binding.approvals.timeout,
    }
}

fn what(run: &RunInner, admitted: &Admitted, tool: &str) -> String {
    let place = AskedOn::now(admitted)
        .and_then(|asked| asked.0.split_once("://").map(|(_, host)| format!(" on {host}")))
        .unwrap_or_default();
    match &admitted.work {
        Work::Verb(call) => match &call.input {
            Input::Upload(upload) => match run.files.info(&upload.file) {
                Ok(file) => format!(
                    "{tool}: attach the file \"{}\" ({} bytes, {}) to {}{place}",
                    file.name, file.size, file.media_type, upload.target
                ),
                Err(_) => format!("{tool}: attach a file to {}{place}", upload.target),
            },
            Input::Click(click) => format!("{tool}: click {}{place}", click.target),
            Input::Navigate(navigate) => format!("{tool}: open {}", navigate.url),
            _ => format!("{tool}{place}"),
        },
        Work::Tool { plugin, .. } => format!("{tool}: a tool of the plugin \"{}\"{place}", plugin.name),
    }
}

/// The origin of the page that a person was asked about. What they agreed to is for that page's site and no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedOn(String);

impl AskedOn {
    /// The origin that the call's tab shows now; none without a page.
    pub(crate) fn now(admitted: &Admitted) -> Option<AskedOn> {
        let Work::Verb(call) = &admitted.work else { return None };
        let address = admitted.prefix.session.live_url(call.tab.as_ref().map(TabId::as_str))?;
        origin(&address).map(AskedOn)
    }

    /// Refuses where the page has gone to another site since.
    pub(crate) fn still_holds(&self, address: &str) -> Result<(), ToolError> {
        if origin(address).as_deref() == Some(self.0.as_str()) {
            return Ok(());
        }
        Err(ToolError::failed(
            Reason::Navigation,
            format!("refused: a person agreed to this on {}, and the tab is on another site by now", self.0),
        )
        .with_hint("go back to that site and ask again"))
    }
}

fn origin(address: &str) -> Option<String> {
    let origin = Url::parse(address).ok()?.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}
