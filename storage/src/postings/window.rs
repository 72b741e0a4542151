//! The postings of a window, by column: what is done to all of them is done to several at once.

use crate::field::{FIELDS, Field};
use crate::lengths::LengthCodes;

/// Chunk ids that are looked at together.
pub const WINDOW: u32 = 4096;

/// The frequencies of a term in the fields of a chunk.
pub type Row = [u16; FIELDS];

/// For every posting of some, one of the corners has no lower frequency and no greater length in any field.
///
/// A term's weight grows with its frequency and falls with the length of the field, so that the weightiest corner bounds
/// the score of all postings, whatever the average lengths are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corner {
    /// Of postings that are in the body alone.
    Body {
        /// How often the body holds the term.
        frequency: u16,
        /// Length of the body.
        length: u8,
    },
    /// Of others.
    Mixed {
        /// Frequency in every field.
        frequencies: Row,
        /// Length of every field; as high as can be where the frequency is 0.
        lengths: LengthCodes,
    },
}

impl Corner {
    /// Frequency and length of every field.
    pub fn row(&self) -> (Row, LengthCodes) {
        match *self {
            Self::Body { frequency, length } => {
                let (mut frequencies, mut lengths) = ([0; FIELDS], [u8::MAX; FIELDS]);
                (frequencies[Field::Body.index()], lengths[Field::Body.index()]) = (frequency, length);
                (frequencies, lengths)
            }
            Self::Mixed { frequencies, lengths } => (frequencies, lengths),
        }
    }
}

/// A run of postings of a list in one window: all that one part of the list has there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Which window: its first id is [`WINDOW`] times this.
    pub number: u32,
    /// Number of postings, dead ones included.
    pub count: u32,
    /// The highest value that the caller gave a corner.
    pub bound: f32,
    /// Which part of the list.
    pub part: usize,
    /// Where in the part's own list of windows.
    pub(super) entry: usize,
}

/// A row of frequencies, or its number in the palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coded {
    /// In the palette.
    Code(u8),
    /// Not there.
    Rare(Row),
}

/// The postings of a window, dead ones included, ascending by place.
#[derive(Debug, Default)]
pub struct WindowPostings {
    /// As long as the largest window so far.
    pub(super) places: Vec<u16>,
    pub(super) codes: Vec<u8>,
    /// Where those that are wanted were in `places`, if only some are.
    pub(super) selected: Vec<u16>,
    pub(super) len: usize,
    pub(super) rare: Vec<(u16, Row)>,
}

impl WindowPostings {
    /// Makes room for so many postings.
    pub(super) fn begin(&mut self, len: usize) {
        self.rare.clear();
        self.len = len;
        if self.places.len() < len {
            self.places.resize(len, 0);
            self.codes.resize(len, 0);
            self.selected.resize(len, 0);
        }
    }

    /// Moves the places of selected postings to the front.
    pub(super) fn keep_selected(&mut self) {
        for (to, &from) in self.selected[..self.len].iter().enumerate() {
            self.places[to] = self.places[usize::from(from)];
        }
    }

    /// The chunks, as places in the window.
    #[inline]
    pub fn places(&self) -> &[u16] {
        &self.places[..self.len]
    }

    /// For each posting the number of its row in the part's palette; no number of one for those of [`Self::rare`].
    #[inline]
    pub fn codes(&self) -> &[u8] {
        &self.codes[..self.len]
    }

    /// Postings whose rows are not in the palette, by their index.
    pub fn rare(&self) -> &[(u16, Row)] {
        &self.rare
    }
}

/// Codes that are looked at together.
const GROUP: usize = 32;

/// Appends the indexes of codes that equal `rare`, with the rows that are given for them.
pub(super) fn find_rare(codes: &[u8], rare: u8, mut rows: impl Iterator<Item = Row>, out: &mut Vec<(u16, Row)>) {
    for (group, codes) in codes.chunks(GROUP).enumerate() {
        // Without a way out of the loop, which then looks at several at once.
        if codes.iter().fold(false, |any, code| any | (*code == rare)) {
            let found = codes.iter().enumerate().filter(|(_, code)| **code == rare);
            out.extend(found.map(|(at, _)| ((group * GROUP + at) as u16, rows.next().unwrap_or_default())));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_rare_one_is_found(codes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..4], 0..100), rare in prop_oneof![any::<u8>(), 0u8..4]) {
            let expected = (0u16..).zip(&codes).filter(|(_, code)| **code == rare).map(|(at, _)| (at, [at; FIELDS]));
            let expected: Vec<_> = expected.collect();
            let mut found = Vec::new();
            find_rare(&codes, rare, expected.iter().map(|(_, row)| *row), &mut found);
            prop_assert_eq!(found, expected);
        }
    }
}
