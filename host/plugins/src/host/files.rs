//! `files`: downloads and uploads, by handles.

use transom_verbs::verb::{download, upload};
use wasmtime::component::Resource;

use crate::{
    bindings::transom::plugin::{
        files::{Host, Source},
        types::{File, Target},
    },
    interface::Interface,
    state::{Answer, Args, State, TabHandle},
};

impl Host for State {
    async fn download(&mut self, tab: Resource<TabHandle>, source: Source, timeout_ms: Option<u32>) -> Answer<File> {
        let args = Args::new(self.tab_id(&tab)?).opt("timeout_ms", timeout_ms);
        let args = match source {
            Source::Url(url) => args.put("url", url),
            Source::Target(target) => args.target(Some(target)),
        };
        let output = self.verb::<download::Output>(Interface::Files, "download", args).await?;
        Ok(output.map(|output| File::from(output.file)))
    }

    async fn upload(
        &mut self,
        tab: Resource<TabHandle>,
        target: Target,
        file: String,
        timeout_ms: Option<u32>,
    ) -> Answer<String> {
        let args = Args::new(self.tab_id(&tab)?).target(Some(target)).put("file", file).opt("timeout_ms", timeout_ms);
        let output = self.verb::<upload::Output>(Interface::Files, "upload", args).await?;
        Ok(output.map(|output| output.url))
    }
}
