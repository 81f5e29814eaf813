//! `transom demo`: everything that Transom is for, shown on a shop of its own.
//!
//! The shop, the browser in its jail, the plugin, the approval and the journal are the real ones, and every call goes through
//! [`transom_runs::Run::call`] as a model's would. Each step says what it expects and fails when that does not hold, so the demo is
//! also a check of the machine that it runs on.
//!
//! | file | what |
//! |---|---|
//! | [`shop`] | the shop, and the server outside that nobody may reach |
//! | `stage` | shop, host and run, with a binding as an operator would write it |
//! | `story` | the steps |
//! | `leaks` | looks for the password wherever it could have gone |
//! | `screen` | what is printed: for people, or JSON |

mod leaks;
mod screen;
pub mod shop;
mod stage;
mod story;

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use anstyle::Style;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    exit::{Exit, Failure},
    output,
};
use screen::Screen;
use shop::{SHOP_HOST, Shop};
use stage::Stage;

/// See it work: a shop, a plugin, a download, an approval, a refusal, the journal
///
/// Starts a small shop on this machine, a binding for it and a run, and makes real calls in a real browser. Keeps nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  transom demo                  the demo approves its own upload, and says so
  transom demo --interactive    you are asked
  transom demo --shop-only      only the shop, to try a plugin or a configuration on")]
pub struct Args {
    /// The manifest of the orders plugin [default: plugins/orders/plugin.toml of the repository]
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,

    /// Ask at the terminal whether the upload may go on
    #[arg(long, conflicts_with = "json")]
    interactive: bool,

    /// Print one JSON document: each step with its checks and facts
    #[arg(long)]
    json: bool,

    /// Serve only the shop, and print its address and its login, until Ctrl-C
    #[arg(long, conflicts_with_all = ["plugin", "interactive", "json"])]
    shop_only: bool,

    /// The shop's port [default: a free one]
    #[arg(long, value_name = "PORT", requires = "shop_only", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

/// Runs the demo. The code is 0 only when every step held.
///
/// # Errors
/// When standard output is closed, or signals can't be handled.
pub async fn run(args: Args) -> anyhow::Result<ExitCode> {
    // From here on: a signal that comes while the stage is being set must not leave it standing.
    let mut interrupt = signal(SignalKind::interrupt())?;
    if args.shop_only {
        return serve_shop(args.port, &mut interrupt).await;
    }
    if args.interactive && !std::io::stdin().is_terminal() {
        return Ok(fail(&Failure::usage("--interactive needs a terminal to ask at")));
    }
    let manifest = match find_plugin(args.plugin) {
        Ok(manifest) => manifest,
        Err(failure) => return Ok(fail(&failure)),
    };
    let began = Instant::now();
    let mut screen = Screen::new(args.json);
    let set = tokio::select! {
        set = Stage::set(&manifest) => set,
        _ = interrupt.recv() => return Ok(Exit::Interrupted.into()),
    };
    let stage = match set {
        Ok(stage) => stage,
        Err(failure) => return Ok(fail(&failure)),
    };
    let held = tokio::select! {
        held = story::tell(&stage, &mut screen, args.interactive) => Some(held),
        _ = interrupt.recv() => None,
    };
    stage.strike().await;
    let Some(held) = held else { return Ok(Exit::Interrupted.into()) };
    let held = held?;
    screen.end(held, began.elapsed())?;
    Ok(if held { Exit::Ok } else { Exit::Failed }.into())
}

fn fail(failure: &Failure) -> ExitCode {
    failure.print();
    failure.exit.into()
}

/// Where the plugin lies in the repository.
const PLUGIN: &str = "plugins/orders/plugin.toml";

/// The manifest that was named, or the repository's: above the current folder, or above this program.
fn find_plugin(named: Option<PathBuf>) -> Result<PathBuf, Failure> {
    if let Some(named) = named {
        let manifest = if named.is_dir() { named.join("plugin.toml") } else { named };
        // Absolute: the host's own base folder is another one.
        return std::path::absolute(&manifest)
            .ok()
            .filter(|manifest| manifest.is_file())
            .ok_or_else(|| Failure::usage(format!("there is no manifest at {}", manifest.display())));
    }
    let here = std::env::current_dir().ok();
    let program = std::env::current_exe().ok();
    let manifest = [here, program].into_iter().flatten().find_map(|start| above(&start)).ok_or_else(|| {
        Failure::usage("the orders plugin was not found")
            .with_hint("run this in the repository, or name its manifest by --plugin")
    })?;
    if manifest.with_file_name("orders.wasm").is_file() {
        Ok(manifest)
    } else {
        Err(Failure::usage("the orders plugin is not built yet").with_hint("run `just guests` in the repository"))
    }
}

fn above(start: &Path) -> Option<PathBuf> {
    start.ancestors().map(|folder| folder.join(PLUGIN)).find(|manifest| manifest.is_file())
}

async fn serve_shop(port: u16, interrupt: &mut Signal) -> anyhow::Result<ExitCode> {
    const BOLD: Style = Style::new().bold();
    let shop = match Shop::start_on(port).await {
        Ok(shop) => shop,
        Err(error) => return Ok(fail(&Failure::failed(error))),
    };
    let addr = shop.addr();
    output::line(&format!(
        "{BOLD}The demo shop{BOLD:#}  http://{SHOP_HOST}:{port}/\n\
         email          {email}\n\
         password       {password}\n\n\
         In a binding:\n\n\
         hosts = [\"{SHOP_HOST}\"]\n\
         start = \"{start}\"\n\
         resolve = {{ \"{SHOP_HOST}\" = \"{addr}\" }}\n\n\
         Ctrl-C ends it.",
        port = addr.port(),
        email = shop.email(),
        password = shop.password(),
        start = shop.url("/"),
    ))?;
    interrupt.recv().await;
    Ok(Exit::Ok.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_that_is_not_there_or_not_built_is_one_clear_line() {
        let folder = tempfile::tempdir().unwrap();
        let missing = find_plugin(Some(folder.path().join("nope.toml"))).unwrap_err();
        assert!(missing.message.starts_with("there is no manifest at "), "{missing}");
        assert_eq!(missing.exit, Exit::Usage);

        std::fs::write(folder.path().join("plugin.toml"), "").unwrap();
        assert_eq!(find_plugin(Some(folder.path().to_owned())).unwrap(), folder.path().join("plugin.toml"));
    }

    #[test]
    fn the_plugin_is_found_above_where_one_stands() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("host/transom");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(above(&deep), None);
        let manifest = root.path().join(PLUGIN);
        std::fs::create_dir_all(manifest.parent().unwrap()).unwrap();
        std::fs::write(&manifest, "").unwrap();
        assert_eq!(above(&deep), Some(manifest));
    }
}
