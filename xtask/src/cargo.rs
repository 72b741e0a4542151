//! Runs cargo in the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the repository.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// Prints and runs a cargo command.
pub(crate) fn cargo(arguments: &[&str]) -> Result<(), String> {
    cargo_with(arguments, &[])
}

/// Prints and runs a cargo command with environment variables.
pub(crate) fn cargo_with(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    // Only rustup's `cargo`, which is found in PATH, understands `+nightly`.
    let own = std::env::var_os("CARGO").filter(|_| !arguments[0].starts_with('+'));
    let cargo = own.unwrap_or_else(|| "cargo".into());
    eprintln!("$ cargo {}", arguments.join(" "));
    let mut command = Command::new(cargo);
    command.args(arguments).envs(variables.iter().copied());
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("`cargo {}` failed", arguments.join(" "))) }
}
