//! Runs cargo: lints, tests and benches.

use std::path::PathBuf;

use crate::cargo::{cargo, cargo_with, project};
use crate::{markers, tools};

/// Packages outside the workspace, whose formatting is checked separately.
const OUTSIDE: [&str; 4] = ["benches/blame", "benches/memory", "benches/tantivy", "fuzz"];

/// Runs `rustfmt --check`, and clippy and rustdoc with warnings denied. Clippy runs with BERT, without BERT, and with
/// WebAssembly stages. Runs cargo-deny if it is installed.
pub(crate) fn lint() -> Result<(), String> {
    markers::check()?;
    cargo(&["fmt", "--all", "--check"])?;
    for package in OUTSIDE {
        cargo(&["fmt", "--check", "--manifest-path", &outside(package)])?;
    }
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    cargo(&["clippy", "-p", "aurora", "--no-default-features", "--locked", "--", "-D", "warnings"])?;
    cargo(&["clippy", "-p", "aurora", "--features", "wasm", "--locked", "--", "-D", "warnings"])?;
    cargo_with(&["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    if tools::has_deny() { tools::deny(&tools::DenyOptions::default()) } else { Ok(()) }
}

/// Runs every test of the workspace, even after a crate fails, and the test of `aurora-analysis` without BERT.
pub(crate) fn test() -> Result<(), String> {
    cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])?;
    cargo(&["test", "-p", "aurora-analysis", "--no-default-features", "--test", "without_bert", "--locked"])
}

/// Runs a bench of a package in the workspace on files and directories, with additional options.
pub(crate) fn bench(package: &str, name: &str, roots: &[PathBuf], options: &[String]) -> Result<(), String> {
    let canonical = |root: &PathBuf| root.canonicalize().map_err(|error| format!("{}: {error}", root.display()));
    let roots: Vec<String> =
        roots.iter().map(|root| Ok(canonical(root)?.to_string_lossy().into_owned())).collect::<Result<_, String>>()?;
    let mut all = vec!["bench", "-p", package, "--bench", name, "--"];
    all.extend(roots.iter().chain(options).map(String::as_str));
    cargo(&all)
}

/// Runs a bench that is a package outside the workspace because of its dependencies.
pub(crate) fn bench_outside(package: &str, arguments: &[String]) -> Result<(), String> {
    let manifest = outside(package);
    let mut all = vec!["run", "--release", "--manifest-path", &manifest, "--"];
    all.extend(arguments.iter().map(String::as_str));
    cargo(&all)
}

/// Returns the path of the manifest of a package outside the workspace.
fn outside(package: &str) -> String {
    project().join(package).join("Cargo.toml").to_string_lossy().into_owned()
}
