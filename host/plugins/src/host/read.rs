//! `read`: snapshots, extracts and screenshots.

use transom_verbs::verb::{extract, screenshot, snapshot};
use wasmtime::component::Resource;

use crate::{
    bindings::transom::plugin::{
        read::{
            ExtractFormat, ExtractOptions, Extracted, Host, Image, ImageFormat, PageSnapshot, ScreenshotOptions,
            SnapshotOptions,
        },
        types::Target,
    },
    interface::Interface,
    state::{Answer, Args, State, TabHandle},
};

impl Host for State {
    async fn snapshot(&mut self, tab: Resource<TabHandle>, options: Option<SnapshotOptions>) -> Answer<PageSnapshot> {
        let mut args = Args::new(self.tab_id(&tab)?);
        if let Some(options) = options {
            let SnapshotOptions { scope, interactive, viewport, query, depth, max_chars, timeout_ms } = options;
            args = args
                .opt("scope", scope)
                .flag("interactive", interactive)
                .flag("viewport", viewport)
                .opt("query", query)
                .opt("depth", depth)
                .opt("max_chars", max_chars)
                .opt("timeout_ms", timeout_ms);
        }
        let output = self.verb::<snapshot::Output>(Interface::Read, "snapshot", args).await?;
        Ok(output.map(|output| {
            let snapshot::Output { snapshot, url, title, truncated, matches, .. } = output;
            PageSnapshot { snapshot, url, title, truncated, matches }
        }))
    }

    async fn extract(
        &mut self,
        tab: Resource<TabHandle>,
        target: Option<Target>,
        options: Option<ExtractOptions>,
    ) -> Answer<Extracted> {
        let mut args = Args::new(self.tab_id(&tab)?).target(target);
        if let Some(ExtractOptions { format, max_chars, timeout_ms }) = options {
            let format = format.map(|format| match format {
                ExtractFormat::Text => "text",
                ExtractFormat::Markdown => "markdown",
                ExtractFormat::Html => "html",
            });
            args = args.opt("format", format).opt("max_chars", max_chars).opt("timeout_ms", timeout_ms);
        }
        let output = self.verb::<extract::Output>(Interface::Read, "extract", args).await?;
        Ok(output.map(|output| Extracted { text: output.text, truncated: output.truncated, url: output.url }))
    }

    async fn screenshot(
        &mut self,
        tab: Resource<TabHandle>,
        target: Option<Target>,
        options: Option<ScreenshotOptions>,
    ) -> Answer<Image> {
        let mut args = Args::new(self.tab_id(&tab)?).target(target);
        if let Some(ScreenshotOptions { full_page, format, timeout_ms }) = options {
            let format = format.map(|format| match format {
                ImageFormat::Png => "png",
                ImageFormat::Jpeg => "jpeg",
            });
            args = args.flag("full_page", full_page).opt("format", format).opt("timeout_ms", timeout_ms);
        }
        let output = self.verb::<screenshot::Output>(Interface::Read, "screenshot", args).await?;
        Ok(output.map(|output| Image { file: output.file.into(), width: output.width, height: output.height }))
    }
}
