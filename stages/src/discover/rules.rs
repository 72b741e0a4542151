//! The ignore rules that apply in a directory: the rules in the ignore files of the directory and of its ancestors.

use std::ffi::OsStr;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_confined::{Directory, Refusal, read_regular, refusal_of};
use aurora_history::excludes_file;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::listing::FileKind;
use crate::services::is_gone;

/// Names of ignore files, from highest to lowest precedence. The `info/exclude` of a repository and the file that
/// `core.excludesFile` names have lower precedence.
const NAMES: [&str; 3] = [".auroraignore", ".ignore", ".gitignore"];
/// Number of kinds of ignore files: [`NAMES`], `info/exclude` and `core.excludesFile`.
const KINDS: usize = NAMES.len() + 2;
/// Index of the kind with the lowest precedence, `core.excludesFile`. Inside an inner repository, the file of the inner
/// repository replaces the file of the outer repository.
const EXCLUDES: usize = KINDS - 1;

/// Maximum size of an ignore file, in bytes. A larger file counts as unreadable.
const MAX_IGNORE_FILE_BYTES: u64 = 4 << 20;
/// Maximum size in bytes of a file that contains only the path of a git directory.
const MAX_POINTER_BYTES: u64 = 64 << 10;

/// The rules for the entries of a directory, as a chain of directories that have ignore files.
#[derive(Debug)]
pub(super) struct Rules {
    outer: Option<Arc<Rules>>,
    /// Rules by kind: [`NAMES`], then `info/exclude`, then [`EXCLUDES`].
    files: [Gitignore; KINDS],
    /// Whether the directory is the top of a work tree. The [`EXCLUDES`] of outer directories do not apply inside a
    /// work tree.
    is_work_tree: bool,
    /// Hash of the ignore files in the whole chain.
    digest: u64,
}

/// The ignore files that a directory contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IgnoreFiles {
    by_name: [bool; NAMES.len()],
    /// Whether there is a `.git` directory or file.
    pub(super) git: bool,
}

impl IgnoreFiles {
    /// All ignore files, whether they exist or not.
    pub(super) const ALL: Self = Self { by_name: [true; NAMES.len()], git: true };

    /// Records an entry of the directory, with its kind if known. Like git, skips ignore files that are not regular
    /// files.
    pub(super) fn note(&mut self, name: &OsStr, kind: Option<FileKind>) {
        let known = NAMES.iter().position(|known| name == *known);
        match known {
            Some(known) => self.by_name[known] = matches!(kind, None | Some(FileKind::File)),
            None => self.git |= name == ".git",
        }
    }
}

/// Whether a file with this name contains rules for the entries of its directory.
pub(super) fn is_ignore_file(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The error for an ignore file that cannot be read. The ignored entries of its directory are then unknown.
#[derive(Debug, thiserror::Error)]
#[error("the ignore file {file} cannot be read: {error}")]
pub(super) struct UnreadableRules {
    file: String,
    error: io::Error,
}

/// The path and content of an ignore file, or `None` if the file does not exist.
type RulesFile = Option<(PathBuf, Vec<u8>)>;

impl Rules {
    /// Reads the rules from outside `root`: ignore files in the ancestors of `root`, and the file that
    /// `core.excludesFile` names. Like git, treats an unreadable file as missing, but adds a warning.
    pub(super) fn above(root: &Path, warnings: &mut Vec<(String, String)>) -> Arc<Self> {
        let mut or_warn = |read: Result<RulesFile, UnreadableRules>, place: &Path| {
            read.unwrap_or_else(|unreadable| {
                warnings.push((place.display().to_string(), unreadable.to_string()));
                None
            })
        };
        let has_git = |directory: &Path| directory.join(".git").symlink_metadata().is_ok();
        let top = root.ancestors().find(|directory| is_repository(directory)).unwrap_or(root);
        let mut files = [const { None }; KINDS];
        files[EXCLUDES] = or_warn(read_core_excludes(top), root);
        let rules = Arc::new(Self::read(None, top, files, true));
        let mut above: Vec<&Path> = root.ancestors().skip(1).collect();
        above.reverse();
        above.into_iter().fold(rules, |rules, directory| {
            let own = |name| {
                let path = directory.join(name);
                // Like git, do not follow a symbolic link.
                let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
                let content = is_file.then(|| read_regular(&path, MAX_IGNORE_FILE_BYTES));
                content.map_or(Ok(None), |content| existing_file(path, content))
            };
            let [first, second, third] = NAMES.map(|name| or_warn(own(name), directory));
            let exclude = if has_git(directory) { or_warn(read_info_exclude(directory), directory) } else { None };
            rules.with(directory, [first, second, third, exclude, None], false)
        })
    }

    /// Returns the rules in `directory`, which is in the tree at `root` and contains the ignore files `present`.
    /// Malformed lines are ignored.
    ///
    /// # Errors
    /// Fails if one of the files cannot be read.
    pub(super) fn within(
        self: &Arc<Self>,
        directory: &Path,
        root: &Directory,
        present: IgnoreFiles,
    ) -> Result<Arc<Self>, UnreadableRules> {
        if present == IgnoreFiles::default() {
            return Ok(Arc::clone(self));
        }
        let mut files = [const { None }; KINDS];
        for (kind, name) in NAMES.into_iter().enumerate().filter(|(kind, _)| present.by_name[*kind]) {
            let path = directory.join(name);
            let below = path.strip_prefix(root.path()).unwrap_or(Path::new(name));
            let content = root.read(below, MAX_IGNORE_FILE_BYTES);
            files[kind] = existing_file(path, content)?;
        }
        // The `core.excludesFile` of the root is already part of the rules from `above`.
        let is_inner = present.git && directory != root.path() && is_repository(directory);
        if present.git {
            files[NAMES.len()] = read_info_exclude(directory)?;
        }
        if is_inner {
            // An unreadable `core.excludesFile` counts as missing, unlike an unreadable ignore file in the tree.
            files[EXCLUDES] = read_core_excludes(directory).unwrap_or_default();
        }
        Ok(self.with(directory, files, is_inner))
    }

    /// Returns these rules with the ignore files of a directory added.
    fn with(self: &Arc<Self>, directory: &Path, files: [RulesFile; KINDS], is_work_tree: bool) -> Arc<Self> {
        if !is_work_tree && files.iter().all(Option::is_none) {
            return Arc::clone(self);
        }
        let rules = Self::read(Some(self), directory, files, is_work_tree);
        let is_same = !is_work_tree && rules.files.iter().all(Gitignore::is_empty);
        if is_same { Arc::clone(self) } else { Arc::new(rules) }
    }

    /// Parses the ignore files of a directory, given by kind.
    fn read(outer: Option<&Arc<Self>>, directory: &Path, files: [RulesFile; KINDS], is_work_tree: bool) -> Self {
        let mut digest = blake3::Hasher::new();
        digest.update(&outer.map_or(0, |outer| outer.digest).to_le_bytes());
        digest.update(blake3::hash(directory.as_os_str().as_encoded_bytes()).as_bytes());
        digest.update(&[u8::from(is_work_tree)]);
        let files = files.map(|file| {
            let (path, content) = file.unzip();
            let content = content.unwrap_or_default();
            digest.update(blake3::hash(&content).as_bytes());
            parse(directory, path, &content)
        });
        let mut short = [0; size_of::<u64>()];
        digest.finalize_xof().fill(&mut short);
        Self { outer: outer.cloned(), files, is_work_tree, digest: u64::from_le_bytes(short) }
    }

    /// Returns a hash of the ignore files in the whole chain.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    /// Whether an entry of the directory is ignored. Within each kind of file, the innermost match takes precedence.
    pub(super) fn ignores(&self, path: &Path, is_directory: bool) -> bool {
        (0..KINDS).find_map(|kind| self.verdict(kind, path, is_directory)).unwrap_or(false)
    }

    fn verdict(&self, kind: usize, path: &Path, is_directory: bool) -> Option<bool> {
        let mut level = Some(self);
        while let Some(rules) = level {
            match rules.files[kind].matched(path, is_directory) {
                Match::None if kind == EXCLUDES && rules.is_work_tree => return None,
                Match::None => level = rules.outer.as_deref(),
                Match::Ignore(_) => return Some(true),
                Match::Whitelist(_) => return Some(false),
            }
        }
        None
    }
}

/// Parses one ignore file.
fn parse(directory: &Path, path: Option<PathBuf>, content: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(directory);
    for (number, line) in content.lines().map_while(Result::ok).enumerate() {
        // Git ignores a byte order mark.
        let line = if number == 0 { line.trim_start_matches('\u{feff}') } else { &line };
        // A malformed line is ignored.
        let _ = builder.add_line(path.clone(), line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Returns the path and content of a file, or `None` if the file does not exist or is not a regular file.
fn existing_file(path: PathBuf, read: io::Result<Vec<u8>>) -> Result<RulesFile, UnreadableRules> {
    match read {
        Ok(content) => Ok(Some((path, content))),
        Err(error) if is_gone(&error) || refusal_of(&error) == Some(Refusal::NotRegular) => Ok(None),
        Err(error) => Err(UnreadableRules { file: path.display().to_string(), error }),
    }
}

/// Reads the file that `core.excludesFile` names for a work tree.
fn read_core_excludes(directory: &Path) -> Result<RulesFile, UnreadableRules> {
    excludes_file(directory).map_or(Ok(None), |path| {
        let content = read_regular(&path, MAX_IGNORE_FILE_BYTES);
        existing_file(path, content)
    })
}

/// Reads the `info/exclude` file of the repository to which a work tree belongs. A linked work tree uses the file of
/// its main repository. Like git, follows symbolic links within the git directory.
fn read_info_exclude(directory: &Path) -> Result<RulesFile, UnreadableRules> {
    let Some(own) = git_directory(directory)? else { return Ok(None) };
    let common = first_line(own.join("commondir"))?.map_or_else(|| own.clone(), |common| own.join(common));
    let path = common.join("info").join("exclude");
    let content = read_regular(&path, MAX_IGNORE_FILE_BYTES);
    existing_file(path, content)
}

/// Returns the git directory of a work tree: `.git`, or the directory to which a `.git` file points.
fn git_directory(directory: &Path) -> Result<Option<PathBuf>, UnreadableRules> {
    let git = directory.join(".git");
    if git.is_dir() {
        return Ok(Some(git));
    }
    let is_file = git.symlink_metadata().is_ok_and(|found| found.is_file());
    let pointer = if is_file { first_line(git)? } else { None };
    Ok(pointer.and_then(|line| Some(directory.join(line.strip_prefix("gitdir: ")?))))
}

/// Reads the first line of a file that contains only a path. Returns `None` if the file does not exist.
fn first_line(path: PathBuf) -> Result<Option<String>, UnreadableRules> {
    let content = read_regular(&path, MAX_POINTER_BYTES);
    let content = existing_file(path, content)?.map(|(_, content)| content).unwrap_or_default();
    Ok(String::from_utf8_lossy(&content).lines().next().map(str::to_owned))
}

/// Whether a directory is the top of a work tree: its `.git` leads to a git directory with a `HEAD`.
fn is_repository(directory: &Path) -> bool {
    let git = git_directory(directory).ok().flatten();
    git.is_some_and(|git| git.join("HEAD").symlink_metadata().is_ok())
}

/// Whether a directory is a work tree with checked-out files, which means that its git directory has an index.
pub(super) fn is_checkout(directory: &Path) -> bool {
    let git = git_directory(directory).ok().flatten();
    git.is_some_and(|git| git.join("index").symlink_metadata().is_ok())
}

/// Whether a directory is a linked work tree (`git worktree add`), in contrast to a submodule or a clone.
pub(super) fn is_linked_work_tree(directory: &Path) -> bool {
    if directory.join(".git").is_dir() {
        return false;
    }
    let Ok(Some(own)) = git_directory(directory) else { return false };
    match own.is_dir() {
        true => own.join("commondir").symlink_metadata().is_ok(),
        // The git directory is missing, because the work tree was moved, or copied from another machine. Its path still
        // shows that it belonged to a linked work tree.
        false => own.parent().and_then(Path::file_name).is_some_and(|name| name == "worktrees"),
    }
}
