//! The postings of one window in columns, so that loops process several postings at once.

use super::tf_vector::TfVector;
use crate::chunk_id::WINDOW;
use crate::field::{FIELDS, Field};

/// The body is the last field.
const BODY: usize = Field::Body.index();
const _: () = assert!(BODY == FIELDS - 1);

/// An upper bound on the impacts of a group of postings in a window.
///
/// The impact of a posting grows with its frequencies and falls with the lengths of its fields. The highest frequency
/// and the shortest length of each field therefore bound the impact of all postings of the group. The bound holds for
/// all weights and average lengths that a search may use. Frequencies are encoded as bytes (see [`frequency_bound`]),
/// and lengths as length codes (see [`crate::length_from_code`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImpactBound<'c> {
    /// Highest frequency and shortest length of every field except the body; `None` for the group of postings whose
    /// term occurs only in the body.
    pub other_fields: Option<&'c [[u8; 2]; FIELDS - 1]>,
    /// Pareto frontier of (frequency, length) in the body, by descending frequency and descending length. Each length
    /// is the shortest length of a body with at least that frequency.
    pub body: &'c [[u8; 2]],
}

impl ImpactBound<'_> {
    /// Whether the lengths of the bodies are known. An unknown length is 0, which makes the bound loose.
    #[inline]
    pub fn has_lengths(&self) -> bool {
        self.body.iter().all(|[_, length]| *length > 0)
    }
}

/// Returns the highest frequency that a byte of an [`ImpactBound`] represents. The byte is the frequency, except that
/// [`u8::MAX`] represents all frequencies from that value on.
#[inline]
pub const fn frequency_bound(code: u8) -> u16 {
    if code == u8::MAX { u16::MAX } else { code as u16 }
}

/// Encodes a frequency as a byte of an [`ImpactBound`].
pub(super) fn frequency_code(frequency: u16) -> u8 {
    u8::try_from(frequency).unwrap_or(u8::MAX)
}

/// Whether the term occurs in the body and in no other field.
#[inline]
pub fn is_body_only(frequencies: &TfVector) -> bool {
    frequencies[..BODY] == [0; BODY]
}

/// The postings that one part of a list has in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListWindow {
    /// Number of the window. Its first id is the number times [`WINDOW`].
    pub number: u32,
    /// Number of postings, deleted chunks included.
    pub count: u32,
    /// The highest of the values that the caller of `Postings::windows` computed from the window's [`ImpactBound`]s.
    pub bound: f32,
    /// Index of the part.
    pub part: usize,
    /// Index of the window in the directory of a long part, or of its first posting in a decoded part.
    pub(super) entry: usize,
}

/// A stored tf vector: a code in the part's dictionary of frequent tf vectors, or an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TfCode {
    /// The code of a vector in the dictionary.
    Frequent(u8),
    /// A vector that is not in the dictionary.
    Exception(TfVector),
}

/// The postings of a window, deleted chunks included, in ascending order.
#[derive(Debug, Default)]
pub struct WindowPostings {
    /// Offsets of the chunks. The buffers are as long as the largest window so far; only the first `len` values belong
    /// to this window.
    pub(super) offsets: Vec<u16>,
    pub(super) codes: Vec<u8>,
    /// Indexes of the selected postings in the window.
    pub(super) selected: Vec<u16>,
    pub(super) len: usize,
    pub(super) exceptions: Vec<(u16, TfVector)>,
}

impl WindowPostings {
    /// Clears the buffers and makes room for `len` postings.
    pub(super) fn begin(&mut self, len: usize) {
        self.exceptions.clear();
        self.len = len;
        if self.offsets.len() < len {
            // Reserve capacity for a whole window. Memory that is never written to is never mapped.
            self.offsets.reserve(WINDOW as usize);
            self.offsets.resize(len, 0);
            self.codes.reserve(WINDOW as usize);
            self.codes.resize(len, 0);
            self.selected.reserve(WINDOW as usize);
            self.selected.resize(len, 0);
        }
    }

    /// Moves the offsets of selected postings to the front.
    pub(super) fn keep_selected(&mut self) {
        for (to, &from) in self.selected[..self.len].iter().enumerate() {
            self.offsets[to] = self.offsets[usize::from(from)];
        }
    }

    /// Returns the chunks as offsets from the first id of the window.
    #[inline]
    pub fn offsets(&self) -> &[u16] {
        &self.offsets[..self.len]
    }

    /// Returns the code of the tf vector of each posting. The code of an exception is not in the part's dictionary.
    #[inline]
    pub fn codes(&self) -> &[u8] {
        &self.codes[..self.len]
    }

    /// Returns the postings whose tf vectors are exceptions: their indexes, in ascending order, and the vectors.
    #[inline]
    pub fn exceptions(&self) -> &[(u16, TfVector)] {
        &self.exceptions
    }
}

/// Number of codes that are compared at once.
const GROUP: usize = 8;

/// Appends an item for each code that equals `exception`: the index of the code, and the next vector of `vectors`.
pub(super) fn find_exceptions(
    codes: &[u8],
    exception: u8,
    mut vectors: impl Iterator<Item = TfVector>,
    out: &mut Vec<(u16, TfVector)>,
) {
    const LOW: u64 = u64::from_le_bytes([0x7f; GROUP]);
    let (groups, rest) = codes.as_chunks();
    let mut add = |at: usize| out.push((at as u16, vectors.next().unwrap_or_default()));
    for (group, codes) in groups.iter().enumerate() {
        let differing = u64::from_le_bytes(*codes) ^ u64::from_le_bytes([exception; GROUP]);
        // Sets the highest bit of each byte that is 0.
        let mut left = !(((differing & LOW) + LOW) | differing | LOW);
        while left != 0 {
            add(group * GROUP + left.trailing_zeros() as usize / 8);
            left &= left - 1;
        }
    }
    let rest = rest.iter().enumerate().filter(|(_, code)| **code == exception);
    rest.for_each(|(at, _)| add(groups.len() * GROUP + at));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_exception_is_found(codes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..4], 0..100), exception in prop_oneof![any::<u8>(), 0u8..4]) {
            let expected = (0u16..).zip(&codes).filter(|(_, code)| **code == exception).map(|(at, _)| (at, [at; FIELDS]));
            let expected: Vec<_> = expected.collect();
            let mut found = Vec::new();
            find_exceptions(&codes, exception, expected.iter().map(|(_, row)| *row), &mut found);
            prop_assert_eq!(found, expected);
        }
    }
}
