//! The postings of a window, by column: what is done to all of them is done to several at once.

use crate::field::{FIELDS, Field};
use crate::lengths::LengthCodes;

const BODY: usize = Field::Body.index();
/// Fields that tell apart postings which are not in the body alone: they have corners of their own for each set of these.
pub(super) const DECISIVE: [usize; 2] = [Field::Name.index(), Field::Signature.index()];

/// Chunk ids that are looked at together.
pub const WINDOW: u32 = 4096;

/// The frequencies of a term in the fields of a chunk.
pub type Row = [u16; FIELDS];

/// What bounds the postings of a window that are in the body alone, or those that are not and have the same decisive fields.
///
/// A term's weight grows with its frequency and falls with the length of the field, so that the highest frequencies and
/// shortest fields bound the score of all postings, whatever the average lengths are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner<'c> {
    /// Highest frequency in every field beside the body.
    pub frequencies: Row,
    /// Shortest length of every field beside the body; as high as can be where the frequency is 0.
    pub lengths: LengthCodes,
    /// For the body falling frequencies with falling lengths: each the shortest with that frequency or a higher one.
    pub body: &'c [(u16, u8)],
}

impl Corner<'_> {
    /// The shortest fields of postings with such frequencies; `None` if the corner is not theirs, or has none of them.
    #[inline]
    pub fn shortest(&self, row: &Row) -> Option<LengthCodes> {
        let is_alike = is_body_alone(row) == is_body_alone(&self.frequencies)
            && DECISIVE.iter().all(|&field| (row[field] > 0) == (self.frequencies[field] > 0))
            && row[..BODY].iter().zip(&self.frequencies).all(|(count, most)| count <= most);
        if !is_alike {
            return None;
        }
        let (_, length) = self.body.iter().rfind(|(frequency, _)| row[BODY] <= *frequency)?;
        let mut lengths = self.lengths;
        lengths[BODY] = *length;
        Some(lengths)
    }
}

/// Whether only the body holds the term.
#[inline]
pub fn is_body_alone(row: &Row) -> bool {
    row[..BODY] == [0; BODY]
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
            for (at, _) in codes.iter().enumerate().filter(|(_, code)| **code == rare) {
                out.push(((group * GROUP + at) as u16, rows.next().unwrap_or_default()));
            }
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
