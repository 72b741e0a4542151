//! Large conversation logs, whose parts have their own batches.

use std::sync::Arc;

use aurora_pipeline::{Emitter, FILE_STORED, StageError, StoredValues};
use aurora_storage::FileStamp;

use super::log_text::PART_BYTES;
use crate::columns::{
    ContentId, FileStatus, HASH, LANGUAGE, LOG_PART, LanguageName, LogPart, MTIME, ORIGINAL, Original, PATH,
    RelativePath, SIZE, STATUS, TEXT,
};

/// Maximum number of chunks of one log. A file row with more chunks is invalid.
pub(super) const MAX_CHUNKS: usize = 1 << 24;
/// Warning about a log with more chunks.
pub(super) const TOO_MANY_CHUNKS: &str = "more than 16777216 chunks: the rest of the log was not indexed";

/// A changed log that is larger than a part.
pub(super) struct LargeLog {
    pub(super) path: RelativePath,
    pub(super) size: u64,
    pub(super) stamp: FileStamp,
    pub(super) language: LanguageName,
    pub(super) status: FileStatus,
    pub(super) content: ContentId,
}

pub(super) fn emit(log: &LargeLog, text: String, part: LogPart, out: &mut Emitter<'_>) -> Result<(), StageError> {
    let mut batch = out.batch(1);
    batch.write(PATH, vec![Arc::clone(&log.path)])?;
    batch.write(SIZE, vec![log.size])?;
    batch.write(MTIME, vec![log.stamp.modified])?;
    batch.write(LANGUAGE, vec![Arc::clone(&log.language)])?;
    batch.write(STATUS, vec![log.status.clone()])?;
    batch.write(HASH, vec![log.content.clone()])?;
    batch.write(TEXT, vec![text.into()])?;
    batch.write(ORIGINAL, vec![Original::default()])?;
    batch.write(FILE_STORED, vec![StoredValues::new_row()])?;
    batch.write(LOG_PART, vec![Some(part)])?;
    // The text, the chunks, their copies in records, and the terms.
    batch.expect_bytes(4 * PART_BYTES as u64);
    out.emit(batch)
}
