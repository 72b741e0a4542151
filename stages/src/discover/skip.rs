//! Names that are never indexed, whatever the ignore files say.

use std::path::Path;

use aurora_storage::ProjectDirectory;

/// Directories without sources of the project itself: version control, dependencies, bundles, caches.
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

/// Directories of build output or vendored dependencies, unless git tracks files in them: then they may be packages that
/// happen to have such a name.
const OUTPUT: &[&str] = &["build", "coverage", "target", "vendor", "venv"];

/// Files that package managers write into a directory of vendored dependencies.
const MANIFESTS: &[&str] = &["modules.txt", "autoload.php", "bundle"];

/// Names of files with secrets, and suffixes of such names.
const SECRETS: &[&str] = &[".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".pgpass", ".htpasswd"];
const SECRET_SUFFIXES: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"];

/// Suffixes of the names of minified and bundled sources.
const MINIFIED: &[&str] = &[".min.js", "-min.js", ".min.mjs", ".min.cjs", ".bundle.js", ".chunk.js"];

/// Whether a directory is skipped; `is_tracked` is called only if it matters.
pub(super) fn is_skipped_directory(path: &Path, name: &str, is_tracked: impl FnOnce() -> bool) -> bool {
    if OUTPUT.contains(&name) {
        return MANIFESTS.iter().any(|file| path.join(file).exists()) || !is_tracked();
    }
    DIRECTORIES.binary_search(&name).is_ok()
}

/// Why a file of this name is skipped, if it is; case is ignored.
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
        || SECRET_SUFFIXES.iter().any(|end| ends_with(name, end))
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
