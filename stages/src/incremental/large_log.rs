//! Emits the parts of large conversation logs, each in its own batch.

use std::sync::{Arc, PoisonError};

use aurora_pipeline::{Emitter, FILE_STORED, StageContext, StageError, StoredValues};
use aurora_storage::FileStamp;

use super::log_text::{LogParts, Masking, PART_BYTES};
use super::{IncrementalStage, count_changed, redaction};
use crate::chunk::log_sections::LogChunker;
use crate::columns::{
    ContentId, FileStatus, HASH, LANGUAGE, LOG_PART, LanguageName, LogPart, MTIME, ORIGINAL, Original, PATH,
    RelativePath, SIZE, STATUS, TEXT,
};

/// Maximum number of chunks of one log. A file row with more chunks is invalid.
const MAX_CHUNKS: usize = 1 << 24;
/// Warning about a log with more chunks.
const TOO_MANY_CHUNKS: &str = "more than 16777216 chunks: the rest of the log was not indexed";

/// A changed log that is larger than a part.
pub(super) struct LargeLog {
    pub(super) path: RelativePath,
    pub(super) size: u64,
    pub(super) stamp: FileStamp,
    pub(super) language: LanguageName,
    pub(super) status: FileStatus,
    pub(super) content: ContentId,
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
            emit(log, text, part, out)?;
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

fn emit(log: &LargeLog, text: String, part: LogPart, out: &mut Emitter<'_>) -> Result<(), StageError> {
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
