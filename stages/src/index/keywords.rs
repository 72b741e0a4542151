//! Rebuilds the keyword index without running a pipeline.

use std::cell::RefCell;
use std::path::Path;

use aurora_analysis::Analyzer;
use aurora_storage::{Chunk, ColumnDeclaration, Environment, OpenMode, ProjectDirectory, TermVector, WriterOptions};

use super::error::IndexError;
use super::trust::Trust;
use crate::chunk::terms::ChunkTerms;
use crate::metadata::custom_terms;

/// Rebuilds the keyword index from the stored chunks, regardless of its state, and returns the number of chunks.
///
/// # Errors
/// Fails if there is no index, another run is writing, or the disk cannot be written.
pub fn rebuild_bm25(root: &Path, trust: &Trust) -> Result<u64, IndexError> {
    let project = ProjectDirectory::in_root(root);
    let directory = project.path();
    let rebuilt = Environment::rebuild_keywords(directory, &trust.known, WriterOptions::default(), &stored_terms)?;
    trust.known.record(directory, &Environment::open(directory, OpenMode::Existing)?.snapshot()?)?;
    Ok(rebuilt.chunk_count)
}

/// Returns the terms of a stored chunk, which are the terms that an index run gives to the chunk.
pub fn stored_terms(chunk: &Chunk, columns: &[ColumnDeclaration]) -> TermVector {
    thread_local! {
        static CHUNK_TERMS: RefCell<ChunkTerms> = RefCell::default();
    }
    let terms = CHUNK_TERMS.with_borrow_mut(|terms| terms.for_chunk(chunk));
    let custom = custom_terms(&Analyzer, columns, &chunk.metadata);
    if custom.is_empty() { terms } else { terms.with(&custom) }
}
