//! The postings of a window, by column: what is done to all of them is done to several at once.

use crate::field::{FIELDS, Field};

/// All fields are beside it that come before it.
const BODY: usize = Field::Body.index();
const _: () = assert!(BODY == FIELDS - 1);

/// Chunk ids that are looked at together.
pub const WINDOW: u32 = 4096;

/// The frequencies of a term in the fields of a chunk.
pub type Row = [u16; FIELDS];

/// What bounds the postings of a window that are in the body alone, or a group of the others.
///
/// A term's weight grows with its frequency and falls with the length of the field, so that the highest frequencies and
/// shortest fields bound the score of all postings, whatever the average lengths are. A frequency is a byte here, of which
/// the highest stands for all above, too: see [`most_of`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner<'c> {
    /// Highest frequency and shortest length of every field beside the body; `None` if only the body holds the term.
    pub beside: Option<&'c [[u8; 2]; FIELDS - 1]>,
    /// For the body falling frequencies with falling lengths: each the shortest with that frequency or a higher one.
    pub body: &'c [[u8; 2]],
}

impl Corner<'_> {
    /// Whether the lengths are those of postings; otherwise they are taken for 0, and the bound is far above all of them.
    #[inline]
    pub fn has_lengths(&self) -> bool {
        self.body.iter().all(|[_, length]| *length > 0)
    }
}

/// The highest frequency that a byte of a corner stands for.
pub const fn most_of(code: u8) -> u16 {
    match code {
        u8::MAX => u16::MAX,
        code => code as u16,
    }
}

/// The byte for a frequency.
pub(super) fn code_of(frequency: u16) -> u8 {
    u8::try_from(frequency).unwrap_or(u8::MAX)
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
            // Room for all of a window, of which only what is needed is ever touched.
            self.places.reserve(WINDOW as usize);
            self.places.resize(len, 0);
            self.codes.reserve(WINDOW as usize);
            self.codes.resize(len, 0);
            self.selected.reserve(WINDOW as usize);
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
const GROUP: usize = 8;

/// Appends the indexes of codes that equal `rare`, with the rows that are given for them.
pub(super) fn find_rare(codes: &[u8], rare: u8, mut rows: impl Iterator<Item = Row>, out: &mut Vec<(u16, Row)>) {
    const LOW: u64 = u64::from_le_bytes([0x7f; GROUP]);
    let (groups, rest) = codes.as_chunks();
    let mut add = |at: usize| out.push((at as u16, rows.next().unwrap_or_default()));
    for (group, codes) in groups.iter().enumerate() {
        let differing = u64::from_le_bytes(*codes) ^ u64::from_le_bytes([rare; GROUP]);
        // The highest bit of each byte that is 0.
        let mut left = !(((differing & LOW) + LOW) | differing | LOW);
        while left != 0 {
            add(group * GROUP + left.trailing_zeros() as usize / 8);
            left &= left - 1;
        }
    }
    let rest = rest.iter().enumerate().filter(|(_, code)| **code == rare);
    rest.for_each(|(at, _)| add(groups.len() * GROUP + at));
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
