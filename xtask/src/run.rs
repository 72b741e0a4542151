//! Running cargo.

use std::path::Path;
use std::process::Command;

/// Packages that no other job compiles.
const OUTSIDE: [&str; 2] = ["benches/blame", "benches/tantivy"];

/// `rustfmt --check` and clippy with warnings denied.
pub(crate) fn lint() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    for package in OUTSIDE {
        cargo(&["fmt", "--check", "--manifest-path", &outside(package)])?;
    }
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
}

/// Every test of the workspace, those behind a failing crate too.
pub(crate) fn test() -> Result<(), String> {
    cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])
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
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    project.join(package).join("Cargo.toml").to_string_lossy().into_owned()
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    println!("$ cargo {}", arguments.join(" "));
    let status = Command::new(cargo).args(arguments).status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("`cargo {}` failed", arguments[0])) }
}
