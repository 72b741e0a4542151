//! Which directory a command is about.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use aurora_analysis::{ModelDirectory, ModelError};
use aurora_confined::Directory;
use aurora_stages::index::Trust;
use aurora_stages::limits::Limits;
use aurora_storage::{Environment, KnownIndexes, ProjectDirectory, UserDirectory};

use crate::failure::{Failure, Outcome};

/// The root of a search: `asked` for, else the nearest directory above that has an index, up
/// to the top of the git work tree; without one, that top, or the current directory.
pub(crate) fn for_search(asked: Option<&Path>) -> Outcome<PathBuf> {
    let Some(asked) = asked else {
        let current = current()?;
        return Ok(nearest(&current).unwrap_or(current));
    };
    existing(asked)
}

/// The root of an index run: `asked` for, else the current directory.
pub(crate) fn for_index(asked: Option<&Path>) -> Outcome<PathBuf> {
    match asked {
        Some(asked) => existing(asked),
        None => current(),
    }
}

/// The `.aurora` directory of a root, which holds its index.
pub(crate) fn index_dir(root: &Path) -> PathBuf {
    root.join(ProjectDirectory::NAME)
}

/// Whether a root has been indexed.
pub(crate) fn has_index(root: &Path) -> bool {
    Environment::is_present(&index_dir(root))
}

/// Files and directories that only the top of a project has.
const PROJECT_MARKS: [&str; 34] = [
    ".git",
    ".hg",
    ".jj",
    ".svn",
    "BUILD.bazel",
    "CMakeLists.txt",
    "Cargo.toml",
    "Gemfile",
    "MODULE.bazel",
    "Makefile",
    "Package.swift",
    "Pipfile",
    "WORKSPACE",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "build.xml",
    "composer.json",
    "configure.ac",
    "deno.json",
    "dune-project",
    "go.mod",
    "go.work",
    "justfile",
    "meson.build",
    "mix.exs",
    "package.json",
    "pom.xml",
    "pubspec.yaml",
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
    "tsconfig.json",
];

/// Whether a directory is a project, or is inside the work tree of one: a search may index these without asking. The
/// home directory and the root of the file system never are, whatever they contain.
pub(crate) fn is_project(root: &Path) -> bool {
    let home = std::env::home_dir().map(|home| plain(&home));
    let is_broad = |directory: &Path| directory.parent().is_none() || home.as_deref() == Some(directory);
    let root = plain(root);
    if is_broad(&root) {
        return false;
    }
    let holds = |directory: &Path, mark: &str| directory.join(mark).symlink_metadata().is_ok();
    let has_work_tree = root.ancestors().take_while(|above| !is_broad(above)).any(|above| holds(above, ".git"));
    has_work_tree || holds(&root, ProjectDirectory::NAME) || PROJECT_MARKS.iter().any(|mark| holds(&root, mark))
}

/// How many entries a directory has, counted up to `most`.
pub(crate) fn entries(directory: &Path, most: usize) -> usize {
    Directory::open_root(directory).and_then(|directory| directory.entries()).map_or(0, |found| found.len().min(most))
}

/// Whether a root has other files than its index: an imported index needs no sources.
pub(crate) fn has_sources(root: &Path) -> bool {
    let Ok(entries) = Directory::open_root(root).and_then(|root| root.entries()) else { return false };
    entries.iter().any(|(name, _)| !name.as_encoded_bytes().starts_with(b"."))
}

/// Size of a root's index on disk, in bytes.
pub(crate) fn index_bytes(root: &Path) -> u64 {
    let index = ProjectDirectory::of(root).open().and_then(|home| home.open_directory(ProjectDirectory::INDEX));
    let Ok(index) = index else { return 0 };
    let entries = index.entries().unwrap_or_default();
    entries.iter().filter_map(|(name, _)| index.metadata(name).ok()).map(|file| file.len).sum()
}

/// The paths below the root that `path` may mean, as the index writes them.
pub(crate) fn spellings(root: &Path, path: &str) -> Vec<String> {
    let mut found = vec![path.replace('\\', "/")];
    let from_here = std::path::absolute(path).ok().map(|path| without_dots(&path));
    if let Some(below) = from_here.as_deref().and_then(|path| path.strip_prefix(root).ok()) {
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        found.push(parts.join("/"));
    }
    found
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// The user's own configuration.
pub(crate) fn user_config() -> Option<PathBuf> {
    Some(UserDirectory::from_environment()?.config())
}

/// Which indexes this user trusts: those with a record in the user's directory, or all if `AURORA_TRUST_INDEX` is set to
/// anything but `0`.
pub(crate) fn trust() -> Trust {
    // A relative path would depend on the current directory, which may be a repository.
    let user = UserDirectory::from_environment().filter(|user| user.path().is_absolute());
    let known = user.map(|user| KnownIndexes::at(user.index_records()));
    let wish = std::env::var_os("AURORA_TRUST_INDEX").filter(|wish| !wish.is_empty() && wish != "0");
    Trust { known: known.unwrap_or_else(KnownIndexes::none), accepts_unknown: wish.is_some() }
}

/// The user's models.
pub(crate) fn models() -> Result<ModelDirectory, ModelError> {
    Ok(ModelDirectory::at(UserDirectory::from_environment().ok_or(ModelError::NoHome)?.models()))
}

/// The limits on what a project may ask for, as its user has set them.
pub(crate) fn limits() -> Outcome<Limits> {
    Limits::load(user_config().as_deref(), &environment()).map_err(|error| Failure::from_error(&error))
}

/// The environment, as far as it is text.
pub(crate) fn environment() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

/// The configuration of a root.
pub(crate) fn project_config(root: &Path) -> PathBuf {
    ProjectDirectory::of(root).path_of(ProjectDirectory::CONFIG)
}

/// The directory of golden sets that were mined from a root, unless another one is given.
pub(crate) fn mined_sets(root: &Path) -> PathBuf {
    ProjectDirectory::of(root).path_of(ProjectDirectory::MINED_SETS)
}

/// The pipeline of a root.
pub(crate) fn project_pipeline(root: &Path) -> PathBuf {
    ProjectDirectory::of(root).path_of(ProjectDirectory::PIPELINE)
}

fn nearest(from: &Path) -> Option<PathBuf> {
    for directory in from.ancestors() {
        let top = directory.join(".git").exists();
        if top || has_index(directory) {
            return Some(directory.to_owned());
        }
    }
    None
}

fn existing(path: &Path) -> Outcome<PathBuf> {
    let shown = path.display();
    match path.metadata() {
        Ok(found) if found.is_dir() => std::path::absolute(path)
            .map(|path| plain(&path))
            .map_err(|error| Failure::new(format!("cannot resolve {shown}: {error}"))),
        Ok(_) => Err(Failure::new(format!("{shown} is not a directory"))
            .with_help("give the directory that holds it, and `--path` to search within")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::new(format!("no such directory: {shown}")))
        }
        Err(error) => Err(Failure::new(format!("cannot open {shown}: {error}"))),
    }
}

fn current() -> Outcome<PathBuf> {
    std::env::current_dir().map_err(|error| Failure::new(format!("cannot tell the current directory: {error}")))
}

/// The path without `.`, `..` and links. Windows would answer with a verbatim path, which few
/// programs accept, so there the path is unchanged.
fn plain(path: &Path) -> PathBuf {
    path.canonicalize().ok().filter(|_| !cfg!(windows)).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_index_wins_and_git_bounds_the_search() {
        let outer = tempfile::tempdir().expect("a temporary directory");
        let repository = outer.path().join("repository");
        let deep = repository.join("a/b");
        fs::create_dir_all(&deep).expect("created");
        for directory in [outer.path(), &repository.join("a")] {
            assert!(!has_sources(&repository.join("a/b")));
            fs::create_dir_all(directory.join(".aurora/index")).expect("created");
            fs::write(directory.join(".aurora/index/data.mdb"), "").expect("written");
        }
        assert_eq!(nearest(&deep), Some(repository.join("a")));
        assert_eq!(nearest(&repository), Some(outer.path().to_owned()));
        fs::create_dir(repository.join(".git")).expect("created");
        assert_eq!(nearest(&repository), Some(repository.clone()));
    }

    #[test]
    fn issue_15_a_project_is_told_by_its_files() {
        let outer = tempfile::tempdir().expect("a temporary directory");
        let (plain, deep) = (outer.path().join("plain"), outer.path().join("repository/a"));
        for directory in [&plain, &deep, &outer.path().join("repository/.git"), &outer.path().join("made")] {
            fs::create_dir_all(directory).expect("created");
        }
        fs::write(outer.path().join("made/Makefile"), "").expect("written");
        assert!(!is_project(outer.path()) && !is_project(&plain) && !is_project(Path::new("/")));
        assert!(is_project(&deep) && is_project(&outer.path().join("made")));
        assert_eq!((entries(outer.path(), 10), entries(outer.path(), 2)), (3, 2));
    }

    #[test]
    fn what_is_no_directory_is_refused() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let file = root.path().join("file");
        fs::write(&file, "").expect("written");
        for path in [file, root.path().join("missing")] {
            assert!(for_index(Some(&path)).is_err());
        }
    }
}
