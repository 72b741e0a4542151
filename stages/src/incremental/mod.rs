//! The `incremental-check` stage, which decides which files have changed. It uses the cheapest evidence first:
//!
//! 1. the size and the stamp of the file, which consists of modification time, change time and inode;
//! 2. git: the blob in git's index, if the file's metadata proves that the file is unmodified;
//! 3. the BLAKE3 hash of the content.
//!
//! The stage removes unchanged files from the stream and appends deleted files.

mod content;
mod large_log;
mod log_text;
mod redaction;

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use aurora_confined::{Refusal, refusal_of};
use aurora_history::ObjectId;
use aurora_pipeline::{
    Access, BatchView, BuildContext, Emitter, FILE_STORED, Fingerprint, Stage, StageConfig, StageContext, StageError,
    StoredValues, Worker, stage_options,
};
use aurora_storage::{FileFinder, FileOutcome, FileRecord, FileRow, FileStamp};

use crate::chunk::log_sections::LogChunker;
use crate::columns::{
    ContentId, DOCUMENT, Document, FileStatus, HASH, INODE, LANGUAGE, LOG_PART, LanguageName, LogPart, MTIME, ORIGINAL,
    Original, PATH, RelativePath, SIZE, STATUS, TEXT,
};
use crate::formats;
use crate::formats::documents::{CONVERSATION, ExtractError};
use crate::git_signal::Repository;
use crate::services::{Checkpoint, PreviousIndex, Retry, RunClock, RunScope, SourceTree, is_gone, service};
use content::{FileBytes, FileContent};
use large_log::{LargeLog, MAX_CHUNKS, TOO_MANY_CHUNKS};
pub(crate) use log_text::PART_BYTES;
use log_text::{LogParts, Masking};
pub(crate) use redaction::{COUNTER as SECRETS_COUNTER, WARNING as SECRETS_WARNING};

/// Reason for skipping a document without text.
const NO_TEXT: &str = "no text in the document";
/// Maximum number of deleted files in one batch.
const DELETIONS_PER_BATCH: usize = 4_096;

stage_options! {
    /// Drops unchanged files, and adds deleted files. Size, times and inode can show that a file is unchanged, otherwise
    /// git's index, and otherwise the BLAKE3 hash of its content. Secrets in changed files are masked; a file with a
    /// secret in its path is not indexed.
    pub struct IncrementalCheck {
        /// Trust git's index where it shows that a file is unchanged.
        git: bool = true, bool;
        /// Trust an unchanged size, modification time, change time and inode.
        mtime: bool = true, bool;
        /// Mask secrets: tokens, private keys, passwords in URLs, random values of secret names.
        redact: bool = true, bool;
        /// Mask personal data in conversation logs: mail addresses, phone numbers, cards, bank accounts, national ids.
        redact_personal: bool = true, bool;
    }
}

impl StageConfig for IncrementalCheck {
    const TYPE: &'static str = "incremental-check";

    fn access(&self) -> Access {
        Access::transform()
            .reads([PATH.spec(), SIZE.spec(), MTIME.spec(), LANGUAGE.spec()])
            .reads_optional([INODE.spec(), DOCUMENT.spec()])
            // This stage also emits rows for deleted files.
            .writes([PATH.spec(), SIZE.spec(), MTIME.spec(), LANGUAGE.spec()])
            .writes([STATUS.spec(), HASH.spec(), TEXT.spec(), ORIGINAL.spec()])
            .offers([FILE_STORED.spec(), LOG_PART.spec()])
            .restructures()
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(IncrementalStage {
            tree: service(cx)?,
            previous: service(cx)?,
            repository: service(cx)?,
            clock: service(cx)?,
            checkpoint: service(cx)?,
            config: self,
            seen: Mutex::default(),
            large_logs: Mutex::default(),
        }))
    }
}

struct IncrementalStage {
    tree: Arc<SourceTree>,
    previous: Arc<PreviousIndex>,
    repository: Arc<Repository>,
    clock: Arc<RunClock>,
    checkpoint: Arc<Checkpoint>,
    config: IncrementalCheck,
    seen: Mutex<SeenPaths>,
    /// Changed logs that are processed in parts, when the stage closes.
    large_logs: Mutex<Vec<LargeLog>>,
}

/// The files that the walk found.
#[derive(Debug, Default)]
struct SeenPaths {
    paths: Vec<RelativePath>,
    /// Number of the paths that are in the index.
    known: u64,
    /// Directories of documents for which the source declared all other indexed documents to be unchanged.
    rest: Vec<RelativePath>,
    /// Documents that no longer exist.
    gone: HashSet<RelativePath>,
}

impl SeenPaths {
    fn covers(&self, path: &str) -> bool {
        self.rest.iter().any(|directory| path.starts_with(&**directory))
    }
}

impl Stage for IncrementalStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        let known = self.previous.snapshot.file_finder();
        Box::new(IncrementalWorker { stage: self, known, seen: SeenPaths::default(), unchanged: 0 })
    }

    fn fingerprint(&self) -> Fingerprint {
        let mut fingerprint = Fingerprint::new(IncrementalCheck::TYPE, 5);
        for (key, is_on, version) in [
            ("redact", self.config.redact, aurora_redact::VERSION),
            ("redact_personal", self.config.redact_personal, aurora_redact::PERSONAL_VERSION),
        ] {
            if is_on {
                fingerprint = fingerprint.with(key, version);
            }
        }
        fingerprint
    }

    fn close(&self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        // A run that was stopped has not visited the whole tree, so a file that it did not find may still exist.
        if cx.cancelled() || self.checkpoint.is_reached() {
            return Ok(());
        }
        self.emit_large_logs(out, cx)?;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unread = self.tree.unread();
        let snapshot = &self.previous.snapshot;
        let mut gone = Vec::new();
        // A walk finds each path once. If it found as many indexed paths as the index has, no file was deleted.
        if seen.known != snapshot.file_count() || !unread.is_empty() || !seen.gone.is_empty() {
            let paths: HashSet<&str> = seen.paths.iter().map(|path| &**path).collect();
            for path in seen.gone.iter().filter(|path| seen.covers(path) && !paths.contains(&***path)) {
                gone.extend(snapshot.file(path).map_err(StageError::from_error)?.map(|_| Arc::clone(path)));
            }
            gone.sort_unstable();
            for record in snapshot.files_outside(seen.rest.iter().map(|directory| &**directory)) {
                let record = record.map_err(StageError::from_error)?;
                let path = record.path.as_str();
                if !unread.covers(path) && !seen.covers(path) && !paths.contains(path) {
                    gone.push(RelativePath::from(record.path));
                }
            }
        }
        drop(unread);
        if self.previous.scope() > RunScope::Changes {
            self.emit_rest(&seen, out, cx)?;
        }
        cx.count("files.deleted", gone.len() as u64);
        for paths in gone.chunks(DELETIONS_PER_BATCH) {
            emit_deletions(paths, out)?;
        }
        Ok(())
    }
}

impl IncrementalStage {
    /// Reports a file that could not be read.
    fn report_unread(&self, path: &str, error: &io::Error, cx: &StageContext<'_>) {
        if matches!(refusal_of(error), Some(Refusal::TooLarge { .. })) {
            cx.skip(path, "larger than max_file_size");
        } else if is_gone(error) {
            cx.skip(path, "vanished during the run");
        } else {
            self.tree.note_unread(path);
            cx.error(path, &error.to_string());
        }
    }

    /// Emits the documents that the source declared to be unchanged, in a run that stores everything again. The chunks
    /// of these documents are read from the index. The index does not store the text of a document, so the texts of the
    /// chunks are used as the text.
    fn emit_rest(&self, seen: &SeenPaths, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        if seen.rest.is_empty() {
            return Ok(());
        }
        let listed: HashSet<&str> = seen.paths.iter().map(|path| &**path).collect();
        let snapshot = &self.previous.snapshot;
        let mut rest = Vec::new();
        for record in snapshot.files() {
            let record = record.map_err(StageError::from_error)?;
            let is_gone = seen.gone.contains(record.path.as_str());
            let is_indexed = record.outcome == FileOutcome::Indexed;
            if is_indexed && !is_gone && seen.covers(&record.path) && !listed.contains(record.path.as_str()) {
                rest.push(record);
            }
        }
        cx.count("files.refreshed", rest.len() as u64);
        for records in rest.chunks(cx.batch_files().max(1)) {
            let mut batch = out.batch(records.len());
            let (mut texts, mut stored) = (Vec::new(), Vec::new());
            for record in records {
                let chunks = self.previous.chunks_of(&record.path).map_err(StageError::from_error)?;
                let text: Vec<&str> = chunks.iter().map(|chunk| chunk.chunk.text.as_str()).collect();
                texts.push(Arc::from(text.join("\n")));
                stored.push(self.previous.custom_values_of(&record.path).map_err(StageError::from_error)?);
            }
            let content = |record: &FileRecord| ContentId { hash: record.hash, blob: record.blob.clone() };
            batch.write(PATH, records.iter().map(|record| RelativePath::from(record.path.as_str())).collect())?;
            batch.write(SIZE, records.iter().map(|record| record.size).collect())?;
            batch.write(MTIME, records.iter().map(|record| record.stamp.modified).collect())?;
            let language = |record: &FileRecord| LanguageName::from(record.language.as_str());
            batch.write(LANGUAGE, records.iter().map(language).collect())?;
            batch.write(STATUS, vec![FileStatus::Refreshed; records.len()])?;
            batch.write(HASH, records.iter().map(content).collect())?;
            batch.write(TEXT, texts)?;
            batch.write(ORIGINAL, vec![Original::default(); records.len()])?;
            batch.write(FILE_STORED, stored)?;
            batch.write(LOG_PART, vec![None; records.len()])?;
            out.emit(batch)?;
        }
        Ok(())
    }
}

impl IncrementalStage {
    /// Emits the changed large logs, in the order of their paths. If the run is cancelled, the next run reads the
    /// current log again.
    pub(super) fn emit_large_logs(&self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut logs = std::mem::take(&mut *self.large_logs.lock().unwrap_or_else(PoisonError::into_inner));
        logs.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        if !logs.is_empty() {
            self.checkpoint.note_progress();
        }
        logs.iter().try_for_each(|log| self.emit_parts(log, out, cx))
    }

    fn emit_parts(&self, log: &LargeLog, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let masking = Masking { secrets: self.config.redact, personal: self.config.redact_personal };
        let opened = self.tree.open_log(&log.path).and_then(|file| LogParts::new(file, masking));
        let mut parts = match opened {
            Ok(parts) => parts,
            Err(error) => {
                self.report_unread(&log.path, &error, cx);
                return Ok(());
            }
        };
        count_changed(&log.status, cx);
        let (mut chunker, mut count, mut secrets) = (LogChunker::new(&log.path), 0, 0);
        for index in 0.. {
            if cx.cancelled() {
                break;
            }
            let next = parts.next_part().and_then(|part| Ok((part, parts.is_finished()?)));
            let (text, found, mut is_last) = match next {
                Ok((Some((text, found)), is_last)) => (text, found, is_last),
                Ok((None, _)) => break,
                Err(error) => {
                    self.report_unread(&log.path, &error, cx);
                    break;
                }
            };
            secrets += redaction::count(&found, cx);
            let mut chunks = Vec::new();
            chunker.push(&text, &mut chunks);
            if is_last {
                chunker.finish(&mut chunks);
            }
            count += chunks.len();
            if count > MAX_CHUNKS {
                cx.warn(&log.path, TOO_MANY_CHUNKS);
                chunks.truncate(chunks.len() - (count - MAX_CHUNKS));
                is_last = true;
            }
            let part = LogPart { index, is_last, stamp: log.stamp, lines: chunker.lines(), chunks: chunks.into() };
            large_log::emit(log, text, part, out)?;
            if is_last {
                break;
            }
        }
        if secrets > 0 {
            cx.warn(&log.path, redaction::WARNING);
        }
        Ok(())
    }
}

fn count_changed(status: &FileStatus, cx: &StageContext<'_>) {
    let name = match status {
        FileStatus::Renamed { .. } => "files.renamed",
        FileStatus::Added => "files.added",
        _ => "files.modified",
    };
    cx.count(name, 1);
}

fn emit_deletions(paths: &[RelativePath], out: &mut Emitter<'_>) -> Result<(), StageError> {
    let rows = paths.len();
    let mut batch = out.batch(rows);
    batch.write(PATH, paths.to_vec())?;
    batch.write(SIZE, vec![0; rows])?;
    batch.write(MTIME, vec![0; rows])?;
    batch.write(LANGUAGE, vec![LanguageName::from("text"); rows])?;
    batch.write(STATUS, vec![FileStatus::Deleted; rows])?;
    batch.write(HASH, vec![ContentId::default(); rows])?;
    batch.write(TEXT, vec![Arc::from(""); rows])?;
    batch.write(ORIGINAL, vec![Original::default(); rows])?;
    batch.write(FILE_STORED, vec![StoredValues::new_row(); rows])?;
    batch.write(LOG_PART, vec![None; rows])?;
    out.emit(batch)
}

struct IncrementalWorker<'a> {
    stage: &'a IncrementalStage,
    /// Looks up files in the index.
    known: FileFinder<'a>,
    seen: SeenPaths,
    /// Number of unchanged files.
    unchanged: u64,
}

/// A file of the batch.
struct FileInput<'a> {
    path: &'a RelativePath,
    size: u64,
    stamp: FileStamp,
    language: &'a str,
}

/// A row that stays in the stream.
struct ChangedFile {
    status: FileStatus,
    content: ContentId,
    text: Arc<str>,
    original: Original,
    /// Format of the text, if it differs from the format that the file name implies.
    format: Option<&'static str>,
    /// Values that the last run stored in custom columns, if the file is refreshed or revalued.
    stored: StoredValues,
}

impl Worker for IncrementalWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut keep = Vec::with_capacity(batch.files());
        let (mut statuses, mut hashes, mut texts, mut stored) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut originals, mut formats) = (Vec::new(), Vec::new());
        let (paths, sizes) = (batch.read(PATH)?, batch.read(SIZE)?);
        let (mtimes, languages) = (batch.read(MTIME)?, batch.read(LANGUAGE)?);
        let (inodes, documents) = (batch.read_optional(INODE)?, batch.read_optional(DOCUMENT)?);
        for (index, path) in paths.iter().enumerate() {
            let inode = inodes.map(|inodes| inodes[index]).unwrap_or_default();
            let stamp = inode.stamp(mtimes[index]);
            let row = FileInput { path, size: sizes[index], stamp, language: &languages[index] };
            let change = match documents.and_then(|documents| documents[index].as_ref()) {
                _ if self.stage.config.redact && redaction::skip_secret_path(path, cx) => None,
                None => self.examine(&row, cx)?,
                Some(document) => self.examine_document(document, &row, cx)?,
            };
            keep.push(change.is_some());
            if let Some(change) = change {
                statuses.push(change.status);
                hashes.push(change.content);
                texts.push(change.text);
                originals.push(change.original);
                formats.push(change.format.map_or_else(|| languages[index].clone(), LanguageName::from));
                stored.push(change.stored);
            }
        }
        // Only files that are parsed count as progress. A file with another status could have the same status in every
        // pass, and a run with passes that make no progress would not end.
        if statuses.iter().any(FileStatus::needs_parsing) {
            self.stage.checkpoint.note_progress();
        }
        batch.retain_files(&keep)?;
        batch.write(LOG_PART, vec![None; statuses.len()])?;
        batch.write(LANGUAGE, formats)?;
        batch.write(STATUS, statuses)?;
        batch.write(HASH, hashes)?;
        batch.write(TEXT, texts)?;
        batch.write(ORIGINAL, originals)?;
        batch.write(FILE_STORED, stored)?;
        Ok(())
    }

    fn finish(&mut self, cx: &StageContext<'_>) -> Result<(), StageError> {
        cx.count("files.unchanged", self.unchanged);
        let mut seen = self.stage.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.paths.append(&mut self.seen.paths);
        seen.known += self.seen.known;
        seen.rest.append(&mut self.seen.rest);
        seen.gone.extend(self.seen.gone.drain());
        Ok(())
    }
}

impl IncrementalWorker<'_> {
    /// Determines how a file has changed. Returns `None` if the stage removes the file from the stream.
    fn examine(&mut self, row: &FileInput<'_>, cx: &StageContext<'_>) -> Result<Option<ChangedFile>, StageError> {
        let stage = self.stage;
        let known = self.known.row(row.path).map_err(StageError::from_error)?;
        if let Some(known) = known.filter(|known| self.is_known_unchanged(known, row))
            && self.renewal(&known, row)?.is_none()
        {
            self.record_seen(row, true);
            self.count_unchanged(&known, row, cx);
            return Ok(None);
        }
        // Files that have to be stored again are read and compared by content, regardless of their stat data.
        let Some((hash, bytes)) = self.read(row, cx)? else { return Ok(None) };
        self.record_seen(row, known.is_some());
        let blob = self.clean_blob(row).map(|blob| blob.as_slice().to_vec()).unwrap_or_default();
        let content = ContentId { hash, blob };
        let same = |known: &FileRow<'_>| stage.previous.scope() < RunScope::Everything && *known.hash == content.hash;
        if let Some(known) = known.filter(same) {
            return self.unchanged(known, content, bytes, row, cx);
        }
        let status = |content: &ContentId| match known {
            Some(_) => Ok(FileStatus::Modified),
            None => Ok(match self.origin(&content.hash, row.path)? {
                Some(from) => FileStatus::Renamed { from },
                None => FileStatus::Added,
            }),
        };
        self.changed(status, content, bytes, row, cx)
    }

    /// Determines how a document has changed. Documents are never treated as renamed.
    fn examine_document(
        &mut self,
        document: &Document,
        row: &FileInput<'_>,
        cx: &StageContext<'_>,
    ) -> Result<Option<ChangedFile>, StageError> {
        if self.stage.tree.only().is_some_and(|only| only != row.path) {
            return Ok(None);
        }
        let text = match document {
            Document::Text(text) => text,
            Document::Deleted => {
                self.seen.gone.insert(Arc::clone(row.path));
                return Ok(None);
            }
            Document::Rest => {
                self.seen.rest.push(Arc::clone(row.path));
                return Ok(None);
            }
        };
        let known = self.known.row(row.path).map_err(StageError::from_error)?;
        self.record_seen(row, known.is_some());
        let content = ContentId { hash: *blake3::hash(text.as_bytes()).as_bytes(), blob: Vec::new() };
        let bytes = FileBytes::Whole(text.as_bytes().to_vec());
        let previous = &self.stage.previous;
        let record = previous.snapshot.file(row.path).map_err(StageError::from_error)?;
        let is_same = record.is_some_and(|record| record.hash == content.hash && record.language == row.language);
        match known.filter(|_| is_same && previous.scope() < RunScope::Everything) {
            Some(known) => self.unchanged(known, content, bytes, row, cx),
            None => {
                let status = if known.is_some() { FileStatus::Modified } else { FileStatus::Added };
                self.changed(|_| Ok(status), content, bytes, row, cx)
            }
        }
    }

    fn record_seen(&mut self, row: &FileInput<'_>, is_known: bool) {
        self.seen.paths.push(Arc::clone(row.path));
        self.seen.known += u64::from(is_known);
    }

    /// Whether stat data or git's index proves that the content equals the indexed content.
    fn is_known_unchanged(&self, known: &FileRow<'_>, row: &FileInput<'_>) -> bool {
        if self.stage.previous.scope() == RunScope::Everything {
            return false;
        }
        let blob = || Some(known.blob).filter(|known| !known.is_empty()).zip(self.clean_blob(row));
        let by_stat = self.stage.config.mtime && known.size == row.size && known.stamp.is_unchanged(&row.stamp);
        // Systems other than Unix have no change time. If a change kept the size and the modification time, only git's
        // index can show it.
        let is_proven = by_stat && (cfg!(unix) || blob().is_none_or(|(known, blob)| known == blob.as_slice()));
        is_proven || blob().is_some_and(|(known, blob)| known == blob.as_slice())
    }

    fn clean_blob(&self, row: &FileInput<'_>) -> Option<ObjectId> {
        if self.stage.config.git { self.stage.repository.clean_blob(row.path) } else { None }
    }

    /// Returns the status of a file with unchanged content that has to be stored again. Returns `None` if nothing has
    /// to be stored.
    fn renewal(&self, known: &FileRow<'_>, row: &FileInput<'_>) -> Result<Option<FileStatus>, StageError> {
        let (previous, repository) = (&self.stage.previous, &self.stage.repository);
        let retry =
            if known.is_unfinished() { previous.retry(row.path).map_err(StageError::from_error)? } else { None };
        if known.skipped.is_some() {
            // Process the file again if a stage that can skip files had no result for it.
            return Ok((retry == Some(Retry::Chunks)).then_some(FileStatus::Modified));
        }
        let is_derived =
            || previous.scope() == RunScope::Derived || repository.key_changed(row.path, known.history_key);
        let renewal = match retry {
            Some(Retry::Chunks) => Some(FileStatus::Modified),
            Some(Retry::Rows) => Some(FileStatus::Refreshed),
            None if is_derived() => Some(FileStatus::Refreshed),
            None => (previous.scope() == RunScope::Values).then_some(FileStatus::Revalued),
        };
        // If a stage had no result for some chunks, the stored chunks are incomplete, so the file has to be parsed
        // again.
        if renewal.is_some()
            && known.is_unfinished()
            && previous.lacks_chunks(row.path).map_err(StageError::from_error)?
        {
            return Ok(Some(FileStatus::Modified));
        }
        Ok(renewal)
    }

    fn count_unchanged(&mut self, known: &FileRow<'_>, row: &FileInput<'_>, cx: &StageContext<'_>) {
        match known.skipped {
            Some(reason) => cx.skip(row.path, reason),
            None => self.unchanged += 1,
        }
    }

    /// Processes a file whose content equals the indexed content. The file may still have to be stored again, for
    /// example because its history has changed.
    fn unchanged(
        &mut self,
        known: FileRow<'_>,
        content: ContentId,
        bytes: FileBytes,
        row: &FileInput<'_>,
        cx: &StageContext<'_>,
    ) -> Result<Option<ChangedFile>, StageError> {
        let stage = self.stage;
        match self.renewal(&known, row)? {
            // The stored chunks of a large log do not fit into memory together, so they are not restored.
            Some(status) if status == FileStatus::Modified || matches!(bytes, FileBytes::LargeLog) => {
                return self.changed(|_| Ok(FileStatus::Modified), content, bytes, row, cx);
            }
            Some(status) => {
                cx.count("files.refreshed", 1);
                let FileContent::Text { text, format, original, .. } = self.decode(bytes, row) else {
                    return Ok(None);
                };
                let (text, original) = self.redact(text, original, row, cx);
                let stored = stage.previous.custom_values_of(row.path).map_err(StageError::from_error)?;
                return Ok(Some(ChangedFile { status, content, text, original, format, stored }));
            }
            None => {}
        }
        self.count_unchanged(&known, row, cx);
        let moved = known.stamp != stage.clock.stamp_to_store(row.stamp) || known.blob != content.blob;
        Ok(moved.then(|| ChangedFile {
            status: FileStatus::Touched,
            content,
            text: Arc::from(""),
            original: Original::default(),
            format: None,
            stored: StoredValues::new_row(),
        }))
    }

    fn changed(
        &self,
        status: impl FnOnce(&ContentId) -> Result<FileStatus, StageError>,
        content: ContentId,
        bytes: FileBytes,
        row: &FileInput<'_>,
        cx: &StageContext<'_>,
    ) -> Result<Option<ChangedFile>, StageError> {
        let ((text, original), format) = match self.decode(bytes, row) {
            FileContent::LargeLog => {
                let status = status(&content)?;
                let log = LargeLog {
                    path: Arc::clone(row.path),
                    size: row.size,
                    stamp: row.stamp,
                    language: row.language.into(),
                    status,
                    content,
                };
                self.stage.large_logs.lock().unwrap_or_else(PoisonError::into_inner).push(log);
                return Ok(None);
            }
            FileContent::Text { text, format, warning, original } => {
                if let Some(warning) = warning {
                    cx.warn(row.path, &warning);
                }
                (self.redact(text, original, row, cx), format)
            }
            FileContent::Nothing(reason) => {
                cx.skip(row.path, &reason);
                return Ok(Some(ChangedFile {
                    status: FileStatus::Skipped { reason: reason.as_ref().into() },
                    content,
                    text: Arc::from(""),
                    original: Original::default(),
                    format: None,
                    stored: StoredValues::new_row(),
                }));
            }
        };
        let status = status(&content)?;
        count_changed(&status, cx);
        Ok(Some(ChangedFile { status, content, text, original, format, stored: StoredValues::new_row() }))
    }

    fn decode(&self, bytes: FileBytes, row: &FileInput<'_>) -> FileContent {
        let bytes = match bytes {
            FileBytes::Whole(bytes) => bytes,
            FileBytes::LargeLog => return FileContent::LargeLog,
            FileBytes::Damaged(error) => return FileContent::Nothing(ExtractError::from(error).to_string().into()),
            FileBytes::Binary => return FileContent::Nothing("binary".into()),
        };
        if row.language == CONVERSATION {
            return match String::from_utf8_lossy(&bytes) {
                text if text.trim().is_empty() => FileContent::Nothing(NO_TEXT.into()),
                text => FileContent::Text { text: text.into(), format: None, warning: None, original: None },
            };
        }
        if let Some(extract) = formats::extractor_of(row.language) {
            return match extract(&bytes) {
                Ok(text) if text.trim().is_empty() => FileContent::Nothing(NO_TEXT.into()),
                Ok(text) => FileContent::Text { text, format: None, warning: None, original: None },
                Err(error) => FileContent::Nothing(error.to_string().into()),
            };
        }
        content::decode(bytes, row.path, row.language)
    }

    /// Masks the secrets of a text. Returns the masked text, and the original bytes of the file if they differ from the
    /// text.
    fn redact(
        &self,
        text: String,
        mut original: Option<Vec<u8>>,
        row: &FileInput<'_>,
        cx: &StageContext<'_>,
    ) -> (Arc<str>, Original) {
        let IncrementalCheck { redact, redact_personal, .. } = self.stage.config;
        let mut text = if redact { redaction::mask_secrets(text, &mut original, row.path, cx) } else { text };
        if redact_personal && row.language == CONVERSATION {
            text = aurora_redact::masked_personal(text);
        }
        (text.into(), Original(original.unwrap_or_default().into()))
    }

    /// Reads a file and returns the BLAKE3 hash of its bytes, and its content. Returns `None` if reading fails. The run
    /// then removes the file from the index if it was deleted or has become too large, and leaves the indexed content
    /// unchanged if it cannot be read.
    fn read(&self, row: &FileInput<'_>, cx: &StageContext<'_>) -> Result<Option<([u8; 32], FileBytes)>, StageError> {
        let tree = &self.stage.tree;
        let read = if row.language == CONVERSATION {
            match tree.open_log(row.path).and_then(|file| log_text::read_log(file, &|| cx.cancelled())) {
                Ok(None) => return Err(StageError::Stopped),
                Ok(Some(read)) => Ok(read),
                Err(error) => Err(error),
            }
        } else {
            tree.read(row.path).map(|bytes| (*blake3::hash(&bytes).as_bytes(), FileBytes::Whole(bytes)))
        };
        let error = match read {
            Ok(read) => return Ok(Some(read)),
            Err(error) => error,
        };
        self.stage.report_unread(row.path, &error, cx);
        Ok(None)
    }

    /// Returns the path of a deleted file with the same content as an added file. Prefers a path with the same file
    /// name.
    fn origin(&self, hash: &[u8; 32], path: &str) -> Result<Option<RelativePath>, StageError> {
        let vanished = self.stage.previous.vanished(hash, &self.stage.tree).map_err(StageError::from_error)?;
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let same_name = vanished.iter().find(|from| name(from) == name(path));
        Ok(same_name.or(vanished.first()).cloned())
    }
}
