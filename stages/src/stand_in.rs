//! Stand-ins for custom stages that are not run in this pass. Rows with unchanged text keep their stored values.
//!
//! The values of a row may be outdated if the row was rebuilt or if an input of the stage has changed. Such a row is
//! recorded as a row without a result. The next pass that runs the stage processes the rows without a result. If the
//! stage can drop rows, new rows are omitted until that pass, and their file is recorded as the row without a result.

use std::collections::HashMap;
use std::sync::Arc;

use aurora_pipeline::{
    BatchView, CHUNK_STORED, CellType, ColumnSpec, Emitter, Entity, FILE_STORED, Fingerprint, NO_RESULT, PlannedStage,
    Stage, StageContext, StageError, StoredValues, Value, Worker,
};
use aurora_storage::{ChunkId, FileOutcome, FileRecord};
use serde_json::json;

use crate::columns::{DOCUMENT, FileStatus, HASH, LANGUAGE, MTIME, PATH, PREVIOUS, RECORD, SIZE, STATUS, StoredId};
use crate::services::{PreviousIndex, RestoredChunk};

/// Name of the stand-in in fingerprints.
const TYPE: &str = "not-run";
/// Name of the column that a stage writes to omit a file.
const SKIP: &str = "file.skip";

/// The stand-in for a stage that is not run. It writes the stored values of the stage's columns.
pub(crate) struct StandIn {
    previous: Arc<PreviousIndex>,
    /// Columns that the stage writes.
    written: Vec<ColumnSpec>,
    /// Whether the stage processes files together with all their chunks.
    processes_files: bool,
    /// Whether the stage drops chunks.
    drops_chunks: bool,
    /// Languages of the files that the stage processes. If the list is empty, the stage processes all files.
    languages: Vec<String>,
}

/// Whether a stand-in can replace a stage. This is the case for custom stages that read their stored values or supply
/// documents.
pub(crate) fn can_stand_in(stage: &PlannedStage) -> bool {
    let reads_stored = |column: &ColumnSpec| [FILE_STORED.name(), CHUNK_STORED.name()].contains(&column.name());
    !is_built_in(stage) && (stage.access().all_reads().any(reads_stored) || supplies_documents(stage))
}

/// Whether the type of a stage is built into the program.
pub fn is_built_in(stage: &PlannedStage) -> bool {
    crate::registry().stage_types().any(|name| name == stage.type_name())
}

/// Returns the languages of the files that a stage processes. The list is empty if the stage processes all files.
pub(crate) fn languages_of(stage: &PlannedStage) -> Vec<String> {
    let named = stage.config().get("languages").and_then(|named| named.as_array()).into_iter().flatten();
    named.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn supplies_documents(stage: &PlannedStage) -> bool {
    stage.access().written().any(|column| column.name() == DOCUMENT.name())
}

impl StandIn {
    /// Returns the stand-in for a stage, and the columns that the stand-in reads.
    pub(crate) fn for_stage(stage: &PlannedStage, previous: &Arc<PreviousIndex>) -> (Box<dyn Stage>, Vec<ColumnSpec>) {
        if supplies_documents(stage) {
            return (Box::new(DocumentStandIn), Vec::new());
        }
        let written: Vec<ColumnSpec> = stage.access().written().cloned().collect();
        let processes_files = stage.access().all_reads().any(|column| column.name() == FILE_STORED.name());
        let drops_chunks = stage.access().is_restructuring();
        let (previous, languages) = (Arc::clone(previous), languages_of(stage));
        let stand_in = Self { previous, written, processes_files, drops_chunks, languages };
        let of_files = [PATH.spec(), STATUS.spec(), HASH.spec(), LANGUAGE.spec(), FILE_STORED.spec()];
        let of_chunks = [RECORD.spec(), PREVIOUS.spec(), CHUNK_STORED.spec()];
        (Box::new(stand_in), of_files.into_iter().chain(of_chunks).collect())
    }

    /// Whether the stage processes files in a language.
    fn works_on(&self, language: &str) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|name| name == language)
    }

    /// Whether the stage can omit files.
    fn drops_files(&self) -> bool {
        self.written.iter().any(|column| [SKIP, STATUS.name()].contains(&column.name()))
    }
}

impl Stage for StandIn {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, cx: &StageContext<'_>| {
            let restored = RestoredRows::from_batch(self, batch, cx)?;
            restored.write(self, batch)
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(TYPE, 1)
    }
}

/// A row for which the stage has no result, and the reason if the stage failed on the row.
type Missing = (Entity, u32, Option<String>);

/// The stored values for the rows of a batch.
#[derive(Default)]
struct RestoredRows {
    files: Vec<StoredValues>,
    chunks: Vec<StoredValues>,
    /// For each file, the reason why the file is omitted, if it is.
    skipped: Vec<Option<Value>>,
    /// For each chunk, whether it stays in the batch.
    remaining: Vec<bool>,
    missing: Vec<Missing>,
}

impl RestoredRows {
    fn from_batch(stage: &StandIn, batch: &BatchView<'_>, cx: &StageContext<'_>) -> Result<Self, StageError> {
        let mut restored = Self::default();
        let (paths, statuses) = (batch.read(PATH)?, batch.read(STATUS)?);
        let (hashes, languages) = (batch.read(HASH)?, batch.read_optional(LANGUAGE)?.unwrap_or_default());
        let stored_files = batch.read_optional(FILE_STORED)?.unwrap_or_default();
        let mut chunks_of: Vec<Vec<u32>> = vec![Vec::new(); paths.len()];
        for (chunk, file) in batch.chunk_files().iter().enumerate() {
            chunks_of[*file as usize].push(chunk as u32);
        }
        restored.chunks.resize(batch.chunks(), StoredValues::new_row());
        restored.remaining.resize(batch.chunks(), true);
        for (row, path) in paths.iter().enumerate() {
            let status = &statuses[row];
            let origin = match status {
                FileStatus::Renamed { from } => from,
                _ => path,
            };
            let known = stage.previous.snapshot.file(origin).map_err(StageError::from_error)?;
            let known = known.filter(|_| status.has_chunks());
            let is_refreshed = *status == FileStatus::Refreshed;
            let is_same = known.as_ref().is_some_and(|known| is_refreshed || known.hash == hashes[row].hash);
            let stored = match (is_refreshed, is_same) {
                (true, _) => stored_files.get(row).cloned().unwrap_or_default(),
                (false, true) => stage.previous.custom_values_of(origin).map_err(StageError::from_error)?,
                (false, false) => StoredValues::new_row(),
            };
            restored.files.push(stored);
            let unchanged = known.as_ref().filter(|_| is_same);
            let skipped = unchanged.and_then(|known| skipped_by(known, cx.stage()));
            let is_other = languages.get(row).is_some_and(|language| !stage.works_on(language));
            let was_indexed = unchanged.is_some_and(|known| matches!(known.outcome, FileOutcome::Indexed));
            let is_undecided =
                stage.drops_files() && status.has_chunks() && !is_other && !was_indexed && skipped.is_none();
            // Even if the content is unchanged, an input of the stage may have changed, such as the path or the git
            // history.
            let is_settled = is_same && origin == path && cx.is_current();
            let of_file = Origin { stage: cx.stage(), path, origin, known: known.as_ref(), is_same, is_settled };
            if skipped.is_some() {
                restored.missing.extend(of_file.recorded(Entity::File, row as u32, None));
            } else if is_undecided {
                restored.missing.push((Entity::File, row as u32, None));
            }
            let reason = is_undecided.then(|| Value::String(format!("stage `{}`: {NO_RESULT}", cx.stage())));
            restored.skipped.push(skipped.or(reason));
            if let Some(Value::String(reason)) = &restored.skipped[row] {
                cx.skip(path, reason);
                cx.count("files.left_out", 1);
            }
            if !status.has_chunks() || restored.skipped[row].is_some() || is_other {
                continue;
            }
            if stage.processes_files || stage.drops_chunks {
                restored.missing.extend(of_file.missing(Entity::File, row as u32, None));
            }
            restored.restore_chunks(stage, batch, &chunks_of[row], &of_file, is_refreshed)?;
        }
        Ok(restored)
    }

    fn restore_chunks(
        &mut self,
        stage: &StandIn,
        batch: &BatchView<'_>,
        rows: &[u32],
        file: &Origin<'_>,
        is_refreshed: bool,
    ) -> Result<(), StageError> {
        let stored = batch.read_optional(CHUNK_STORED)?.unwrap_or_default();
        let previous = batch.read_optional(PREVIOUS)?.unwrap_or_default();
        let records = batch.read_optional(RECORD)?.unwrap_or_default();
        let known = if is_refreshed || file.known.is_none() || records.is_empty() {
            Vec::new()
        } else {
            stage.previous.chunks_of(file.origin).map_err(StageError::from_error)?
        };
        let by_key: HashMap<(&str, &str), &RestoredChunk> =
            known.iter().filter_map(|chunk| Some((local_key(&chunk.chunk.key, file.origin)?, chunk))).collect();
        for &row in rows {
            let at = row as usize;
            let position_of =
                |id: ChunkId| file.known.and_then(|known| known.chunks.iter().position(|chunk| *chunk == id));
            let mut position = match previous.get(at) {
                Some(Some(StoredId(id))) => position_of(*id),
                _ => None,
            };
            if position.is_some() {
                self.chunks[at] = stored.get(at).cloned().unwrap_or_default();
            } else if let Some(record) = records.get(at) {
                let found = local_key(&record.0.key, file.path).and_then(|key| by_key.get(&key));
                let same = found.filter(|found| found.chunk.text == record.0.text);
                position = same.and_then(|same| position_of(same.id));
                self.chunks[at] = same.map_or_else(StoredValues::new_row, |same| same.custom.clone());
            }
            if stage.drops_chunks {
                self.remaining[at] = position.is_some();
            } else if !stage.processes_files {
                let missing = match position {
                    Some(position) => file.missing(Entity::Chunk, row, Some(position)),
                    None => vec![(Entity::Chunk, row, None)],
                };
                self.missing.extend(missing);
            }
        }
        Ok(())
    }

    fn write(self, stage: &StandIn, batch: &mut BatchView<'_>) -> Result<(), StageError> {
        for column in &stage.written {
            let (name, short) = (column.name(), column.short_name());
            let entity = Entity::from_column(name).unwrap_or(Entity::Chunk);
            if name == SKIP || name == STATUS.name() {
                batch.write_values(SKIP, self.skipped.clone())?;
                continue;
            }
            let rows = if entity == Entity::File { &self.files } else { &self.chunks };
            let value = |stored: &StoredValues| stored.get(short).filter(|value| fits(value, column)).cloned();
            batch.write_values(name, rows.iter().map(value).collect())?;
        }
        for (entity, row, reason) in self.missing {
            batch.add_missing_result(entity, row, reason.as_deref());
        }
        if stage.drops_chunks {
            batch.retain_chunks(&self.remaining)?;
        }
        Ok(())
    }
}

/// Whether a stored value has the declared type of a column.
fn fits(value: &Value, column: &ColumnSpec) -> bool {
    match (column.cell(), value) {
        (CellType::Dynamic(kind), value) => value.dynamic_type() == kind,
        (_, Value::Vector(numbers)) => column.dimensions().is_none_or(|dimensions| dimensions == numbers.len()),
        _ => true,
    }
}

/// The file to which rows belong, and the data that the last run stored for the file.
struct Origin<'a> {
    stage: &'a str,
    path: &'a str,
    /// The path under which the last run stored the file.
    origin: &'a str,
    known: Option<&'a FileRecord>,
    /// Whether the text of the file is unchanged.
    is_same: bool,
    /// Whether all inputs of the stage are unchanged.
    is_settled: bool,
}

impl Origin<'_> {
    /// Returns the missing results of a row. These are the missing results that the last run recorded, with the reasons
    /// of failures. If the last run recorded none, but the stage has to process the row again, returns a new one.
    fn missing(&self, entity: Entity, row: u32, position: Option<usize>) -> Vec<Missing> {
        if self.known.is_none() || !self.is_same && position.is_none() {
            return vec![(entity, row, None)];
        }
        let mut recorded = self.recorded(entity, row, position);
        if !self.is_settled && recorded.is_empty() {
            recorded.push((entity, row, None));
        }
        recorded
    }

    /// Returns the missing results that the last run recorded for a row.
    fn recorded(&self, entity: Entity, row: u32, position: Option<usize>) -> Vec<Missing> {
        let concerns = |chunk: Option<u32>| match (chunk, position) {
            (Some(chunk), Some(position)) => chunk as usize == position,
            (None, _) => true,
            (Some(_), None) => false,
        };
        let known = self.known.into_iter().flat_map(|known| &known.unfinished);
        let recorded = known.filter(|row| row.stage == self.stage && concerns(row.extent.chunk()));
        recorded.map(|recorded| (entity, row, recorded.reason.clone())).collect()
    }
}

/// Returns the stored reason why `stage` omitted a file, or `None` if `stage` did not omit the file.
fn skipped_by(file: &FileRecord, stage: &str) -> Option<Value> {
    match &file.outcome {
        FileOutcome::Skipped(reason) if reason.starts_with(&format!("stage `{stage}`: ")) => {
            Some(Value::String(reason.clone()))
        }
        _ => None,
    }
}

/// Splits the key of a chunk into its kind and the part after the file path.
fn local_key<'k>(key: &'k str, path: &str) -> Option<(&'k str, &'k str)> {
    let (kind, rest) = key.split_once(':')?;
    Some((kind, rest.strip_prefix(path)?))
}

/// The stand-in for a stage that supplies documents. All documents of the stage stay unchanged.
struct DocumentStandIn;

impl Stage for DocumentStandIn {
    fn open(&self) -> Box<dyn Worker + '_> {
        // Files of the tree are not documents.
        Box::new(|batch: &mut BatchView<'_>, _: &StageContext<'_>| {
            batch.write_values(DOCUMENT.name(), vec![None; batch.files()])?;
            Ok(())
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(TYPE, 1)
    }

    fn close(&self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        if cx.cancelled() {
            return Ok(());
        }
        cx.kept().into_iter().for_each(|state| cx.keep(state));
        let rest = [
            (PATH.name(), Value::String(format!("@{}/", cx.stage()))),
            (SIZE.name(), Value::Integer(0)),
            (MTIME.name(), Value::Integer(0)),
            (LANGUAGE.name(), Value::String("text".to_owned())),
            (DOCUMENT.name(), Value::Json(json!({ "rest": true }))),
        ];
        let mut draft = out.batch(1);
        for (column, value) in rest {
            draft.write_values(column, vec![Some(value)])?;
        }
        out.emit(draft)
    }
}
