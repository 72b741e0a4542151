//! The `git-signal` stage, which attributes every line of a file to the commit that last changed it, and summarizes the
//! history of every chunk. The library [`aurora_history`] does the work. This module contains the stage and connects
//! the library to the index.
//!
//! The stage runs after `chunk`, because it counts the touches of each chunk. Counting touches during blame adds a
//! tenth to the cost of blame. Counting them in a separate walk would cost as much as blame.

mod repository;
mod signal;
mod stored;
mod walk;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use aurora_encoding::Text;
use aurora_history::{History, Options, WorkingCopy};
use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker, stage_options,
};
use aurora_storage::HistoryTier;

pub use repository::{PreviousRun, Repository, RunSettings, WaitLimit};
pub use stored::from_stored;
pub(crate) use stored::to_stored;
pub use walk::{HistoryWalk, WalkProgress};

use crate::columns::{Attribution, BLAME, ORIGINAL, Original, PATH, RECORD, Record, SIGNAL, STATUS, Signal, TEXT};
use crate::services::service;
use signal::signals;

/// Whether git tracks a file below `directory`, a path relative to `root`. Returns false if no repository can be read.
pub fn is_tracked(root: &Path, directory: &str) -> bool {
    let index = || {
        let history = History::open(root, Options::default()).ok()??;
        Some(history.worktree_index().ok()?.has_files_below(directory))
    };
    index().unwrap_or(false)
}

stage_options! {
    /// Attributes lines to commits, and gives each chunk its history.
    pub struct GitSignal {
        /// `line` attributes every line, as `git blame` does; `file` counts the commits that touched a chunk's file,
        /// and reads no content.
        tier: HistoryTier = HistoryTier::default(), one_of(&["line", "file"]);
    }
}

impl GitSignal {
    /// Name of the stage type.
    pub const NAME: &'static str = "git-signal";
}

impl StageConfig for GitSignal {
    const TYPE: &'static str = Self::NAME;

    fn access(&self) -> Access {
        Access::transform()
            .reads([PATH.spec(), STATUS.spec(), TEXT.spec(), ORIGINAL.spec(), RECORD.spec()])
            .writes([BLAME.spec(), SIGNAL.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(GitSignalStage { repository: service(cx)?, tier: self.tier }))
    }
}

struct GitSignalStage {
    repository: Arc<Repository>,
    tier: HistoryTier,
}

impl Stage for GitSignalStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(GitSignalWorker { stage: self })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(GitSignal::TYPE, 3).with("tier", format!("{:?}", self.tier))
    }
}

const INCOMPLETE: &str =
    "git history is incomplete because objects are missing or damaged: lines may be attributed to later commits";

struct GitSignalWorker<'a> {
    stage: &'a GitSignalStage,
}

impl Worker for GitSignalWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let (paths, statuses, texts) = (batch.read(PATH)?, batch.read(STATUS)?, batch.read(TEXT)?);
        let originals = batch.read(ORIGINAL)?;
        let repository = &self.stage.repository;
        let mut ranges = vec![Vec::new(); paths.len()];
        for (file, Record(chunk)) in batch.chunk_files().iter().zip(batch.read(RECORD)?) {
            ranges[*file as usize].push(chunk.line_start.saturating_sub(1)..chunk.line_end);
        }
        let (mut blames, mut of_chunks) = (Vec::with_capacity(paths.len()), Vec::with_capacity(batch.chunks()));
        for ((((path, status), text), original), ranges) in
            paths.iter().zip(statuses).zip(texts).zip(originals).zip(ranges)
        {
            let blame = if status.stores_chunks() {
                attribute(repository, path, text, original, &ranges, self.stage.tier)
            } else {
                Attribution::NoRepository
            };
            match &blame {
                // If the repository is broken, the reason applies to every file, and the run report contains it once.
                Attribution::Unavailable(reason) if !repository.is_broken() => {
                    cx.warn(path, &format!("git history unavailable: {reason}"));
                }
                Attribution::Lines { blame, .. } if blame.committed.blame.incomplete && !repository.is_partial() => {
                    cx.warn(path, INCOMPLETE);
                }
                _ => {}
            }
            // The chunks of a batch are grouped by file.
            of_chunks.extend(signals(&blame, &ranges).into_iter().map(Signal));
            blames.push(blame);
        }
        batch.write(SIGNAL, of_chunks)?;
        batch.write(BLAME, blames)?;
        Ok(())
    }
}

/// Attributes the lines of a text to commits. Versions in the repository are compared with the bytes from which the
/// text was decoded.
fn attribute(
    repository: &Repository,
    path: &str,
    text: &str,
    Original(bytes): &Original,
    ranges: &[Range<u32>],
    tier: HistoryTier,
) -> Attribution {
    let decoded = if bytes.is_empty() { None } else { aurora_encoding::decode(bytes.to_vec()) };
    let copy = match &decoded {
        Some(Text { text, newline, .. }) => WorkingCopy { bytes, text, newline },
        None => WorkingCopy::utf_8(text),
    };
    repository.attribute(path, copy, ranges, tier)
}
