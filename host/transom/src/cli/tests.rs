//! The command line as a person meets it: its help, and what it refuses.

use clap::{CommandFactory as _, Parser as _, error::ErrorKind};
use expect_test::expect_file;

use super::Cli;

/// The help of a command and of all below it, one after the other.
fn help(command: &mut clap::Command, path: &str, text: &mut String) {
    let path = format!("{path}{}", command.get_name());
    text.push_str(&format!("=== {path}\n\n{}\n", command.render_long_help()));
    for each in command.get_subcommands_mut() {
        help(each, &format!("{path} "), text);
    }
}

#[test]
fn the_command_line_is_well_formed() {
    Cli::command().debug_assert();
}

#[test]
fn the_help_is_what_was_reviewed() {
    let mut text = String::new();
    // Else it would be as wide as the terminal that the tests run in.
    let mut command = Cli::command().term_width(100);
    command.build();
    help(&mut command, "", &mut text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    expect_file!["./help.txt"].assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn every_command_has_a_summary_and_every_option_a_line() {
    fn check(command: &clap::Command) {
        assert!(command.get_about().is_some(), "{} has no summary", command.get_name());
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {} has no help", command.get_name(), argument.get_id());
        }
        command.get_subcommands().for_each(check);
    }
    let mut command = Cli::command();
    command.build();
    check(&command);
}

fn refused(line: &str) -> ErrorKind {
    Cli::try_parse_from(line.split(' ')).unwrap_err().kind()
}

fn taken(line: &str) {
    Cli::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    taken("transom call shop.tabs --run http://127.0.0.1:7411/v1/runs/run_1 --token t");
    assert_eq!(
        refused("transom call shop.tabs --run http://127.0.0.1:7411/v1/runs/run_1"),
        ErrorKind::MissingRequiredArgument
    );
    assert_eq!(
        refused("transom call shop.tabs --run http://127.0.0.1:7411/v1/runs/run_1 --token t --binding shop"),
        ErrorKind::ArgumentConflict
    );
    assert_eq!(refused("transom verbs --json --markdown"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("transom call"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("transom mcp --binding shop --separator /"), ErrorKind::InvalidValue);
    assert_eq!(refused("transom serve --listen localhost"), ErrorKind::ValueValidation);
    assert_eq!(refused("transom srve"), ErrorKind::InvalidSubcommand);
}

#[test]
fn options_stand_before_or_after_the_word_that_they_belong_to() {
    taken("transom approvals --config a.toml approve appr_1");
    taken("transom approvals approve appr_1 --config a.toml");
    taken("transom journal show --state /s --run run_1 --json");
    taken("transom mcp --config a.toml --binding shop --tools click,navigate --separator _ --file a=b --file c=d");
    taken("transom run - --binding shop --keep-going --files out");
}
