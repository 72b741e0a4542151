//! Where the records of a snapshot are that were read before.

use std::marker::PhantomData;

use rkyv::Portable;

use crate::sparse::Sparse;

/// The records of one table that were found valid: for each id the place of its record in the file, 0 before it was read.
///
/// What a snapshot sees does not change, so that a record is looked for and validated once. A search reads some hundred
/// records, and most of them again in the next ones.
#[derive(Debug)]
pub(crate) struct Records<T> {
    places: Sparse,
    record: PhantomData<fn() -> T>,
}

impl<T: Portable> Records<T> {
    /// None read of `count` ids.
    pub(crate) fn new(count: u32) -> Self {
        Self { places: Sparse::new(count as usize), record: PhantomData }
    }

    /// The record of an id, if it was read before.
    ///
    /// # Safety
    /// `file` must be the one that all records were read from.
    #[inline]
    pub(crate) unsafe fn get<'f>(&self, id: u32, file: &'f [u8]) -> Option<&'f T> {
        let place = self.places.get(id as usize) as usize;
        if place == 0 || file.len() < place + size_of::<T>() {
            return None;
        }
        // SAFETY: `keep` was given a valid record there, in the same file.
        Some(unsafe { rkyv::api::access_pos_unchecked::<T>(file, place) })
    }

    /// Keeps the place of a record that was found valid, and is a part of `file`.
    pub(crate) fn keep(&self, id: u32, file: &[u8], record: &T) {
        let start = std::ptr::from_ref(record).addr() - file.as_ptr().addr();
        self.places.set(id as usize, start as u64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::{ArchivedStoredChunk, ChunkRecord, SourceRecord, decode, encode};
    use crate::sample::chunk;

    proptest! {
        #[test]
        fn what_was_read_is_found_again(chunks in prop::collection::vec(chunk(), 1..6), gap in 1usize..9) {
            let mut file = vec![0xff; gap];
            let mut ranges = Vec::new();
            let source = SourceRecord::of(&chunks[0]);
            let source_bytes = source.encode().expect("encodes");
            let archived = SourceRecord::decode(&source_bytes).expect("valid");
            for chunk in &chunks {
                let bytes = encode(chunk, 0, &source).expect("encodes");
                ranges.push(file.len()..file.len() + bytes.len());
                file.extend_from_slice(&bytes);
            }
            let known = Records::<ArchivedStoredChunk>::new(chunks.len() as u32 + 1);
            for (at, range) in ranges.iter().enumerate().rev() {
                // SAFETY: there is one file.
                let before = unsafe { known.get(at as u32, &file) };
                prop_assert!(before.is_none());
                known.keep(at as u32, &file, decode(&file[range.clone()]).expect("valid"));
            }
            for (at, chunk) in chunks.iter().enumerate() {
                // SAFETY: there is one file.
                let found = unsafe { known.get(at as u32, &file) }.expect("was read");
                let record = ChunkRecord::new(found, archived).expect("unchanged");
                prop_assert_eq!(&*record.key(), &chunk.key);
                prop_assert_eq!(record.name(), &chunk.name);
            }
        }
    }
}
