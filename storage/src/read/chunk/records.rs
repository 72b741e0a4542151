//! Positions of records that a snapshot has read before.

use std::marker::PhantomData;

use aurora_lmdb_pages::Sparse;
use rkyv::Portable;
use rkyv::api::low::{LowValidator, access_pos};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Failure;

/// Records of one table that were read before: for each id, the position of its record in the file, or 0 if it was not
/// read yet.
///
/// The content of a snapshot does not change, so each record is searched for, and its checksum verified, only once. A
/// search reads some hundred records, and the next searches read most of them again.
#[derive(Debug)]
pub(crate) struct Records<T> {
    places: Sparse,
    record: PhantomData<fn() -> T>,
}

impl<T: Portable + for<'a> CheckBytes<LowValidator<'a, Failure>>> Records<T> {
    /// Creates an empty table of positions for `count` ids.
    pub(crate) fn new(count: u32) -> Self {
        Self { places: Sparse::new(count as usize), record: PhantomData }
    }

    /// Returns the record of an id, if it was read before from the same file.
    ///
    /// The record is validated again, which takes about 25 ns: no reference into the file is created without a check.
    #[inline]
    pub(crate) fn get<'f>(&self, id: u32, file: &'f [u8]) -> Option<&'f T> {
        match self.places.get(id as usize) {
            0 => None,
            place => access_pos::<T, Failure>(file, usize::try_from(place).ok()?).ok(),
        }
    }

    /// Stores the position of a valid record that is a part of `file`.
    pub(crate) fn insert(&self, id: u32, file: &[u8], record: &T) {
        let start = std::ptr::from_ref(record).addr() - file.as_ptr().addr();
        self.places.set(id as usize, start as u64);
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
            let source_bytes = source.encode().expect("encodes");
            let archived = SourceRecord::decode(&source_bytes).expect("valid");
            for chunk in &chunks {
                let bytes = encode(&NewChunk::from(chunk), 0, &source).expect("encodes");
                ranges.push(file.len()..file.len() + bytes.len());
                file.extend_from_slice(&bytes);
            }
            let known = Records::<ArchivedStoredChunk>::new(chunks.len() as u32 + 1);
            for (at, range) in ranges.iter().enumerate().rev() {
                prop_assert!(known.get(at as u32, &file).is_none());
                known.insert(at as u32, &file, decode(&file[range.clone()]).expect("valid"));
            }
            for (at, chunk) in chunks.iter().enumerate() {
                let found = known.get(at as u32, &file).expect("was read");
                let record = ChunkRecord::new(found, archived).expect("unchanged");
                prop_assert_eq!(&*record.key(), &chunk.key);
                prop_assert_eq!(record.name(), &chunk.name);
            }
        }

        #[test]
        fn a_changed_file_yields_a_valid_record_or_none(chunk in chunk(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<prop::sample::Index>()) {
            let source = SourceRecord::from_first_chunk(&chunk);
            let source_bytes = source.encode().expect("encodes");
            let archived = SourceRecord::decode(&source_bytes).expect("valid");
            let mut file = [vec![0xff], encode(&NewChunk::from(&chunk), 0, &source).expect("encodes")].concat();
            let known = Records::<ArchivedStoredChunk>::new(1);
            known.insert(0, &file, decode(&file[1..]).expect("valid"));
            for (place, byte) in changes {
                let place = place.index(file.len());
                file[place] = byte;
            }
            for file in [&file[..], &file[..cut.index(file.len())]] {
                if let Some(record) = known.get(0, file).and_then(|found| ChunkRecord::new(found, archived)) {
                    let _ = (record.to_chunk(), record.times());
                }
            }
        }
    }
}
