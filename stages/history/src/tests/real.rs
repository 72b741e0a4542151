//! Attributes the files of a real repository, whose path is in an environment variable, and compares the result with
//! git, line by line.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use crate::{FileBlame, History, Options};

/// The default number of files to compare. The environment variable `AURORA_HISTORY_FILES` overrides it.
const FILES: usize = 150;
/// Minimum share of equal lines, in ten-thousandths.
const MIN_EQUAL: usize = 9_999;

/// Run this test with the path of a repository, bare or not, in `AURORA_HISTORY_REPOSITORY`. `AURORA_HISTORY_FILES` is
/// the number of files at HEAD to compare with `git blame --line-porcelain`, or `all`. These files are evenly spread
/// over the tree. Files that git cannot blame, because a partial clone does not contain their content, are skipped.
///
/// Lines may differ in these cases:
/// - a commit deletes more than 10,000 files and also renames and edits a file, because the detector then compares only
///   files of the same name;
/// - a version of a file has more than 64 MiB;
/// - git's own settings change the result: textconv filters, `diff.algorithm` in versions of git that respect it,
///   `blame.*` options.
///
/// Lines must not differ if several sources of a rename are identical or equally similar, because the detector chooses
/// the same source as git.
#[test]
#[ignore = "compares the repository that AURORA_HISTORY_REPOSITORY names"]
fn a_real_history_is_attributed_as_in_git() {
    let root = std::env::var_os("AURORA_HISTORY_REPOSITORY").map(PathBuf::from).expect("a repository to compare");
    let wanted = std::env::var("AURORA_HISTORY_FILES").unwrap_or_default();
    let files = regular_files(&root);
    let count = if wanted == "all" { files.len() } else { wanted.parse().unwrap_or(FILES) };
    let history = History::open(&root, Options::default()).unwrap().unwrap();
    let index = history.index_events(&AtomicBool::new(false), &|_, _| ()).unwrap();
    let step = files.len().div_ceil(count.max(1)).max(1);
    let compared: BTreeMap<&[u8], (usize, usize)> = files
        .par_iter()
        .step_by(step)
        .filter_map(|path| {
            let expected = git_blame(&root, path)?;
            let found = history.blame(&index, path).unwrap_or_else(|error| panic!("{}: {error}", path.escape_ascii()));
            Some((path.as_slice(), (differing_lines(path, &found, &expected), expected.len())))
        })
        .collect();
    let lines: usize = compared.values().map(|(_, lines)| lines).sum();
    let differing: usize = compared.values().map(|(differing, _)| differing).sum();
    println!("{} files, {differing} of {lines} lines differ", compared.len());
    assert!(!compared.is_empty(), "git attributed no file");
    assert!(differing * 10_000 <= lines * (10_000 - MIN_EQUAL), "{differing} of {lines} lines differ");
}

/// Returns the number of differing lines, and prints the first differing line.
fn differing_lines(path: &[u8], found: &FileBlame, expected: &[String]) -> usize {
    assert_eq!(found.line_count() as usize, expected.len(), "lines of {}", path.escape_ascii());
    let differs = |(line, expected): &(u32, &String)| found.commit_of(*line).unwrap().id.to_string() != **expected;
    let mut differing = (0u32..).zip(expected).filter(differs);
    let Some((line, commit)) = differing.next() else { return 0 };
    let instead = found.commit_of(line).unwrap().id;
    let count = 1 + differing.count();
    println!("{}: {count} lines, first {}: {instead} instead of {commit}", path.escape_ascii(), line + 1);
    count
}

fn regular_files(root: &Path) -> Vec<Vec<u8>> {
    let listing = Command::new("git").arg("-C").arg(root).args(["ls-tree", "-r", "-z", "HEAD"]).output().unwrap();
    let entries = listing.stdout.split(|&byte| byte == 0).filter(|entry| entry.starts_with(b"100"));
    entries.map(|entry| entry.splitn(2, |&byte| byte == b'\t').nth(1).unwrap().to_vec()).collect()
}

/// Returns the commit of each line, or `None` if git fails.
fn git_blame(root: &Path, path: &[u8]) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["blame", "--line-porcelain", "HEAD", "--"]).arg(OsStr::from_bytes(path));
    let output = git.env("GIT_NO_LAZY_FETCH", "1").output().unwrap();
    if !output.status.success() {
        return None;
    }
    let mut commits = Vec::new();
    let mut is_header = true;
    for line in output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        if is_header {
            commits.push(String::from_utf8_lossy(line.split(|&byte| byte == b' ').next().unwrap()).into_owned());
        }
        is_header = line.starts_with(b"\t");
    }
    Some(commits)
}
