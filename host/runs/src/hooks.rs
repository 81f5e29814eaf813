//! What the browser layer has to ask: may this document be opened, what goes in for a secret, where do a file's bytes go.
//!
//! The browser layer knows no policy; each question is answered from the binding and the run's files, and by nothing else.
//!
//! Not here: the questions that come before a call (`dispatcher.rs`), and those that the network asks (the gate).

use std::{io::Read, os::unix::fs::OpenOptionsExt, path::Path, sync::Arc};

use async_trait::async_trait;
use transom_browser::{DocumentVerdict, ExposedFile, Filled, FinishedDownload, Hooks, Picture};
use transom_egress::jail::ExchangePaths;
use transom_policy::{
    filename::FileName,
    hosts::{Decision, Use},
    template::{FillError, Template},
};
use transom_verbs::{
    ErrorCode, ToolError,
    verb::{FileInfo, screenshot::Format},
};

use url::Url;

use crate::{
    binding::Binding,
    files::{NewFile, RunFiles},
    mixing::Mixing,
};

#[derive(Debug)]
pub(crate) struct SessionHooks {
    binding: Arc<Binding>,
    files: RunFiles,
    exchange: ExchangePaths,
    mixing: Arc<Mixing>,
}

impl SessionHooks {
    pub(crate) fn new(
        binding: Arc<Binding>,
        files: RunFiles,
        exchange: ExchangePaths,
        mixing: Arc<Mixing>,
    ) -> SessionHooks {
        SessionHooks { binding, files, exchange, mixing }
    }
}

#[async_trait]
impl Hooks for SessionHooks {
    fn document(&self, url: &str, _main_frame: bool) -> DocumentVerdict {
        match self.binding.documents.decide(url, Use::Page) {
            Decision::Allow { .. } => DocumentVerdict::Allow,
            Decision::Deny(denial) => {
                let host = denial.host().unwrap_or("the address").to_owned();
                let said = denial.to_string();
                // A denial's own sentence begins with the host where it has one; the verdict names the host apart.
                let why = said
                    .strip_prefix(&host)
                    .map_or_else(|| format!("is refused: {said}"), |rest| rest.trim_start().to_owned());
                DocumentVerdict::Refuse { host, why }
            }
        }
    }

    fn fill(&self, text: &str, frame_url: &str) -> Result<Filled, ToolError> {
        let template = Template::parse(text).map_err(|error| ToolError::invalid(format!("`text`: {error}")))?;
        if template.secrets().next().is_none() {
            // No secret, no question of hosts: the text is typed as it stands, on whatever page the call was admitted to.
            return Ok(Filled { text: text.to_owned(), had_secret: false });
        }
        let frame = Url::parse(frame_url.strip_prefix("blob:").unwrap_or(frame_url)).map_err(|_| {
            ToolError::new(ErrorCode::NotGranted, "refused: a secret can't be typed into a frame without an address")
        })?;
        let filled = self.binding.secrets.fill(&template, &frame).map_err(|error| refused_secret(&error))?;
        self.mixing.before_secret(&self.binding)?;
        Ok(Filled { text: filled.expose().to_owned(), had_secret: true })
    }

    async fn keep_download(&self, download: FinishedDownload) -> Result<FileInfo, ToolError> {
        if !is_plain_guid(&download.guid) {
            return Err(not_saved(
                "the browser named a download in a way that no browser does",
                &std::io::Error::other("guid"),
            ));
        }
        let place = self.exchange.downloads.host.join(&download.guid);
        let fallback = || Url::parse(&download.url).ok().map(|url| FileName::of_download("", &url).as_str().to_owned());
        let name = FileName::clean(&download.suggested_name).map(|name| name.as_str().to_owned()).or_else(fallback);
        let new = NewFile { name: name.unwrap_or_default(), media_type: download.mime, source_url: Some(download.url) };
        let files = self.files.clone();
        on_disk(move || {
            let kept =
                open_regular(&place).map_err(|error| not_saved("the download is not where Chromium left it", &error));
            let kept = kept.and_then(|mut bytes| files.keep(new, &mut bytes));
            // Kept or not, the part in the exchange folder is of no more use.
            if let Err(error) = std::fs::remove_file(&place) {
                tracing::warn!(%error, "a finished download could not be removed from the exchange folder");
            }
            kept
        })
        .await
    }

    async fn expose_upload(&self, file_id: &str) -> Result<ExposedFile, ToolError> {
        let (info, mut bytes) = self.files.open(file_id)?;
        let exchange = self.exchange.clone();
        on_disk(move || {
            let failed = |error: std::io::Error| not_saved("the file could not be handed to the browser", &error);
            // A folder for each exposure: two files of one name don't meet, and the page sees the file's own name.
            let folder = ulid::Ulid::new().to_string();
            let on_host = exchange.uploads.host.join(&folder);
            std::fs::create_dir(&on_host).map_err(failed)?;
            exchange.hand_over(&on_host).map_err(failed)?;
            let place = on_host.join(&info.name);
            let mut copy = std::fs::OpenOptions::new().write(true).create_new(true).open(&place).map_err(failed)?;
            std::io::copy(&mut bytes, &mut copy).map_err(failed)?;
            exchange.hand_over(&place).map_err(failed)?;
            let path = exchange.uploads.browser.join(&folder).join(&info.name);
            Ok(ExposedFile { path: path.to_string_lossy().into_owned(), info })
        })
        .await
    }

    async fn keep_screenshot(&self, picture: Picture) -> Result<FileInfo, ToolError> {
        let files = self.files.clone();
        on_disk(move || {
            let (name, media_type) = match picture.format {
                Format::Png => ("screenshot.png", "image/png"),
                Format::Jpeg => ("screenshot.jpg", "image/jpeg"),
            };
            let new = NewFile { name: name.to_owned(), media_type: Some(media_type.to_owned()), source_url: None };
            files.keep(new, &mut picture.bytes.as_slice())
        })
        .await
    }
}

fn refused_secret(error: &FillError) -> ToolError {
    let refused = ToolError::new(ErrorCode::NotGranted, format!("refused: {error}"));
    match error.line() {
        Some(line) => refused.with_hint(format!("an operator can {line}")),
        None => refused,
    }
}

fn not_saved(what: &str, error: &std::io::Error) -> ToolError {
    // The cause may name paths of the host: it is for the operator's log.
    tracing::error!(%error, "{what}");
    ToolError::new(ErrorCode::FileNotSaved, what)
}

/// Longest guid of a download, in bytes: a UUID with its dashes has 36.
const GUID_BYTES_MAX: usize = 64;

/// Whether a guid is one plain name. It comes from Chromium, which may have been taken over by a page: a path in its place would
/// lead the host to a file of its own.
fn is_plain_guid(guid: &str) -> bool {
    !guid.is_empty()
        && guid.len() <= GUID_BYTES_MAX
        && guid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Opens a file that Chromium wrote, if it is one: a link or a pipe in its place is none.
fn open_regular(path: &Path) -> std::io::Result<impl Read + use<>> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::Error::other("not a regular file")) }
}

async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(ToolError::new(ErrorCode::FileNotSaved, "the file could not be kept: its writer was stopped"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_guid_names_a_download() {
        assert!(is_plain_guid("0c7a3d2e-1111-4a5b-9c6d-0123456789ab"));
        for bad in ["", "/etc/shadow", "../journal.sqlite", "a/b", "a.b", &"a".repeat(65)] {
            assert!(!is_plain_guid(bad), "{bad}");
        }
    }
}
