//! What a person or a program reads from a command: colours only on a terminal, JSON where it is asked for.
//!
//! Data goes to standard output, everything said about it to standard error: `transom call … | jq` always works.
//!
//! Not here: what is printed (each command), logs (`tracing`).

use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use serde_json::Value;

/// What went wrong.
pub const RED: Style = AnsiColor::Red.on_default().bold();
/// What is well.
pub const GREEN: Style = AnsiColor::Green.on_default().bold();
/// What wants attention.
pub const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
/// What stands back.
pub const DIM: Style = Style::new().dimmed();

/// Prints a failure and its hint to standard error.
pub fn error(message: &str, hint: Option<&str>) {
    let mut err = anstream::stderr().lock();
    // Nothing can be said about a standard error that is closed.
    let _ = writeln!(err, "{RED}error:{RED:#} {}", printable(message));
    if let Some(hint) = hint {
        let _ = writeln!(err, "  {DIM}hint:{DIM:#} {}", printable(hint));
    }
}

/// Says something to the person at the terminal, beside the data.
pub fn note(message: &str) {
    let _ = writeln!(anstream::stderr(), "{}", printable(message));
}

/// Prints a line of data.
///
/// # Errors
/// When standard output is closed.
pub fn line(text: &str) -> io::Result<()> {
    writeln!(anstream::stdout(), "{text}")
}

/// Prints a value as JSON: on several lines for a terminal, on one for a program.
///
/// # Errors
/// When standard output is closed.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        serde_json::to_writer_pretty(&mut out, value)?;
    } else {
        serde_json::to_writer(&mut out, value)?;
    }
    writeln!(out)
}

/// Prints a value as one line of JSON.
///
/// # Errors
/// When standard output is closed.
pub fn json_line(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// Prints rows under headings.
///
/// # Errors
/// When standard output is closed.
pub fn table(headings: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(headings);
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)));
    }
    line(&table.to_string())
}

/// Prints the result of a call for a person: a line for each field, texts of several lines below their name.
///
/// # Errors
/// When standard output is closed.
pub fn result(value: &Value) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let Value::Object(fields) = value else { return writeln!(out, "{}", printable(&value.to_string())) };
    for (name, field) in fields {
        match field {
            Value::String(text) if text.contains('\n') => writeln!(out, "{DIM}{name}:{DIM:#}\n{}", printable(text))?,
            Value::String(text) => writeln!(out, "{DIM}{name}:{DIM:#} {}", printable(text))?,
            other => writeln!(out, "{DIM}{name}:{DIM:#} {}", printable(&other.to_string()))?,
        }
    }
    Ok(())
}

/// Text that can't drive the terminal: pages write what they like, and a terminal obeys escape sequences. Line ends and tabs stay.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            // C0, DEL, C1, and the characters that reorder what stands on the line.
            c if c.is_control() => '\u{fffd}',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_wrote_cannot_drive_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\u{9b}31mc\u{202e}d\r"), "a\u{fffd}[2Jb\u{fffd}31mc\u{fffd}d\u{fffd}");
        assert_eq!(printable("one\n\ttwo – drei"), "one\n\ttwo – drei");
    }
}
