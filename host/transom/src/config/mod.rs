//! The configuration: which file, what it says, and the secrets that it names.
//!
//! | file | what |
//! |---|---|
//! | `find` | which file is it, and where does state go? |
//! | `parse` | TOML to settings; every mistake is one line with its place |
//! | `secrets` | values from the environment and from files |
//! | `init` | a commented file to start from |
//!
//! This crate is the only one that reads the environment and configuration files. What the settings *mean* is decided in
//! `transom-runs`: a binding that it refuses is shown here at its place in the file.

mod find;
mod init;
mod parse;
mod secrets;

use std::path::{Path, PathBuf};

use transom_runs::{
    binding::{BindingError, SecretValues},
    settings::Settings,
};
use transom_verbs::registry::closest;

pub use find::{Environment, state_folder};
pub use init::{TEMPLATE, init};
pub use parse::{Place, parse};

/// Largest configuration file, in bytes. Ten thousand bindings fit; a device or a disk image given by mistake does not.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// What is wrong with the configuration. `Display` is one line that says where, what, and what to write.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no file.
    #[error("no configuration: looked for {looked}; `transom config init` writes a file to start from")]
    NotFound {
        /// The places.
        looked: String,
    },
    /// The file can't be read.
    #[error("{}: {problem}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// Something in the file is wrong.
    #[error("{place}: {problem}")]
    Wrong {
        /// Where.
        place: Place,
        /// What, and what to write instead.
        problem: String,
    },
    /// A secret has no value.
    #[error("binding \"{binding}\", secret \"{secret}\": {problem}")]
    Secret {
        /// The binding's prefix.
        binding: String,
        /// The secret's name.
        secret: String,
        /// What is wrong, with the variable's or the file's name and never a value.
        problem: String,
    },
    /// There is nowhere to keep state.
    #[error("no place for state: set `state` under [host], or the environment variable HOME")]
    NoState,
    /// A binding was named that is not there.
    #[error("no binding \"{prefix}\" in {}{suggestion}", .path.display())]
    NoBinding {
        /// The prefix that was asked for.
        prefix: String,
        /// The file.
        path: PathBuf,
        /// What there is.
        suggestion: String,
    },
}

/// A configuration file that was read.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file.
    pub path: PathBuf,
    /// Its text, for places.
    text: String,
    /// What it says.
    pub settings: Settings,
}

impl Config {
    /// Finds and reads the file. `explicit`: the one that the operator named.
    ///
    /// # Errors
    /// When there is none, it can't be read, or something in it is wrong.
    pub fn load(explicit: Option<&Path>, environment: &Environment) -> Result<Config, ConfigError> {
        let path = find::find(explicit, environment)?;
        let text = read(&path)?;
        let settings = parse(&path, &text)?;
        Ok(Config { path, text, settings })
    }

    /// The folder that relative paths in the file start from.
    #[must_use]
    pub fn base_dir(&self) -> PathBuf {
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::path::absolute(parent).unwrap_or_else(|_| parent.to_owned())
    }

    /// Where state goes.
    ///
    /// # Errors
    /// When neither the file nor the environment says it.
    pub fn state(&self, environment: &Environment) -> Result<PathBuf, ConfigError> {
        state_folder(self.settings.host.state.as_deref(), &self.base_dir(), environment)
    }

    /// Keeps only these bindings: a command for one binding needs neither the secrets nor the plugins of the others.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn only<'a>(mut self, prefixes: impl IntoIterator<Item = &'a str>) -> Result<Config, ConfigError> {
        let prefixes: Vec<&str> = prefixes.into_iter().collect();
        for prefix in &prefixes {
            let known: Vec<&str> = self.settings.binding.iter().map(|binding| binding.prefix.as_str()).collect();
            if !known.contains(prefix) {
                return Err(ConfigError::NoBinding {
                    prefix: (*prefix).to_owned(),
                    path: self.path.clone(),
                    suggestion: suggest_binding(prefix, &known),
                });
            }
        }
        self.settings.binding.retain(|binding| prefixes.contains(&binding.prefix.as_str()));
        Ok(self)
    }

    /// The values of the secrets of all bindings.
    ///
    /// # Errors
    /// The first that has none.
    pub fn secrets(&self, environment: &Environment) -> Result<SecretValues, ConfigError> {
        secrets::read(&self.settings, &self.base_dir(), environment)
    }

    /// The same for one secret, for a report: the error says why it has no value.
    pub(crate) fn check_secret(&self, prefix: &str, name: &str, environment: &Environment) -> Result<(), ConfigError> {
        let binding = self.settings.binding.iter().find(|binding| binding.prefix == prefix);
        let Some(setting) = binding.and_then(|binding| binding.secrets.get(name)) else { return Ok(()) };
        secrets::value(prefix, name, setting, &self.base_dir(), environment).map(drop)
    }

    /// A binding that was refused, at its place in the file.
    #[must_use]
    pub fn place_of(&self, error: &BindingError) -> ConfigError {
        ConfigError::Wrong {
            place: Place::of_key(&self.path, &self.text, &error.binding, &error.key),
            problem: error.to_string(),
        }
    }
}

fn suggest_binding(prefix: &str, known: &[&str]) -> String {
    match closest(prefix, known.iter().copied()) {
        Some(meant) => format!(": did you mean \"{meant}\"?"),
        None if known.is_empty() => ": it has no [[binding]] yet".to_owned(),
        None => format!(": there is \"{}\"", known.join("\", \"")),
    }
}

fn read(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |problem: String| ConfigError::Unreadable { path: path.to_owned(), problem };
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(io_problem(&error)))?;
    if !metadata.is_file() {
        return Err(unreadable("not a file".to_owned()));
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(unreadable(format!("larger than {FILE_BYTES_MAX} bytes, so hardly a configuration")));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(io_problem(&error)))?;
    String::from_utf8(bytes).map_err(|_| unreadable("not UTF-8 text".to_owned()))
}

/// What the system said, in the words of this program.
fn io_problem(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "not readable for this user".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
