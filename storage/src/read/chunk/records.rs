//! Remembers the positions of records that a snapshot has read.

use std::marker::PhantomData;

use aurora_lmdb_pages::Sparse;
use rkyv::Portable;
use rkyv::api::low::{LowValidator, access_pos};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Failure;

/// Positions of the records of one table that have been read: for each id, the position of its record in the file, or 0
/// if the record has not been read yet.
///
/// The content of a snapshot does not change. Each record is therefore looked up only once, and its checksum is
/// verified only once. A search reads several hundred records, and later searches read most of these records again.
#[derive(Debug)]
pub(crate) struct Records<T> {
    positions: Sparse,
    record: PhantomData<fn() -> T>,
}

impl<T: Portable + for<'a> CheckBytes<LowValidator<'a, Failure>>> Records<T> {
    /// Creates an empty table of positions for `count` ids.
    pub(crate) fn new(count: u32) -> Self {
        Self { positions: Sparse::new(count as usize), record: PhantomData }
    }

    /// Returns the record of an id, if [`Self::insert`] has stored its position.
    ///
    /// The record is validated again, which takes about 25 ns, so that no reference into the file is created without a
    /// check.
    #[inline]
    pub(crate) fn get<'f>(&self, id: u32, file: &'f [u8]) -> Option<&'f T> {
        match self.positions.get(id as usize) {
            0 => None,
            position => access_pos::<T, Failure>(file, usize::try_from(position).ok()?).ok(),
        }
    }

    /// Stores the position of a valid record that is a part of `file`.
    pub(crate) fn insert(&self, id: u32, file: &[u8], record: &T) {
        let start = std::ptr::from_ref(record).addr() - file.as_ptr().addr();
        self.positions.set(id as usize, start as u64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::chunk::{ArchivedStoredChunk, ChunkRecord, NewChunk, SourceRecord, decode, encode};
    use crate::sample::chunk;

    proptest! {
        #[test]
        fn inserted_records_are_found_again(chunks in prop::collection::vec(chunk(), 1..6), gap in 1usize..9) {
            let mut file = vec![0xff; gap];
            let mut ranges = Vec::new();
            let source = SourceRecord::from_first_chunk(&chunks[0]);
            let source_bytes = source.encode().expect("the record can be encoded");
            let archived = SourceRecord::decode(&source_bytes).expect("the record is valid");
            for chunk in &chunks {
                let bytes = encode(&NewChunk::from(chunk), 0, &source).expect("the record can be encoded");
                ranges.push(file.len()..file.len() + bytes.len());
                file.extend_from_slice(&bytes);
            }
            let known = Records::<ArchivedStoredChunk>::new(chunks.len() as u32 + 1);
            for (at, range) in ranges.iter().enumerate().rev() {
                prop_assert!(known.get(at as u32, &file).is_none());
                known.insert(at as u32, &file, decode(&file[range.clone()]).expect("the record is valid"));
            }
            for (at, chunk) in chunks.iter().enumerate() {
                let found = known.get(at as u32, &file).expect("the position was stored");
                let record = ChunkRecord::new(found, archived).expect("the record is unchanged");
                prop_assert_eq!(&*record.key(), &chunk.key);
                prop_assert_eq!(record.name(), &chunk.name);
            }
        }

        #[test]
        fn a_changed_file_yields_a_valid_record_or_none(chunk in chunk(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<prop::sample::Index>()) {
            let source = SourceRecord::from_first_chunk(&chunk);
            let source_bytes = source.encode().expect("the record can be encoded");
            let archived = SourceRecord::decode(&source_bytes).expect("the record is valid");
            let mut file = [vec![0xff], encode(&NewChunk::from(&chunk), 0, &source).expect("the record can be encoded")].concat();
            let known = Records::<ArchivedStoredChunk>::new(1);
            known.insert(0, &file, decode(&file[1..]).expect("the record is valid"));
            for (at, byte) in changes {
                let at = at.index(file.len());
                file[at] = byte;
            }
            for file in [&file[..], &file[..cut.index(file.len())]] {
                if let Some(record) = known.get(0, file).and_then(|found| ChunkRecord::new(found, archived)) {
                    let _ = (record.to_chunk(), record.times());
                }
            }
        }
    }
}
