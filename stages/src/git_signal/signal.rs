//! Computes the git signal of each chunk from the attribution of its file.

use std::ops::Range;

use aurora_storage::{ChunkHistory, GitHistory, HistoryTier};

use crate::columns::Attribution;
use aurora_history::{FileBlame, HistorySummary};

/// Returns the histories of the chunks of a file. `ranges` are the lines of the chunks, as half-open ranges that count
/// from 0.
pub(super) fn signals(attribution: &Attribution, ranges: &[Range<u32>]) -> Vec<ChunkHistory> {
    let file_signal = match attribution {
        Attribution::NoRepository => ChunkHistory::None,
        Attribution::Untracked => ChunkHistory::Untracked,
        Attribution::Pending => ChunkHistory::Pending,
        Attribution::Unavailable(reason) => ChunkHistory::Unavailable { reason: reason.to_string() },
        Attribution::File { history, .. } => {
            tracked_history(HistorySummary::clone(history), history.commits, HistoryTier::File)
        }
        Attribution::Lines { blame, touches, .. } => {
            let blame = blame.worktree();
            return ranges.iter().zip(touches).map(|(range, &touches)| line_history(&blame, range, touches)).collect();
        }
    };
    vec![file_signal; ranges.len()]
}

fn line_history(blame: &FileBlame, lines: &Range<u32>, touches: u32) -> ChunkHistory {
    tracked_history(blame.summary(lines.clone()), touches, HistoryTier::Line)
}

fn tracked_history(history: HistorySummary, touches: u32, tier: HistoryTier) -> ChunkHistory {
    let Some(newest) = history.newest else { return ChunkHistory::Untracked };
    ChunkHistory::Tracked(GitHistory {
        tier,
        commits: history.commits,
        touches,
        newest_commit: newest.id.to_string(),
        newest_time: newest.author_time,
        first_time: history.first_time.unwrap_or(newest.author_time),
        authors: history.authors.iter().map(|(author, _)| author.name.clone()).collect(),
        commit_times: history.commit_times,
    })
}
