//! Where the standard library for WebAssembly comes from, and the one cargo call that compiles all guests.
//!
//! rustup's target is taken where it is installed. Where it is not and can't be (no way to its server), Debian's own
//! compiler with its library's source does: `rustc-web cargo-web rust-web-src lld-22`.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::guest::Guest;

const TARGET: &str = "wasm32-unknown-unknown";

/// Where cargo puts the modules, below its target folder.
pub(crate) const MODULES: &str = "wasm32-unknown-unknown/release";

const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// A compiler that can make WebAssembly.
pub(crate) enum Toolchain {
    /// The cargo in use, with a prebuilt library.
    Prebuilt { cargo: PathBuf },
    /// Debian's, which builds the library from source.
    FromSource { linker: PathBuf },
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Toolchain::Prebuilt { .. } => write!(f, "the installed {TARGET} target"),
            Toolchain::FromSource { .. } => write!(f, "Debian's compiler and its library's source"),
        }
    }
}

impl Toolchain {
    /// Finds one.
    ///
    /// # Errors
    /// When there is none: says what to install.
    pub(crate) fn find() -> Result<Toolchain> {
        let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        if sysroot("rustc").is_some_and(|sysroot| has_library(&sysroot)) {
            return Ok(Toolchain::Prebuilt { cargo });
        }
        let has_source =
            sysroot(DEBIAN_RUSTC).is_some_and(|sysroot| sysroot.join("lib/rustlib/src/rust/library").is_dir());
        match debian_linker() {
            Some(linker) if has_source && Path::new(DEBIAN_CARGO).is_file() => Ok(Toolchain::FromSource { linker }),
            _ => bail!(
                "no Rust library for {TARGET} here; run `rustup target add {TARGET}`, or on Debian \
                 `apt-get install rustc-web cargo-web rust-web-src lld-22`"
            ),
        }
    }

    /// Compiles all guests in one go.
    pub(crate) fn compile(&self, workspace: &Path, target: &Path, guests: &[Guest]) -> Result<()> {
        let mut command = match self {
            Toolchain::Prebuilt { cargo } => Command::new(cargo),
            Toolchain::FromSource { linker } => {
                let mut command = Command::new(DEBIAN_CARGO);
                command.env("RUSTC", DEBIAN_RUSTC).env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
                // Building the library is an unstable option of a stable compiler; this is how Debian's is told to allow it.
                command.env("RUSTC_BOOTSTRAP", "1");
                command
            }
        };
        // Flags for the host's own code are none for guests.
        command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        command.args(["build", "--release", "--quiet", "--target", TARGET]);
        // A new plugin adds itself to the lock; only CI holds everybody to what was committed.
        if std::env::var_os("CI").is_some() {
            command.arg("--locked");
        }
        command.arg("--manifest-path").arg(workspace).arg("--target-dir").arg(target);
        for guest in guests {
            command.arg("--package").arg(&guest.package);
        }
        if matches!(self, Toolchain::FromSource { .. }) {
            command.arg("-Zbuild-std=std,panic_abort");
        }
        let status = command.status().with_context(|| format!("{}", command.get_program().display()))?;
        if !status.success() {
            bail!("the guests did not compile");
        }
        Ok(())
    }
}

fn sysroot(rustc: &str) -> Option<PathBuf> {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(path.trim()))
}

fn has_library(sysroot: &Path) -> bool {
    let Ok(files) = fs::read_dir(sysroot.join("lib/rustlib").join(TARGET).join("lib")) else { return false };
    files.flatten().any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
}

/// `wasm-ld`, or the newest of Debian's versioned ones.
fn debian_linker() -> Option<PathBuf> {
    let mut linkers: Vec<(u32, PathBuf)> = fs::read_dir("/usr/bin")
        .ok()?
        .flatten()
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let version = name.strip_prefix("wasm-ld")?.trim_start_matches('-');
            let version = if version.is_empty() { u32::MAX } else { version.parse().ok()? };
            Some((version, file.path()))
        })
        .collect();
    linkers.sort();
    linkers.pop().map(|(_, path)| path)
}
