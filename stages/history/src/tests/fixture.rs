//! Repositories built with `git` in a temporary directory, with fixed dates and without the user's configuration.

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use aurora_confined::Directory;

use crate::{EventIndex, FileBlame, History, Options};
use aurora_cachefile::CacheFile;

/// The output of `git blame` for one line.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct GitLine {
    pub(super) commit: String,
    pub(super) author: String,
    pub(super) email: String,
    pub(super) author_time: i64,
}

pub(crate) struct Repo {
    pub(crate) root: PathBuf,
    clock: AtomicI64,
    _directory: Option<tempfile::TempDir>,
}

impl Repo {
    /// Creates a repository without commits.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let repo = Self {
            root: directory.path().join("repo"),
            clock: AtomicI64::new(1_700_000_000),
            _directory: Some(directory),
        };
        std::fs::create_dir(&repo.root).unwrap();
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// Opens an existing repository.
    pub(super) fn existing(root: PathBuf) -> Self {
        Self { root, clock: AtomicI64::new(1_700_000_000), _directory: None }
    }

    /// Creates a handle to another repository, usually next to this repository.
    pub(super) fn at(&self, root: PathBuf) -> Self {
        Self { root, clock: AtomicI64::new(self.clock.load(Ordering::Relaxed)), _directory: None }
    }

    /// Runs git and returns its standard output.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_with_input(arguments, b"")
    }

    pub(crate) fn git_with_input(&self, arguments: &[&str], input: &[u8]) -> String {
        self.try_git(arguments, input).unwrap_or_else(|errors| panic!("git {arguments:?}: {errors}"))
    }

    /// Runs git and returns its standard output, or its standard error if it fails.
    fn try_git(&self, arguments: &[&str], input: &[u8]) -> Result<String, String> {
        let date = format!("{} +0000", self.clock.load(Ordering::Relaxed));
        let mut child = Command::new("git")
            .args(arguments)
            .current_dir(&self.root)
            .env_remove("GIT_DIR")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Ada")
            .env("GIT_AUTHOR_EMAIL", "ada@example.com")
            .env("GIT_COMMITTER_NAME", "Ada")
            .env("GIT_COMMITTER_EMAIL", "ada@example.com")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() { Ok(printed) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }

    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Commits everything in the work tree and returns the id of the commit.
    pub(super) fn commit(&self, message: &str) -> String {
        self.clock.fetch_add(60, Ordering::Relaxed);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Writes one file and commits it.
    pub(crate) fn commit_file(&self, path: &str, text: impl AsRef<[u8]>) -> String {
        self.write(path, text);
        self.commit(path)
    }

    /// Returns a cache file in git's directory.
    pub(super) fn cache(&self, name: &str) -> CacheFile {
        CacheFile::new(Directory::open_root(&self.root.join(".git")).unwrap(), name, b"secret", 1 << 20)
    }

    /// Returns options with both cache files in git's directory.
    pub(super) fn caches(&self) -> Options {
        Options { walk_cache: Some(self.cache("walk")), diff_cache: Some(self.cache("comparisons")), mask: None }
    }

    /// Returns options with cache files in a directory that no longer exists.
    pub(super) fn unwritable_caches(&self) -> Options {
        let directory = tempfile::tempdir().unwrap();
        let file = CacheFile::new(Directory::open_root(directory.path()).unwrap(), "nothing", b"secret", 1 << 20);
        Options { walk_cache: Some(file.clone()), diff_cache: Some(file), mask: None }
    }

    pub(super) fn history(&self, options: Options) -> History {
        History::open(&self.root, options).unwrap().unwrap()
    }

    pub(super) fn open(&self) -> (History, EventIndex) {
        let history = self.history(Options::default());
        let index = history.index_events(&AtomicBool::new(false), &|_, _| ()).unwrap();
        (history, index)
    }

    pub(super) fn blame(&self, path: &str) -> FileBlame {
        let (history, index) = self.open();
        history.blame(&index, path).unwrap()
    }

    /// Returns the output of `git blame` for the lines of `path` at HEAD.
    pub(super) fn git_blame(&self, path: &str) -> Vec<GitLine> {
        parse_blame(&self.git(&["blame", "--line-porcelain", "HEAD", "--", path]))
    }

    /// Returns the output of `git blame` for the lines of `path` in the work tree.
    pub(super) fn git_blame_worktree(&self, path: &str) -> Vec<GitLine> {
        parse_blame(&self.git(&["blame", "--line-porcelain", "--", path]))
    }

    /// Returns the commits that, according to git, touched the lines `range` of `path` at HEAD.
    pub(super) fn git_touches(&self, path: &str, range: &Range<u32>) -> Vec<String> {
        self.try_git_touches(path, range).unwrap()
    }

    /// Like [`Self::git_touches`], but returns `None` if git fails.
    pub(super) fn try_git_touches(&self, path: &str, range: &Range<u32>) -> Option<Vec<String>> {
        let lines = format!("-L{},{}:{path}", range.start + 1, range.end);
        let commits = self.try_git(&["log", &lines, "--format=%H", "--no-patch"], b"").ok()?;
        Some(commits.lines().map(str::to_owned).collect())
    }

    /// Returns the regular files at HEAD.
    pub(super) fn files(&self) -> Vec<String> {
        let listing = self.git(&["ls-tree", "-r", "-z", "HEAD"]);
        let files = listing.split('\0').filter(|entry| entry.starts_with("100"));
        files.map(|entry| entry.split('\t').nth(1).unwrap().to_owned()).collect()
    }

    /// Compares the blame of all regular files at HEAD with git.
    pub(super) fn check(&self) {
        let (history, index) = self.open();
        for path in self.files() {
            let blame = history.blame(&index, &path).unwrap();
            assert_same(&blame, &self.git_blame(&path), &format!("{path} in {}", self.root.display()));
        }
    }
}

/// Asserts that git and `blame` attribute each line to the same commit. Git writes a commit id of zeros for "not
/// committed yet".
pub(super) fn assert_same(blame: &FileBlame, expected: &[GitLine], what: &str) {
    assert_eq!(blame.line_count() as usize, expected.len(), "lines of {what}");
    for (line, expected) in (0u32..).zip(expected) {
        match blame.commit_of(line) {
            None => assert!(expected.commit.bytes().all(|digit| digit == b'0'), "line {line} of {what}: {expected:?}"),
            Some(commit) => {
                let found = GitLine {
                    commit: commit.id.to_string(),
                    author: commit.author.name.clone(),
                    email: commit.author.email.clone(),
                    author_time: commit.author_time,
                };
                assert_eq!(&found, expected, "line {line} of {what}");
            }
        }
    }
}

fn parse_blame(porcelain: &str) -> Vec<GitLine> {
    let mut lines = Vec::new();
    let mut header: Vec<&str> = Vec::new();
    for line in porcelain.split('\n') {
        if !line.starts_with('\t') {
            header.push(line);
            continue;
        }
        let field = |name: &str| header.iter().find_map(|line| line.strip_prefix(name)).unwrap();
        lines.push(GitLine {
            commit: header[0].split(' ').next().unwrap().to_owned(),
            author: field("author ").to_owned(),
            email: field("author-mail ").trim_matches(['<', '>']).to_owned(),
            author_time: field("author-time ").parse().unwrap(),
        });
        header.clear();
    }
    lines
}

/// Returns a `file://` URL of `path`. Git supports `--depth` and `--filter` only when it clones from a URL.
pub(super) fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Returns `count` numbered lines that start with `word`.
pub(crate) fn lines(word: &str, count: usize) -> String {
    (0..count).map(|line| format!("{word} {line}\n")).collect()
}
