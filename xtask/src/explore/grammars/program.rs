//! Builds the program that checks texts, an example in the crate `aurora-stages`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cargo::project;

/// Crates that are built with debug assertions and overflow checks, although the build is optimised.
const ASSERTED: [&str; 4] = ["aurora-analysis", "aurora-languages", "aurora-redact", "aurora-stages"];

/// Compiles the program.
pub(crate) fn build() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(project());
    command.args(["build", "--release", "--locked", "-p", "aurora-stages", "--example", "check_texts"]);
    command.args(["--message-format", "json-render-diagnostics"]);
    for package in ASSERTED {
        command.args(["--config", &format!("profile.release.package.{package}.debug-assertions=true")]);
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let program = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let is_it = message["target"]["name"] == "check_texts";
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    });
    program
        .filter(|_| output.status.success())
        .ok_or_else(|| "the program that checks texts does not compile".to_owned())
}

/// Returns the directory of findings, in cargo's target directory.
pub(crate) fn findings_directory() -> Result<PathBuf, String> {
    let build = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project().join("target"), PathBuf::from);
    let directory = build.join("explore").join("grammars");
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(directory)
}

/// Returns the source files below some directories, by language.
pub(crate) fn sources(program: &Path, roots: &[PathBuf]) -> Result<BTreeMap<String, Vec<PathBuf>>, String> {
    let output = Command::new(program).arg("sources").args(roots).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err("the directories cannot be read".to_owned());
    }
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((language, path)) = line.split_once('\t') {
            files.entry(language.to_owned()).or_default().push(path.into());
        }
    }
    Ok(files)
}
