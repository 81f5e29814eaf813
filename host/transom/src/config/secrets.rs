//! Values of the secrets that a configuration names: from the environment, or from a file.
//!
//! Read once, when a host starts. A message names the variable or the file, never a value.
//!
//! A value that can't be taken out of texts again is refused here, where the message can say whose it is.
//!
//! Not here: what can be taken out of texts (`transom-policy`), on which hosts a secret may be typed (`transom-runs`).

use std::{fs::File, io::Read as _, path::Path};

use transom_policy::redact::{Redactor, RedactorError, SECRET_CHARS, Secret};
use transom_runs::{
    binding::SecretValues,
    settings::{SecretSetting, Settings},
};

use super::{ConfigError, find::Environment, io_problem};

/// Largest file of a secret, in bytes. A private key has some 3,000; what is larger is no secret that one types.
const SECRET_BYTES_MAX: u64 = 64 << 10;

pub(super) fn read(settings: &Settings, base: &Path, environment: &Environment) -> Result<SecretValues, ConfigError> {
    let mut values = SecretValues::new();
    for binding in &settings.binding {
        for (name, setting) in &binding.secrets {
            let value = value(&binding.prefix, name, setting, base, environment)?;
            values.insert(&binding.prefix, name, value);
        }
    }
    Ok(values)
}

pub(super) fn value(
    binding: &str,
    secret: &str,
    setting: &SecretSetting,
    base: &Path,
    environment: &Environment,
) -> Result<String, ConfigError> {
    let wrong =
        |problem: String| ConfigError::Secret { binding: binding.to_owned(), secret: secret.to_owned(), problem };
    let value = read_value(setting, base, environment).map_err(wrong)?;
    let as_secret = Secret::new(secret, value.as_str()).map_err(|error| wrong(error.to_string()))?;
    Redactor::new([as_secret]).map_err(|error| {
        wrong(match error {
            RedactorError::TooShort { n_chars, .. } => {
                format!("its value has {n_chars} characters, which would be found in ordinary text: choose one of at least {SECRET_CHARS}")
            }
            other @ RedactorError::TooLarge => other.to_string(),
        })
    })?;
    Ok(value)
}

fn read_value(setting: &SecretSetting, base: &Path, environment: &Environment) -> Result<String, String> {
    match (&setting.env, &setting.file) {
        (Some(variable), None) => match environment.get(variable) {
            None => Err(format!("the environment variable {variable} is not set")),
            Some(value) if value.is_empty() => Err(format!("the environment variable {variable} is empty")),
            Some(value) => value
                .to_str()
                .map(str::to_owned)
                .ok_or_else(|| format!("the environment variable {variable} is not UTF-8 text")),
        },
        (None, Some(file)) => from_file(&base.join(file)).map_err(|problem| format!("{}: {problem}", file.display())),
        (None, None) => Err("it has no source: write env = \"VARIABLE\" or file = \"PATH\"".to_owned()),
        (Some(_), Some(_)) => Err("it has two sources: keep one of `env` and `file`".to_owned()),
    }
}

fn from_file(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| io_problem(&error))?;
    let mut bytes = Vec::new();
    file.take(SECRET_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| io_problem(&error))?;
    if bytes.len() as u64 > SECRET_BYTES_MAX {
        return Err(format!("larger than {SECRET_BYTES_MAX} bytes"));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned())?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    if text.is_empty() { Err("the file is empty".to_owned()) } else { Ok(text) }
}
