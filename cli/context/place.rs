//! Selects the directory that a command works on.

use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_project::{indexed_roots, root_names};
use aurora_storage::{Environment, ProjectDirectory};

use crate::context::{Failure, Outcome, SearchedRoots};

/// Returns the root of a search. `argument` is a path, or the name of an indexed root. Without an argument, the root is
/// the nearest enclosing directory with an index, up to the top of the git work tree. Without such an index, it is the
/// top of the work tree or the current directory.
pub(crate) fn for_search(argument: Option<&Path>) -> Outcome<PathBuf> {
    let Some(argument) = argument else {
        let current = current()?;
        return Ok(nearest(&current).unwrap_or(current));
    };
    match existing(argument) {
        Err(_) if !argument.exists() => find_by_name(argument).map_or_else(|| existing(argument), Ok),
        found => found,
    }
}

/// Returns the indexed root with this name.
fn find_by_name(name: &Path) -> Option<PathBuf> {
    let roots = indexed_roots();
    let names = root_names(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let at = names.iter().position(|known| Path::new(known) == name)?;
    roots.into_iter().nth(at)
}

/// Returns the distinct roots of a search in the order of the arguments, or all indexed roots sorted by path.
pub(crate) fn for_searches(args: &SearchedRoots) -> Outcome<Vec<PathBuf>> {
    if args.all_roots {
        return Ok(indexed_roots());
    }
    distinct_roots(&args.root)
}

/// Returns the distinct roots with these paths or names. If `arguments` is empty, returns the root of a search without
/// an argument.
pub(crate) fn distinct_roots(arguments: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    if arguments.is_empty() {
        return Ok(vec![for_search(None)?]);
    }
    let mut roots: Vec<PathBuf> = Vec::new();
    for root in arguments {
        let root = for_search(Some(root))?;
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    Ok(roots)
}

/// Returns the root of an index run: `path`, or the current directory.
pub(crate) fn for_index(path: Option<&Path>) -> Outcome<PathBuf> {
    match path {
        Some(path) => existing(path),
        None => current(),
    }
}

/// Files and directories that mark the top of a project.
const PROJECT_MARKS: &str = ".git .hg .jj .svn BUILD.bazel CMakeLists.txt Cargo.toml Gemfile MODULE.bazel Makefile Package.swift \
    Pipfile WORKSPACE build.gradle build.gradle.kts build.sbt build.xml composer.json configure.ac deno.json \
    dune-project go.mod go.work justfile meson.build mix.exs package.json pom.xml pubspec.yaml pyproject.toml \
    requirements.txt setup.cfg setup.py tsconfig.json";

/// Whether a directory is a project or inside a work tree, so that a search may index it without a question. The home
/// directory and the root of the file system are never projects.
pub(crate) fn is_project(root: &Path) -> bool {
    let home = std::env::home_dir().map(|home| plain(&home));
    let is_broad = |directory: &Path| directory.parent().is_none() || home.as_deref() == Some(directory);
    let root = plain(root);
    if is_broad(&root) {
        return false;
    }
    let holds = |directory: &Path, mark: &str| directory.join(mark).symlink_metadata().is_ok();
    let has_work_tree = root.ancestors().take_while(|above| !is_broad(above)).any(|above| holds(above, ".git"));
    has_work_tree || holds(&root, ProjectDirectory::NAME) || PROJECT_MARKS.split(' ').any(|mark| holds(&root, mark))
}

/// Returns the number of entries of a directory, but at most `max`.
pub(crate) fn entries(directory: &Path, max: usize) -> usize {
    Directory::open_root(directory).and_then(|directory| directory.entries()).map_or(0, |found| found.len().min(max))
}

/// Returns the paths below the root that `path` may refer to. `path` is relative to the root or to the current
/// directory.
pub(crate) fn spellings(root: &Path, path: &str) -> Vec<String> {
    aurora_project::spellings(root, here().as_deref(), path)
}

/// Returns the current directory, against which relative paths are resolved.
pub(crate) fn here() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Returns the nearest enclosing directory that has an index or is the top of a work tree.
fn nearest(from: &Path) -> Option<PathBuf> {
    for directory in from.ancestors() {
        let top = directory.join(".git").exists();
        if top || Environment::is_present(&directory.join(ProjectDirectory::NAME)) {
            return Some(directory.to_owned());
        }
    }
    None
}

/// Returns the absolute path of an existing directory, as [`plain`] simplifies it.
fn existing(path: &Path) -> Outcome<PathBuf> {
    let shown = path.display();
    match path.metadata() {
        Ok(found) if found.is_dir() => std::path::absolute(path)
            .map(|path| plain(&path))
            .map_err(|error| Failure::new(format!("cannot resolve {shown}: {error}"))),
        Ok(_) => Err(Failure::new(format!("{shown} is not a directory"))
            .with_help("give the directory that contains it, and use `--path` to search only this file")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::new(format!("no such directory: {shown}")))
        }
        Err(error) => Err(Failure::new(format!("cannot open {shown}: {error}"))),
    }
}

fn current() -> Outcome<PathBuf> {
    std::env::current_dir().map_err(|error| Failure::new(format!("cannot determine the current directory: {error}")))
}

/// Returns the path without `.`, `..` and symbolic links. On Windows, the path is unchanged, because canonical paths
/// are verbatim paths, which few programs accept.
fn plain(path: &Path) -> PathBuf {
    path.canonicalize().ok().filter(|_| !cfg!(windows)).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_index_within_the_work_tree_is_used() {
        let outer = tempfile::tempdir().expect("a temporary directory");
        let repository = outer.path().join("repository");
        let deep = repository.join("a/b");
        fs::create_dir_all(&deep).expect("the directory can be created");
        for directory in [outer.path(), &repository.join("a")] {
            fs::create_dir_all(directory.join(".aurora/index")).expect("the directory can be created");
            fs::write(directory.join(".aurora/index/data.mdb"), "an index").expect("the file can be written");
        }
        assert_eq!(nearest(&deep), Some(repository.join("a")));
        assert_eq!(nearest(&repository), Some(outer.path().to_owned()));
        fs::create_dir(repository.join(".git")).expect("the directory can be created");
        assert_eq!(nearest(&repository), Some(repository.clone()));
    }

    #[test]
    fn projects_are_recognised_by_their_files() {
        let outer = tempfile::tempdir().expect("a temporary directory");
        let (plain, deep) = (outer.path().join("plain"), outer.path().join("repository/a"));
        for directory in [&plain, &deep, &outer.path().join("repository/.git"), &outer.path().join("made")] {
            fs::create_dir_all(directory).expect("the directory can be created");
        }
        fs::write(outer.path().join("made/Makefile"), "").expect("the file can be written");
        assert!(!is_project(outer.path()) && !is_project(&plain) && !is_project(Path::new("/")));
        assert!(is_project(&deep) && is_project(&outer.path().join("made")));
        assert_eq!((entries(outer.path(), 10), entries(outer.path(), 2)), (3, 2));
    }

    #[test]
    fn files_and_missing_paths_are_refused() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let file = root.path().join("file");
        fs::write(&file, "").expect("the file can be written");
        for path in [file, root.path().join("missing")] {
            assert!(for_index(Some(&path)).is_err());
        }
    }
}
