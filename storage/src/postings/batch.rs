//! Postings that are read together, by column: what is done to all of them is done to several at once.

use super::part::BLOCK;
use crate::chunk::ChunkId;
use crate::field::FIELDS;

/// Two 16-bit numbers of a field each share a word.
pub(crate) type Words = [u32; FIELDS / 2];

/// A number in each field of up to [`PostingBatch::MOST`] postings, by field.
#[derive(Debug, Clone)]
pub struct FieldColumns {
    words: [[u32; BLOCK]; FIELDS / 2],
}

impl FieldColumns {
    /// The numbers of a field in the first `count` postings.
    #[inline]
    pub fn of(&self, field: usize, count: usize) -> impl ExactSizeIterator<Item = u16> + Clone + '_ {
        let shift = 16 * (field % 2);
        self.words[field / 2][..count].iter().map(move |word| (word >> shift) as u16)
    }

    #[inline]
    fn set(&mut self, at: usize, words: Words) {
        for (column, word) in self.words.iter_mut().zip(words) {
            column[at] = word;
        }
    }
}

/// The numbers of a row in words.
#[inline]
pub(crate) fn words_of(row: [u16; FIELDS]) -> Words {
    std::array::from_fn(|at| u32::from(row[2 * at]) | u32::from(row[2 * at + 1]) << 16)
}

/// The numbers of a row.
#[inline]
pub(crate) fn row_of(words: Words) -> [u16; FIELDS] {
    std::array::from_fn(|field| (words[field / 2] >> (16 * (field % 2))) as u16)
}

/// Some live postings of a list, ascending.
#[derive(Debug, Clone)]
pub struct PostingBatch {
    chunks: [u32; BLOCK],
    len: usize,
    frequencies: FieldColumns,
    lengths: FieldColumns,
}

impl Default for PostingBatch {
    fn default() -> Self {
        let columns = FieldColumns { words: [[0; BLOCK]; FIELDS / 2] };
        Self { chunks: [0; BLOCK], len: 0, frequencies: columns.clone(), lengths: columns }
    }
}

impl PostingBatch {
    /// Most postings of a batch.
    pub const MOST: usize = BLOCK;

    /// The ids of the chunks.
    #[inline]
    pub fn chunks(&self) -> &[u32] {
        &self.chunks[..self.len]
    }

    /// The term's frequencies.
    pub fn frequencies(&self) -> &FieldColumns {
        &self.frequencies
    }

    /// The chunks' field lengths, once [`crate::FieldLengths::fill`] has looked them up.
    pub fn lengths(&self) -> &FieldColumns {
        &self.lengths
    }

    /// Makes the batch of postings that are given, with the chunks' field lengths; no more than it has room for.
    pub fn fill(&mut self, postings: impl IntoIterator<Item = (ChunkId, [u16; FIELDS], [u16; FIELDS])>) {
        self.clear();
        for (chunk, frequencies, lengths) in postings.into_iter().take(Self::MOST) {
            self.lengths.set(self.len, words_of(lengths));
            self.push(chunk.0, words_of(frequencies));
        }
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a posting; nothing to a full batch.
    #[inline]
    pub(super) fn push(&mut self, chunk: u32, frequencies: Words) {
        if let Some(place) = self.chunks.get_mut(self.len) {
            *place = chunk;
            self.frequencies.set(self.len, frequencies);
            self.len += 1;
        }
    }

    /// Sets the field lengths of every chunk.
    #[inline]
    pub(crate) fn set_lengths(&mut self, of: impl Fn(u32) -> Words) {
        let [first, second, third] = &mut self.lengths.words;
        let columns = first.iter_mut().zip(second).zip(third);
        for (&chunk, ((first, second), third)) in self.chunks[..self.len].iter().zip(columns) {
            [*first, *second, *third] = of(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn columns_hold_the_rows(rows in prop::collection::vec((any::<[u16; FIELDS]>(), any::<[u16; FIELDS]>()), 0..200)) {
            let mut batch = PostingBatch::default();
            batch.push(7, [u32::MAX; FIELDS / 2]);
            batch.clear();
            for (at, (frequencies, _)) in rows.iter().enumerate() {
                prop_assert_eq!(row_of(words_of(*frequencies)), *frequencies);
                batch.push(at as u32, words_of(*frequencies));
            }
            batch.set_lengths(|chunk| words_of(rows[chunk as usize].1));
            let count = rows.len().min(PostingBatch::MOST);
            prop_assert_eq!(batch.chunks().to_vec(), (0..count as u32).collect::<Vec<_>>());
            for field in 0..FIELDS {
                prop_assert!(batch.frequencies().of(field, count).eq(rows[..count].iter().map(|row| row.0[field])));
                prop_assert!(batch.lengths().of(field, count).eq(rows[..count].iter().map(|row| row.1[field])));
            }
        }
    }
}
