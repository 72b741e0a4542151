//! Where the records of a snapshot are that were read before.

use super::ChunkId;
use super::codec::decode;
use super::record::ArchivedChunk;
use crate::sparse::Sparse;

/// The records of one generation that were found valid: for each chunk the place of its record in the file, 0 before it
/// was read.
///
/// What a snapshot sees does not change, so that a record is looked for and validated once. A search reads some hundred
/// records, and most of them again in the next ones.
#[derive(Debug)]
pub(crate) struct Records {
    places: Sparse,
}

impl Records {
    /// None read of `count` chunks.
    pub(crate) fn new(count: u32) -> Self {
        Self { places: Sparse::new(count as usize) }
    }

    /// The record of a chunk, if it was read before.
    ///
    /// # Safety
    /// `file` must be the one that all records were read from.
    #[inline]
    pub(crate) unsafe fn get<'f>(&self, id: ChunkId, file: &'f [u8]) -> Option<&'f ArchivedChunk> {
        let place = self.places.get(id.0 as usize) as usize;
        if place == 0 || file.len() < place + size_of::<ArchivedChunk>() {
            return None;
        }
        // SAFETY: `read` has found a valid record there, in the same file.
        Some(unsafe { rkyv::api::access_pos_unchecked::<ArchivedChunk>(file, place) })
    }

    /// Reads the record of a chunk from `bytes`, which are a part of `file`; `None` when they are no valid record.
    pub(crate) fn read<'f>(&self, id: ChunkId, file: &'f [u8], bytes: &'f [u8]) -> Option<&'f ArchivedChunk> {
        let record = decode(bytes)?;
        let start = std::ptr::from_ref(record).addr() - file.as_ptr().addr();
        self.places.set(id.0 as usize, start as u64);
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::codec::encode;
    use crate::sample::chunk;

    proptest! {
        #[test]
        fn what_was_read_is_found_again(records in prop::collection::vec(chunk(), 1..6), gap in 1usize..9) {
            let mut file = vec![0xff; gap];
            let mut ranges = Vec::new();
            for record in &records {
                let bytes = encode(record).expect("encodes");
                ranges.push(file.len()..file.len() + bytes.len());
                file.extend_from_slice(&bytes);
            }
            let known = Records::new(records.len() as u32 + 1);
            let id = |at: usize| ChunkId(at as u32);
            for (at, record) in records.iter().enumerate().rev() {
                // SAFETY: there is one file.
                let before = unsafe { known.get(id(at), &file) };
                prop_assert!(before.is_none());
                let read = known.read(id(at), &file, &file[ranges[at].clone()]).expect("valid");
                prop_assert_eq!(&read.to_chunk(), record);
            }
            for (at, record) in records.iter().enumerate() {
                // SAFETY: there is one file.
                let found = unsafe { known.get(id(at), &file) }.expect("was read");
                prop_assert_eq!(&found.to_chunk(), record);
            }
            prop_assert!(known.read(id(records.len()), &file, &file[..gap]).is_none());
        }
    }
}
