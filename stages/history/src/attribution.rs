//! The attribution of one file: the commit of each line, touch counts, and summaries of ranges of lines.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::commit::{CommitInfo, Person};
use crate::commit_graph::{CommitGraph, CommitPos};
use crate::line_map::LineMap;

/// The value of [`BlameEntry::commit`] for lines that are not committed. Git displays such lines as "Not Committed
/// Yet".
pub const NOT_COMMITTED: u32 = u32::MAX;

/// Consecutive lines that came from the same commit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlameEntry {
    /// The first line, counted from 0.
    pub start_line: u32,
    /// The number of lines, at least 1.
    pub len: u32,
    /// The index of the commit in [`FileBlame::commits`], or [`NOT_COMMITTED`].
    pub commit: u32,
}

/// The blame of a file: the commit that each line came from.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FileBlame {
    /// The entries in the order of their lines, without gaps. Adjacent entries have different commits.
    pub entries: Vec<BlameEntry>,
    /// The commits, in the order of their first line.
    pub commits: Vec<CommitInfo>,
    /// Whether objects were missing, as in a partial clone. If true, lines may be older than the commits to which they
    /// are attributed.
    pub incomplete: bool,
}

/// Blame and touch counts of a committed file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FileAttribution {
    /// The commit of each line.
    pub blame: FileBlame,
    /// The touch counts of ranges of lines, sorted and without duplicates.
    pub touches: Vec<TouchCount>,
}

/// The number of commits that touched a range of lines. The number includes commits that changed only lines that are no
/// longer in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TouchCount {
    /// The lines, counted from 0. The end is exclusive.
    pub lines: Range<u32>,
    /// The number of commits.
    pub commits: u32,
}

impl FileAttribution {
    /// Returns the number of commits that touched `lines`, or `None` if no touches were counted for this range.
    pub fn touches_of(&self, lines: &Range<u32>) -> Option<u32> {
        let ends = |range: &Range<u32>| (range.start, range.end);
        let found = self.touches.binary_search_by_key(&ends(lines), |count| ends(&count.lines));
        found.ok().map(|at| self.touches[at].commits)
    }
}

/// The attribution of a file in the working tree: the attribution of the file at HEAD, and a map from lines in the
/// working tree to lines at HEAD.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct WorktreeBlame {
    /// The file at HEAD.
    pub committed: FileAttribution,
    /// Maps the lines in the working tree to lines at HEAD.
    pub lines: LineMap,
}

impl WorktreeBlame {
    /// Returns the commit of each line in the working tree.
    pub fn worktree(&self) -> FileBlame {
        let blame = &self.committed.blame;
        if self.lines.is_identity(blame.line_count()) { blame.clone() } else { blame.carried_over(&self.lines) }
    }
}

/// A summary of the commits of a range of lines, or of a whole file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct HistorySummary {
    /// The number of distinct commits.
    pub commits: u32,
    /// The number of lines that are not committed.
    pub uncommitted_lines: u32,
    /// The commit with the latest author time.
    pub newest: Option<CommitInfo>,
    /// The earliest author time, in Unix seconds.
    pub first_time: Option<i64>,
    /// The distinct authors, each with a number of lines, or of commits in the summary of a whole file. Sorted by
    /// number, highest first, and then by name.
    pub authors: Vec<(Arc<Person>, u32)>,
    /// The author times of the distinct commits, in Unix seconds, latest first.
    pub commit_times: Vec<i64>,
}

impl HistorySummary {
    /// Summarises distinct commits. Each commit adds 1 to the number of its author.
    pub(crate) fn from_commits(commits: impl Iterator<Item = CommitInfo>) -> Self {
        Self::from_weighted_commits(commits.map(|commit| (commit, 1)))
    }

    /// Summarises distinct commits, each with the number of lines that came from the commit.
    fn from_weighted_commits(commits: impl Iterator<Item = (CommitInfo, u32)>) -> Self {
        let mut history = Self::default();
        let mut lines_of_author: FxHashMap<Arc<Person>, u32> = FxHashMap::default();
        for (commit, lines) in commits {
            history.commits += 1;
            history.commit_times.push(commit.author_time);
            *lines_of_author.entry(Arc::clone(&commit.author)).or_insert(0) += lines;
            let age = |commit: &CommitInfo| (commit.author_time, commit.committer_time, commit.id);
            if history.newest.as_ref().is_none_or(|newest| age(newest) < age(&commit)) {
                history.newest = Some(commit);
            }
        }
        history.commit_times.sort_unstable_by(|left, right| right.cmp(left));
        history.first_time = history.commit_times.last().copied();
        history.authors = lines_of_author.into_iter().collect();
        history.authors.sort_unstable_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        history
    }
}

impl FileBlame {
    pub(crate) fn new(lines: &[CommitPos], graph: &CommitGraph, incomplete: bool) -> Self {
        let mut blame = Self { incomplete, ..Self::default() };
        let mut positions: FxHashMap<CommitPos, u32> = FxHashMap::default();
        for &commit in lines {
            let position = *positions.entry(commit).or_insert_with(|| {
                blame.commits.push(graph.info(commit));
                blame.commits.len() as u32 - 1
            });
            blame.push_lines(1, position);
        }
        blame
    }

    /// Returns the number of lines.
    pub fn line_count(&self) -> u32 {
        self.entries.last().map_or(0, |entry| entry.start_line + entry.len)
    }

    /// Returns the commit of line `line`, counted from 0, or `None` if the file has no such line or the line is not
    /// committed.
    pub fn commit_of(&self, line: u32) -> Option<&CommitInfo> {
        let entry = self.entries_within(line..line.saturating_add(1)).next()?;
        self.commits.get(entry.commit as usize)
    }

    /// Returns the blame of a file in the working tree. `self` is the blame of the committed file, and `lines` maps
    /// lines in the working tree to lines of the committed file.
    pub fn carried_over(&self, lines: &LineMap) -> FileBlame {
        let mut blame = FileBlame { commits: self.commits.clone(), incomplete: self.incomplete, ..Self::default() };
        for run in &lines.runs {
            match run.committed {
                None => blame.push_lines(run.len, NOT_COMMITTED),
                Some(first) => {
                    for entry in self.entries_within(first..first + run.len) {
                        blame.push_lines(entry.len, entry.commit);
                    }
                }
            }
        }
        blame.drop_unused_commits();
        blame
    }

    /// Summarises the commits of `lines`, which are counted from 0. Lines after the end of the file are ignored.
    pub fn summary(&self, lines: Range<u32>) -> HistorySummary {
        let mut uncommitted_lines = 0;
        let mut lines_of_commit: FxHashMap<u32, u32> = FxHashMap::default();
        for entry in self.entries_within(lines) {
            match entry.commit {
                NOT_COMMITTED => uncommitted_lines += entry.len,
                commit => *lines_of_commit.entry(commit).or_insert(0) += entry.len,
            }
        }
        let weighted =
            lines_of_commit.into_iter().map(|(commit, lines)| (self.commits[commit as usize].clone(), lines));
        HistorySummary { uncommitted_lines, ..HistorySummary::from_weighted_commits(weighted) }
    }

    /// Returns the entries that overlap `lines`, clipped to `lines`.
    pub(crate) fn entries_within(&self, lines: Range<u32>) -> impl Iterator<Item = BlameEntry> + '_ {
        let first = self.entries.partition_point(|entry| entry.start_line + entry.len <= lines.start);
        self.entries[first..].iter().take_while(move |entry| entry.start_line < lines.end).map(move |entry| {
            let start = entry.start_line.max(lines.start);
            let end = (entry.start_line + entry.len).min(lines.end);
            BlameEntry { start_line: start, len: end - start, commit: entry.commit }
        })
    }

    fn push_lines(&mut self, len: u32, commit: u32) {
        let start_line = self.line_count();
        match self.entries.last_mut() {
            Some(entry) if entry.commit == commit => entry.len += len,
            _ => self.entries.push(BlameEntry { start_line, len, commit }),
        }
    }

    /// Removes commits without lines, and renumbers the other commits in the order of their first line.
    fn drop_unused_commits(&mut self) {
        let mut renumbered = vec![NOT_COMMITTED; self.commits.len()];
        let mut commits = Vec::new();
        for entry in self.entries.iter_mut().filter(|entry| entry.commit != NOT_COMMITTED) {
            let position = &mut renumbered[entry.commit as usize];
            if *position == NOT_COMMITTED {
                *position = commits.len() as u32;
                commits.push(self.commits[entry.commit as usize].clone());
            }
            entry.commit = *position;
        }
        self.commits = commits;
    }
}
