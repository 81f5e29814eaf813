//! Which tools a run may call: each by its full name, and nothing else.
//!
//! `shop.click` grants the tool `click` of the binding `shop`. A bare prefix grants nothing and is an error, so that nobody
//! believes it grants all; stars are errors too. The empty list grants nothing.
//!
//! Not here: whether a tool of that name exists (the registry and the plugins know); what a plugin's own calls may do
//! (`capability.rs`, its types re-exported below); hosts (`hosts.rs`).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use crate::capability::{Asked, Capabilities, CapabilityDenial, Excess, Layer, PluginGrant, PluginNeeds};

/// Longest prefix, in bytes: with a tool name and the dot it stays well under the 128 that MCP allows for a name.
pub const PREFIX_BYTES: usize = 32;

/// Longest name of a tool within its prefix, in bytes: see [`PREFIX_BYTES`].
pub const TOOL_BYTES: usize = 64;

/// Longest part of a refused name that its error repeats, in characters: an error stays one readable line.
const SHOWN_CHARS: usize = 80;

/// The prefix of a binding, such as `shop`: 1 to 32 of a–z, 0–9, `_` and `-`, a letter first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix(String);

impl Prefix {
    /// Reads a prefix.
    ///
    /// # Errors
    /// [`NameError::Prefix`] for anything but the form above.
    pub fn parse(text: &str) -> Result<Prefix, NameError> {
        if is_name(text, PREFIX_BYTES) {
            Ok(Prefix(text.to_owned()))
        } else {
            Err(NameError::Prefix { found: shown(text) })
        }
    }

    /// The prefix as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The full name of a tool, such as `shop.click`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName {
    prefix: Prefix,
    name: String,
}

impl ToolName {
    /// Reads `<prefix>.<name>`; the name is 1 to 64 of a–z, 0–9, `_` and `-`, a letter first.
    ///
    /// # Errors
    /// [`NameError`], which says what to write; a bare prefix and a star have errors of their own.
    pub fn parse(text: &str) -> Result<ToolName, NameError> {
        let Some((prefix, name)) = text.split_once('.') else {
            return Err(match Prefix::parse(text) {
                Ok(prefix) => NameError::BarePrefix { prefix },
                Err(_) => NameError::NotFull { found: shown(text) },
            });
        };
        let prefix = Prefix::parse(prefix)?;
        if name == "*" {
            return Err(NameError::Star { prefix });
        }
        ToolName::new(prefix, name)
    }

    /// Joins a prefix and the name of a tool within it.
    ///
    /// # Errors
    /// [`NameError::Tool`] if the name has not the form that [`parse`](Self::parse) states.
    pub fn new(prefix: Prefix, name: &str) -> Result<ToolName, NameError> {
        if is_name(name, TOOL_BYTES) {
            Ok(ToolName { prefix, name: name.to_owned() })
        } else {
            Err(NameError::Tool { found: shown(name) })
        }
    }

    /// The prefix: which binding the tool belongs to.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The name within the prefix: a verb's, or that of a plugin's tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The tools of one run. The default grants nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(BTreeSet<ToolName>);

impl Grants {
    /// Reads a list of full names. A name that is listed twice counts once.
    ///
    /// # Errors
    /// The first name that is wrong refuses the whole list.
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Result<Grants, NameError> {
        names.iter().map(|name| ToolName::parse(name.as_ref())).collect()
    }

    /// Whether the run may call this tool.
    #[must_use]
    pub fn allows(&self, tool: &ToolName) -> bool {
        self.0.contains(tool)
    }

    /// The granted tools, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &ToolName> {
        self.0.iter()
    }

    /// The prefixes that have a granted tool, each once, in order.
    pub fn prefixes(&self) -> impl Iterator<Item = &Prefix> {
        self.iter().map(ToolName::prefix).collect::<BTreeSet<_>>().into_iter()
    }

    /// Whether nothing is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<ToolName> for Grants {
    fn from_iter<I: IntoIterator<Item = ToolName>>(tools: I) -> Grants {
        Grants(tools.into_iter().collect())
    }
}

/// Why a prefix or a tool's name was refused, as one line that says what to write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not the form of a prefix.
    #[error("{found} is no prefix; use 1 to 32 of a-z, 0-9, \"_\" and \"-\", a letter first")]
    Prefix {
        /// What was there, quoted and shortened.
        found: String,
    },
    /// Not the form of a tool's name within its prefix.
    #[error("{found} is no name for a tool; use 1 to 64 of a-z, 0-9, \"_\" and \"-\", a letter first")]
    Tool {
        /// What was there, quoted and shortened.
        found: String,
    },
    /// A prefix alone.
    #[error(
        "\"{prefix}\" names a prefix, which grants nothing; write each tool by its full name, such as \"{prefix}.click\""
    )]
    BarePrefix {
        /// The prefix.
        prefix: Prefix,
    },
    /// A prefix with a star.
    #[error("\"{prefix}.*\" is no tool; write each tool by its full name, such as \"{prefix}.click\"")]
    Star {
        /// The prefix.
        prefix: Prefix,
    },
    /// Neither a full name nor a prefix.
    #[error("{found} is no full name of a tool; write prefix and name, such as \"shop.click\"")]
    NotFull {
        /// What was there, quoted and shortened.
        found: String,
    },
}

fn is_name(text: &str, max_bytes: usize) -> bool {
    text.len() <= max_bytes
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// Quoted and escaped, so that a name can break neither the line nor the terminal.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.prefix, self.name)
    }
}

impl FromStr for Prefix {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Prefix, NameError> {
        Prefix::parse(text)
    }
}

impl FromStr for ToolName {
    type Err = NameError;
    fn from_str(text: &str) -> Result<ToolName, NameError> {
        ToolName::parse(text)
    }
}

impl TryFrom<String> for Prefix {
    type Error = NameError;
    fn try_from(text: String) -> Result<Prefix, NameError> {
        Prefix::parse(&text)
    }
}

impl TryFrom<String> for ToolName {
    type Error = NameError;
    fn try_from(text: String) -> Result<ToolName, NameError> {
        ToolName::parse(&text)
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> String {
        prefix.0
    }
}

impl From<ToolName> for String {
    fn from(tool: ToolName) -> String {
        tool.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn refused(name: &str, line: &Expect) {
        line.assert_eq(&ToolName::parse(name).unwrap_err().to_string());
    }

    #[test]
    fn a_full_name_is_read_and_written_alike() {
        for text in ["shop.click", "s.c", "my-shop_2.orders_list", "shop.a-b"] {
            assert_eq!(ToolName::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_wrong_name_says_what_to_write() {
        refused(
            "shop",
            &expect![[
                r#""shop" names a prefix, which grants nothing; write each tool by its full name, such as "shop.click""#
            ]],
        );
        refused("shop.*", &expect![[r#""shop.*" is no tool; write each tool by its full name, such as "shop.click""#]]);
        refused("*", &expect![[r#""*" is no full name of a tool; write prefix and name, such as "shop.click""#]]);
        refused(
            "Shop.click",
            &expect![[r#""Shop" is no prefix; use 1 to 32 of a-z, 0-9, "_" and "-", a letter first"#]],
        );
        refused(
            "shop.a.b",
            &expect![[r#""a.b" is no name for a tool; use 1 to 64 of a-z, 0-9, "_" and "-", a letter first"#]],
        );
        refused(
            "shop.",
            &expect![[r#""" is no name for a tool; use 1 to 64 of a-z, 0-9, "_" and "-", a letter first"#]],
        );
        refused(".click", &expect![[r#""" is no prefix; use 1 to 32 of a-z, 0-9, "_" and "-", a letter first"#]]);
        refused(
            "shop.cl\nick",
            &expect![[r#""cl\nick" is no name for a tool; use 1 to 64 of a-z, 0-9, "_" and "-", a letter first"#]],
        );
        assert!(ToolName::parse(&format!("{}.click", "p".repeat(PREFIX_BYTES + 1))).is_err());
        assert!(ToolName::parse(&format!("{}.click", "p".repeat(PREFIX_BYTES))).is_ok());
        assert!(ToolName::parse(&format!("shop.{}", "t".repeat(TOOL_BYTES + 1))).is_err());
        assert!(ToolName::parse(&format!("shop.{}", "t".repeat(TOOL_BYTES))).is_ok());
    }

    #[test]
    fn only_the_named_tools_of_the_named_prefix_are_granted() {
        let grants = Grants::parse(&["shop.click", "shop.navigate", "bank.click", "shop.click"]).unwrap();
        let allows = |name: &str| grants.allows(&ToolName::parse(name).unwrap());
        assert!(allows("shop.click") && allows("shop.navigate") && allows("bank.click"));
        assert!(!allows("bank.navigate") && !allows("shop.type") && !allows("sho.click"));
        assert_eq!(grants.iter().count(), 3);
        assert_eq!(grants.prefixes().map(Prefix::as_str).collect::<Vec<_>>(), ["bank", "shop"]);
    }

    #[test]
    fn one_wrong_name_refuses_the_whole_list_and_the_empty_list_grants_nothing() {
        assert!(Grants::parse(&["shop.click", "shop"]).is_err());
        let nothing = Grants::parse::<&str>(&[]).unwrap();
        assert!(nothing.is_empty() && !nothing.allows(&ToolName::parse("shop.click").unwrap()));
    }

    #[test]
    fn names_in_json_go_through_the_same_checks() {
        assert!(serde_json::from_str::<Grants>(r#"["shop.click"]"#).is_ok());
        assert!(serde_json::from_str::<Grants>(r#"["shop"]"#).is_err());
        assert!(serde_json::from_str::<Prefix>(r#""a.b""#).is_err());
    }
}
