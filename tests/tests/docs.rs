//! Every command in the documentation is one: the program takes its arguments, the justfile has its recipe, and every linked page is there.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use tokio::process::Command;
use transom_tests::program;

fn pages() -> anyhow::Result<Vec<PathBuf>> {
    let root = program::repository();
    let mut pages = vec![root.join("README.md"), root.join("ARCHITECTURE.md"), root.join("sdk-guest/rust/README.md")];
    for entry in std::fs::read_dir(root.join("docs"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    Ok(pages)
}

/// The lines of fenced blocks that are commands: those without a language, or of a shell.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_shell = None;
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), is_shell) {
            (Some(language), None) => is_shell = Some(["", "sh", "bash", "console"].contains(&language.trim())),
            (Some(_), Some(_)) => is_shell = None,
            (None, Some(true)) => {
                let command = line.split(" #").next().unwrap_or_default().trim();
                if !command.is_empty() {
                    commands.push(command.to_owned());
                }
            }
            (None, _) => {}
        }
    }
    commands
}

#[tokio::test]
async fn every_command_of_the_program_in_the_docs_is_taken() -> anyhow::Result<()> {
    let mut n_tried = 0;
    for page in pages()? {
        for command in commands(&std::fs::read_to_string(&page)?) {
            let Some(arguments) =
                command.strip_prefix("transom ").or_else(|| command.strip_prefix("target/release/transom "))
            else {
                continue;
            };
            // With --help behind it everything before is parsed, and nothing is done.
            let ended =
                Command::new(program::path()?).args(arguments.split_whitespace()).arg("--help").output().await?;
            n_tried += 1;
            ensure!(
                ended.status.success(),
                "{}: `{command}`: {}",
                page.display(),
                String::from_utf8_lossy(&ended.stderr)
            );
        }
    }
    ensure!(n_tried >= 10, "the docs have commands: {n_tried}");
    Ok(())
}

#[test]
fn every_recipe_in_the_docs_exists() -> anyhow::Result<()> {
    let justfile = std::fs::read_to_string(program::repository().join("justfile"))?;
    let mut n_tried = 0;
    for page in pages()? {
        for command in commands(&std::fs::read_to_string(&page)?) {
            let Some(rest) = command.strip_prefix("just ").or_else(|| command.strip_prefix("./dev ")) else { continue };
            let recipe = rest.split_whitespace().next().context("a recipe")?;
            n_tried += 1;
            let has =
                justfile.lines().any(|line| line.strip_prefix(recipe).is_some_and(|rest| rest.starts_with([':', ' '])));
            ensure!(has, "{}: no recipe `{recipe}`", page.display());
        }
    }
    ensure!(n_tried >= 3, "the docs have recipes: {n_tried}");
    Ok(())
}

#[test]
fn every_linked_page_is_there() -> anyhow::Result<()> {
    for page in pages()? {
        let text = std::fs::read_to_string(&page)?;
        let folder = page.parent().map(Path::to_owned).unwrap_or_default();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            ensure!(folder.join(target).exists(), "{}: {link} leads nowhere", page.display());
        }
    }
    Ok(())
}

#[test]
fn every_file_that_the_architecture_names_is_there() -> anyhow::Result<()> {
    let root = program::repository();
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md"))?;
    let mut n_tried = 0;
    for name in
        text.split('`').skip(1).step_by(2).filter(|name| name.starts_with("host/") || name.starts_with("tests/"))
    {
        let path = name.trim_end_matches("*.js").trim_end_matches('/');
        n_tried += 1;
        ensure!(root.join(path).exists(), "{name} is not there");
    }
    ensure!(n_tried >= 15, "the architecture names files: {n_tried}");
    Ok(())
}
