//! The `bm25` stage, which passes the terms of every chunk to the index writer. The writer inverts the terms into
//! posting lists.

use std::borrow::Cow;
use std::sync::Arc;

use aurora_analysis::Analyzer;
use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker, stage_options,
};
use aurora_storage::{ChunkId, IndexWriter, TermVector};

use crate::columns::{CHUNK_ID, RECORD, STATUS, StoredId, TERMS, Terms};
use crate::metadata::{custom_terms, metadata};
use crate::services::{CustomColumns, service};

stage_options! {
    /// Writes the terms of each chunk to the index, which inverts them into posting lists.
    pub struct Bm25 {}
}

impl StageConfig for Bm25 {
    const TYPE: &'static str = "bm25";

    fn access(&self) -> Access {
        Access::sink()
            .in_parallel()
            .reads([STATUS.spec(), CHUNK_ID.spec(), TERMS.spec(), RECORD.spec()])
            .reads_dynamic_used_for(|uses| uses.terms.is_some())
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(Bm25Stage { writer: service(cx)?, columns: service(cx)? }))
    }
}

struct Bm25Stage {
    writer: Arc<IndexWriter>,
    columns: Arc<CustomColumns>,
}

impl Stage for Bm25Stage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(Bm25Worker { stage: self })
    }

    fn fingerprint(&self) -> Fingerprint {
        let fingerprint = Fingerprint::new(Bm25::TYPE, 1);
        if self.columns.have_terms() {
            fingerprint.with("columns", self.columns.term_weights()).with("analyzer", aurora_analysis::ANALYZER_VERSION)
        } else {
            fingerprint
        }
    }
}

struct Bm25Worker<'a> {
    stage: &'a Bm25Stage,
}

impl Worker for Bm25Worker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, _cx: &StageContext<'_>) -> Result<(), StageError> {
        let Bm25Stage { writer, columns } = self.stage;
        let statuses = batch.read(STATUS)?;
        let is_stored = batch.chunk_files().iter().map(|file| statuses[*file as usize].stores_chunks());
        let chunks = batch.read(CHUNK_ID)?.iter().zip(batch.read(TERMS)?).zip(is_stored);
        let metadata = if columns.have_terms() { metadata(batch)? } else { Vec::new() };
        let terms = chunks.enumerate().filter(|(_, (_, is_stored))| *is_stored).map(
            |(row, ((StoredId(id), Terms(terms)), _))| {
                let custom =
                    metadata.get(row).map(|metadata| custom_terms(&Analyzer, columns.declarations(), metadata));
                let terms = match custom.filter(|custom| !custom.is_empty()) {
                    Some(custom) => Cow::Owned(terms.with(&custom)),
                    None => Cow::Borrowed(terms),
                };
                (*id, terms)
            },
        );
        let terms: Vec<(ChunkId, Cow<'_, TermVector>)> = terms.collect();
        writer.add_terms(terms.iter().map(|(id, terms)| (*id, &**terms))).map_err(StageError::from_error)
    }
}
