//! The `chunk` stage, which divides files into chunk records and computes the terms of each chunk. For refreshed files,
//! the stage reads the chunks from the index instead.

use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, CHUNK_STORED, Fingerprint, Stage, StageConfig, StageContext, StageError,
    StoredValues, Worker,
};
use aurora_storage::TermVector;

use super::terms::ChunkTerms;
use super::{ChunkOptions, FileChunks, Source, chunks_of_file};
use crate::columns::{
    DEFINITIONS, FileStatus, LANGUAGE, LOG_PART, PATH, PREVIOUS, RECORD, Record, STATUS, SYMBOLS, StoredId, TERMS,
    TEXT, Terms,
};
use crate::definitions::symbols_of;
use crate::services::{PreviousIndex, service};

impl StageConfig for ChunkOptions {
    const TYPE: &'static str = "chunk";

    fn access(&self) -> Access {
        Access::transform()
            .reads([PATH.spec(), STATUS.spec(), TEXT.spec(), LANGUAGE.spec(), SYMBOLS.spec()])
            .reads_optional([DEFINITIONS.spec(), LOG_PART.spec()])
            .writes([RECORD.spec(), TERMS.spec()])
            .offers([PREVIOUS.spec(), CHUNK_STORED.spec()])
            .restructures()
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(ChunkStage { previous: service(cx)?, options: self }))
    }
}

struct ChunkStage {
    previous: Arc<PreviousIndex>,
    options: ChunkOptions,
}

impl Stage for ChunkStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(ChunkWorker { stage: self, terms: ChunkTerms::default() })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(ChunkOptions::TYPE, 6)
            .with("options", format!("{:?}", self.options))
            .with("analyzer", aurora_analysis::ANALYZER_VERSION)
    }
}

struct ChunkWorker<'a> {
    stage: &'a ChunkStage,
    terms: ChunkTerms,
}

impl Worker for ChunkWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let (mut owners, mut records) = (Vec::new(), Vec::new());
        let (mut previous, mut stored) = (Vec::new(), Vec::new());
        let (paths, statuses, texts) = (batch.read(PATH)?, batch.read(STATUS)?, batch.read(TEXT)?);
        let (languages, symbols) = (batch.read(LANGUAGE)?, batch.read(SYMBOLS)?);
        let definitions = batch.read_optional(DEFINITIONS)?;
        let parts = batch.read_optional(LOG_PART)?;
        for (row, path) in paths.iter().enumerate() {
            if cx.cancelled() {
                return Err(StageError::Stopped);
            }
            let chunks = match (&statuses[row], &symbols[row]) {
                (FileStatus::Refreshed | FileStatus::Revalued, _) => {
                    let restored = self.stage.previous.chunks_of(path).map_err(StageError::from_error)?;
                    previous.extend(restored.iter().map(|restored| Some(StoredId(restored.id))));
                    stored.extend(restored.iter().map(|restored| restored.custom.clone()));
                    restored.into_iter().map(|restored| restored.chunk).collect()
                }
                (_, Some(_)) if let Some(part) = parts.and_then(|parts| parts[row].as_ref()) => part.chunks.to_vec(),
                (_, Some(parsed)) => {
                    let given = definitions.and_then(|definitions| definitions[row].0.as_deref());
                    let given = given.map(|definitions| symbols_of(definitions, &texts[row]));
                    let symbols = given.as_ref().unwrap_or(&parsed.0);
                    let source = Source { path, language: &languages[row], text: &texts[row], symbols };
                    let found = chunks_of_file(&source, &self.stage.options, &|| cx.cancelled());
                    let found = found.unwrap_or_else(|reason| {
                        cx.warn(path, &reason);
                        FileChunks::default()
                    });
                    if let Some(reason) = found.cut {
                        cx.warn(path, reason);
                    }
                    cx.count("files.generated", u64::from(found.is_generated));
                    found.chunks
                }
                _ => Vec::new(),
            };
            cx.count("chunks", chunks.len() as u64);
            owners.extend(std::iter::repeat_n(row as u32, chunks.len()));
            records.extend(chunks.into_iter().map(Record));
            previous.resize(records.len(), None);
            stored.resize(records.len(), StoredValues::new_row());
        }
        let mut terms = Vec::with_capacity(records.len());
        for (Record(chunk), owner) in records.iter().zip(&owners) {
            if cx.cancelled() {
                return Err(StageError::Stopped);
            }
            // For a revalued file, the run stores only the values of custom columns.
            let is_stored = statuses[*owner as usize].stores_chunks();
            terms.push(Terms(if is_stored { self.terms.for_chunk(chunk) } else { TermVector::default() }));
        }
        batch.add_chunks(owners)?;
        batch.write(RECORD, records)?;
        batch.write(TERMS, terms)?;
        batch.write(PREVIOUS, previous)?;
        batch.write(CHUNK_STORED, stored)?;
        Ok(())
    }
}
