//! The terms of one chunk, counted by field.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::field::{FIELDS, Field};

/// Longest term, in bytes, that is stored as it is.
const MAX_TERM: usize = 240;
/// How much of a longer term is kept in front of the digest that stands for the rest.
const KEPT: usize = 200;

/// The terms of one chunk with their frequency in every field, and the fields' lengths.
///
/// Terms are sorted by bytes and unique; frequencies saturate at `u16::MAX`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermVector {
    text: String,
    ends: Vec<u32>,
    frequencies: Vec<[u16; FIELDS]>,
    lengths: [u32; FIELDS],
}

impl TermVector {
    /// Starts an empty vector.
    pub fn builder() -> TermVectorBuilder {
        TermVectorBuilder::default()
    }

    /// Number of distinct terms.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the chunk has no terms.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of term occurrences in every field.
    pub fn lengths(&self) -> [u32; FIELDS] {
        self.lengths
    }

    /// The terms in byte order with their frequency in every field.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, [u16; FIELDS])> + Clone + '_ {
        self.ends.iter().enumerate().map(|(index, &end)| {
            let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
            (&self.text[start..end as usize], self.frequencies[index])
        })
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.text.capacity()
            + self.ends.capacity() * size_of::<u32>()
            + self.frequencies.capacity() * size_of::<[u16; FIELDS]>()
    }
}

/// Collects the terms of a chunk in any order.
///
/// Every occurrence is counted where the term was put when it first came, so that only distinct terms are sorted.
#[derive(Debug, Default)]
pub struct TermVectorBuilder {
    /// The distinct terms in the order in which they came.
    text: String,
    entries: Vec<Entry>,
    /// An open hash table: the number of an entry and one, or zero. A power of two in length, at most half full.
    slots: Vec<u32>,
    /// Beginning and number of each entry, for sorting; kept for its room.
    order: Vec<(u64, u32)>,
    lengths: [u32; FIELDS],
}

/// A distinct term.
#[derive(Debug)]
struct Entry {
    start: u32,
    end: u32,
    hash: u32,
    /// Its place in the table.
    slot: u32,
    frequencies: [u16; FIELDS],
}

/// Slots of the smallest table.
const SLOTS: usize = 256;

impl TermVectorBuilder {
    /// Counts one occurrence of `term` in `field`.
    ///
    /// An empty term, or one that begins with a control character below U+0002, is not counted: the
    /// dictionary keeps labels there.
    pub fn add(&mut self, field: Field, term: &str) -> &mut Self {
        if is_term(term) {
            let number = self.entry(&normalise(term));
            let count = &mut self.entries[number].frequencies[field.index()];
            *count = count.saturating_add(1);
            let length = &mut self.lengths[field.index()];
            *length = length.saturating_add(1);
        }
        self
    }

    /// Sorts what was added, and leaves the builder empty for the next chunk.
    pub fn finish(&mut self) -> TermVector {
        let lengths = std::mem::take(&mut self.lengths);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.entries.iter().zip(0..).map(|(entry, number)| (beginning(self.term(entry)), number)));
        let term = |number: u32| self.term(&self.entries[number as usize]);
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| term(a.1).cmp(term(b.1))));
        let mut vector = TermVector {
            text: String::with_capacity(self.text.len()),
            ends: Vec::with_capacity(order.len()),
            frequencies: Vec::with_capacity(order.len()),
            lengths,
        };
        for &(_, number) in &order {
            vector.text.push_str(term(number));
            vector.ends.push(vector.text.len() as u32);
            vector.frequencies.push(self.entries[number as usize].frequencies);
        }
        self.order = order;
        for entry in self.entries.drain(..) {
            self.slots[entry.slot as usize] = 0;
        }
        self.text.clear();
        vector
    }

    fn term(&self, entry: &Entry) -> &str {
        &self.text[entry.start as usize..entry.end as usize]
    }

    /// The number of a term's entry, a new one if need be.
    fn entry(&mut self, term: &str) -> usize {
        if 2 * self.entries.len() >= self.slots.len() {
            self.grow();
        }
        let mut hasher = FxHasher::default();
        hasher.write(term.as_bytes());
        let hash = hasher.finish() as u32;
        let mut slot = hash as usize & (self.slots.len() - 1);
        while let Some(number) = self.slots[slot].checked_sub(1) {
            let entry = &self.entries[number as usize];
            if entry.hash == hash && self.term(entry) == term {
                return number as usize;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let start = self.text.len() as u32;
        self.text.push_str(term);
        let end = self.text.len() as u32;
        self.entries.push(Entry { start, end, hash, slot: slot as u32, frequencies: [0; FIELDS] });
        self.slots[slot] = self.entries.len() as u32;
        self.entries.len() - 1
    }

    /// Doubles the table.
    fn grow(&mut self) {
        let length = (2 * self.slots.len()).max(SLOTS);
        self.slots.clear();
        self.slots.resize(length, 0);
        for (entry, number) in self.entries.iter_mut().zip(1..) {
            let mut slot = entry.hash as usize & (length - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.slots[slot] = number;
            entry.slot = slot as u32;
        }
    }
}

/// The first eight bytes of a term as a number: where two differ, the terms stand in the same order.
fn beginning(term: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = term.len().min(8);
    bytes[..length].copy_from_slice(&term.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// Whether a text can stand in the dictionary as a term.
pub(crate) fn is_term(term: &str) -> bool {
    term.bytes().next().is_some_and(|first| first > crate::label::LABEL_PREFIX)
}

/// The form in which a term is stored and looked up: itself, or for a very long one its beginning
/// and a digest.
pub(crate) fn normalise(term: &str) -> Cow<'_, str> {
    if term.len() <= MAX_TERM {
        return Cow::Borrowed(term);
    }
    let kept = term.floor_char_boundary(KEPT);
    Cow::Owned(format!("{}{}", &term[..kept], &blake3::hash(term.as_bytes()).to_hex()[..32]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn terms_are_sorted_and_counted_chunk_by_chunk(
            chunks in prop::collection::vec(
                prop::collection::vec((0..FIELDS, "[ab\u{0}é]{0,10}|[a-z]{2}"), 0..400), 1..4),
        ) {
            let mut builder = TermVector::builder();
            for occurrences in chunks {
                let (mut expected, mut lengths) = (BTreeMap::<String, [u16; FIELDS]>::new(), [0; FIELDS]);
                for (field, term) in occurrences {
                    builder.add(Field::ALL[field], &term);
                    if is_term(&term) {
                        expected.entry(term).or_default()[field] += 1;
                        lengths[field] += 1;
                    }
                }
                let vector = builder.finish();
                prop_assert_eq!(vector.lengths(), lengths);
                let counted: Vec<_> = vector.iter().map(|(term, row)| (term.to_owned(), row)).collect();
                prop_assert_eq!(counted, expected.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
