//! Every row of the three tables in `tests/data/corpora`; their README states the rules.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use transom_policy::filename::FileName;
use transom_policy::hosts::{HostRules, Use};
use transom_policy::redact::{Redactor, Secret};
use url::Url;

/// Reads a table and insists on its length, so that a lost row cannot pass as a success.
fn rows<T: DeserializeOwned>(table: &str, n_rows: usize) -> Vec<T> {
    let path = format!("{}/../../tests/data/corpora/{table}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows: Vec<T> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), n_rows, "{table}");
    rows
}

#[derive(Debug, Deserialize)]
struct HostRow {
    hosts: Vec<String>,
    url: String,
    want: String,
    why: String,
    #[serde(default)]
    https_only: bool,
    #[serde(default, rename = "use")]
    used_as: Option<String>,
}

#[test]
fn every_row_of_the_host_table_is_decided_as_it_wants() {
    let mut n_allowed = 0;
    let mut wrong = Vec::new();
    for row in rows::<HostRow>("host_policy.jsonl", 620) {
        let used_as = match row.used_as.as_deref() {
            None => Use::Page,
            Some("socket") => Use::Socket,
            Some(other) => panic!("unknown use {other}"),
        };
        let allowed = HostRules::parse(&row.hosts)
            .is_ok_and(|rules| rules.https_only(row.https_only).decide(&row.url, used_as).is_allowed());
        n_allowed += usize::from(allowed);
        if allowed != (row.want == "allow") {
            wrong.push(format!("{:?} with {:?}: wanted {} ({})", row.url, row.hosts, row.want, row.why));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(n_allowed, 310);
}

#[derive(Debug, Deserialize)]
struct FileNameRow {
    content_disposition: String,
    url: String,
    want: String,
}

#[test]
fn every_row_of_the_file_name_table_gives_the_name_that_it_wants() {
    for row in rows::<FileNameRow>("filenames.jsonl", 120) {
        let name = FileName::of_download(&row.content_disposition, &Url::parse(&row.url).unwrap());
        assert_eq!(name.as_str(), row.want, "{row:?}");
    }
}

#[derive(Debug, Deserialize)]
struct RedactionRow {
    secrets: BTreeMap<String, String>,
    text: String,
    must_lack: Vec<String>,
    must_keep: Vec<String>,
}

#[test]
fn every_row_of_the_redaction_table_loses_its_secrets_and_keeps_the_rest() {
    let mut n_with_secrets = 0;
    let mut wrong = Vec::new();
    for row in rows::<RedactionRow>("redaction.jsonl", 122) {
        let secrets = row.secrets.iter().map(|(name, value)| Secret::new(name, value.as_str()).unwrap());
        let redactor = Redactor::new(secrets).unwrap();
        let redacted = redactor.text(&row.text);
        let stayed: Vec<_> = row.must_lack.iter().filter(|secret| redacted.as_str().contains(*secret)).collect();
        let went: Vec<_> = row.must_keep.iter().filter(|kept| !redacted.as_str().contains(*kept)).collect();
        if !stayed.is_empty() || !went.is_empty() {
            wrong.push(format!(
                "{:?}\n  became {:?}\n  stayed: {stayed:?}\n  went: {went:?}",
                row.text,
                redacted.as_str()
            ));
        }
        if row.must_lack.is_empty() {
            assert_eq!(redacted.as_str(), row.text, "a near miss stays as it is");
        } else {
            n_with_secrets += 1;
        }
        assert!(!redactor.mentions(redacted.as_str()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(n_with_secrets, 112);
}
