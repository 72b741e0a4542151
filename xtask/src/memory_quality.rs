//! Runs the measurement of memory quality. The measurement is an example of this package, so that other tasks compile
//! without its dependencies.

use std::path::{Path, PathBuf};

use crate::cargo::cargo_with;

/// Runs the measurement with the conversations of LoCoMo in a directory, and additional options.
pub(crate) fn run(directory: &Path, arguments: &[String]) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let directory = directory.canonicalize().map_err(|error| failed(directory, error))?.to_string_lossy().into_owned();
    // Use a separate home directory, so that the measured memories are not registered among the user's own.
    let home: PathBuf = std::env::temp_dir().join(format!("aurora-memory-quality-{}", std::process::id()));
    std::fs::create_dir_all(&home).map_err(|error| failed(&home, error))?;
    let program = ["run", "--release", "--quiet", "--locked", "-p", "xtask", "--example", "memory-quality", "--"];
    let all: Vec<&str> =
        program.into_iter().chain([directory.as_str()]).chain(arguments.iter().map(String::as_str)).collect();
    let done = cargo_with(&all, &[("AURORA_HOME", &home.to_string_lossy())]);
    std::fs::remove_dir_all(&home).map_err(|error| failed(&home, error))?;
    done
}
