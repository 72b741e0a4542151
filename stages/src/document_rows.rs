//! Rows of documents, as emitted by a source of documents.

use aurora_pipeline::{Emitter, StageError};

use crate::columns::{DOCUMENT, Document, LANGUAGE, LanguageName, MTIME, PATH, RelativePath, SIZE};

/// Emits documents with their paths, all in one language.
///
/// # Errors
/// If the run has been stopped.
pub fn emit_documents(rows: Vec<(String, Document)>, language: &str, out: &mut Emitter<'_>) -> Result<(), StageError> {
    if rows.is_empty() {
        return Ok(());
    }
    let size = |document: &Document| if let Document::Text(text) = document { text.len() as u64 } else { 0 };
    let mut batch = out.batch(rows.len());
    batch.write(SIZE, rows.iter().map(|(_, document)| size(document)).collect())?;
    batch.write(MTIME, vec![0; rows.len()])?;
    batch.write(LANGUAGE, vec![LanguageName::from(language); rows.len()])?;
    batch.expect_bytes(3 * rows.iter().map(|(_, document)| size(document)).sum::<u64>());
    let (paths, documents): (Vec<_>, Vec<_>) =
        rows.into_iter().map(|(path, document)| (RelativePath::from(path), Some(document))).unzip();
    batch.write(PATH, paths)?;
    batch.write(DOCUMENT, documents)?;
    out.emit(batch)
}
