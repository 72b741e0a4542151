//! `discover`: the source. Walks the tree and emits its files sorted by path, so that batches, and
//! with them ids, are the same on every run.

mod kept;
mod listing;
mod memory;
mod rules;
mod skip;
mod walk;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use aurora_pipeline::{
    Access, BuildContext, Emitter, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker,
};
use serde::{Deserialize, Serialize};

use crate::columns::{LANGUAGE, MTIME, PATH, SIZE};
use crate::index::INDEX_DIRECTORY;
use crate::job::{CONVERSATIONS, Job, Scope};
use walk::{Candidate, Found, WalkOptions};

/// Name of the file, beside the index, that keeps what the walk saw of directories.
const WALK: &str = "tree.walk";

/// `[stage.discover]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Discover {
    /// Files of more bytes than this are skipped.
    pub max_file_size: u64,
    /// Names of directories to skip beside the built-in ones.
    pub skip_directories: Vec<String>,
    /// Whether a directory in which nothing was added, removed or renamed since the last run, by its times, is not read
    /// again.
    pub keep_listings: bool,
    /// Most files in one batch.
    pub batch_files: usize,
    /// Most bytes of source in one batch.
    pub batch_bytes: u64,
}

impl Default for Discover {
    fn default() -> Self {
        Self {
            max_file_size: 4 << 20,
            skip_directories: Vec::new(),
            keep_listings: true,
            batch_files: 64,
            batch_bytes: 1 << 20,
        }
    }
}

impl StageConfig for Discover {
    const TYPE: &'static str = "discover";

    fn access(&self) -> Access {
        Access::source().writes([PATH.spec(), SIZE.spec(), MTIME.spec(), LANGUAGE.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(DiscoverStage { job: Job::of(cx)?, config: self }))
    }
}

struct DiscoverStage {
    job: Arc<Job>,
    config: Discover,
}

impl Stage for DiscoverStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(DiscoverWorker { stage: self })
    }

    fn fingerprint(&self) -> Fingerprint {
        // What is walked decides which files there are, not what becomes of one: a change of it
        // needs no rebuild, since every run compares the whole walk with the index.
        Fingerprint::new(Discover::TYPE, 1)
    }
}

impl DiscoverStage {
    fn walk(&self, cx: &StageContext<'_>) -> Found {
        let (job, config) = (&self.job, &self.config);
        let kept = job.root.join(INDEX_DIRECTORY).join(WALK);
        walk::walk(&WalkOptions {
            root: &job.root,
            threads: cx.jobs(),
            max_file_size: config.max_file_size,
            skip_directories: &config.skip_directories,
            kept: config.keep_listings.then_some(&kept),
            trusts_kept: job.scope() < Scope::Everything,
            is_tracked: &|directory| job.repository.tracks(directory),
            is_settled: &|time| job.is_settled(time),
            cancelled: &|| cx.cancelled(),
        })
    }

    /// Conversation logs and reasoning patterns.
    fn remembered(&self, cx: &StageContext<'_>) -> Vec<Candidate> {
        let (fitting, too_large): (Vec<_>, Vec<_>) =
            memory::documents(&self.job).into_iter().partition(|file| file.size <= self.config.max_file_size);
        for file in too_large {
            cx.skip(&file.path, "larger than max_file_size");
        }
        let logs = self.job.locate(CONVERSATIONS);
        // Whoever keeps no logs need not be told on every run.
        let keeps_logs = logs.parent().is_some_and(Path::exists);
        if keeps_logs && !fitting.iter().any(|file| file.path.starts_with(CONVERSATIONS)) {
            cx.warn(&logs.display().to_string(), "No conversation logs found");
        }
        fitting
    }
}

struct DiscoverWorker<'a> {
    stage: &'a DiscoverStage,
}

impl Worker for DiscoverWorker<'_> {
    fn produce(&mut self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let config = &self.stage.config;
        let mut found = self.stage.walk(cx);
        for omission in &found.omissions {
            if omission.is_error {
                cx.error(&omission.path, &omission.reason);
            } else {
                cx.skip(&omission.path, &omission.reason);
            }
        }
        found.candidates.extend(self.stage.remembered(cx));
        found.candidates.sort_by(|a, b| a.path.cmp(&b.path));
        cx.set_total_files(found.candidates.len() as u64);
        let mut rest = found.candidates.as_slice();
        while !rest.is_empty() && !cx.cancelled() {
            let (batch, later) = rest.split_at(batch_length(rest, config));
            rest = later;
            emit(batch, out)?;
        }
        Ok(())
    }
}

/// How many of the files go into the next batch: at least one.
fn batch_length(files: &[Candidate], config: &Discover) -> usize {
    let mut bytes = 0;
    let fitting = files.iter().take(config.batch_files).take_while(|file| {
        bytes += file.size;
        bytes <= config.batch_bytes
    });
    fitting.count().max(1)
}

fn emit(files: &[Candidate], out: &mut Emitter<'_>) -> Result<(), StageError> {
    let mut batch = out.batch(files.len());
    batch.write(PATH, files.iter().map(|file| Arc::clone(&file.path)).collect())?;
    batch.write(SIZE, files.iter().map(|file| file.size).collect())?;
    batch.write(MTIME, files.iter().map(|file| file.mtime).collect())?;
    batch.write(LANGUAGE, files.iter().map(|file| file.language).collect())?;
    // The text, and later chunks and terms of about the same size, are paid for here.
    batch.expect_bytes(3 * files.iter().map(|file| file.size).sum::<u64>());
    out.emit(batch)
}
