//! The declared uses of a custom column. Every custom column is also stored, even if it has no uses.

use serde::Serialize;

/// The declared uses of a custom column. The values of a column without uses are only stored with the chunk and shown
/// with search results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ColumnUses {
    /// Whether searches can filter by the values.
    pub filter: bool,
    /// Weight of the values as terms of the chunk: each word of a value counts as this many occurrences of the term.
    pub terms: Option<u8>,
    /// Whether the values are part of the text that is embedded.
    pub embed: bool,
    /// Weight of the value in the score of the chunk. The values must be from −1 to 1.
    pub boost: Option<f32>,
}

impl ColumnUses {
    /// Searches can filter by the values; the values have no other use.
    pub const FILTER: Self = Self { filter: true, terms: None, embed: false, boost: None };
}
