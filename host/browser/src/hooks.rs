//! What the browser asks of whoever runs it: decisions, secrets and files.
//!
//! The browser knows no policy and holds no file of its own. Each question is put at the moment at which its answer is needed:
//! a document when its request is about to leave, a secret when the frame that it goes to is known.

use async_trait::async_trait;
use transom_verbs::{ToolError, verb::FileInfo};

/// Whether a document may be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentVerdict {
    /// It may.
    Allow,
    /// It may not.
    Refuse {
        /// The host, or what stands for it where there is none (`a data: address`). No more of the address than this is shown.
        host: String,
        /// Why, as the end of a sentence: `is not among the hosts of this binding`.
        why: String,
    },
}

/// A text with its secrets put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// What is typed.
    pub text: String,
    /// Whether a secret is in it.
    pub had_secret: bool,
}

/// A download that Chromium has finished writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedDownload {
    /// The name of the file in the downloads folder.
    pub guid: String,
    /// The name that the site suggests. Foreign text: it may hold anything.
    pub suggested_name: String,
    /// Where the file came from.
    pub url: String,
    /// The media type that the server gave, where it is known.
    pub mime: Option<String>,
}

/// A picture that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// Its format.
    pub format: transom_verbs::verb::screenshot::Format,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// A run file that Chromium can read.
#[derive(Clone, Debug, PartialEq)]
pub struct ExposedFile {
    /// The path as Chromium sees it. Its last part is the name that the page is told.
    pub path: String,
    /// The file, as the result tells of it.
    pub info: FileInfo,
}

/// The answers. See the module.
#[async_trait]
pub trait Hooks: Send + Sync + 'static {
    /// May a document of this URL be opened? Asked for every hop of every document request, in main frames and sub-frames, and
    /// once more before a caller's own navigation is sent. Called on the task that reads from Chromium: pure and quick.
    fn document(&self, url: &str, main_frame: bool) -> DocumentVerdict;

    /// Puts secrets into a text that is about to be typed into a frame of this URL. A text without placeholders comes back as
    /// it is.
    ///
    /// # Errors
    /// When a secret is not there, or not for this frame. Nothing is typed then.
    fn fill(&self, text: &str, frame_url: &str) -> Result<Filled, ToolError>;

    /// Keeps a finished download as a run file. The file in the downloads folder is the hook's to remove, also when it fails.
    ///
    /// # Errors
    /// When it can't be kept; the error is the call's.
    async fn keep_download(&self, download: FinishedDownload) -> Result<FileInfo, ToolError>;

    /// Makes the bytes of a run file readable for Chromium.
    ///
    /// # Errors
    /// When `file_id` is no file of the run.
    async fn expose_upload(&self, file_id: &str) -> Result<ExposedFile, ToolError>;

    /// Keeps a picture as a run file.
    ///
    /// # Errors
    /// When it can't be kept.
    async fn keep_screenshot(&self, picture: Picture) -> Result<FileInfo, ToolError>;
}
