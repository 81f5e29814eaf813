//! What a person reads before they say yes: what will happen, with which file, where.

use serde_json::Value;
use transom_policy::redact::Redactor;
use transom_verbs::registry::Input;
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
    let place = admitted
        .prefix
        .session
        .live_url(None)
        .and_then(|address| Url::parse(&address).ok())
        .and_then(|url| url.host_str().map(|host| format!(" on {host}")))
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
