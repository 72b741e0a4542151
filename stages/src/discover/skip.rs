//! Names of files and directories that are skipped, regardless of ignore files.

use std::path::Path;

use aurora_storage::ProjectDirectory;

/// Directories that are always skipped because they do not contain sources of the project: version control,
/// dependencies, bundles and caches.
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

/// Names of output directories, each with the build files next to which tools create the directory. A directory with
/// such a name can also be a package. It is treated as a package if git tracks files in it, or if it has no
/// [`OUTPUT_MARKS`] and either contains one of the [`SOURCE_MARKS`] or is not next to a build file.
const OUTPUT: &[(&str, &[&str])] = &[
    ("build", BUILD_FILES),
    ("coverage", BUILD_FILES),
    ("target", &["Cargo.toml", "build.sbt", "pom.xml", "project.clj"]),
];

/// Names of directories with dependencies. They are not skipped if git tracks files in them and they contain none of
/// the [`MANIFESTS`].
const DEPENDENCIES: &[&str] = &["vendor", "venv"];

/// Files that package managers write into directories of vendored dependencies.
const MANIFESTS: &[&str] = &["modules.txt", "autoload.php", "bundle"];

/// Files that tools write into output directories.
const OUTPUT_MARKS: &[&str] = &["CACHEDIR.TAG", "CMakeCache.txt", "config.status"];

/// Build files in directories of sources. Tools that write a makefile into an output directory also write one of the
/// [`OUTPUT_MARKS`], so a directory with a makefile and without such a mark is a directory of sources.
const SOURCE_MARKS: &[&str] = &["CMakeLists.txt", "Kbuild", "Kconfig", "Makefile", "meson.build"];

/// Build files next to which tools create output directories.
const BUILD_FILES: &[&str] = &[
    "CMakeLists.txt",
    "Cargo.toml",
    "Gemfile",
    "Makefile",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "build.xml",
    "composer.json",
    "configure",
    "go.mod",
    "meson.build",
    "package.json",
    "pom.xml",
    "project.clj",
    "pubspec.yaml",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
];

/// Names of files that usually contain secrets.
const SECRETS: &[&str] =
    &[".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", "_netrc", ".pgpass", "pgpass.conf", ".htpasswd"];
/// Suffixes of the names of files that usually contain secrets.
const SECRET_SUFFIXES: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"];

/// Suffixes of the names of minified and bundled sources.
const MINIFIED: &[&str] =
    &[".min.js", "-min.js", ".min.mjs", ".min.cjs", ".bundle.js", ".chunk.js", ".min.css", ".min.html"];

/// Files in which package managers record resolved versions, in addition to `*.lock`.
const LOCK_FILES: &[&str] = &[
    "bun.lockb",
    "cabal.project.freeze",
    "composer.lock",
    "go.sum",
    "go.work.sum",
    "gradle.lockfile",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.resolved",
    "packages.lock.json",
    "pnpm-lock.yaml",
    "project.assets.json",
    "pubspec.lock",
];

/// Extensions of files that are skipped without being read, grouped by reason. Lower case and sorted.
const EXTENSIONS: &[(&str, &[&str])] = &[
    (
        "archive",
        &[
            "7z", "apk", "bz2", "cab", "crate", "crx", "deb", "dmg", "ear", "egg", "gem", "gz", "ipa", "iso", "jar",
            "jmod", "lz", "lz4", "lzma", "msi", "nupkg", "pkg", "rar", "rpm", "tar", "tbz2", "tgz", "txz", "war",
            "whl", "xz", "zip", "zst",
        ],
    ),
    (
        "binary",
        &[
            "a", "bin", "class", "dll", "dylib", "elf", "exe", "hex", "img", "ko", "lib", "mo", "o", "obj", "pdb",
            "pyc", "pyd", "pyo", "rlib", "rmeta", "so", "swp", "wasm",
        ],
    ),
    (
        "data",
        &[
            "arrow",
            "avro",
            "csv",
            "db",
            "feather",
            "geojson",
            "h5",
            "hdf5",
            "jsonl",
            "map",
            "mat",
            "mdb",
            "ndjson",
            "npy",
            "npz",
            "onnx",
            "orc",
            "parquet",
            "pickle",
            "pkl",
            "pt",
            "pth",
            "safetensors",
            "sqlite",
            "sqlite3",
            "tsv",
        ],
    ),
    ("font", &["eot", "otf", "ttc", "ttf", "woff", "woff2"]),
    (
        "image",
        &[
            "ai", "avif", "bmp", "cur", "eps", "gif", "heic", "icns", "ico", "jpeg", "jpg", "png", "ps", "psd", "svg",
            "svgz", "tga", "tif", "tiff", "webp", "xcf",
        ],
    ),
    ("log", &["log"]),
    (
        "media",
        &[
            "aac", "avi", "flac", "flv", "m4a", "m4v", "mid", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "ogg", "opus",
            "wav", "webm", "wmv",
        ],
    ),
    ("office document", &["doc", "key", "numbers", "odp", "ods", "pages", "ppt", "pptx", "xls", "xlsm", "xlsx"]),
    ("signature or certificate", &["asc", "cer", "crt", "csr", "der", "gpg", "p7b", "p7s", "pub", "sig"]),
    ("test snapshot", &["ambr", "snap"]),
    ("translations", &["arb", "po", "pot", "tmx", "xlf", "xliff"]),
];

/// Whether the decision to skip a directory with this name depends on more than the name.
pub(super) fn needs_inspection(name: &str) -> bool {
    OUTPUT.iter().any(|(output, _)| *output == name) || DEPENDENCIES.contains(&name)
}

/// Whether a directory is skipped. `is_tracked` returns whether git tracks files in the directory, and is called only
/// if its result matters.
pub(super) fn is_skipped_directory(path: &Path, name: &str, is_tracked: impl FnOnce() -> bool) -> bool {
    let has = |directory: &Path, files: &[&str]| files.iter().any(|file| directory.join(file).exists());
    if let Some((_, build_files)) = OUTPUT.iter().find(|(output, _)| *output == name) {
        let has_build_file = || path.parent().is_some_and(|parent| has(parent, build_files));
        let is_output = has(path, OUTPUT_MARKS) || !has(path, SOURCE_MARKS) && has_build_file();
        return is_output && !is_tracked();
    }
    if DEPENDENCIES.contains(&name) {
        return has(path, MANIFESTS) || !is_tracked();
    }
    is_always_skipped(name)
}

/// Whether directories with this name are skipped regardless of their contents.
pub(super) fn is_always_skipped(name: &str) -> bool {
    DIRECTORIES.binary_search(&name).is_ok()
}

/// Returns the reason why a file with this name is skipped, ignoring case, or `None` if the file is not skipped.
pub(super) fn skipped_file(name: &str) -> Option<&'static str> {
    if is_secret(name) {
        return Some("may hold secrets");
    }
    // `.git` is a file in linked work trees and submodules.
    if matches!(name, ".git" | ".gitattributes" | ".gitkeep" | ".keep" | ".mailmap") {
        return Some("belongs to git");
    }
    if name.starts_with('.') && name.ends_with("ignore") {
        return Some("ignore file");
    }
    if MINIFIED.iter().any(|end| ends_with(name, end)) {
        return Some("minified or bundled");
    }
    let is_lock = ends_with(name, ".lock") || LOCK_FILES.iter().any(|file| name.eq_ignore_ascii_case(file));
    is_lock.then_some("lock file")
}

/// Returns the reason why a file of unknown format is skipped because of its extension, without reading the file.
pub(super) fn skipped_extension(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    let is_own = |known: &&str| known.eq_ignore_ascii_case(extension);
    EXTENSIONS.iter().find_map(|(reason, extensions)| extensions.iter().any(is_own).then_some(*reason))
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
    fn the_tables_of_names_are_sorted() {
        assert!(DIRECTORIES.is_sorted() && LOCK_FILES.is_sorted() && EXTENSIONS.is_sorted());
        assert!(EXTENSIONS.iter().all(|(_, extensions)| extensions.is_sorted()));
        let skipped = |name: &str, is_tracked| is_skipped_directory(Path::new(name), name, || is_tracked);
        assert!(skipped("node_modules", true) && !skipped("src", false));
    }

    #[test]
    fn output_directories_are_distinguished_from_packages() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let make = |path: &str| {
            std::fs::create_dir_all(root.path().join(path)).expect("a new directory");
            root.path().join(path)
        };
        let (output, package) = (make("app/target"), make("drivers/target"));
        std::fs::write(root.path().join("app/Cargo.toml"), "").expect("a new file");
        let skipped = |path: &Path, is_tracked| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            is_skipped_directory(path, name, || is_tracked)
        };
        assert!(skipped(&output, false) && !skipped(&output, true));
        let write = |path: &str| std::fs::write(root.path().join(path), "").expect("a new file");
        write("drivers/Makefile");
        assert!(!skipped(&package, false), "no tool creates `target` next to a makefile");
        write("drivers/target/CACHEDIR.TAG");
        assert!(skipped(&package, false));
        let built = make("drivers/build");
        assert!(skipped(&built, false));
        write("drivers/build/Makefile");
        assert!(!skipped(&built, false), "it contains its own makefile");
        write("drivers/build/config.status");
        assert!(skipped(&built, false));
    }

    #[test]
    fn skipped_files_have_a_reason() {
        for (name, reason) in [
            (".env", Some("may hold secrets")),
            (".env.production", Some("may hold secrets")),
            (".env.example", None),
            (".ENV.local", Some("may hold secrets")),
            ("server.PEM", Some("may hold secrets")),
            ("jquery.min.js", Some("minified or bundled")),
            ("main.py", None),
            ("Cargo.lock", Some("lock file")),
            ("package-lock.json", Some("lock file")),
            ("logo.SVG", Some("image")),
            ("table.csv", Some("data")),
            ("django.po", Some("translations")),
            ("notes.lockfile", None),
            (".gitignore", Some("ignore file")),
            (".gitattributes", Some("belongs to git")),
            ("environment.py", None),
        ] {
            assert_eq!(skipped_file(name).or_else(|| skipped_extension(name)), reason, "{name}");
        }
    }
}
