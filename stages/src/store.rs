//! The `store` stage, which passes files, chunks and vectors to the index writer, in the order of the walk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use aurora_pipeline::{
    Access, BatchView, BuildContext, Entity, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker,
    stage_options,
};
use aurora_redact::masked;
use aurora_storage::{
    ChunkHistory, FileOutcome, FileRecord, FileStamp, FirstChunk, IndexWriter, NewChunk, ReservedIds, RowExtent,
    StoredTokens, UnfinishedRow,
};

use crate::columns::{
    Attribution, BLAME, CHUNK_ID, EMBEDDING, FileStatus, HASH, INODE, LANGUAGE, LOG_PART, LogPart, MTIME, PATH,
    PREVIOUS, ParsedFile, RECORD, Record, RelativePath, SIGNAL, SIZE, STATUS, SYMBOLS, StoredId, TOKENS,
};
use crate::git_signal::to_stored;
use crate::metadata::{ChunkMetadata, metadata};
use crate::services::{Moves, PreviousIndex, RunClock, service};

/// History key of a file whose lines are not attributed to commits yet. The key differs from the key of every
/// attributed file.
const PENDING: &[u8] = b"pending";

/// Name of the counter of chunks for which only values had to be stored, but whose values are unchanged.
pub(crate) const UNCHANGED_CHUNKS: &str = "chunks.unchanged";

stage_options! {
    /// Writes files, chunks and vectors to the index, in the order of the walk.
    pub struct Store {}
}

impl StageConfig for Store {
    const TYPE: &'static str = "store";

    fn access(&self) -> Access {
        Access::sink()
            .in_parallel()
            .reads([PATH.spec(), SIZE.spec(), MTIME.spec(), STATUS.spec(), HASH.spec(), LANGUAGE.spec()])
            .reads([SYMBOLS.spec(), RECORD.spec()])
            .reads_optional([
                INODE.spec(),
                BLAME.spec(),
                SIGNAL.spec(),
                EMBEDDING.spec(),
                TOKENS.spec(),
                PREVIOUS.spec(),
                LOG_PART.spec(),
            ])
            .reads_dynamic()
            .writes([CHUNK_ID.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(StoreStage {
            previous: service(cx)?,
            writer: service(cx)?,
            clock: service(cx)?,
            moves: service(cx)?,
            log: Mutex::default(),
        }))
    }
}

struct StoreStage {
    previous: Arc<PreviousIndex>,
    writer: Arc<IndexWriter>,
    clock: Arc<RunClock>,
    moves: Arc<Moves>,
    /// The log whose parts are being stored.
    log: Mutex<Option<StoredLog>>,
}

/// A log that is stored in parts.
struct StoredLog {
    path: RelativePath,
    first: Option<FirstChunk>,
    next_part: u32,
    /// Whether no part is missing so far. A run that is cancelled drops parts.
    is_whole: bool,
}

/// The position of a part of a log.
#[derive(Default)]
struct PartPosition {
    /// The first chunk of the log, if it is in an earlier part.
    first: Option<FirstChunk>,
    /// Whether this part completes the log.
    is_end: bool,
}

impl Stage for StoreStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(StoreWorker { stage: self, reserved: None, position: PartPosition::default() })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Store::TYPE, 1).with("redact", aurora_redact::VERSION)
    }
}

struct StoreWorker<'a> {
    stage: &'a StoreStage,
    /// The ids reserved for the current batch.
    reserved: Option<ReservedIds>,
    /// The position of the current batch, if it is a part of a log.
    position: PartPosition,
}

impl Worker for StoreWorker<'_> {
    fn admit(&mut self, batch: &mut BatchView<'_>, _cx: &StageContext<'_>) -> Result<(), StageError> {
        let statuses = batch.read(STATUS)?;
        let stored = batch.chunk_files().iter().filter(|file| statuses[**file as usize].stores_chunks()).count();
        let vectors = batch.read_optional(EMBEDDING)?.unwrap_or_default();
        let dimensions = vectors.iter().flatten().next().map(Vec::len);
        let part = log_part(batch, 0)?;
        // The reserved ids also determine the order of the parts, so a part without chunks needs an id as well.
        let ids = if part.is_some() { stored.max(1) } else { stored };
        let reserved = self.stage.writer.reserve(ids, dimensions).map_err(StageError::from_error)?;
        if let Some(part) = part {
            let key = batch.read(RECORD)?.first().map(|Record(chunk)| chunk.key.clone());
            let first = reserved.iter().next().zip(key).map(|(id, key)| FirstChunk { id, key });
            self.position = self.stage.admit_part(&batch.read(PATH)?[0], part, first);
        }
        self.reserved = Some(reserved);
        Ok(())
    }

    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let reserved =
            self.reserved.take().ok_or_else(|| StageError::new("`store` processed a batch that it did not admit"))?;
        let metadata = metadata(batch)?;
        let chunks = chunks_by_file(batch, &metadata)?;
        let unfinished = unfinished_by_file(batch);
        let mut ids = Vec::with_capacity(batch.chunks());
        let paths = batch.read(PATH)?;
        let writer = &self.stage.writer;
        let mut preparer = writer.prepare(reserved);
        for (row, status) in batch.read(STATUS)?.iter().enumerate() {
            match status {
                FileStatus::Deleted => writer.remove_file(&paths[row]).map_err(StageError::from_error)?,
                FileStatus::Touched => self.touch(batch, row, None)?,
                FileStatus::Revalued => {
                    self.touch(batch, row, Some(unfinished.get(row).cloned().unwrap_or_default()))?;
                    ids.extend(self.set_values(batch, row, &metadata, cx)?);
                }
                _ => {
                    let unfinished = unfinished.get(row).cloned().unwrap_or_default();
                    let record = FileRecord { unfinished, ..self.record(batch, row, status)? };
                    let stored = match log_part(batch, row)? {
                        Some(part) => {
                            let PartPosition { first, is_end } = &self.position;
                            preparer.add_part(part_record(record, part, *is_end), &chunks[row], first.as_ref())
                        }
                        None => preparer.replace_file(record, &chunks[row]),
                    };
                    let stored = stored.map_err(StageError::from_error)?;
                    if let (Some(&first), Some(Attribution::Lines { blame, .. })) =
                        (stored.first(), attribution(batch, row)?)
                    {
                        preparer.add_blame(first, &to_stored(blame)).map_err(StageError::from_error)?;
                    }
                    ids.extend(stored.into_iter().map(StoredId));
                }
            }
            let is_later_part = log_part(batch, row)?.is_some_and(|part| part.index > 0);
            if let FileStatus::Renamed { from } = status
                && !is_later_part
            {
                cx.count("files.moved", 1);
                self.stage.moves.add(from, &paths[row]);
            }
        }
        preparer.finish().and_then(|prepared| writer.apply(prepared)).map_err(StageError::from_error)?;
        // The chunks of a batch are ordered by file, in the order in which they were stored above.
        batch.write(CHUNK_ID, ids)?;
        Ok(())
    }
}

impl StoreStage {
    /// Returns the position of the next part of a log. `first` is the first chunk of the part.
    fn admit_part(&self, path: &RelativePath, part: &LogPart, first: Option<FirstChunk>) -> PartPosition {
        let mut open = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let before = open.take().filter(|log| log.path == *path && part.index > 0);
        let new = || StoredLog { path: Arc::clone(path), first: None, next_part: 0, is_whole: true };
        let StoredLog { path, first: known, next_part, is_whole } = before.unwrap_or_else(new);
        let is_whole = is_whole && part.index == next_part;
        let position = PartPosition { first: known.clone(), is_end: is_whole && part.is_last };
        *open = Some(StoredLog { path, first: known.or(first), next_part: part.index + 1, is_whole });
        position
    }
}

/// Returns the part of a log in a row, or `None` if the row is a whole file.
fn log_part<'b>(batch: &'b BatchView<'_>, row: usize) -> Result<Option<&'b LogPart>, StageError> {
    Ok(batch.read_optional(LOG_PART)?.and_then(|parts| parts.get(row)).and_then(Option::as_ref))
}

/// Returns the record of a part of a log. Until the log is complete, its record does not identify its content, so that
/// the next run reads the log again if this run stops before.
fn part_record(record: FileRecord, part: &LogPart, is_end: bool) -> FileRecord {
    let identified = FileRecord { lines: part.lines, ..record };
    if is_end { identified } else { FileRecord { hash: [0; 32], stamp: FileStamp::default(), ..identified } }
}

impl StoreWorker<'_> {
    fn record(&self, batch: &BatchView<'_>, row: usize, status: &FileStatus) -> Result<FileRecord, StageError> {
        let content = &batch.read(HASH)?[row];
        let symbols = batch.read(SYMBOLS)?[row].as_deref().map(|ParsedFile(symbols)| symbols);
        Ok(FileRecord {
            path: batch.read(PATH)?[row].to_string(),
            size: batch.read(SIZE)?[row],
            stamp: self.stamp(batch, row)?,
            hash: content.hash,
            blob: content.blob.clone(),
            language: batch.read(LANGUAGE)?[row].to_string(),
            outcome: match status {
                FileStatus::Skipped { reason } => FileOutcome::Skipped(masked(reason.to_string())),
                _ => FileOutcome::Indexed,
            },
            history_key: match attribution(batch, row)? {
                Some(Attribution::Lines { key, .. } | Attribution::File { key, .. }) => key.clone(),
                Some(Attribution::Pending) => PENDING.to_vec(),
                _ => Vec::new(),
            },
            chunks: Vec::new(),
            lines: match (status, symbols) {
                (FileStatus::Refreshed, _) => self.stored_file(batch, row)?.map_or(0, |known| known.lines),
                (_, symbols) => symbols.map_or(0, |symbols| symbols.lines),
            },
            warnings: Vec::new(),
            unfinished: Vec::new(),
        })
    }

    /// Returns the stamp (times and inode) to store for a file.
    fn stamp(&self, batch: &BatchView<'_>, row: usize) -> Result<FileStamp, StageError> {
        let inode = batch.read_optional(INODE)?.map(|inodes| inodes[row]).unwrap_or_default();
        let of_log = log_part(batch, row)?.map(|part| part.stamp);
        Ok(self.stage.clock.stamp_to_store(of_log.unwrap_or(inode.stamp(batch.read(MTIME)?[row]))))
    }

    /// Returns the stored row of a file.
    fn stored_file(&self, batch: &BatchView<'_>, row: usize) -> Result<Option<FileRecord>, StageError> {
        self.stage.previous.snapshot.file(&batch.read(PATH)?[row]).map_err(StageError::from_error)
    }

    /// Updates the stored row of a file whose content is unchanged. If `unfinished` is given, also replaces the list of
    /// unfinished rows.
    fn touch(
        &self,
        batch: &BatchView<'_>,
        row: usize,
        unfinished: Option<Vec<UnfinishedRow>>,
    ) -> Result<(), StageError> {
        let Some(known) = self.stored_file(batch, row)? else { return Ok(()) };
        let touched = self.touched_record(known, batch, row)?;
        let record = match unfinished {
            Some(unfinished) => FileRecord { unfinished, ..touched },
            None => touched,
        };
        self.stage.writer.update_file_record(record).map_err(StageError::from_error)
    }

    /// Stores the custom column values of a file's chunks and returns the ids of the chunks.
    fn set_values(
        &self,
        batch: &BatchView<'_>,
        row: usize,
        metadata: &[ChunkMetadata<'_>],
        cx: &StageContext<'_>,
    ) -> Result<Vec<StoredId>, StageError> {
        let mut unchanged = 0;
        let previous = batch.read_optional(PREVIOUS)?.unwrap_or_default();
        let mut ids = Vec::new();
        let files = batch.chunk_files();
        let first = files.partition_point(|file| (*file as usize) < row);
        for chunk in (first..files.len()).take_while(|chunk| files[*chunk] as usize == row) {
            let id = previous.get(chunk).and_then(Option::as_ref).map(|StoredId(id)| *id);
            let id = id.ok_or_else(|| StageError::new("a chunk with only updated values is not in the index"))?;
            let is_changed = self.stage.writer.set_values(id, &metadata[chunk]).map_err(StageError::from_error)?;
            unchanged += u64::from(!is_changed);
            ids.push(StoredId(id));
        }
        cx.count(UNCHANGED_CHUNKS, unchanged);
        Ok(ids)
    }

    /// Returns the stored row of a file with the current stat data and object id.
    fn touched_record(&self, known: FileRecord, batch: &BatchView<'_>, row: usize) -> Result<FileRecord, StageError> {
        Ok(FileRecord {
            size: batch.read(SIZE)?[row],
            stamp: self.stamp(batch, row)?,
            blob: batch.read(HASH)?[row].blob.clone(),
            ..known
        })
    }
}

/// Returns the attribution of a file to commits, or `None` if the pipeline has no `git-signal` stage.
fn attribution<'b>(batch: &'b BatchView<'_>, row: usize) -> Result<Option<&'b Attribution>, StageError> {
    Ok(batch.read_optional(BLAME)?.map(|blames| &blames[row]))
}

/// The rows of a file without a result, by stage and by reason of the failure.
type RowsByReason<'b> = BTreeMap<(&'b str, Option<&'b str>), BTreeSet<RowExtent>>;

/// Returns, for every file, a sorted list of the rows for which stages have no result. The outer list is empty if the
/// batch has no such rows. If none of the chunks of a file has a result of a stage, one entry is stored for all
/// chunks, unless the stage failed on the chunks.
fn unfinished_by_file(batch: &BatchView<'_>) -> Vec<Vec<UnfinishedRow>> {
    let results = batch.missing_results();
    if results.is_empty() {
        return Vec::new();
    }
    let mut counts = vec![0u32; batch.files()];
    let positions: Vec<(u32, u32)> = batch
        .chunk_files()
        .iter()
        .map(|file| {
            let position = counts[*file as usize];
            counts[*file as usize] += 1;
            (*file, position)
        })
        .collect();
    let mut files: Vec<RowsByReason<'_>> = vec![BTreeMap::new(); batch.files()];
    for result in results {
        let (file, extent) = match result.entity {
            Entity::File => (result.row, RowExtent::File),
            Entity::Chunk => {
                let (file, position) = positions[result.row as usize];
                (file, RowExtent::Chunk(position))
            }
        };
        let reason = (result.stage.as_str(), result.reason.as_deref());
        files[file as usize].entry(reason).or_default().insert(extent);
    }
    let rows = |(file, reasons): (usize, RowsByReason<'_>)| {
        let mut rows = Vec::new();
        for ((stage, reason), extents) in reasons {
            let extents = if extents.contains(&RowExtent::File) {
                BTreeSet::from([RowExtent::File])
            } else if reason.is_none() && extents.len() == counts[file] as usize {
                // Rows on which the stage failed are not combined, because they are listed individually.
                BTreeSet::from([RowExtent::Chunks])
            } else {
                extents
            };
            let row = |extent| UnfinishedRow {
                stage: stage.to_owned(),
                extent,
                reason: reason.map(|text| masked(text.to_owned())),
            };
            rows.extend(extents.into_iter().map(row));
        }
        rows.sort_unstable();
        rows
    };
    files.into_iter().enumerate().map(rows).collect()
}

/// History of chunks in a pipeline without a `git-signal` stage.
static NO_HISTORY: ChunkHistory = ChunkHistory::None;
/// Tokens of chunks in a pipeline without a stage that computes tokens.
static NO_TOKENS: StoredTokens = StoredTokens { code: Vec::new(), doc: Vec::new() };

/// Returns, for every file, its chunks with their vectors and other data.
fn chunks_by_file<'b>(
    batch: &'b BatchView<'_>,
    metadata: &'b [ChunkMetadata<'b>],
) -> Result<Vec<Vec<NewChunk<'b>>>, StageError> {
    let records = batch.read(RECORD)?;
    let vectors = batch.read_optional(EMBEDDING)?;
    let tokens = batch.read_optional(TOKENS)?;
    let signals = batch.read_optional(SIGNAL)?;
    let mut files: Vec<Vec<NewChunk<'_>>> = vec![Vec::new(); batch.files()];
    for (row, file) in batch.chunk_files().iter().enumerate() {
        files[*file as usize].push(NewChunk {
            chunk: &records[row].0,
            // Use the history from this run, because the record of a chunk that was read from the index contains the
            // history of the last run.
            git: signals.map_or(&NO_HISTORY, |signals| &signals[row].0),
            tokens: tokens.map_or(&NO_TOKENS, |tokens| &tokens[row].0),
            metadata: &metadata[row],
            vector: vectors.and_then(|vectors| vectors[row].as_deref()),
        });
    }
    Ok(files)
}
