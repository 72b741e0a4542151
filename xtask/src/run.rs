//! Running cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{markers, tools};

/// Packages that no other job compiles.
const OUTSIDE: [&str; 3] = ["benches/blame", "benches/tantivy", "fuzz"];

/// `rustfmt --check`, clippy (with BERT and without) and rustdoc with warnings denied, and cargo-deny where it is installed: the tests hold dependencies
/// against the same rules.
pub(crate) fn lint() -> Result<(), String> {
    markers::check()?;
    cargo(&["fmt", "--all", "--check"])?;
    for package in OUTSIDE {
        cargo(&["fmt", "--check", "--manifest-path", &outside(package)])?;
    }
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    cargo(&["clippy", "-p", "aurora", "--no-default-features", "--locked", "--", "-D", "warnings"])?;
    cargo_with(&["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    if tools::has_deny() { tools::deny(&tools::DenyOptions::default()) } else { Ok(()) }
}

/// Every test of the workspace, those behind a failing crate too, and the one of the program without BERT.
pub(crate) fn test() -> Result<(), String> {
    cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])?;
    cargo(&["test", "-p", "aurora-analysis", "--no-default-features", "--test", "without_bert", "--locked"])
}

/// One of the files in `benches/`, on a directory.
pub(crate) fn bench(name: &str, root: &Path) -> Result<(), String> {
    let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
    cargo(&["bench", "--bench", name, "--", &root.to_string_lossy()])
}

/// A bench that is a package of its own, outside the workspace, because of what it is compiled with.
pub(crate) fn bench_outside(package: &str, arguments: &[String]) -> Result<(), String> {
    let manifest = outside(package);
    let mut all = vec!["run", "--release", "--manifest-path", &manifest, "--"];
    all.extend(arguments.iter().map(String::as_str));
    cargo(&all)
}

/// The manifest of a package outside the workspace.
fn outside(package: &str) -> String {
    project().join(package).join("Cargo.toml").to_string_lossy().into_owned()
}

/// The root of the repository.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// Runs cargo and shows the command.
pub(crate) fn cargo(arguments: &[&str]) -> Result<(), String> {
    cargo_with(arguments, &[])
}

/// The same with variables of the environment.
pub(crate) fn cargo_with(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    // Only rustup's proxy, which is found by its name, knows `+nightly`.
    let own = std::env::var_os("CARGO").filter(|_| !arguments[0].starts_with('+'));
    let cargo = own.unwrap_or_else(|| "cargo".into());
    println!("$ cargo {}", arguments.join(" "));
    let mut command = Command::new(cargo);
    command.args(arguments).envs(variables.iter().copied());
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("`cargo {}` failed", arguments.join(" "))) }
}
