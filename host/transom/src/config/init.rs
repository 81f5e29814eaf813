//! A commented configuration to start from.

use std::{fs::OpenOptions, io::Write as _, path::Path};

use super::ConfigError;

/// The file that `transom config init` writes: each setting with what it is for, the optional ones commented out.
pub const TEMPLATE: &str = include_str!("template.toml");

/// Writes the template to `path`. Replaces what is there only with `force`.
///
/// # Errors
/// When something is there already, or the file can't be written.
pub fn init(path: &Path, force: bool) -> Result<(), ConfigError> {
    let failed = |problem: String| ConfigError::Unreadable { path: path.to_owned(), problem };
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let mut file = options.open(path).map_err(|error| {
        failed(match error.kind() {
            std::io::ErrorKind::AlreadyExists => "it is there already; --force replaces it".to_owned(),
            std::io::ErrorKind::NotFound => "its folder does not exist".to_owned(),
            _ => error.to_string(),
        })
    })?;
    file.write_all(TEMPLATE.as_bytes()).map_err(|error| failed(error.to_string()))
}
