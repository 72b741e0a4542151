//! Runs the benches of servers, whose clients and baselines are written in Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{cargo, project};

/// Builds `aur`, and runs clients that search a directory while it changes.
pub(crate) fn serve(arguments: &[String]) -> Result<(), String> {
    let program = program(&build()?);
    call(Command::new("python3").arg(project().join("benches/serve/bench.py")).arg(program).args(arguments))
}

/// Builds `aur`, installs the Python libraries that a bench compares it with, and runs the bench.
pub(crate) fn with_libraries(name: &str, arguments: &[String]) -> Result<(), String> {
    let target = build()?;
    let (environment, bench) = (target.join(format!("{name}-baseline")), project().join("benches").join(name));
    let python = environment.join("bin/python");
    if !python.exists() {
        call(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    call(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(bench.join("requirements.txt")))?;
    call(Command::new(&python).arg(bench.join("bench.py")).arg(program(&target)).args(arguments))
}

/// Simulates a team's day with custom stages on `repositories`. Runs the binary `given`, or builds `aur`.
pub(crate) fn team_day(given: Option<PathBuf>, repositories: &[PathBuf]) -> Result<(), String> {
    let program = given.map_or_else(|| build().map(|target| program(&target)), Ok)?;
    call(Command::new("python3").arg(project().join("benches/team_day/team_day.py")).arg(program).args(repositories))
}

/// Builds `aur` and returns cargo's target directory.
pub(crate) fn build() -> Result<PathBuf, String> {
    cargo(&["build", "--release", "--bin", "aur"])?;
    Ok(std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project().join("target"), Into::into))
}

/// Returns the path of `aur` in cargo's target directory.
pub(crate) fn program(target: &Path) -> PathBuf {
    target.join("release/aur")
}

/// Runs a command until it ends, and fails if the command fails.
pub(crate) fn call(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
