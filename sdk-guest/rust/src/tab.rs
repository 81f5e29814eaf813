//! A tab: the verbs as methods.
//!
//! Each method is the verb of its name with the contract's defaults; where there are options, `…_with` takes them.

use serde::de::DeserializeOwned;

use crate::{
    ClickOptions, Condition, ExtractFormat, ExtractOptions, Extracted, File, Image, NavigateOptions, OpenDialog, Page,
    PageSnapshot, ScreenshotOptions, SnapshotOptions, TabInfo, Target, TypeOptions,
    bindings::transom::plugin::{act, files, navigate, read, script, secrets, types},
    error::{Error, HostAnswer, Result},
};

/// The most that one `extract` gives, in characters.
const TEXT_CHARS_MAX: u32 = 1_000_000;

/// A handle to one tab, good until the call ends.
#[derive(Debug)]
pub struct Tab(pub(crate) types::Tab);

/// What an action led to.
#[derive(Debug)]
pub struct Acted {
    /// The tab's URL afterwards.
    pub url: String,
    /// The tab that the action opened; it is not the active one.
    pub opened_tab: Option<Tab>,
    /// The dialog that the action opened; answer it with [`Tab::answer_dialog`].
    pub dialog: Option<OpenDialog>,
    /// The file that the action downloaded.
    pub download: Option<File>,
}

impl From<types::Acted> for Acted {
    fn from(acted: types::Acted) -> Acted {
        let types::Acted { url, opened_tab, dialog, download } = acted;
        Acted { url, opened_tab: opened_tab.map(Tab), dialog, download }
    }
}

/// All tabs of this prefix.
///
/// # Errors
/// What the host says.
pub fn tabs() -> Result<Vec<TabInfo>> {
    navigate::tabs().into_ours()
}

/// The names of the secrets that this plugin may type.
#[must_use]
pub fn secret_names() -> Vec<String> {
    secrets::names()
}

/// Interface `navigate`.
impl Tab {
    /// The short id, e.g. `t1`.
    #[must_use]
    pub fn id(&self) -> String {
        self.0.id()
    }

    /// Loads a URL and waits for its `load` event.
    ///
    /// # Errors
    /// `computer_use_site_blocked` where a hop is not allowed; the reason `navigation` where the page would not load.
    pub fn navigate(&self, url: &str) -> Result<Page> {
        navigate::navigate(&self.0, url, None).into_ours()
    }

    /// Loads a URL with options.
    ///
    /// # Errors
    /// As [`Tab::navigate`].
    pub fn navigate_with(&self, url: &str, options: NavigateOptions) -> Result<Page> {
        navigate::navigate(&self.0, url, Some(options)).into_ours()
    }

    /// One step back in the history.
    ///
    /// # Errors
    /// What the host says.
    pub fn back(&self) -> Result<Page> {
        navigate::back(&self.0, None).into_ours()
    }

    /// One step forward in the history.
    ///
    /// # Errors
    /// What the host says.
    pub fn forward(&self) -> Result<Page> {
        navigate::forward(&self.0, None).into_ours()
    }

    /// Loads the page again.
    ///
    /// # Errors
    /// What the host says.
    pub fn reload(&self) -> Result<Page> {
        navigate::reload(&self.0, None).into_ours()
    }

    /// Opens a tab, with a URL or with the binding's start URL, and makes it the active one.
    ///
    /// # Errors
    /// As [`Tab::navigate`].
    pub fn open(url: Option<&str>) -> Result<Tab> {
        navigate::open(url, None).into_ours().map(Tab)
    }

    /// Makes a tab the active one, by its short id.
    ///
    /// # Errors
    /// The reason `not_found` where there is no such tab.
    pub fn switch(id: &str) -> Result<Tab> {
        navigate::switch(id).into_ours().map(Tab)
    }

    /// Closes the tab.
    ///
    /// # Errors
    /// What the host says.
    pub fn close(self) -> Result<Vec<TabInfo>> {
        navigate::close(&self.0).into_ours()
    }

    /// Waits until something is so, at most `timeout_ms` milliseconds if given.
    ///
    /// # Errors
    /// The reason `timeout`.
    pub fn wait(&self, condition: &Condition, timeout_ms: Option<u32>) -> Result<()> {
        navigate::wait(&self.0, condition, timeout_ms).into_ours().map(drop)
    }

    /// Waits until a selector matches something visible.
    ///
    /// # Errors
    /// The reason `timeout`.
    pub fn wait_for(&self, selector: &str) -> Result<()> {
        self.wait(&Condition::Selector(selector.into()), None)
    }
}

/// Interface `read`.
impl Tab {
    /// The page as text, with refs.
    ///
    /// # Errors
    /// What the host says.
    pub fn snapshot(&self) -> Result<PageSnapshot> {
        read::snapshot(&self.0, None).into_ours()
    }

    /// A part of the page, or a view of it, as text with refs.
    ///
    /// # Errors
    /// The reason `not_found` where the scope matches nothing.
    pub fn snapshot_with(&self, options: &SnapshotOptions) -> Result<PageSnapshot> {
        read::snapshot(&self.0, Some(options)).into_ours()
    }

    /// The whole plain text of an element, as a person sees it.
    ///
    /// # Errors
    /// The reason `not_found` where nothing matches; an element of more than a million characters.
    pub fn text(&self, target: impl Into<Target>) -> Result<String> {
        self.whole(&target.into(), ExtractFormat::Text)
    }

    /// The whole of an element as Markdown.
    ///
    /// # Errors
    /// As [`Tab::text`].
    pub fn markdown(&self, target: impl Into<Target>) -> Result<String> {
        self.whole(&target.into(), ExtractFormat::Markdown)
    }

    /// The whole markup of an element, without scripts and styles.
    ///
    /// # Errors
    /// As [`Tab::text`].
    pub fn html(&self, target: impl Into<Target>) -> Result<String> {
        self.whole(&target.into(), ExtractFormat::Html)
    }

    /// An element, or the page's main part, with options: what is beyond `max_chars` is left off.
    ///
    /// # Errors
    /// The reason `not_found` where nothing matches.
    pub fn extract(&self, target: Option<Target>, options: ExtractOptions) -> Result<Extracted> {
        let target = target.map(|target| target.0);
        read::extract(&self.0, target.as_ref(), Some(options)).into_ours()
    }

    /// Never half of something that is going to be parsed.
    fn whole(&self, target: &Target, format: ExtractFormat) -> Result<String> {
        let options = ExtractOptions { format: Some(format), max_chars: Some(TEXT_CHARS_MAX), timeout_ms: None };
        let extracted = read::extract(&self.0, Some(&target.0), Some(options)).into_ours()?;
        if extracted.truncated {
            return Err(Error::new(format!("the element is longer than {TEXT_CHARS_MAX} characters")));
        }
        Ok(extracted.text)
    }

    /// A picture of the viewport, as a run file.
    ///
    /// # Errors
    /// What the host says.
    pub fn screenshot(&self) -> Result<Image> {
        read::screenshot(&self.0, None, None).into_ours()
    }

    /// A picture of an element or of the whole page, as a run file.
    ///
    /// # Errors
    /// What the host says.
    pub fn screenshot_with(&self, target: Option<Target>, options: ScreenshotOptions) -> Result<Image> {
        let target = target.map(|target| target.0);
        read::screenshot(&self.0, target.as_ref(), Some(options)).into_ours()
    }
}

/// Interface `act`.
impl Tab {
    /// Clicks.
    ///
    /// # Errors
    /// The reasons `not_found`, `covered`, `disabled`, …: the last that held.
    pub fn click(&self, target: impl Into<Target>) -> Result<Acted> {
        act::click(&self.0, &target.into().0, None).into_ours().map(Acted::from)
    }

    /// Clicks with another button, several times, or with keys held.
    ///
    /// # Errors
    /// As [`Tab::click`].
    pub fn click_with(&self, target: impl Into<Target>, options: ClickOptions) -> Result<Acted> {
        act::click(&self.0, &target.into().0, Some(options)).into_ours().map(Acted::from)
    }

    /// Types a text in place of what a field holds.
    ///
    /// # Errors
    /// The reasons `not_found`, `read_only`, `not_editable`, …
    pub fn type_text(&self, target: impl Into<Target>, text: &str) -> Result<Acted> {
        act::type_(&self.0, Some(&target.into().0), text, None).into_ours().map(Acted::from)
    }

    /// Types a text with options; without a target into what has the focus.
    ///
    /// # Errors
    /// As [`Tab::type_text`].
    pub fn type_with(&self, target: Option<Target>, text: &str, options: TypeOptions) -> Result<Acted> {
        let target = target.map(|target| target.0);
        act::type_(&self.0, target.as_ref(), text, Some(options)).into_ours().map(Acted::from)
    }

    /// Answers the dialog that is open: OK or Cancel, and for a prompt a text.
    ///
    /// # Errors
    /// The reason `not_found` where none is open.
    pub fn answer_dialog(&self, accept: bool, text: Option<&str>) -> Result<OpenDialog> {
        act::dialog(&self.0, accept, text).into_ours()
    }
}

/// Interface `script`.
impl Tab {
    /// Runs an expression, or the body of an async function, in the page and reads its value.
    ///
    /// # Errors
    /// The reason `script` where it throws; a value that is no `T`; a dialog that the script opened.
    pub fn evaluate<T: DeserializeOwned>(&self, script: &str) -> Result<T> {
        let evaluated = script::evaluate(&self.0, script, None, None).into_ours()?;
        if let Some(dialog) = evaluated.dialog {
            return Err(Error::new(format!("the script opened a {}, so its value is not known", dialog.kind)));
        }
        serde_json::from_str(&evaluated.value).map_err(|e| Error::new(format!("the script's value: {e}")))
    }

    /// Waits until an expression is true.
    ///
    /// # Errors
    /// The reasons `timeout` and `script`.
    pub fn wait_for_script(&self, script: &str, timeout_ms: Option<u32>) -> Result<()> {
        script::wait_for(&self.0, script, timeout_ms).into_ours().map(drop)
    }
}

/// Interface `files`.
impl Tab {
    /// Downloads a URL into the run.
    ///
    /// # Errors
    /// What the host says.
    pub fn download(&self, url: &str) -> Result<File> {
        files::download(&self.0, &files::Source::Url(url.into()), None).into_ours()
    }

    /// Downloads what a click on an element starts.
    ///
    /// # Errors
    /// The reason `no_download` where the click starts none.
    pub fn download_from(&self, target: impl Into<Target>) -> Result<File> {
        files::download(&self.0, &files::Source::Target(target.into().0), None).into_ours()
    }

    /// Puts a run file, by its handle, into a file input. A person approves it first. Answers with the URL afterwards.
    ///
    /// # Errors
    /// `computer_use_upload_refused`, `…_rejected` and `…_timed_out`.
    pub fn upload(&self, target: impl Into<Target>, handle: &str) -> Result<String> {
        files::upload(&self.0, &target.into().0, handle, None).into_ours()
    }
}

/// Interface `secrets`.
impl Tab {
    /// Types a secret by its name in place of what a field holds; the plugin never sees its value.
    ///
    /// # Errors
    /// `computer_use_not_granted` where the binding doesn't list the secret for this plugin, or the secret is not for the
    /// host of the frame.
    pub fn type_secret(&self, target: impl Into<Target>, name: &str) -> Result<Acted> {
        secrets::type_secret(&self.0, &target.into().0, name, false).into_ours().map(Acted::from)
    }

    /// The same, and presses Enter.
    ///
    /// # Errors
    /// As [`Tab::type_secret`].
    pub fn submit_secret(&self, target: impl Into<Target>, name: &str) -> Result<Acted> {
        secrets::type_secret(&self.0, &target.into().0, name, true).into_ours().map(Acted::from)
    }
}
