//! Chunk records as bytes: an rkyv archive, read in place.

use rkyv::rancor;

use super::record::{ArchivedChunk, Chunk};
use crate::error::StorageError;

/// Serialises a chunk record.
///
/// # Errors
/// When its lines or bytes end before they begin, which [`decode`] would refuse.
pub(crate) fn encode(chunk: &Chunk) -> Result<Vec<u8>, StorageError> {
    if !are_ranges((chunk.line_start, chunk.line_end), (chunk.byte_start, chunk.byte_end)) {
        return Err(StorageError::encode("chunk record", &format!("`{}` ends before it begins", chunk.key)));
    }
    rkyv::to_bytes::<rancor::Error>(chunk)
        .map(|bytes| bytes.into_vec())
        .map_err(|error| StorageError::encode("chunk record", &error))
}

/// Reads a record in place; `None` when the bytes are no valid record.
///
/// What is read from a file is validated, because that may have been damaged since it was written.
pub(crate) fn decode(bytes: &[u8]) -> Option<&ArchivedChunk> {
    let record = rkyv::access::<ArchivedChunk, rancor::Failure>(bytes).ok()?;
    let lines = (record.line_start.to_native(), record.line_end.to_native());
    let bytes = (record.byte_start.to_native(), record.byte_end.to_native());
    are_ranges(lines, bytes).then_some(record)
}

/// Whether the first and last line of a chunk, and its first byte and the one after its last, can be: readers count what is
/// between them, and go to the line after.
fn are_ranges(lines: (u32, u32), bytes: (u32, u32)) -> bool {
    lines.0 <= lines.1 && lines.1 < u32::MAX && bytes.0 <= bytes.1
}

impl ArchivedChunk {
    /// The record as plain values.
    pub fn to_chunk(&self) -> Chunk {
        rkyv::deserialize::<Chunk, rancor::Failure>(self)
            .expect("records hold no shared values, the only ones that can fail")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::chunk;

    proptest! {
        #[test]
        fn records_come_back(record in chunk()) {
            let bytes = encode(&record).expect("encodes");
            prop_assert_eq!(decode(&bytes).map(ArchivedChunk::to_chunk), Some(record));
        }

        #[test]
        fn damaged_records_are_read_or_refused(record in chunk(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
            let mut bytes = encode(&record).expect("encodes");
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Some(read) = decode(&bytes) {
                prop_assert_eq!(read.to_chunk().key.len(), read.key.len());
            }
            prop_assert!(decode(&bytes[..at]).is_none_or(|read| read.to_chunk() != record));
        }

        #[test]
        fn issue_15_a_record_that_ends_before_it_begins_is_none(
            record in chunk(), lines in any::<(u32, u32)>(), bytes in any::<(u32, u32)>(),
        ) {
            let (line_start, line_end) = lines;
            let (byte_start, byte_end) = bytes;
            let record = Chunk { line_start, line_end, byte_start, byte_end, ..record };
            let archive = rkyv::to_bytes::<rancor::Error>(&record).expect("encodes");
            let is_sound = line_start <= line_end && byte_start <= byte_end && line_end != u32::MAX;
            prop_assert_eq!(decode(&archive).is_some(), is_sound);
            prop_assert_eq!(encode(&record).is_ok(), is_sound);
        }
    }
}
