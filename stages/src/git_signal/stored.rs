//! Conversion between an attribution and [`Blame`], the form in which the index stores it.

use std::sync::Arc;

use aurora_storage::{Blame, BlamedCommit, BlamedRun, CopiedRun, TouchedLines};
use rustc_hash::FxHashMap;

use aurora_history::{
    BlameEntry, CommitId, CommitInfo, FileAttribution, FileBlame, LineMap, MappedLines, Person, TouchCount,
    WorktreeBlame,
};

/// Converts an attribution to its stored form.
pub(crate) fn to_stored(attribution: &WorktreeBlame) -> Blame {
    let WorktreeBlame { committed: FileAttribution { blame: committed, touches }, lines } = attribution;
    let touched = |TouchCount { lines, commits }: &TouchCount| TouchedLines {
        start: lines.start,
        len: lines.end - lines.start,
        commits: *commits,
    };
    let mut authors: Vec<(String, String)> = Vec::new();
    let mut positions: FxHashMap<&Arc<Person>, u32> = FxHashMap::default();
    let commits = committed.commits.iter().map(|commit| {
        let author = *positions.entry(&commit.author).or_insert_with(|| {
            authors.push((commit.author.name.clone(), commit.author.email.clone()));
            authors.len() as u32 - 1
        });
        let CommitInfo { author_time, committer_time, .. } = *commit;
        BlamedCommit { id: commit.id.as_bytes().to_vec(), author, author_time, committer_time }
    });
    let commits = commits.collect();
    let copied = |run: &MappedLines| CopiedRun { len: run.len, committed: run.committed };
    let differs = !lines.is_identity(committed.line_count());
    Blame {
        authors,
        commits,
        runs: committed.entries.iter().map(|run| BlamedRun { len: run.len, commit: run.commit }).collect(),
        touches: touches.iter().map(touched).collect(),
        copy: differs.then(|| lines.runs.iter().map(copied).collect()),
        incomplete: committed.incomplete,
    }
}

/// Converts a stored attribution to an attribution. Returns `None` if the id or the author of a commit is invalid.
pub fn from_stored(blame: Blame) -> Option<WorktreeBlame> {
    let authors: Vec<Arc<Person>> =
        blame.authors.into_iter().map(|(name, email)| Arc::new(Person { name, email })).collect();
    let info = |commit: BlamedCommit| {
        Some(CommitInfo {
            id: CommitId::from_bytes(&commit.id)?,
            author: Arc::clone(authors.get(commit.author as usize)?),
            author_time: commit.author_time,
            committer_time: commit.committer_time,
        })
    };
    let commits = blame.commits.into_iter().map(info).collect::<Option<Vec<_>>>()?;
    let mut start_line = 0;
    let entries = blame.runs.into_iter().map(|run| {
        let start = start_line;
        start_line += run.len;
        BlameEntry { start_line: start, len: run.len, commit: run.commit }
    });
    let touched = |touched: TouchedLines| TouchCount {
        lines: touched.start..touched.start + touched.len,
        commits: touched.commits,
    };
    let committed = FileAttribution {
        blame: FileBlame { entries: entries.collect(), commits, incomplete: blame.incomplete },
        touches: blame.touches.into_iter().map(touched).collect(),
    };
    let mapped = |run: CopiedRun| MappedLines { len: run.len, committed: run.committed };
    let lines = match blame.copy {
        Some(copy) => LineMap { runs: copy.into_iter().map(mapped).collect() },
        None => LineMap::identity(committed.blame.line_count()),
    };
    Some(WorktreeBlame { committed, lines })
}
