//! The `discover` stage, which is the source of the pipeline. It walks the tree and emits the files sorted by path, so
//! that batches and ids are the same in every run.

mod listing;
mod listing_cache;
mod memory;
mod rules;
mod shard;
mod skip;
mod stat_table;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use aurora_pipeline::{
    Access, BuildContext, CancelToken, Emitter, Fingerprint, Problems, Stage, StageConfig, StageContext, StageError,
    Worker, stage_options,
};
use aurora_storage::ProjectDirectory;

use crate::columns::{INODE, Inode, LANGUAGE, MTIME, PATH, RelativePath, SIZE};
use crate::formats::FormatTable;
use crate::git_signal::Repository;
use crate::incremental::PART_BYTES;
use crate::services::{
    CacheFiles, Checkpoint, LastCheck, MAX_FILE_SIZE, PreviousIndex, RunClock, RunScope, SourceTree, service,
};
pub(crate) use listing_cache::{MAX_WALK_BYTES, directories};
use walk::{Omission, WalkOptions, WalkOutput, WalkedFile};

/// Name of the file to which the program writes its log.
const PROGRAM_LOG: &str = "aurora.log";
/// Maximum length of an extension and of the name of a language, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Minimum number of batches in flight per worker of the stage with the most workers. With fewer batches, workers would
/// be idle.
const MIN_IN_FLIGHT_PER_WORKER: usize = 2;

stage_options! {
    /// The source: walks the tree and emits its files, sorted by path.
    pub struct Discover {
        /// Larger files are skipped, and listed in the run's report.
        max_file_size: u64 = MAX_FILE_SIZE, count("bytes");
        /// Names of directories to skip, in addition to the built-in ones.
        skip_directories: Vec<String> = Vec::new(), strings;
        /// Names of languages by extension, in addition to the built-in ones: `{ proto = "protobuf" }`. Their files are
        /// indexed as text, unless a custom stage supplies their definitions.
        languages: BTreeMap<String, String> = BTreeMap::new(), table;
        /// Do not read a directory again if its times show that no entry was added, removed or renamed since the last
        /// run.
        keep_listings: bool = true, bool;
        /// Maximum number of files in one batch.
        batch_files: usize = 64, count("files");
        /// Maximum size of the source text in one batch; a larger file gets its own batch.
        batch_bytes: u64 = 1 << 20, count("bytes");
    }
}

impl StageConfig for Discover {
    const TYPE: &'static str = "discover";

    fn access(&self) -> Access {
        Access::source().writes([PATH.spec(), SIZE.spec(), MTIME.spec(), INODE.spec(), LANGUAGE.spec()])
    }

    fn check(&self, problems: &mut Problems<'_>) {
        for (extension, name) in &self.languages {
            let is_plain = |text: &str| {
                !text.is_empty()
                    && text.len() <= MAX_NAME_BYTES
                    && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
            };
            if !is_plain(extension) || extension.contains('.') {
                problems
                    .error("languages", format!("`{extension}` is not an extension"))
                    .help("give it without its dot: `proto = \"protobuf\"`");
            }
            if !is_plain(name) {
                problems.error("languages", format!("`{name}` is not the name of a language"));
            }
        }
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let tree = service::<SourceTree>(cx)?;
        tree.limit_file_size(self.max_file_size);
        Ok(Box::new(DiscoverStage {
            tree,
            previous: service(cx)?,
            repository: service(cx)?,
            caches: service(cx)?,
            clock: service(cx)?,
            checkpoint: service(cx)?,
            last_check: cx.services.get(),
            formats: FormatTable::new(&self.languages),
            config: self,
        }))
    }
}

/// Whether a walk of `tree` would return the same result as the walk of the last check that found no difference between
/// the tree and the index. Returns false if this is unknown or if `cancel` ends the comparison.
pub(crate) fn is_unchanged_since_check(
    last_check: &LastCheck,
    tree: &SourceTree,
    repository: &Repository,
    threads: usize,
    cancel: &CancelToken,
) -> bool {
    let is_same = |seen: &[u8]| {
        let (documents, table) = seen.split_first_chunk()?;
        let (found, omissions) = memory::documents(tree);
        let is_same = *documents == memory::digest(&found, &omissions);
        Some(is_same && stat_table::is_current(table, tree, repository, threads, cancel))
    };
    last_check.read().and_then(|seen| is_same(&seen)).unwrap_or(false)
}

struct DiscoverStage {
    tree: Arc<SourceTree>,
    previous: Arc<PreviousIndex>,
    repository: Arc<Repository>,
    caches: Arc<CacheFiles>,
    clock: Arc<RunClock>,
    checkpoint: Arc<Checkpoint>,
    /// Present only if the run is a check before a search.
    last_check: Option<Arc<LastCheck>>,
    formats: FormatTable,
    config: Discover,
}

impl Stage for DiscoverStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(DiscoverWorker { stage: self })
    }

    fn fingerprint(&self) -> Fingerprint {
        // Except for languages, the configuration decides which files are indexed, not how they are indexed. A change
        // needs no rebuild, because every run compares the whole walk with the index.
        let fingerprint = Fingerprint::new(Discover::TYPE, 1);
        let languages = &self.config.languages;
        if languages.is_empty() { fingerprint } else { fingerprint.with("languages", format!("{languages:?}")) }
    }
}

impl DiscoverStage {
    /// Finds all files and documents to index.
    fn find_files(&self, cx: &StageContext<'_>) -> WalkOutput {
        let mut found = self.walk(cx);
        match self.tree.only() {
            None => self.add_documents(&mut found, cx),
            Some(only) => self.add_only(only, &mut found, cx),
        }
        found
    }

    /// Handles a run that is restricted to the file `only`. Adds the file if it is a reasoning pattern, which the walk
    /// does not find. If the file does not exist, adds an omission with the reason.
    fn add_only(&self, only: &RelativePath, found: &mut WalkOutput, cx: &StageContext<'_>) {
        let is_pattern = only.starts_with(ProjectDirectory::REASONING_PREFIX);
        if is_pattern {
            self.add_documents(found, cx);
            found.files.retain(|file| file.path == *only);
            found.omissions.retain(|omission| only.starts_with(&omission.path));
        }
        let is_from_elsewhere = only.starts_with('@');
        if found.files.is_empty() && found.omissions.is_empty() && !is_from_elsewhere {
            let is_own = only.split('/').next() == Some(ProjectDirectory::NAME);
            let reason = if is_own { "the directory `.aurora` is not indexed" } else { "there is no such file" };
            found.omissions.push(Omission { path: only.to_string(), reason: reason.into(), is_error: false });
        }
    }

    fn walk(&self, cx: &StageContext<'_>) -> WalkOutput {
        let config = &self.config;
        let only = self.tree.only().map(|path| &**path);
        let cache = self.caches.file(ProjectDirectory::TREE_WALK, listing_cache::MAX_WALK_BYTES);
        walk::walk(&WalkOptions {
            root: &self.tree.root,
            threads: cx.jobs(),
            max_file_size: config.max_file_size,
            skip_directories: &config.skip_directories,
            formats: &self.formats,
            only,
            cache: (config.keep_listings && only.is_none()).then_some(&cache),
            has_stat_table: self.last_check.is_some(),
            uses_cache: self.previous.scope() < RunScope::Everything,
            is_tracked: &|directory| self.repository.tracks(directory),
            is_settled: &|time| self.clock.is_settled(time),
            cancelled: &|| cx.cancelled(),
        })
    }

    /// Adds conversation logs and reasoning patterns.
    fn add_documents(&self, found: &mut WalkOutput, cx: &StageContext<'_>) {
        let (documents, omissions) = memory::documents(&self.tree);
        found.documents = memory::digest(&documents, &omissions);
        found.omissions.extend(omissions);
        let logs = self.tree.conversations();
        // Warn about missing logs only if the directory for logs has been set up. Other users should not see the
        // warning in every run.
        // The log of the program is in the same directory.
        let is_set_up = |logs: &Path| {
            let is_above = |above: &Path| above.exists() && !above.join(PROGRAM_LOG).exists();
            logs.exists() || logs.parent().is_some_and(is_above)
        };
        let keeps_logs = self.tree.only().is_none() && logs.as_deref().is_some_and(is_set_up);
        let mut has_logs = false;
        for document in documents {
            let is_log = document.is_log();
            if !is_log && document.size > self.config.max_file_size {
                let (path, reason) = (document.path.to_string(), "larger than max_file_size".into());
                found.omissions.push(Omission { path, reason, is_error: false });
                continue;
            }
            has_logs |= is_log;
            found.files.push(document);
        }
        if let Some(logs) = logs.filter(|_| keeps_logs && !has_logs) {
            cx.warn(&logs.display().to_string(), "No conversation logs found");
        }
    }

    /// Records the data that a later check compares with the tree.
    fn record_check(&self, last_check: &LastCheck, found: &mut WalkOutput) {
        // A file that was written within the last tick of the clock can change without a change of its stamp, so
        // nothing is recorded while the tree has such a file. Nothing is recorded on systems other than Unix either,
        // because they have no change time.
        let is_settled = |file: &WalkedFile| self.clock.stamp_to_store(file.stamp) == file.stamp;
        if let Some(table) = found.stat_table.take().filter(|_| cfg!(unix) && found.files.iter().all(is_settled)) {
            last_check.note([found.documents.as_slice(), &table].concat());
        }
    }

    /// Reports omissions, and records unreadable paths for the other stages.
    fn report(&self, found: &WalkOutput, cx: &StageContext<'_>) {
        for Omission { path, reason, is_error } in &found.omissions {
            if *is_error {
                self.tree.note_unread(path);
                cx.error(path, reason);
            } else {
                cx.skip(path, reason);
            }
        }
        for (path, warning) in &found.warnings {
            cx.warn(path, warning);
        }
    }
}

struct DiscoverWorker<'a> {
    stage: &'a DiscoverStage,
}

impl Worker for DiscoverWorker<'_> {
    fn produce(&mut self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let config = &self.stage.config;
        let mut found = self.stage.find_files(cx);
        self.stage.report(&found, cx);
        found.files.sort_by(|a, b| a.path.cmp(&b.path));
        if let Some(run) = self.stage.tree.shard() {
            shard::select(run, &mut found, &self.stage.tree, cx.jobs());
        }
        if let Some(last_check) = &self.stage.last_check {
            self.stage.record_check(last_check, &mut found);
        }
        cx.set_total_files(found.files.len() as u64);
        let bytes = |files: &[WalkedFile]| files.iter().map(batch_bytes).sum::<u64>();
        let (mut rest, mut left) = (found.files.as_slice(), bytes(&found.files));
        let (mut emitted, checkpoint) = (EmittedBatches::default(), &self.stage.checkpoint);
        let min_in_flight = MIN_IN_FLIGHT_PER_WORKER * cx.max_workers();
        while !rest.is_empty() && !cx.cancelled() {
            out.wait_while(|files_done| {
                let (done, in_flight) = emitted.progress(files_done);
                !checkpoint.is_due(done, left)
                    && in_flight.batches >= min_in_flight
                    && checkpoint.is_too_early(done, in_flight.bytes)
            });
            if checkpoint.is_reached() {
                break;
            }
            let (batch, later) = rest.split_at(batch_length(rest, config));
            rest = later;
            emitted.add(batch.len() as u64, bytes(batch));
            left -= bytes(batch);
            emit(batch, out)?;
        }
        Ok(())
    }
}

/// The batches that the source has emitted.
#[derive(Default)]
struct EmittedBatches {
    /// Cumulative numbers of files and bytes at the end of each batch.
    ends: Vec<(u64, u64)>,
}

/// Emitted batches that have not reached the end of the pipeline.
struct InFlight {
    batches: usize,
    bytes: u64,
}

impl EmittedBatches {
    fn add(&mut self, files: u64, bytes: u64) {
        let (files_before, bytes_before) = self.ends.last().copied().unwrap_or_default();
        self.ends.push((files_before + files, bytes_before + bytes));
    }

    /// Returns the total size of the finished batches, and the batches in flight. Batches finish nearly in order, so
    /// the method assumes that the first `files_done` files are finished.
    fn progress(&self, files_done: u64) -> (u64, InFlight) {
        let done = self.ends.partition_point(|(files, _)| *files <= files_done);
        let bytes_done = done.checked_sub(1).map_or(0, |last| self.ends[last].1);
        let bytes = self.ends.last().map_or(0, |(_, bytes)| bytes - bytes_done);
        (bytes_done, InFlight { batches: self.ends.len() - done, bytes })
    }
}

/// Returns the number of bytes of a file that a batch contains. The text of a large log is in later batches.
fn batch_bytes(file: &WalkedFile) -> u64 {
    if file.is_log() { file.size.min(PART_BYTES as u64) } else { file.size }
}

/// Returns the number of files in the next batch, which is at least 1.
fn batch_length(files: &[WalkedFile], config: &Discover) -> usize {
    let mut bytes = 0;
    let fitting = files.iter().take(config.batch_files).take_while(|file| {
        bytes += batch_bytes(file);
        bytes <= config.batch_bytes
    });
    fitting.count().max(1)
}

fn emit(files: &[WalkedFile], out: &mut Emitter<'_>) -> Result<(), StageError> {
    let mut batch = out.batch(files.len());
    batch.write(PATH, files.iter().map(|file| Arc::clone(&file.path)).collect())?;
    batch.write(SIZE, files.iter().map(|file| file.size).collect())?;
    batch.write(MTIME, files.iter().map(|file| file.stamp.modified).collect())?;
    batch.write(INODE, files.iter().map(|file| Inode::from(file.stamp)).collect())?;
    batch.write(LANGUAGE, files.iter().map(|file| file.language.clone()).collect())?;
    // The text, the chunks and the terms each need about as much memory as the file has bytes.
    batch.expect_bytes(3 * files.iter().map(batch_bytes).sum::<u64>());
    out.emit(batch)
}
