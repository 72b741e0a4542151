//! The ignore files that hold in a directory: its own and those of the directories above it.

use std::ffi::OsStr;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_confined::{Directory, Refusal, read_regular, refusal_of};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use super::listing::Kind;
use crate::services::is_gone;

/// The names of ignore files; those of an earlier name have the last word. The fourth kind is a repository's own
/// `info/exclude`, the fifth the user's file.
const NAMES: [&str; 3] = [".auroraignore", ".ignore", ".gitignore"];
const KINDS: usize = NAMES.len() + 2;

/// Most bytes of an ignore file; the rules of one that has more are unknown.
const MAX_RULES: u64 = 4 << 20;
/// Most bytes of a file that holds nothing but the path of a git directory.
const MAX_POINTER: u64 = 64 << 10;

/// What ignore files say of the entries of a directory. Levels without such files are left out of the chain.
#[derive(Debug)]
pub(super) struct Rules {
    outer: Option<Arc<Rules>>,
    /// By kind.
    files: [Gitignore; KINDS],
    digest: u64,
}

/// The ignore files that a directory was seen to hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IgnoreFiles {
    by_name: [bool; NAMES.len()],
    /// Whether there is a `.git`, of a repository or of a linked work tree.
    git: bool,
}

impl IgnoreFiles {
    /// Takes note of an entry of the directory, and of what it is, if that could be told. Symbolic links and whatever else
    /// is no file count as not there, as with git.
    pub(super) fn note(&mut self, name: &OsStr, kind: Option<Kind>) {
        let known = NAMES.iter().position(|known| name == *known);
        match known {
            Some(known) => self.by_name[known] = matches!(kind, None | Some(Kind::File)),
            None => self.git |= name == ".git",
        }
    }
}

/// An ignore file that is there and cannot be read, so that nothing can be said of the entries of its directory.
#[derive(Debug, thiserror::Error)]
#[error("the ignore file {file} cannot be read: {error}")]
pub(super) struct UnreadableRules {
    file: String,
    error: io::Error,
}

/// An ignore file and its content; nothing if there is none.
type RulesFile = Option<(PathBuf, Vec<u8>)>;

impl Rules {
    /// The rules that hold in `root` before its own files are read: those of the directories above it, and the file
    /// that the user's git configuration names. Of these, one that cannot be read counts as not there, as with git, and is
    /// warned of.
    pub(super) fn above(root: &Path, warnings: &mut Vec<(String, String)>) -> Arc<Self> {
        let mut or_warn = |read: Result<RulesFile, UnreadableRules>, place: &Path| {
            read.unwrap_or_else(|unreadable| {
                warnings.push((place.display().to_string(), unreadable.to_string()));
                None
            })
        };
        let mut files = [const { None }; KINDS];
        if let Some(path) = gitconfig_excludes_path() {
            let content = read_regular(&path, MAX_RULES);
            files[KINDS - 1] = or_warn(present(path, content), root);
        }
        let rules = Arc::new(Self::read(None, root, files));
        let mut above: Vec<&Path> = root.ancestors().skip(1).collect();
        above.reverse();
        above.into_iter().fold(rules, |rules, directory| {
            let own = |name| {
                let path = directory.join(name);
                // Git follows no link here either.
                let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
                let content = is_file.then(|| read_regular(&path, MAX_RULES));
                content.map_or(Ok(None), |content| present(path, content))
            };
            let [first, second, third] = NAMES.map(|name| or_warn(own(name), directory));
            let has_git = directory.join(".git").symlink_metadata().is_ok();
            let exclude = if has_git { or_warn(exclude_file(directory), directory) } else { None };
            rules.with(directory, [first, second, third, exclude, None])
        })
    }

    /// The rules that hold in a directory below `root`, which has these ignore files. What makes no sense in them is no
    /// rule.
    ///
    /// # Errors
    /// When one of the files cannot be read.
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
            let content = root.read(below, MAX_RULES);
            files[kind] = self::present(path, content)?;
        }
        if present.git {
            files[NAMES.len()] = exclude_file(directory)?;
        }
        Ok(self.with(directory, files))
    }

    /// These rules and those of a directory's files.
    fn with(self: &Arc<Self>, directory: &Path, files: [RulesFile; KINDS]) -> Arc<Self> {
        if files.iter().all(Option::is_none) {
            return Arc::clone(self);
        }
        let rules = Self::read(Some(self), directory, files);
        if rules.files.iter().all(Gitignore::is_empty) { Arc::clone(self) } else { Arc::new(rules) }
    }

    /// The rules of files by kind, for what is below a directory.
    fn read(outer: Option<&Arc<Self>>, directory: &Path, files: [RulesFile; KINDS]) -> Self {
        let mut digest = blake3::Hasher::new();
        digest.update(&outer.map_or(0, |outer| outer.digest).to_le_bytes());
        digest.update(blake3::hash(directory.as_os_str().as_encoded_bytes()).as_bytes());
        let files = files.map(|file| {
            let (path, content) = file.unzip();
            let content = content.unwrap_or_default();
            digest.update(blake3::hash(&content).as_bytes());
            parse(directory, path, &content)
        });
        let mut short = [0; size_of::<u64>()];
        digest.finalize_xof().fill(&mut short);
        Self { outer: outer.cloned(), files, digest: u64::from_le_bytes(short) }
    }

    /// Stands for these rules and those around them, to the byte.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    /// Whether an entry of the directory is to be left out. Of each kind of file, the innermost that names it decides.
    pub(super) fn ignores(&self, path: &Path, is_directory: bool) -> bool {
        (0..KINDS).find_map(|kind| self.verdict(kind, path, is_directory)).unwrap_or(false)
    }

    fn verdict(&self, kind: usize, path: &Path, is_directory: bool) -> Option<bool> {
        let mut level = Some(self);
        while let Some(rules) = level {
            match rules.files[kind].matched(path, is_directory) {
                Match::None => level = rules.outer.as_deref(),
                Match::Ignore(_) => return Some(true),
                Match::Whitelist(_) => return Some(false),
            }
        }
        None
    }
}

/// The rules of one file, as far as they can be understood.
fn parse(directory: &Path, path: Option<PathBuf>, content: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(directory);
    for (number, line) in content.lines().map_while(Result::ok).enumerate() {
        // Git takes no notice of a byte order mark.
        let line = if number == 0 { line.trim_start_matches('\u{feff}') } else { &line };
        // A line that makes no sense is no rule.
        let _ = builder.add_line(path.clone(), line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A file that was read, or that is no file; what is there and cannot be read is an error.
fn present(path: PathBuf, read: io::Result<Vec<u8>>) -> Result<RulesFile, UnreadableRules> {
    match read {
        Ok(content) => Ok(Some((path, content))),
        Err(error) if is_gone(&error) || refusal_of(&error) == Some(Refusal::NotRegular) => Ok(None),
        Err(error) => Err(UnreadableRules { file: path.display().to_string(), error }),
    }
}

/// The `info/exclude` of the repository whose work tree begins at a directory. Linked work trees have that of the
/// repository to which they belong. Within git's directory symbolic links are followed, as git does.
fn exclude_file(directory: &Path) -> Result<RulesFile, UnreadableRules> {
    let read = |path: PathBuf, limit| {
        let content = read_regular(&path, limit);
        present(path, content)
    };
    let line = |path: PathBuf| {
        let content = read(path, MAX_POINTER)?.map(|(_, content)| content).unwrap_or_default();
        Ok(String::from_utf8_lossy(&content).lines().next().map(str::to_owned))
    };
    let git = directory.join(".git");
    let common = if git.is_dir() {
        git
    } else {
        let is_file = git.symlink_metadata().is_ok_and(|found| found.is_file());
        let pointer = if is_file { line(git)? } else { None };
        let Some(own) = pointer.as_deref().and_then(|line| line.strip_prefix("gitdir: ")) else { return Ok(None) };
        let own = directory.join(own);
        line(own.join("commondir"))?.map_or_else(|| own.clone(), |common| own.join(common))
    };
    read(common.join("info").join("exclude"), MAX_RULES)
}
