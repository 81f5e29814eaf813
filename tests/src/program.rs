//! Where the program under test and the repository are.

use std::path::{Path, PathBuf};

use anyhow::bail;

/// The program, built together with these tests: integration tests and benchmarks are built next to it.
///
/// # Errors
/// When it is not there.
pub fn path() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    // target/<profile>/deps/<test>-<hash>
    let folder = own.ancestors().find(|folder| folder.join("transom-e2e").is_file());
    match folder {
        Some(folder) => Ok(folder.join("transom-e2e")),
        None => bail!("transom-e2e is not built: run the tests by `cargo test -p transom-tests`"),
    }
}

/// The repository's folder.
#[must_use]
pub fn repository() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}
