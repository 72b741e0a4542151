//! `bm25`: hands every chunk's terms to the index writer, which inverts them into postings.

use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, Described, Fingerprint, Key, Stage, StageConfig, StageContext, StageError, Worker,
};
use aurora_storage::IndexWriter;
use serde::{Deserialize, Serialize};

use crate::columns::{CHUNK_ID, StoredId, TERMS, Terms};
use crate::services::service;

/// `[stage.bm25]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bm25 {}

impl Described for Bm25 {
    const SUMMARY: &'static str = "Writes the terms of each chunk to the index, which inverts them into posting lists.";
    const KEYS: &'static [Key] = &[];
}

impl StageConfig for Bm25 {
    const TYPE: &'static str = "bm25";

    fn access(&self) -> Access {
        Access::sink().reads([CHUNK_ID.spec(), TERMS.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(Bm25Stage { writer: service(cx)? }))
    }
}

struct Bm25Stage {
    writer: Arc<IndexWriter>,
}

impl Stage for Bm25Stage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(Bm25Worker { writer: &self.writer })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Bm25::TYPE, 1)
    }
}

struct Bm25Worker<'a> {
    writer: &'a IndexWriter,
}

impl Worker for Bm25Worker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, _cx: &StageContext<'_>) -> Result<(), StageError> {
        for (StoredId(id), Terms(terms)) in batch.read(CHUNK_ID)?.iter().zip(batch.read(TERMS)?) {
            self.writer.add_terms(*id, terms).map_err(StageError::from_error)?;
        }
        Ok(())
    }
}
