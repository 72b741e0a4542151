//! `incremental-check`: decides what has changed, the cheapest evidence first.
//!
//! 1. git: the object id under which git's index holds the file, where git can vouch for it without
//!    reading the file;
//! 2. modification time and size;
//! 3. blake3 of the content.
//!
//! Files that have not changed leave the stream. Those that are gone are appended to it.

mod content;

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use aurora_pipeline::{
    Access, BatchView, BuildContext, Emitter, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker,
};
use aurora_storage::{FileOutcome, FileRecord};
use serde::{Deserialize, Serialize};

use crate::columns::{ContentId, FileStatus, HASH, LANGUAGE, MTIME, PATH, RelativePath, SIZE, STATUS, TEXT};
use crate::job::{Job, Scope};
use crate::languages;
use content::Content;

/// Deleted files in one batch.
const DELETIONS_PER_BATCH: usize = 4_096;

/// `[stage.incremental-check]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IncrementalCheck {
    /// Whether git's index may vouch for files.
    pub git: bool,
    /// Whether an unchanged modification time and size may.
    pub mtime: bool,
}

impl Default for IncrementalCheck {
    fn default() -> Self {
        Self { git: true, mtime: true }
    }
}

impl StageConfig for IncrementalCheck {
    const TYPE: &'static str = "incremental-check";

    fn access(&self) -> Access {
        Access::transform()
            .reads([PATH.spec(), SIZE.spec(), MTIME.spec(), LANGUAGE.spec()])
            // The rows of deleted files are its own.
            .writes([PATH.spec(), SIZE.spec(), MTIME.spec(), LANGUAGE.spec()])
            .writes([STATUS.spec(), HASH.spec(), TEXT.spec()])
            .restructures()
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(IncrementalStage { job: Job::of(cx)?, config: self, seen: Mutex::default() }))
    }
}

struct IncrementalStage {
    job: Arc<Job>,
    config: IncrementalCheck,
    /// Paths that are still part of what is indexed.
    seen: Mutex<HashSet<RelativePath>>,
}

impl Stage for IncrementalStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(IncrementalWorker { stage: self, seen: Vec::new() })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(IncrementalCheck::TYPE, 1)
    }

    fn close(&self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        // A run that was stopped has not seen the whole tree: nothing can be said of the rest.
        if cx.cancelled() {
            return Ok(());
        }
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gone = Vec::new();
        for record in self.job.previous.files() {
            let record = record.map_err(StageError::from_error)?;
            if !seen.contains(record.path.as_str()) {
                gone.push(RelativePath::from(record.path));
            }
        }
        cx.count("files.deleted", gone.len() as u64);
        for paths in gone.chunks(DELETIONS_PER_BATCH) {
            emit_deletions(paths, out)?;
        }
        Ok(())
    }
}

fn emit_deletions(paths: &[RelativePath], out: &mut Emitter<'_>) -> Result<(), StageError> {
    let rows = paths.len();
    let mut batch = out.batch(rows);
    batch.write(PATH, paths.to_vec())?;
    batch.write(SIZE, vec![0; rows])?;
    batch.write(MTIME, vec![0; rows])?;
    batch.write(LANGUAGE, vec!["text"; rows])?;
    batch.write(STATUS, vec![FileStatus::Deleted; rows])?;
    batch.write(HASH, vec![ContentId::default(); rows])?;
    batch.write(TEXT, vec![Arc::from(""); rows])?;
    out.emit(batch)
}

struct IncrementalWorker<'a> {
    stage: &'a IncrementalStage,
    seen: Vec<RelativePath>,
}

/// A file of the batch at hand.
struct Row<'a> {
    path: &'a RelativePath,
    size: u64,
    mtime: i64,
    language: &'static str,
}

/// A row that stays in the stream.
struct Change {
    status: FileStatus,
    content: ContentId,
    text: Arc<str>,
}

impl Worker for IncrementalWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut keep = Vec::with_capacity(batch.files());
        let (mut statuses, mut hashes, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let (paths, sizes) = (batch.read(PATH)?, batch.read(SIZE)?);
        let (mtimes, languages) = (batch.read(MTIME)?, batch.read(LANGUAGE)?);
        for (index, path) in paths.iter().enumerate() {
            let row = Row { path, size: sizes[index], mtime: mtimes[index], language: languages[index] };
            let change = self.examine(&row, cx)?;
            keep.push(change.is_some());
            if let Some(change) = change {
                statuses.push(change.status);
                hashes.push(change.content);
                texts.push(change.text);
            }
        }
        batch.retain_files(&keep)?;
        batch.write(STATUS, statuses)?;
        batch.write(HASH, hashes)?;
        batch.write(TEXT, texts)?;
        Ok(())
    }

    fn finish(&mut self, _cx: &StageContext<'_>) -> Result<(), StageError> {
        self.stage.seen.lock().unwrap_or_else(PoisonError::into_inner).extend(self.seen.drain(..));
        Ok(())
    }
}

impl IncrementalWorker<'_> {
    /// What has become of a file; nothing where it leaves the stream.
    fn examine(&mut self, row: &Row<'_>, cx: &StageContext<'_>) -> Result<Option<Change>, StageError> {
        let job = &self.stage.job;
        let known = job.previous.file(row.path).map_err(StageError::from_error)?;
        let blob = if self.stage.config.git { job.repository.clean_blob(row.path) } else { None };
        if let Some(known) = known.as_ref().filter(|known| self.is_vouched_for(known, row, blob)) {
            self.seen.push(Arc::clone(row.path));
            let content = ContentId { hash: known.hash, blob: known.blob.clone() };
            return self.unchanged(known, content, None, row, cx);
        }
        let Some(bytes) = self.read(row, cx) else { return Ok(None) };
        self.seen.push(Arc::clone(row.path));
        let hash = *blake3::hash(&bytes).as_bytes();
        let content = ContentId { hash, blob: blob.map(<[u8]>::to_vec).unwrap_or_default() };
        if let Some(known) = known.as_ref().filter(|known| job.scope() < Scope::Everything && known.hash == hash) {
            return self.unchanged(known, content, Some(bytes), row, cx);
        }
        let is_new = known.is_none();
        Ok(Some(self.changed(is_new, content, bytes, row, cx)?))
    }

    /// Whether the index, or git, is sure of the content without reading it.
    fn is_vouched_for(&self, known: &FileRecord, row: &Row<'_>, blob: Option<&[u8]>) -> bool {
        if self.stage.job.scope() == Scope::Everything {
            return false;
        }
        let by_git = blob.is_some_and(|blob| !known.blob.is_empty() && known.blob == blob);
        // A time of zero was recorded for a file that might have changed within the clock's tick.
        let by_time = known.mtime_ns != 0 && known.mtime_ns == row.mtime && known.size == row.size;
        by_git || (self.stage.config.mtime && by_time)
    }

    /// The content is what was indexed: does anything else about the file need to be stored anew?
    fn unchanged(
        &self,
        known: &FileRecord,
        content: ContentId,
        bytes: Option<Vec<u8>>,
        row: &Row<'_>,
        cx: &StageContext<'_>,
    ) -> Result<Option<Change>, StageError> {
        let job = &self.stage.job;
        let skipped = match &known.outcome {
            FileOutcome::Skipped(reason) => {
                cx.skip(row.path, reason);
                true
            }
            FileOutcome::Indexed => false,
        };
        let derived = job.scope() == Scope::Derived || job.repository.key_changed(row.path, &known.history_key);
        if derived && !skipped {
            cx.count("files.refreshed", 1);
            let Some(bytes) = bytes.or_else(|| self.read(row, cx)) else { return Ok(None) };
            let Content::Text { text, .. } = self.decode(bytes, row) else { return Ok(None) };
            return Ok(Some(Change { status: FileStatus::Refreshed, content, text }));
        }
        cx.count("files.unchanged", u64::from(!skipped));
        let moved = known.mtime_ns != job.recorded_mtime(row.mtime) || known.blob != content.blob;
        if !moved || bytes.is_none() {
            return Ok(None);
        }
        Ok(Some(Change { status: FileStatus::Touched, content, text: Arc::from("") }))
    }

    fn changed(
        &self,
        is_new: bool,
        content: ContentId,
        bytes: Vec<u8>,
        row: &Row<'_>,
        cx: &StageContext<'_>,
    ) -> Result<Change, StageError> {
        let text = match self.decode(bytes, row) {
            Content::Text { text, warning } => {
                if let Some(warning) = warning {
                    cx.warn(row.path, warning);
                }
                text
            }
            Content::Nothing(reason) => {
                cx.skip(row.path, &reason);
                return Ok(Change {
                    status: FileStatus::Skipped { reason: reason.as_ref().into() },
                    content,
                    text: Arc::from(""),
                });
            }
        };
        let status = match is_new.then(|| self.origin(&content.hash, row.path)).transpose()?.flatten() {
            Some(from) => FileStatus::Renamed { from },
            None if is_new => FileStatus::Added,
            None => FileStatus::Modified,
        };
        cx.count(
            match status {
                FileStatus::Renamed { .. } => "files.renamed",
                FileStatus::Added => "files.added",
                _ => "files.modified",
            },
            1,
        );
        Ok(Change { status, content, text })
    }

    fn decode(&self, bytes: Vec<u8>, row: &Row<'_>) -> Content {
        if let Some(extract) = languages::extractor_of(row.language) {
            return match extract(&bytes) {
                Ok(text) if text.trim().is_empty() => Content::Nothing("no text in the document".into()),
                Ok(text) => Content::Text { text: text.into(), warning: None },
                Err(error) => Content::Nothing(error.to_string().into()),
            };
        }
        content::decode(bytes, languages::is_prose(row.language))
    }

    fn read(&self, row: &Row<'_>, cx: &StageContext<'_>) -> Option<Vec<u8>> {
        match std::fs::read(self.stage.job.locate(row.path)) {
            Ok(bytes) => return Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => cx.skip(row.path, "vanished during the run"),
            Err(error) => cx.error(row.path, &error.to_string()),
        }
        None
    }

    /// The path under which the index knows the content of an added file, if that path is gone.
    fn origin(&self, hash: &[u8; 32], path: &str) -> Result<Option<RelativePath>, StageError> {
        let vanished = self.stage.job.vanished().map_err(StageError::from_error)?;
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(vanished.get(hash).and_then(|paths| {
            let same_name = paths.iter().find(|from| name(from) == name(path));
            same_name.or(paths.first()).cloned()
        }))
    }
}
