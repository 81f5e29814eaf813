//! Hooks that remember what they were asked. Hosts that begin with `evil` are refused; the secret `pw` is for `a.localhost` only.

use std::{path::PathBuf, sync::Mutex};

use async_trait::async_trait;
use transom_browser::{DocumentVerdict, ExposedFile, Filled, FinishedDownload, Hooks, Picture};
use transom_verbs::{ErrorCode, FileId, ToolError, verb::FileInfo};

pub(crate) const SECRET: &str = "correct-horse-battery";

pub(crate) struct TestHooks {
    downloads: PathBuf,
    uploads: PathBuf,
    pub(crate) documents: Mutex<Vec<(String, bool)>>,
    pub(crate) kept: Mutex<Vec<(FinishedDownload, Vec<u8>)>>,
    pub(crate) pictures: Mutex<Vec<Picture>>,
}

impl TestHooks {
    pub(crate) fn new(downloads: PathBuf, uploads: PathBuf) -> TestHooks {
        TestHooks {
            downloads,
            uploads,
            documents: Mutex::default(),
            kept: Mutex::default(),
            pictures: Mutex::default(),
        }
    }
}

fn file(name: &str, size: usize, media_type: &str, source_url: Option<String>) -> FileInfo {
    FileInfo {
        id: FileId::parse("file_01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap(),
        name: name.to_owned(),
        size: size as u64,
        media_type: media_type.to_owned(),
        source_url,
    }
}

#[async_trait]
impl Hooks for TestHooks {
    fn document(&self, url: &str, main_frame: bool) -> DocumentVerdict {
        self.documents.lock().unwrap().push((url.to_owned(), main_frame));
        let host = url.split("://").nth(1).and_then(|rest| rest.split([':', '/']).next()).unwrap_or_default();
        let is_allowed =
            url.starts_with("http") && !host.starts_with("evil") || url == "about:blank" || url.starts_with("blob:");
        if is_allowed {
            return DocumentVerdict::Allow;
        }
        let host = if host.is_empty() { "an address without a host" } else { host };
        DocumentVerdict::Refuse { host: host.to_owned(), why: "is not among the hosts of this binding".to_owned() }
    }

    fn fill(&self, text: &str, frame_url: &str) -> Result<Filled, ToolError> {
        if !text.contains("{{secret:") {
            return Ok(Filled { text: text.to_owned(), had_secret: false });
        }
        if !frame_url.starts_with("http://a.localhost:") {
            return Err(ToolError::new(ErrorCode::NotGranted, "the secret is not for this host"));
        }
        Ok(Filled { text: text.replace("{{secret:pw}}", SECRET), had_secret: true })
    }

    async fn keep_download(&self, download: FinishedDownload) -> Result<FileInfo, ToolError> {
        let path = self.downloads.join(&download.guid);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        if download.suggested_name.contains("unwanted") {
            return Err(ToolError::new(ErrorCode::FileNotSaved, "the run's store is full"));
        }
        let mime = download.mime.clone().unwrap_or_else(|| "application/octet-stream".to_owned());
        let info = file(&download.suggested_name, bytes.len(), &mime, Some(download.url.clone()));
        self.kept.lock().unwrap().push((download, bytes));
        Ok(info)
    }

    async fn expose_upload(&self, file_id: &str) -> Result<ExposedFile, ToolError> {
        if file_id != "file_01ARZ3NDEKTSV4RRFFQ69G5FAV" {
            return Err(ToolError::new(ErrorCode::UploadRefused, "no file of this run has this handle"));
        }
        let path = self.uploads.join("report.csv");
        std::fs::write(&path, "a,b\n1,2\n").unwrap();
        Ok(ExposedFile { path: path.to_str().unwrap().to_owned(), info: file("report.csv", 8, "text/csv", None) })
    }

    async fn keep_screenshot(&self, picture: Picture) -> Result<FileInfo, ToolError> {
        let info = file("screenshot", picture.bytes.len(), "image/png", None);
        self.pictures.lock().unwrap().push(picture);
        Ok(info)
    }
}
