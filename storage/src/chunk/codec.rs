//! Chunk records as bytes: an rkyv archive, read in place.

use rkyv::rancor;

use super::record::{ArchivedChunk, Chunk};
use crate::error::StorageError;

/// Serialises a chunk record.
pub(crate) fn encode(chunk: &Chunk) -> Result<Vec<u8>, StorageError> {
    rkyv::to_bytes::<rancor::Error>(chunk)
        .map(|bytes| bytes.into_vec())
        .map_err(|error| StorageError::encode("chunk record", &error))
}

/// Reads a record in place; `None` when the bytes are no valid record.
///
/// What is read from a file is validated, because that may have been damaged since it was written.
pub(crate) fn decode(bytes: &[u8]) -> Option<&ArchivedChunk> {
    rkyv::access::<ArchivedChunk, rancor::Failure>(bytes).ok()
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
    }
}
