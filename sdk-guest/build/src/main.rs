//! `transom-guest-build [FOLDER…]`: builds guest crates into components, next to their `plugin.toml`.
//!
//! Without arguments it builds all of `plugins/*` and `tests/canaries/*` that are Rust crates. All of them are one cargo
//! workspace (`sdk-guest/Cargo.toml`) with one target folder (`target/guests`), so what they share is built once; what is up
//! to date is left alone.
//!
//! Not here: other languages' guests, and installing a toolchain (`just setup` does).

mod guest;
mod toolchain;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};

use guest::Guest;
use toolchain::Toolchain;

/// Where guests are looked for, below the clone's root.
const GUEST_FOLDERS: &[&str] = &["plugins", "tests/canaries"];

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("guests: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<()> {
    let root = clone_root()?;
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if let Some(option) = arguments.iter().find(|argument| argument.to_string_lossy().starts_with('-')) {
        bail!("unknown option {}; usage: transom-guest-build [FOLDER…]", option.display());
    }
    let guests = if arguments.is_empty() { all_guests(&root)? } else { read_guests(arguments)? };
    if guests.is_empty() {
        bail!("no guest crates found in {}", GUEST_FOLDERS.join(", "));
    }
    let toolchain = Toolchain::find()?;
    println!("guests: {} crates with {toolchain}", guests.len());
    let target = root.join("target/guests");
    toolchain.compile(&root.join("sdk-guest/Cargo.toml"), &target, &guests)?;
    for guest in &guests {
        let module = target.join(toolchain::MODULES).join(guest.module_name());
        println!(
            "guests: {}",
            guest.componentize(&module, &root).with_context(|| format!("{}", guest.folder.display()))?
        );
    }
    Ok(())
}

/// The clone that this program belongs to: cargo says where its own crate is.
fn clone_root() -> Result<PathBuf> {
    let here = env::var_os("CARGO_MANIFEST_DIR").context("run this by `cargo run -p transom-guest-build`")?;
    let root = Path::new(&here).join("../..");
    root.canonicalize().with_context(|| format!("{}", root.display()))
}

fn all_guests(root: &Path) -> Result<Vec<Guest>> {
    let mut folders = Vec::new();
    for parent in GUEST_FOLDERS {
        let parent = root.join(parent);
        for entry in parent.read_dir().with_context(|| format!("{}", parent.display()))? {
            let folder = entry?.path();
            if folder.join("plugin.toml").is_file() && folder.join("Cargo.toml").is_file() {
                folders.push(folder);
            }
        }
    }
    folders.sort();
    read_guests(folders)
}

fn read_guests(folders: Vec<PathBuf>) -> Result<Vec<Guest>> {
    folders.into_iter().map(Guest::read).collect()
}
