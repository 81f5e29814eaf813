//! Which configuration file it is, and where state goes.
//!
//! The file: the one that was named, else `./transom.toml`, else `$XDG_CONFIG_HOME/transom/transom.toml`. State: `[host] state`, else
//! `$XDG_STATE_HOME/transom`.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::ConfigError;

/// The file's name wherever it is looked for.
pub(super) const FILE_NAME: &str = "transom.toml";

/// The process's environment variables and working folder, as a value: tests make their own.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    folder: PathBuf,
}

impl Environment {
    /// This process's.
    #[must_use]
    pub fn of_process() -> Environment {
        Environment { variables: std::env::vars_os().collect(), folder: PathBuf::new() }
    }

    /// One for a test: `folder` stands in for the working folder.
    #[must_use]
    pub fn of(folder: &Path, variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        Environment { variables, folder: folder.to_owned() }
    }

    /// A variable's value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.get(std::ffi::OsStr::new(name))
    }

    /// A folder of the XDG base directory specification: the variable where it is absolute (others must be ignored), else its default
    /// below HOME.
    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let named = self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(|| self.get("HOME").filter(|home| !home.is_empty()).map(|home| Path::new(home).join(below_home)))
    }

    /// Where a configuration for the user belongs.
    pub(super) fn user_file(&self) -> Option<PathBuf> {
        Some(self.xdg("XDG_CONFIG_HOME", ".config")?.join("transom").join(FILE_NAME))
    }

    /// A path that may be relative to the working folder.
    pub(super) fn here(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }
}

pub(super) fn find(explicit: Option<&Path>, environment: &Environment) -> Result<PathBuf, ConfigError> {
    if let Some(path) = explicit {
        return Ok(environment.here(path));
    }
    let mut looked = vec![format!("./{FILE_NAME}")];
    let local = environment.here(Path::new(FILE_NAME));
    if local.exists() {
        return Ok(local);
    }
    if let Some(path) = environment.user_file() {
        if path.exists() {
            return Ok(path);
        }
        looked.push(path.display().to_string());
    }
    Err(ConfigError::NotFound { looked: looked.join(" and ") })
}

/// Where state goes: as configured (relative to `base`), else the user's state folder.
///
/// # Errors
/// When neither the configuration nor the environment says it.
pub fn state_folder(configured: Option<&Path>, base: &Path, environment: &Environment) -> Result<PathBuf, ConfigError> {
    match configured {
        Some(path) => Ok(base.join(path)),
        None => Ok(environment.xdg("XDG_STATE_HOME", ".local/state").ok_or(ConfigError::NoState)?.join("transom")),
    }
}
