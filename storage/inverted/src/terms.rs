//! The terms of one chunk, counted by field.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use crate::field::{FIELDS, Field};
use crate::postings::TfVector;
use crate::slots::{Slot, SlotTable};

/// First byte of labels. Labels are dictionary entries whose postings have no frequencies. No term begins with this
/// byte.
pub const LABEL_PREFIX: u8 = 0x01;

/// Maximum length in bytes of a term that is stored unchanged.
const MAX_TERM_BYTES: usize = 240;
/// Maximum length in bytes of the stored prefix of a term that is longer than [`MAX_TERM_BYTES`]. A digest replaces the
/// rest of the term.
const PREFIX_BYTES: usize = 200;

/// The terms of one chunk with their frequency in every field, and the lengths of the fields.
///
/// Terms are unique and in order of first occurrence. Frequencies saturate at `u16::MAX`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermVector {
    text: String,
    terms: Vec<CountedTerm>,
    lengths: [u32; FIELDS],
}

/// A term of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CountedTerm {
    /// Byte offset in the text at which the term starts.
    start: u32,
    /// Byte offset at which the term ends.
    end: u32,
    hash: u32,
    frequencies: TfVector,
}

/// A term or label with its hash.
#[derive(Debug, Clone, Copy)]
pub struct HashedTerm<'t> {
    /// The term.
    pub bytes: &'t [u8],
    /// Its hash.
    pub hash: u32,
}

impl<'t> HashedTerm<'t> {
    /// Hashes a term.
    #[inline]
    pub fn new(bytes: &'t [u8]) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        Self { bytes, hash: hasher.finish() as u32 }
    }
}

impl TermVector {
    /// Creates a builder of vectors.
    pub fn builder() -> TermVectorBuilder {
        TermVectorBuilder::default()
    }

    /// Number of distinct terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether the chunk has no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Number of term occurrences in each field.
    pub fn lengths(&self) -> [u32; FIELDS] {
        self.lengths
    }

    /// Returns the terms with their frequency in each field.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, TfVector)> + Clone + '_ {
        self.terms.iter().map(|term| (&self.text[term.start as usize..term.end as usize], term.frequencies))
    }

    /// Returns the terms with their hashes and their frequency in each field.
    pub fn hashed(&self) -> impl ExactSizeIterator<Item = (HashedTerm<'_>, TfVector)> + Clone {
        let hashed = |term| HashedTerm { bytes: self.bytes(term), hash: term.hash };
        self.terms.iter().map(move |term| (hashed(term), term.frequencies))
    }

    #[inline]
    fn bytes(&self, term: &CountedTerm) -> &[u8] {
        &self.text.as_bytes()[term.start as usize..term.end as usize]
    }

    /// Returns the sum of two vectors: term frequencies and field lengths are added.
    pub fn with(&self, more: &Self) -> Self {
        let mut joined = self.clone();
        let known: FxHashMap<&[u8], usize> =
            self.terms.iter().enumerate().map(|(at, term)| (self.bytes(term), at)).collect();
        for term in &more.terms {
            let Some(at) = known.get(more.bytes(term)) else {
                let start = joined.text.len() as u32;
                joined.text.push_str(&more.text[term.start as usize..term.end as usize]);
                joined.terms.push(CountedTerm { start, end: joined.text.len() as u32, ..*term });
                continue;
            };
            let counts = joined.terms[*at].frequencies.iter_mut().zip(term.frequencies);
            counts.for_each(|(count, more)| *count = count.saturating_add(more));
        }
        let lengths = joined.lengths.iter_mut().zip(more.lengths);
        lengths.for_each(|(length, more)| *length = length.saturating_add(more));
        joined
    }

    /// Number of bytes that the vector occupies on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.terms.capacity() * size_of::<CountedTerm>()
    }
}

/// Counts the terms of a chunk, in any order.
#[derive(Debug, Default)]
pub struct TermVectorBuilder {
    /// The counts so far; the buffers are reused.
    counted: TermVector,
    /// Numbers of the terms. After each chunk only the slots of its few terms are cleared. With hashbrown, counting
    /// takes 12 % longer, which is 1 % of an indexing run.
    slots: SlotTable,
}

impl TermVectorBuilder {
    /// Counts one occurrence of `term` in `field`.
    ///
    /// Ignores an empty term, and a term that begins with a control character below U+0002: the dictionary reserves
    /// that prefix for labels.
    pub fn add(&mut self, field: Field, term: &str) -> &mut Self {
        if let Some(number) = self.number(term) {
            self.count(field, number);
        }
        self
    }

    /// Returns the number of a term in this vector, from 0; `None` for a text that [`Self::add`] would ignore. The
    /// caller must then count the term with [`Self::count`]; otherwise the vector would contain a term with frequency
    /// 0.
    #[inline]
    pub fn number(&mut self, term: &str) -> Option<usize> {
        is_term(term).then(|| self.find_or_insert(&normalise(term)))
    }

    /// Counts one occurrence of the term with this number in `field`.
    #[inline]
    pub fn count(&mut self, field: Field, number: usize) {
        let count = &mut self.counted.terms[number].frequencies[field.index()];
        *count = count.saturating_add(1);
        let length = &mut self.counted.lengths[field.index()];
        *length = length.saturating_add(1);
    }

    /// Returns the counts and resets the builder for the next chunk.
    pub fn finish(&mut self) -> TermVector {
        // A clone has no spare capacity.
        let vector = self.counted.clone();
        self.counted.text.clear();
        self.counted.terms.clear();
        self.counted.lengths = [0; FIELDS];
        self.slots.clear();
        vector
    }

    /// Returns the number of a term, and adds the term with the next number if it is new.
    fn find_or_insert(&mut self, term: &str) -> usize {
        let HashedTerm { bytes, hash } = HashedTerm::new(term.as_bytes());
        let counted = &mut self.counted;
        let slot = Slot { hash, number: counted.terms.len() as u32 };
        let compare =
            |number: u32| terms_equal(counted.bytes(&counted.terms[number as usize]), bytes).then_some(number as usize);
        if let Some(known) = self.slots.find_or_insert(slot, compare) {
            return known;
        }
        let start = counted.text.len() as u32;
        counted.text.push_str(term);
        let end = counted.text.len() as u32;
        counted.terms.push(CountedTerm { start, end, hash, frequencies: [0; FIELDS] });
        slot.number as usize
    }
}

/// Whether two terms are equal. Does not call `memcmp` for short terms, because the call would be slower than the
/// comparison.
#[inline]
fn terms_equal(a: &[u8], b: &[u8]) -> bool {
    fn ends<const HALF: usize>(term: &[u8]) -> Option<(&[u8; HALF], &[u8; HALF])> {
        term.first_chunk().zip(term.last_chunk())
    }
    a.len() == b.len()
        && match a.len() {
            0..4 => a.iter().eq(b),
            4..8 => ends::<4>(a) == ends::<4>(b),
            8..=16 => ends::<8>(a) == ends::<8>(b),
            _ => a == b,
        }
}

/// Whether a text can be a term: it is not empty and begins with a byte above [`LABEL_PREFIX`].
pub fn is_term(term: &str) -> bool {
    term.bytes().next().is_some_and(|first| first > LABEL_PREFIX)
}

/// Returns the form in which a term is stored and looked up: the term, or for a very long term its prefix and a digest.
pub fn normalise(term: &str) -> Cow<'_, str> {
    if term.len() <= MAX_TERM_BYTES {
        return Cow::Borrowed(term);
    }
    let kept = term.floor_char_boundary(PREFIX_BYTES);
    Cow::Owned(format!("{}{}", &term[..kept], &blake3::hash(term.as_bytes()).to_hex()[..32]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_occurrence_is_counted_chunk_by_chunk(
            chunks in prop::collection::vec(
                prop::collection::vec((0..FIELDS, "[ab\u{0}é]{0,10}|[a-z]{2}"), 0..400), 1..4),
        ) {
            let mut builder = TermVector::builder();
            for occurrences in chunks {
                let (mut expected, mut lengths) = (BTreeMap::<String, TfVector>::new(), [0; FIELDS]);
                for (field, term) in occurrences {
                    builder.add(Field::ALL[field], &term);
                    if is_term(&term) {
                        expected.entry(term).or_default()[field] += 1;
                        lengths[field] += 1;
                    }
                }
                let vector = builder.finish();
                prop_assert_eq!(vector.lengths(), lengths);
                prop_assert_eq!(vector.len(), expected.len());
                let counted: BTreeMap<_, _> = vector.iter().map(|(term, row)| (term.to_owned(), row)).collect();
                prop_assert_eq!(counted, expected);
            }
        }

        #[test]
        fn a_sum_of_vectors_counts_the_terms_of_both(
            first in prop::collection::vec((0..FIELDS, "[ab]{1,2}"), 0..20),
            second in prop::collection::vec((0..FIELDS, "[ab]{1,2}"), 0..20),
        ) {
            let vector = |occurrences: &[(usize, String)]| {
                let mut builder = TermVector::builder();
                occurrences.iter().for_each(|(field, term)| _ = builder.add(Field::ALL[*field], term));
                builder.finish()
            };
            prop_assert_eq!(vector(&first).with(&vector(&second)), vector(&[first, second].concat()));
        }
    }
}
