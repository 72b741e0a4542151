//! The terms of one chunk, counted by field.

use std::borrow::Cow;

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
#[derive(Debug, Default)]
pub struct TermVectorBuilder {
    text: String,
    occurrences: Vec<(u32, u32, Field)>,
    lengths: [u32; FIELDS],
}

impl TermVectorBuilder {
    /// Counts one occurrence of `term` in `field`.
    ///
    /// An empty term, or one that begins with a control character below U+0002, is not counted: the
    /// dictionary keeps labels there.
    pub fn add(&mut self, field: Field, term: &str) -> &mut Self {
        if is_term(term) {
            let start = self.text.len();
            self.text.push_str(&normalise(term));
            self.occurrences.push((start as u32, self.text.len() as u32, field));
            let length = &mut self.lengths[field.index()];
            *length = length.saturating_add(1);
        }
        self
    }

    /// Sorts and counts what was added, and leaves the builder empty for the next chunk.
    pub fn finish(&mut self) -> TermVector {
        let text = std::mem::take(&mut self.text);
        let lengths = std::mem::take(&mut self.lengths);
        let mut occurrences = std::mem::take(&mut self.occurrences);
        let term = |&(start, end, _): &(u32, u32, Field)| &text[start as usize..end as usize];
        occurrences.sort_unstable_by(|a, b| term(a).cmp(term(b)));
        let mut vector = TermVector { lengths, ..TermVector::default() };
        for group in occurrences.chunk_by(|a, b| term(a) == term(b)) {
            let mut frequencies = [0u16; FIELDS];
            for (_, _, field) in group {
                let count = &mut frequencies[field.index()];
                *count = count.saturating_add(1);
            }
            vector.text.push_str(term(&group[0]));
            vector.ends.push(vector.text.len() as u32);
            vector.frequencies.push(frequencies);
        }
        occurrences.clear();
        self.occurrences = occurrences;
        vector.text.shrink_to_fit();
        vector
    }
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
