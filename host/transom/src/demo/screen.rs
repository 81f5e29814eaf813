//! What the demo prints: headings, what happens and what held for people, or one JSON document.
//!
//! A step is a list of checks. The first that does not hold ends the step, and with it the demo.
//!
//! Not here: what is checked (`story.rs`).

use std::{fmt, io, time::Duration};

use anstyle::Style;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::output::{self, DIM, GREEN, RED};

const BOLD: Style = Style::new().bold();

/// Why a step ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum StepError {
    /// Something that should hold does not.
    #[error("{0}")]
    NotSo(String),
    /// Standard output is closed.
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl StepError {
    /// It does not hold, for this reason.
    pub(super) fn not_so(why: impl fmt::Display) -> StepError {
        StepError::NotSo(why.to_string())
    }
}

/// What a step did, for programs.
#[derive(Debug, Default, Serialize)]
struct Report {
    step: &'static str,
    title: &'static str,
    ok: bool,
    checks: Vec<String>,
    facts: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Where the demo prints to.
#[derive(Debug)]
pub(super) struct Screen {
    json: bool,
    steps: Vec<Report>,
}

impl Screen {
    pub(super) fn new(json: bool) -> Screen {
        Screen { json, steps: Vec::new() }
    }

    /// Begins a step. `name` is for programs.
    pub(super) fn step(&mut self, name: &'static str, title: &'static str) -> Result<(), StepError> {
        self.steps.push(Report { step: name, title, ..Report::default() });
        let number = self.steps.len();
        self.print(format!("\n{BOLD}{number}  {title}{BOLD:#}"))
    }

    /// Ends the step: it held, or why it did not.
    pub(super) fn done(&mut self, result: Result<(), StepError>) -> io::Result<bool> {
        let error = match result {
            Ok(()) => None,
            Err(StepError::NotSo(why)) => Some(why),
            Err(StepError::Output(error)) => return Err(error),
        };
        if let Some(why) = &error
            && !self.json
        {
            output::line(&format!("   {RED}✗{RED:#} {}", output::printable(why)))?;
        }
        let held = error.is_none();
        if let Some(step) = self.steps.last_mut() {
            step.ok = held;
            step.error = error;
        }
        Ok(held)
    }

    /// Says what happens. For people only.
    pub(super) fn say(&self, text: impl fmt::Display) -> Result<(), StepError> {
        self.print(format!("   {}", output::printable(&text.to_string()).replace('\n', "\n   ")))
    }

    /// Shows a call as the caller writes it, and nothing of its result. For people only.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Result<(), StepError> {
        let arguments = output::printable(&arguments.to_string());
        self.print(format!("   {DIM}→{DIM:#} {tool} {DIM}{arguments}{DIM:#}"))
    }

    /// Notes a fact. For programs only.
    pub(super) fn fact(&mut self, name: &str, value: impl Into<Value>) {
        if let Some(step) = self.steps.last_mut() {
            step.facts.insert(name.to_owned(), value.into());
        }
    }

    /// Says that something holds, or ends the step when it does not.
    pub(super) fn check(&mut self, holds: bool, what: impl fmt::Display) -> Result<(), StepError> {
        if !holds {
            return Err(StepError::NotSo(format!("this should hold and does not: {what}")));
        }
        let what = what.to_string();
        self.print(format!("   {GREEN}✓{GREEN:#} {}", output::printable(&what)))?;
        if let Some(step) = self.steps.last_mut() {
            step.checks.push(what);
        }
        Ok(())
    }

    /// Shows rows under headings. For people only.
    pub(super) fn table(&self, headings: &[&str], rows: Vec<Vec<String>>) -> Result<(), StepError> {
        if self.json { Ok(()) } else { Ok(output::table(headings, rows)?) }
    }

    /// Ends the demo.
    pub(super) fn end(&self, held: bool, took: Duration) -> io::Result<()> {
        if self.json {
            return output::json(&serde_json::json!({"ok": held, "seconds": took.as_secs_f64(), "steps": self.steps}));
        }
        let seconds = took.as_secs_f64();
        let n_checks: usize = self.steps.iter().map(|step| step.checks.len()).sum();
        output::line(&if held {
            format!("\n{GREEN}All {n_checks} checks held{GREEN:#} in {seconds:.1} s.")
        } else {
            format!("\n{RED}The demo failed{RED:#} after {seconds:.1} s.")
        })
    }

    fn print(&self, text: String) -> Result<(), StepError> {
        if self.json { Ok(()) } else { Ok(output::line(&text)?) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_until_a_check_does_not() {
        let mut screen = Screen::new(true);
        screen.step("one", "One").unwrap();
        let result = screen.check(true, "this");
        assert!(screen.done(result).unwrap());

        screen.step("two", "Two").unwrap();
        screen.fact("n", 2);
        let result = screen.check(false, "that");
        assert!(!screen.done(result).unwrap());
        let steps = serde_json::to_value(&screen.steps).unwrap();
        assert_eq!(steps[0]["ok"], true);
        assert_eq!(steps[0]["checks"], serde_json::json!(["this"]));
        assert_eq!(steps[1]["error"], "this should hold and does not: that");
        assert_eq!(steps[1]["facts"]["n"], 2);
    }
}
