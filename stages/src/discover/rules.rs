//! The ignore files that hold in a directory: its own and those of the directories above it.

use std::ffi::OsStr;
use std::fs;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

/// The names of ignore files; those of an earlier name have the last word. The fourth kind is a repository's own
/// `info/exclude`, the fifth the user's file.
const NAMES: [&str; 3] = [".auroraignore", ".ignore", ".gitignore"];
const KINDS: usize = NAMES.len() + 2;

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
    /// Takes note of an entry of the directory.
    pub(super) fn note(&mut self, name: &OsStr) {
        let known = NAMES.iter().position(|known| name == *known);
        match known {
            Some(kind) => self.by_name[kind] = true,
            None => self.git |= name == ".git",
        }
    }
}

impl Rules {
    /// The rules that hold in `root` before its own files are read: those of the directories above it, and the file
    /// that the user's git configuration names.
    pub(super) fn above(root: &Path) -> Arc<Self> {
        let mut paths = [const { None }; KINDS];
        paths[KINDS - 1] = gitconfig_excludes_path();
        let rules = Arc::new(Self::read(None, root, paths));
        let mut above: Vec<&Path> = root.ancestors().skip(1).collect();
        above.reverse();
        above.into_iter().fold(rules, |rules, directory| {
            let mut present = IgnoreFiles { git: directory.join(".git").exists(), ..IgnoreFiles::default() };
            for (present, name) in present.by_name.iter_mut().zip(NAMES) {
                *present = directory.join(name).exists();
            }
            rules.within(directory, present)
        })
    }

    /// The rules that hold in a directory below, which has these ignore files. What cannot be read or understood counts
    /// as not there.
    pub(super) fn within(self: &Arc<Self>, directory: &Path, present: IgnoreFiles) -> Arc<Self> {
        if present == IgnoreFiles::default() {
            return Arc::clone(self);
        }
        let named = |kind: usize| present.by_name[kind].then(|| directory.join(NAMES[kind]));
        let exclude = if present.git { exclude_file(directory) } else { None };
        let rules = Self::read(Some(self), directory, [named(0), named(1), named(2), exclude, None]);
        if rules.files.iter().all(Gitignore::is_empty) { Arc::clone(self) } else { Arc::new(rules) }
    }

    /// The rules of files by kind, for what is below a directory.
    fn read(outer: Option<&Arc<Self>>, directory: &Path, paths: [Option<PathBuf>; KINDS]) -> Self {
        let mut digest = blake3::Hasher::new();
        digest.update(&outer.map_or(0, |outer| outer.digest).to_le_bytes());
        digest.update(blake3::hash(directory.as_os_str().as_encoded_bytes()).as_bytes());
        let files = paths.map(|path| {
            let content = path.as_deref().and_then(|path| fs::read(path).ok()).unwrap_or_default();
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

/// The `info/exclude` of the repository whose work tree begins at a directory. Linked work trees have that of the
/// repository to which they belong.
fn exclude_file(directory: &Path) -> Option<PathBuf> {
    let git = directory.join(".git");
    if git.is_dir() {
        return Some(git.join("info").join("exclude"));
    }
    let line = |path: &Path| Some(fs::read_to_string(path).ok()?.lines().next()?.to_owned());
    let own = directory.join(line(&git)?.strip_prefix("gitdir: ")?);
    let common = line(&own.join("commondir")).map_or_else(|| own.clone(), |common| own.join(common));
    Some(common.join("info").join("exclude"))
}
