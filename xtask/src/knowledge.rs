//! The bench of sessions of articles, whose peer is written in Python.

use std::path::Path;
use std::process::Command;

use crate::cargo::{cargo, project};

/// Builds the program, installs the peer, and runs both.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    cargo(&["build", "--release", "--bin", "aur"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project().join("target"), Into::into);
    let (environment, bench) = (target.join("knowledge-peer"), project().join("benches/knowledge"));
    let python = environment.join("bin/python");
    if !python.exists() {
        call(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    call(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(bench.join("requirements.txt")))?;
    let program: &Path = &target.join("release/aur");
    call(Command::new(&python).arg(bench.join("bench.py")).arg(program).args(arguments))
}

fn call(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
