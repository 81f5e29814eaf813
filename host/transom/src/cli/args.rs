//! Arguments that several commands share.

use std::{
    fs,
    path::{Path, PathBuf},
};

use transom_runs::{GivenFile, Tools};

use crate::{
    config::{Config, Environment},
    exit::Failure,
};

/// Largest file that a run is given by the command line, in bytes: as over HTTP.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Which configuration file.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ConfigFile {
    /// The configuration [default: ./transom.toml, else transom/transom.toml in the user's configuration folder]
    #[arg(long = "config", short = 'c', value_name = "FILE", env = "TRANSOM_CONFIG", hide_env = true, global = true)]
    pub(crate) path: Option<PathBuf>,
}

impl ConfigFile {
    pub(crate) fn load(&self, environment: &Environment) -> Result<Config, Failure> {
        Config::load(self.path.as_deref(), environment).map_err(Failure::usage)
    }
}

/// What a run of this command is granted, and what it begins with.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct NewRun {
    /// The binding: its `verbs` and its plugins' tools are granted
    #[arg(long, short = 'b', value_name = "PREFIX")]
    pub(crate) binding: Option<String>,

    /// Grant only these tools of it [default: all]
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,

    /// Give the run a file; it appears under NAME
    #[arg(long = "file", value_name = "NAME=PATH")]
    pub(crate) files: Vec<String>,

    /// The model that drives the run, where the host asks for one
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

impl NewRun {
    /// The prefixes of the bindings that the run needs, and the tools that it is granted.
    pub(crate) fn grants(&self) -> Result<(Vec<String>, Tools), Failure> {
        if self.tools.is_empty() {
            let binding = self.binding.clone().ok_or_else(|| Failure::usage("which binding? give --binding PREFIX"))?;
            return Ok((vec![binding.clone()], Tools::Binding(binding)));
        }
        let mut prefixes: Vec<String> = Vec::new();
        let mut names = Vec::with_capacity(self.tools.len());
        for tool in &self.tools {
            let full = full_name(tool, self.binding.as_deref())?;
            let prefix = prefix_of(&full).to_owned();
            if !prefixes.contains(&prefix) {
                prefixes.push(prefix);
            }
            names.push(full);
        }
        Ok((prefixes, Tools::Named(names)))
    }

    /// The files, read.
    pub(crate) fn given_files(&self) -> Result<Vec<GivenFile>, Failure> {
        self.files.iter().map(|text| given_file(text)).collect()
    }
}

/// A tool's full name: `navigate` under the binding `shop` is `shop.navigate`.
pub(crate) fn full_name(tool: &str, binding: Option<&str>) -> Result<String, Failure> {
    match binding {
        _ if tool.contains('.') => Ok(tool.to_owned()),
        Some(binding) => Ok(format!("{binding}.{tool}")),
        None => Err(Failure::usage(format!(
            "\"{tool}\" of which binding? write \"PREFIX.{tool}\", or give --binding PREFIX"
        ))),
    }
}

/// The prefix of a full name.
pub(crate) fn prefix_of(full_name: &str) -> &str {
    full_name.split('.').next().unwrap_or_default()
}

fn given_file(text: &str) -> Result<GivenFile, Failure> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) => (name.to_owned(), Path::new(path)),
        None => {
            let path = Path::new(text);
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            (name.ok_or_else(|| Failure::usage(format!("--file \"{text}\" has no name: write NAME=PATH")))?, path)
        }
    };
    let failed = |problem: &dyn std::fmt::Display| Failure::usage(format!("--file {}: {problem}", path.display()));
    let metadata = fs::metadata(path).map_err(|error| failed(&error))?;
    if !metadata.is_file() {
        return Err(failed(&"not a file"));
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(failed(&format!("larger than {}", bytesize::ByteSize(FILE_BYTES_MAX))));
    }
    let bytes = fs::read(path).map_err(|error| failed(&error))?;
    Ok(GivenFile { name, bytes, media_type: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_tool_belongs_to_the_binding_that_was_named() {
        assert_eq!(full_name("navigate", Some("shop")).unwrap(), "shop.navigate");
        assert_eq!(full_name("bank.navigate", Some("shop")).unwrap(), "bank.navigate");
        assert_eq!(
            full_name("navigate", None).unwrap_err().message,
            "\"navigate\" of which binding? write \"PREFIX.navigate\", or give --binding PREFIX"
        );
    }

    #[test]
    fn a_binding_alone_grants_its_verbs_and_tools_narrow_it() {
        let new = |binding: Option<&str>, tools: &[&str]| NewRun {
            binding: binding.map(str::to_owned),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            ..NewRun::default()
        };
        let (prefixes, tools) = new(Some("shop"), &[]).grants().unwrap();
        assert_eq!(prefixes, ["shop"]);
        assert!(matches!(tools, Tools::Binding(prefix) if prefix == "shop"));
        let (prefixes, tools) = new(Some("shop"), &["click", "bank.navigate", "shop.type"]).grants().unwrap();
        assert_eq!(prefixes, ["shop", "bank"]);
        assert!(matches!(tools, Tools::Named(names) if names == ["shop.click", "bank.navigate", "shop.type"]));
        assert!(new(None, &[]).grants().is_err());
    }

    #[test]
    fn a_file_is_read_and_a_wrong_one_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "x").unwrap();
        let given = given_file(&format!("orders.csv={}", path.display())).unwrap();
        assert_eq!((given.name.as_str(), given.bytes.as_slice()), ("orders.csv", b"x".as_slice()));
        assert_eq!(given_file(path.to_str().unwrap()).unwrap().name, "a.csv");
        assert!(given_file("x=/nowhere/at/all").unwrap_err().message.starts_with("--file /nowhere/at/all: "));
        assert!(given_file(&format!("x={}", folder.path().display())).unwrap_err().message.ends_with("not a file"));
    }
}
