//! Runs the baseline, `git grep`.

use std::path::Path;
use std::process::Command;

use super::definition::Definition;

pub(super) fn git_grep(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut grep = Command::new("git");
    grep.arg("-C").arg(root).args(["grep", "--no-index", "--exclude-standard", "-I"]).args(arguments);
    let output = grep.output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the first hit of `git grep` for a name is the definition.
pub(super) fn grep_finds(definition: &Definition<'_>) -> bool {
    let arguments = ["-n", "-w", "-F", "-e", &definition.name, "--", ".", ":!.aurora"];
    let Ok(hits) = git_grep(definition.root, &arguments) else { return false };
    let first = hits.lines().next().unwrap_or_default();
    first.starts_with(&format!("{}:{}:", definition.path, definition.line))
}
