//! Names that are not indexed, whatever the ignore files say.

use std::path::Path;

use aurora_storage::ProjectDirectory;

/// Directories that hold no sources of the project itself: version control, dependencies, bundles,
/// caches.
const DIRECTORIES: &[&str] = &[
    ProjectDirectory::NAME,
    ".bzr",
    ".cache",
    ".eggs",
    ".git",
    ".gradle",
    ".hg",
    ".idea",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "bower_components",
    "dist",
    "node_modules",
    "site-packages",
];

/// Directories that hold build output or copies of dependencies, unless git tracks what is in them:
/// then they may as well be a package that happens to have such a name.
const OUTPUT: &[&str] = &["build", "coverage", "target", "vendor", "venv"];

/// Files by which package managers know a directory of copied dependencies as theirs.
const MANIFESTS: &[&str] = &["modules.txt", "autoload.php", "bundle"];

/// Files that hold secrets, and what the names of others end with.
const SECRETS: &[&str] = &[".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".pgpass", ".htpasswd"];
const SECRET_ENDS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"];

/// What the names of minified and bundled sources end with.
const MINIFIED: &[&str] = &[".min.js", "-min.js", ".min.mjs", ".min.cjs", ".bundle.js", ".chunk.js"];

/// Whether a directory is left out; `is_tracked` is asked only where it matters.
pub(super) fn is_skipped_directory(path: &Path, name: &str, is_tracked: impl FnOnce() -> bool) -> bool {
    if OUTPUT.contains(&name) {
        return MANIFESTS.iter().any(|file| path.join(file).exists()) || !is_tracked();
    }
    DIRECTORIES.binary_search(&name).is_ok()
}

/// Why a file of this name is left out, if it is; upper and lower case count as the same.
pub(super) fn skipped_file(name: &str) -> Option<&'static str> {
    if is_secret(name) {
        return Some("may hold secrets");
    }
    MINIFIED.iter().any(|end| ends_with(name, end)).then_some("minified or bundled")
}

fn is_secret(name: &str) -> bool {
    let is_environment = starts_with(name, ".env.") && !ends_with(name, ".example");
    is_environment
        || SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret))
        || SECRET_ENDS.iter().any(|end| ends_with(name, end))
}

fn starts_with(name: &str, start: &str) -> bool {
    name.as_bytes().get(..start.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(start.as_bytes()))
}

fn ends_with(name: &str, end: &str) -> bool {
    let at = name.len().checked_sub(end.len());
    at.is_some_and(|at| name.as_bytes()[at..].eq_ignore_ascii_case(end.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_sorted_for_the_search() {
        assert!(DIRECTORIES.is_sorted());
        let skipped = |name: &str, is_tracked| is_skipped_directory(Path::new(name), name, || is_tracked);
        assert!(skipped("node_modules", true) && !skipped("src", false));
        assert!(skipped("target", false) && !skipped("target", true));
    }

    #[test]
    fn secrets_and_bundles_have_reasons() {
        for (name, reason) in [
            (".env", Some("may hold secrets")),
            (".env.production", Some("may hold secrets")),
            (".env.example", None),
            (".ENV.local", Some("may hold secrets")),
            ("server.PEM", Some("may hold secrets")),
            ("jquery.min.js", Some("minified or bundled")),
            ("main.py", None),
            ("environment.py", None),
        ] {
            assert_eq!(skipped_file(name), reason, "{name}");
        }
    }
}
