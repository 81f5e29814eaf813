//! What happened: one row for each intent, outcome, refusal, approval and file, in SQLite.
//!
//! One thread owns the connection; callers hold a bounded queue to it, and their reply comes after the row is written. A row takes
//! only [`Redacted`] text, so no secret can be written down by mistake.
//!
//! What a row survives is the operator's choice ([`JournalSync`]): WAL with `synchronous = NORMAL` survives the host's death, `FULL`
//! the machine's. Several hosts may share one file: SQLite serialises them.
//!
//! Not here: what is worth a row (`dispatcher.rs`, `run.rs`).

use std::{path::Path, thread::JoinHandle, time::Duration};

use rusqlite::{Connection, OpenFlags, params, params_from_iter, types::Value as Sql};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use transom_policy::redact::Redacted;

use crate::settings::JournalSync;

/// Rows that may wait for the disk. A caller waits for its own row, so this is also how many calls can be under way at once before
/// the next one waits for its place.
const QUEUE: usize = 1_024;

/// How long a row waits while another process writes, before it fails: far beyond any honest write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Most rows that one look returns.
pub const ENTRIES_MAX: usize = 10_000;

/// What kind of thing a row tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A run began.
    RunStarted,
    /// A run ended.
    RunEnded,
    /// A call passed every check and is about to be performed.
    Intent,
    /// A call ended, well or not.
    Outcome,
    /// A call was refused before anything was done.
    Refusal,
    /// A person was asked, or answered, or did not.
    Approval,
    /// A file came into the run or was fetched from it.
    File,
    /// A plugin wrote to its log, or was loaded.
    Plugin,
    /// The gate refused a way out.
    Egress,
}

impl Kind {
    /// The word that the journal uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::RunStarted => "run_started",
            Kind::RunEnded => "run_ended",
            Kind::Intent => "intent",
            Kind::Outcome => "outcome",
            Kind::Refusal => "refusal",
            Kind::Approval => "approval",
            Kind::File => "file",
            Kind::Plugin => "plugin",
            Kind::Egress => "egress",
        }
    }
}

/// A row to write.
#[derive(Debug)]
pub struct Record {
    /// The run that it belongs to.
    pub run: String,
    /// The call that it belongs to; intent and outcome of one call share it.
    pub call: Option<String>,
    /// Who called: `model`, or `plugin orders`.
    pub caller: String,
    /// The tool's full name, as far as there is one. Names that a caller made up are redacted too.
    pub tool: Option<Redacted<String>>,
    /// What kind of thing happened.
    pub kind: Kind,
    /// The rest.
    pub detail: Redacted<Value>,
}

/// A row as it was written.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its number: rows count up.
    pub seq: i64,
    /// When, in milliseconds since 1970 UTC.
    pub at: i64,
    /// The run that it belongs to.
    pub run: String,
    /// The call that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Who called.
    pub caller: String,
    /// The tool's full name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What kind of thing happened.
    pub kind: String,
    /// The rest.
    pub detail: Value,
}

/// Which rows to look at.
#[derive(Clone, Debug, Default)]
pub struct JournalFilter {
    /// Only those of this run.
    pub run: Option<String>,
    /// Only those after this number.
    pub after: Option<i64>,
    /// At most so many, the newest ones. Default and bound: [`ENTRIES_MAX`].
    pub limit: Option<usize>,
}

/// Why the journal could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// SQLite's own error.
    #[error("the journal could not be {doing}: {source}")]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The thread that owns the file is gone.
    #[error("the journal is closed")]
    Closed,
    /// The thread that owns the file could not be started.
    #[error("the journal's thread could not be started: {0}")]
    Thread(std::io::Error),
}

enum Command {
    Write { record: Box<Record>, at: i64, reply: oneshot::Sender<Result<i64, JournalError>> },
    Read { filter: JournalFilter, reply: oneshot::Sender<Result<Vec<Entry>, JournalError>> },
}

/// A handle to the journal. The thread ends when the last handle is gone.
#[derive(Clone, Debug)]
pub struct Journal {
    commands: mpsc::Sender<Command>,
}

/// The journal's thread; joined by whoever shuts the host down.
pub(crate) type JournalThread = JoinHandle<()>;

impl Journal {
    /// Opens or makes the journal at `path`.
    ///
    /// # Errors
    /// When the file cannot be opened, or is no journal.
    pub fn open(path: &Path, sync: JournalSync) -> Result<(Journal, JournalThread), JournalError> {
        let connection =
            open_connection(path, sync).map_err(|source| JournalError::Sqlite { doing: "opened", source })?;
        let (commands, queue) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || keep(&connection, queue))
            .map_err(JournalError::Thread)?;
        Ok((Journal { commands }, thread))
    }

    /// Writes a row; resolves once it is written.
    ///
    /// # Errors
    /// When it is not written.
    ///
    /// # Cancel safety
    /// Dropping the future leaves it open whether the row is written.
    pub async fn write(&self, record: Record) -> Result<i64, JournalError> {
        let (reply, written) = oneshot::channel();
        let command = Command::Write { record: Box::new(record), at: unix_ms(), reply };
        self.commands.send(command).await.map_err(|_| JournalError::Closed)?;
        written.await.map_err(|_| JournalError::Closed)?
    }

    /// Reads rows, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn entries(&self, filter: JournalFilter) -> Result<Vec<Entry>, JournalError> {
        let (reply, read) = oneshot::channel();
        self.commands.send(Command::Read { filter, reply }).await.map_err(|_| JournalError::Closed)?;
        read.await.map_err(|_| JournalError::Closed)?
    }

    /// Reads rows of a journal that no handle is open on, such as from another process.
    ///
    /// # Errors
    /// When there is no journal at `path`, or it cannot be read.
    pub fn read_file(path: &Path, filter: &JournalFilter) -> Result<Vec<Entry>, JournalError> {
        let open = || {
            let connection =
                Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            read(&connection, filter)
        };
        open().map_err(|source| JournalError::Sqlite { doing: "read", source })
    }
}

/// Milliseconds since 1970 UTC.
pub(crate) fn unix_ms() -> i64 {
    let nanos = time::OffsetDateTime::now_utc().unix_timestamp_nanos();
    i64::try_from(nanos / 1_000_000).unwrap_or(i64::MAX)
}

fn open_connection(path: &Path, sync: JournalSync) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match sync {
        JournalSync::Process => "NORMAL",
        JournalSync::Power => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS entry (
             seq INTEGER PRIMARY KEY AUTOINCREMENT,
             at INTEGER NOT NULL,
             run TEXT NOT NULL,
             call TEXT,
             caller TEXT NOT NULL,
             tool TEXT,
             kind TEXT NOT NULL,
             detail TEXT NOT NULL
         ) STRICT;
         CREATE INDEX IF NOT EXISTS entry_of_run ON entry (run, seq);",
    )?;
    Ok(connection)
}

/// Owns the connection; ends when every handle is gone, after the last queued row.
fn keep(connection: &Connection, mut queue: mpsc::Receiver<Command>) {
    while let Some(command) = queue.blocking_recv() {
        match command {
            Command::Write { record, at, reply } => {
                let written =
                    write(connection, &record, at).map_err(|source| JournalError::Sqlite { doing: "written", source });
                if let Err(error) = &written {
                    tracing::error!(%error, "a journal row was lost");
                }
                // The caller may have left; the row stays.
                let _ = reply.send(written);
            }
            Command::Read { filter, reply } => {
                let entries =
                    read(connection, &filter).map_err(|source| JournalError::Sqlite { doing: "read", source });
                let _ = reply.send(entries);
            }
        }
    }
}

fn write(connection: &Connection, record: &Record, at: i64) -> rusqlite::Result<i64> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO entry (at, run, call, caller, tool, kind, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    insert.execute(params![
        at,
        record.run,
        record.call,
        record.caller,
        record.tool.as_ref().map(Redacted::get),
        record.kind.as_str(),
        record.detail.get().to_string(),
    ])?;
    Ok(connection.last_insert_rowid())
}

fn read(connection: &Connection, filter: &JournalFilter) -> rusqlite::Result<Vec<Entry>> {
    let limit = filter.limit.unwrap_or(ENTRIES_MAX).min(ENTRIES_MAX);
    let mut conditions = vec!["1"];
    let mut values: Vec<Sql> = Vec::new();
    if let Some(run) = &filter.run {
        conditions.push("run = ?");
        values.push(Sql::Text(run.clone()));
    }
    if let Some(after) = filter.after {
        conditions.push("seq > ?");
        values.push(Sql::Integer(after));
    }
    values.push(Sql::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
    let query = format!(
        "SELECT seq, at, run, call, caller, tool, kind, detail FROM entry WHERE {} ORDER BY seq DESC LIMIT ?",
        conditions.join(" AND ")
    );
    let mut select = connection.prepare_cached(&query)?;
    let rows = select.query_map(params_from_iter(values), |row| {
        let detail: String = row.get(7)?;
        Ok(Entry {
            seq: row.get(0)?,
            at: row.get(1)?,
            run: row.get(2)?,
            call: row.get(3)?,
            caller: row.get(4)?,
            tool: row.get(5)?,
            kind: row.get(6)?,
            detail: serde_json::from_str(&detail).unwrap_or(Value::String(detail)),
        })
    })?;
    let mut entries = rows.collect::<rusqlite::Result<Vec<Entry>>>()?;
    entries.reverse();
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use transom_policy::redact::{Redactor, Secret};

    use super::*;

    fn record(run: &str, detail: &Value, redactor: &Redactor) -> Record {
        Record {
            run: run.into(),
            call: None,
            caller: "model".into(),
            tool: Some(redactor.text("shop.click")),
            kind: Kind::Intent,
            detail: redactor.value(detail),
        }
    }

    #[tokio::test]
    async fn rows_are_there_when_the_write_resolves_also_for_another_reader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.sqlite");
        let (journal, thread) = Journal::open(&path, JournalSync::Process).unwrap();
        let redactor = Redactor::new([Secret::new("pw", "hunter2-Quartz!").unwrap()]).unwrap();
        journal.write(record("run_a", &json!({"text": "hunter2-Quartz!"}), &redactor)).await.unwrap();
        let seq = journal.write(record("run_b", &json!({}), &redactor)).await.unwrap();
        assert_eq!(seq, 2);

        let all = Journal::read_file(&path, &JournalFilter::default()).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].detail, json!({"text": "[secret:pw]"}));
        let of_b =
            journal.entries(JournalFilter { run: Some("run_b".into()), ..JournalFilter::default() }).await.unwrap();
        assert_eq!(of_b.len(), 1);
        let after = journal.entries(JournalFilter { after: Some(1), ..JournalFilter::default() }).await.unwrap();
        assert_eq!(after[0].seq, 2);
        let newest = journal.entries(JournalFilter { limit: Some(1), ..JournalFilter::default() }).await.unwrap();
        assert_eq!(newest[0].run, "run_b");
        drop(journal);
        thread.join().unwrap();
    }

    #[test]
    fn a_file_that_is_no_journal_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.sqlite");
        std::fs::write(&path, "not a database, and long enough to be read as a header of one".repeat(20)).unwrap();
        assert!(Journal::open(&path, JournalSync::Process).is_err());
        assert!(Journal::read_file(&folder.path().join("none.sqlite"), &JournalFilter::default()).is_err());
    }
}
