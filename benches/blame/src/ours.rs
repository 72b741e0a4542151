//! Our blame: one walk of the history, then all files on all threads.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use aurora_history::{EventIndex, FileBlame, History, Options, Unattributed};
use rayon::prelude::*;

use crate::git::Lines;
use crate::measure::{Cost, cost};

/// A repository whose history was walked.
pub struct Walked {
    history: History,
    index: EventIndex,
    pub cost: Cost,
}

/// Result of attributing all files.
pub struct Whole {
    pub cost: Cost,
    pub lines: u64,
    /// Number of files with lines whose commit is uncertain, because objects are missing. The true commit may be older.
    pub incomplete: usize,
    /// Files that could not be attributed, and the reasons.
    pub failed: Vec<(String, Unattributed)>,
}

impl Walked {
    /// Opens the repository at `root` and walks its history.
    pub fn new(root: &Path) -> Result<Self, String> {
        let (walked, cost) = cost(|| {
            let history =
                History::open(root, Options::default()).map_err(|error| error.to_string())?.ok_or("no repository")?;
            let index = history.index_events(&AtomicBool::new(false), &|_, _| ()).map_err(|error| error.to_string())?;
            Ok::<_, String>((history, index))
        });
        let (history, index) = walked?;
        Ok(Self { history, index, cost })
    }

    pub fn commits(&self) -> usize {
        self.index.commit_count()
    }

    /// Attributes all of `paths`. Files with the most changes come first, so that a file that takes long does not keep
    /// a single thread busy at the end.
    pub fn blame_all(&self, paths: &[Vec<u8>]) -> Whole {
        let mut order: Vec<&Vec<u8>> = paths.iter().collect();
        order.sort_by_cached_key(|path| std::cmp::Reverse(self.index.event_count(path)));
        let (lines, incomplete, failed) = (AtomicU64::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
        let ((), cost) = cost(|| {
            order.par_iter().with_max_len(1).for_each(|path| match self.history.blame(&self.index, path) {
                Ok(blame) => {
                    lines.fetch_add(u64::from(blame.line_count()), Ordering::Relaxed);
                    incomplete.fetch_add(usize::from(blame.incomplete), Ordering::Relaxed);
                }
                Err(failure) => {
                    let path = String::from_utf8_lossy(path).into_owned();
                    failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((path, failure));
                }
            });
        });
        let mut failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        failed.sort_by(|left, right| left.0.cmp(&right.0));
        Whole { cost, lines: lines.into_inner(), incomplete: incomplete.into_inner(), failed }
    }

    /// Returns the commit of each line of `path`.
    pub fn lines(&self, path: &[u8]) -> Lines {
        self.history.blame(&self.index, path).ok().map(|blame| lines_of(&blame))
    }
}

fn lines_of(blame: &FileBlame) -> Vec<Box<[u8]>> {
    let mut lines = Vec::with_capacity(blame.line_count() as usize);
    for entry in &blame.entries {
        let commit: Box<[u8]> = blame.commits[entry.commit as usize].id.to_string().into_bytes().into();
        lines.extend(std::iter::repeat_n(commit, entry.len as usize));
    }
    lines
}
