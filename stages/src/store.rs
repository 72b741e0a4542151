//! `store`: hands files, chunks and vectors to the index writer, in the order of the walk.

use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, Described, Fingerprint, Key, Stage, StageConfig, StageContext, StageError, Worker,
};
use aurora_storage::{ChunkHistory, FileOutcome, FileRecord, IndexWriter, NewChunk, StoredTokens};
use serde::{Deserialize, Serialize};

use crate::columns::{
    Attribution, BLAME, CHUNK_ID, EMBEDDING, FileStatus, HASH, LANGUAGE, MTIME, PATH, PREVIOUS, ParsedFile, RECORD,
    SIGNAL, SIZE, STATUS, SYMBOLS, StoredId, TOKENS,
};
use crate::git_signal::to_stored;
use crate::metadata::{ChunkMetadata, metadata};
use crate::services::{Moves, PreviousIndex, RunClock, service};

/// The history key of a file whose attribution is pending. It equals no real key.
const PENDING: &[u8] = b"pending";

/// `[stage.store]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {}

impl Described for Store {
    const SUMMARY: &'static str = "Writes files, chunks and vectors to the index, in the order of the walk.";
    const KEYS: &'static [Key] = &[];
}

impl StageConfig for Store {
    const TYPE: &'static str = "store";

    fn access(&self) -> Access {
        Access::sink()
            .reads([PATH.spec(), SIZE.spec(), MTIME.spec(), STATUS.spec(), HASH.spec(), LANGUAGE.spec()])
            .reads([SYMBOLS.spec(), RECORD.spec()])
            .reads_optional([BLAME.spec(), SIGNAL.spec(), EMBEDDING.spec(), TOKENS.spec(), PREVIOUS.spec()])
            .reads_dynamic()
            .writes([CHUNK_ID.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(StoreStage {
            previous: service(cx)?,
            writer: service(cx)?,
            clock: service(cx)?,
            moves: service(cx)?,
        }))
    }
}

struct StoreStage {
    previous: Arc<PreviousIndex>,
    writer: Arc<IndexWriter>,
    clock: Arc<RunClock>,
    moves: Arc<Moves>,
}

impl Stage for StoreStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(StoreWorker { stage: self })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Store::TYPE, 1)
    }
}

struct StoreWorker<'a> {
    stage: &'a StoreStage,
}

impl Worker for StoreWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let metadata = metadata(batch)?;
        let chunks = chunks_by_file(batch, &metadata)?;
        let mut ids = Vec::with_capacity(batch.chunks());
        let paths = batch.read(PATH)?;
        for (row, status) in batch.read(STATUS)?.iter().enumerate() {
            let writer = &self.stage.writer;
            match status {
                FileStatus::Deleted => writer.remove_file(&paths[row]).map_err(StageError::from_error)?,
                FileStatus::Touched => self.touch(batch, row)?,
                FileStatus::Revalued => {
                    self.touch(batch, row)?;
                    ids.extend(self.set_values(batch, row, &metadata)?);
                }
                _ => {
                    let record = self.record(batch, row, status)?;
                    let stored = writer.replace_file(record, &chunks[row]);
                    let stored = stored.map_err(StageError::from_error)?;
                    if let (Some(&first), Some(Attribution::Lines { blame, .. })) =
                        (stored.first(), attribution(batch, row)?)
                    {
                        writer.add_blame(first, &to_stored(blame)).map_err(StageError::from_error)?;
                    }
                    ids.extend(stored.into_iter().map(StoredId));
                }
            }
            if let FileStatus::Renamed { from } = status {
                cx.count("files.moved", 1);
                self.stage.moves.add(from, &paths[row]);
            }
        }
        // The chunks of a batch are ordered by file, as they were stored above.
        batch.write(CHUNK_ID, ids)?;
        Ok(())
    }
}

impl StoreWorker<'_> {
    fn record(&self, batch: &BatchView<'_>, row: usize, status: &FileStatus) -> Result<FileRecord, StageError> {
        let content = &batch.read(HASH)?[row];
        let symbols = batch.read(SYMBOLS)?[row].as_deref().map(|ParsedFile(symbols)| symbols);
        Ok(FileRecord {
            path: batch.read(PATH)?[row].to_string(),
            size: batch.read(SIZE)?[row],
            mtime_ns: self.stage.clock.recorded_mtime(batch.read(MTIME)?[row]),
            hash: content.hash,
            blob: content.blob.clone(),
            language: batch.read(LANGUAGE)?[row].to_string(),
            outcome: match status {
                FileStatus::Skipped { reason } => FileOutcome::Skipped(reason.to_string()),
                _ => FileOutcome::Indexed,
            },
            history_key: match attribution(batch, row)? {
                Some(Attribution::Lines { key, .. } | Attribution::File { key, .. }) => key.clone(),
                Some(Attribution::Pending) => PENDING.to_vec(),
                _ => Vec::new(),
            },
            chunks: Vec::new(),
            lines: match (status, symbols) {
                (FileStatus::Refreshed, _) => self.known(batch, row)?.map_or(0, |known| known.lines),
                (_, symbols) => symbols.map_or(0, |symbols| symbols.lines),
            },
            warnings: Vec::new(),
        })
    }

    /// The stored row of a file.
    fn known(&self, batch: &BatchView<'_>, row: usize) -> Result<Option<FileRecord>, StageError> {
        self.stage.previous.snapshot.file(&batch.read(PATH)?[row]).map_err(StageError::from_error)
    }

    /// Updates the stored row of a file whose content is as it was.
    fn touch(&self, batch: &BatchView<'_>, row: usize) -> Result<(), StageError> {
        let Some(known) = self.known(batch, row)? else { return Ok(()) };
        let record = self.touched(known, batch, row)?;
        self.stage.writer.update_file_record(record).map_err(StageError::from_error)
    }

    /// Stores the values of custom columns of a file's chunks, and returns the ids of these.
    fn set_values(
        &self,
        batch: &BatchView<'_>,
        row: usize,
        metadata: &[ChunkMetadata<'_>],
    ) -> Result<Vec<StoredId>, StageError> {
        let previous = batch.read_optional(PREVIOUS)?.unwrap_or_default();
        let mut ids = Vec::new();
        let files = batch.chunk_files();
        let first = files.partition_point(|file| (*file as usize) < row);
        for chunk in (first..files.len()).take_while(|chunk| files[*chunk] as usize == row) {
            let id = previous.get(chunk).and_then(Option::as_ref).map(|StoredId(id)| *id);
            let id = id.ok_or_else(|| StageError::new("a chunk that is not in the index has got values only"))?;
            self.stage.writer.set_values(id, &metadata[chunk]).map_err(StageError::from_error)?;
            ids.push(StoredId(id));
        }
        Ok(ids)
    }

    /// The stored row of a file of which only size, modification time or object id have changed.
    fn touched(&self, known: FileRecord, batch: &BatchView<'_>, row: usize) -> Result<FileRecord, StageError> {
        Ok(FileRecord {
            size: batch.read(SIZE)?[row],
            mtime_ns: self.stage.clock.recorded_mtime(batch.read(MTIME)?[row]),
            blob: batch.read(HASH)?[row].blob.clone(),
            ..known
        })
    }
}

/// The attribution of a file's lines, in a pipeline with `git-signal`.
fn attribution<'b>(batch: &'b BatchView<'_>, row: usize) -> Result<Option<&'b Attribution>, StageError> {
    Ok(batch.read_optional(BLAME)?.map(|blames| &blames[row]))
}

/// What a chunk has without the stages that say more of it.
static NO_HISTORY: ChunkHistory = ChunkHistory::None;
static NO_TOKENS: StoredTokens = StoredTokens { code: Vec::new(), doc: Vec::new() };

/// The chunks of every file row, with their vectors.
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
            // A chunk that was read from the index has the history of the last run.
            git: signals.map_or(&NO_HISTORY, |signals| &signals[row].0),
            tokens: tokens.map_or(&NO_TOKENS, |tokens| &tokens[row].0),
            metadata: &metadata[row],
            vector: vectors.and_then(|vectors| vectors[row].as_deref()),
        });
    }
    Ok(files)
}
