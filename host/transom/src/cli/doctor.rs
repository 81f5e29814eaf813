//! `transom doctor`: is this machine, and this configuration, ready?

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde::Serialize;
use transom_egress::{isolation::Isolation, jail};
use transom_plugins::Manifest;
use transom_runs::binding::Binding;

use super::args::ConfigFile;
use crate::{
    config::{Config, ConfigError, Environment},
    exit::{Exit, Failure},
    output,
};

/// How long Chromium may take to say its version: it takes 30 ms, more on a cold disk.
const VERSION_WITHIN: Duration = Duration::from_secs(10);

/// Check this machine and the configuration, and say what to do
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  transom doctor --config transom.toml --json | jq '.checks[] | select(.state != \"ok\")'"
)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// It works, and somebody should know.
    Warning,
    /// It will not work.
    Failed,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
struct Check {
    name: String,
    state: State,
    detail: String,
}

impl Check {
    fn new(name: impl Into<String>, state: State, detail: impl ToString) -> Check {
        Check { name: name.into(), state, detail: detail.to_string() }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    ready: bool,
    version: &'static str,
    checks: Vec<Check>,
}

pub(super) async fn run(args: Args, environment: &Environment) -> Result<Exit, Failure> {
    let mut checks = Vec::new();
    let config = match Config::load(args.config.path.as_deref(), environment) {
        Ok(config) => {
            checks.push(Check::new("configuration", State::Ok, config.path.display()));
            Some(config)
        }
        Err(error @ ConfigError::NotFound { .. }) => {
            checks.push(Check::new("configuration", State::Warning, error));
            None
        }
        Err(error) => {
            checks.push(Check::new("configuration", State::Failed, error));
            None
        }
    };
    if let Some(config) = &config {
        check_bindings(config, environment, &mut checks);
    }
    checks.push(check_state(config.as_ref(), environment));
    check_machine(config.as_ref(), &mut checks).await;

    let ready = checks.iter().all(|check| check.state != State::Failed);
    let report = Report { ready, version: env!("CARGO_PKG_VERSION"), checks };
    if args.json {
        output::json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(if ready { Exit::Ok } else { Exit::Failed })
}

fn print(report: &Report) -> Result<(), Failure> {
    for check in &report.checks {
        let (style, word) = match check.state {
            State::Ok => (output::GREEN, "ok     "),
            State::Warning => (output::YELLOW, "warning"),
            State::Failed => (output::RED, "failed "),
        };
        output::line(&format!("{style}{word}{style:#}  {}: {}", check.name, output::printable(&check.detail)))?;
    }
    output::line(if report.ready { "\nready" } else { "\nnot ready: see what failed above" })?;
    Ok(())
}

fn check_bindings(config: &Config, environment: &Environment, checks: &mut Vec<Check>) {
    let secrets = config.secrets(environment);
    for binding in &config.settings.binding {
        let prefix = &binding.prefix;
        for name in binding.secrets.keys() {
            let check = format!("secret {prefix}.{name}");
            checks.push(match config.check_secret(prefix, name, environment) {
                Ok(()) => Check::new(check, State::Ok, "has a value"),
                Err(error) => Check::new(check, State::Failed, error),
            });
        }
        // A binding can only be judged with the values of its secrets; without them it has failed above.
        if let Ok(secrets) = &secrets {
            let check = format!("binding {prefix}");
            checks.push(match Binding::check(binding, secrets) {
                Ok(_) => match binding.isolation {
                    Isolation::Jail => Check::new(check, State::Ok, "isolation = \"jail\""),
                    Isolation::Proxy => Check::new(
                        check,
                        State::Warning,
                        "isolation = \"proxy\": Chromium is told to use the proxy, and nothing holds it there",
                    ),
                },
                Err(error) => Check::new(check, State::Failed, config.place_of(&error)),
            });
        }
        for plugin in &binding.plugin {
            let path = config.base_dir().join(&plugin.manifest);
            let check = format!("plugin {prefix}: {}", plugin.manifest.display());
            checks.push(match check_plugin(&path) {
                Ok(component) => Check::new(check, State::Ok, format!("{} is built", component.display())),
                Err(problem) => Check::new(check, State::Failed, problem),
            });
        }
    }
}

/// The component of the plugin with this manifest, when it is there. `transom plugin check` looks inside.
fn check_plugin(manifest: &Path) -> Result<PathBuf, String> {
    let text = std::fs::read_to_string(manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let parsed = Manifest::parse(&text).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let component = manifest.parent().unwrap_or(Path::new("")).join(parsed.component());
    if component.is_file() { Ok(component) } else { Err(format!("{} is not built yet", component.display())) }
}

fn check_state(config: Option<&Config>, environment: &Environment) -> Check {
    let folder = match config {
        Some(config) => config.state(environment),
        None => crate::config::state_folder(None, Path::new("."), environment),
    };
    match folder {
        Err(error) => Check::new("state", State::Failed, error),
        Ok(folder) => match write_something(&folder) {
            Ok(()) => Check::new("state", State::Ok, folder.display()),
            Err(error) => Check::new("state", State::Failed, format!("{} can't be written: {error}", folder.display())),
        },
    }
}

fn write_something(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    std::fs::OpenOptions::new().write(true).create_new(true).open(&probe)?;
    std::fs::remove_file(&probe)
}

async fn check_machine(config: Option<&Config>, checks: &mut Vec<Check>) {
    let report = jail::probe().await;
    let chromium = config.and_then(|config| config.settings.host.chromium.clone()).or_else(|| report.chromium.clone());
    checks.push(match chromium {
        None => Check::new(
            "chromium",
            State::Failed,
            "not found: install it (Debian: `apt-get install chromium`), or name it by `chromium` under [host]",
        ),
        Some(path) => match version_of(&path).await {
            Ok(version) => Check::new("chromium", State::Ok, format!("{version} at {}", path.display())),
            Err(problem) => {
                Check::new("chromium", State::Failed, format!("{} does not run: {problem}", path.display()))
            }
        },
    });
    // Where every binding asked for the weaker level, the jail is not needed.
    let bindings = config.map(|config| config.settings.binding.as_slice()).unwrap_or_default();
    let needs_jail = bindings.is_empty() || bindings.iter().any(|binding| binding.isolation == Isolation::Jail);
    let without = if needs_jail { State::Failed } else { State::Warning };
    checks.push(match &report.bubblewrap {
        Some((path, version)) => Check::new("bubblewrap", State::Ok, format!("{version} at {}", path.display())),
        None => Check::new("bubblewrap", without, "not found: install it (Debian: `apt-get install bubblewrap`)"),
    });
    checks.push(match &report.jail {
        Ok(()) => Check::new(
            "jail",
            State::Ok,
            format!("works as user {} (Chromium: user {})", report.host_uid, report.browser_uid),
        ),
        Err(problem) => Check::new("jail", without, problem),
    });
    checks.push(match &report.sandbox {
        Ok(()) => Check::new("sandbox", State::Ok, "Chromium can use its own inside"),
        Err(problem) => Check::new("sandbox", State::Failed, problem),
    });
}

async fn version_of(chromium: &Path) -> Result<String, String> {
    let output =
        tokio::process::Command::new(chromium).arg("--version").stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(VERSION_WITHIN, output)
        .await
        .map_err(|_| "it did not answer".to_owned())?
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default().trim();
    if output.status.success() && !first.is_empty() {
        Ok(first.to_owned())
    } else {
        Err(format!("it ended with {}", output.status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_that_is_not_built_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("plugin.toml");
        assert!(check_plugin(&manifest).unwrap_err().contains("plugin.toml: "));
        std::fs::write(
            &manifest,
            "[plugin]\nname = \"a\"\nversion = \"0.1.0\"\ncomponent = \"a.wasm\"\ndescription = \"A\"\n",
        )
        .unwrap();
        assert!(check_plugin(&manifest).unwrap_err().ends_with("a.wasm is not built yet"));
        std::fs::write(folder.path().join("a.wasm"), "").unwrap();
        assert!(check_plugin(&manifest).is_ok());
    }

    #[test]
    fn a_state_folder_that_cannot_be_written_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let environment = |state: &Path| Environment::of(folder.path(), &[("XDG_STATE_HOME", state.to_str().unwrap())]);
        assert_eq!(check_state(None, &environment(&file)).state, State::Failed);
        assert_eq!(check_state(None, &environment(folder.path())).state, State::Ok);
        assert!(std::fs::read_dir(folder.path().join("transom")).unwrap().next().is_none());
    }
}
