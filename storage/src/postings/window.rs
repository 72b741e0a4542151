//! The postings of a window, by column: what is done to all of them is done to several at once.

use crate::field::FIELDS;
use crate::lengths::LengthCodes;

/// Chunk ids that are looked at together.
pub const WINDOW: u32 = 4096;
/// The same as a size.
pub(super) const PLACES: usize = WINDOW as usize;

/// The frequencies of a term in the fields of a chunk.
pub type Row = [u16; FIELDS];

/// For every posting of some, one of the corners has no lower frequency and no greater length in any field.
///
/// A term's weight grows with its frequency and falls with the length of the field, so that the weightiest corner bounds
/// the score of all postings, whatever the average lengths are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner {
    /// Frequency in every field.
    pub frequencies: Row,
    /// Length of every field; as high as can be where the frequency is 0.
    pub lengths: LengthCodes,
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

/// The postings of a window, dead ones included, ascending by place.
#[derive(Debug)]
pub struct WindowPostings {
    pub(super) places: Box<[u16; PLACES]>,
    pub(super) codes: Box<[u8; PLACES]>,
    pub(super) len: usize,
    pub(super) rare: Vec<Row>,
}

impl Default for WindowPostings {
    fn default() -> Self {
        Self { places: Box::new([0; PLACES]), codes: Box::new([0; PLACES]), len: 0, rare: Vec::new() }
    }
}

impl WindowPostings {
    /// The chunks, as places in the window.
    #[inline]
    pub fn places(&self) -> &[u16] {
        &self.places[..self.len]
    }

    /// For each posting the number of its row in the part's palette; from the length of that on, it is the next of
    /// [`Self::rare`].
    #[inline]
    pub fn codes(&self) -> &[u8] {
        &self.codes[..self.len]
    }

    /// Rows that are not in the palette, in the order of their postings.
    pub fn rare(&self) -> &[Row] {
        &self.rare
    }
}
