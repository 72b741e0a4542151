//! The uses of the values of a custom column, in addition to storing them.

use serde::Serialize;

/// The declared uses of a custom column. Without any, its values are only stored with the chunk and shown with results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ColumnUses {
    /// Searches can filter by the values.
    pub filter: bool,
    /// Weight of the words of the values as terms of the chunk: each word counts as this many occurrences.
    pub terms: Option<u8>,
    /// The values are part of the text that is embedded.
    pub embed: bool,
    /// Weight of the value in the score of the chunk. The value is within −1..1.
    pub boost: Option<f32>,
}

impl ColumnUses {
    /// Filters only.
    pub const FILTER: Self = Self { filter: true, terms: None, embed: false, boost: None };

    /// Whether the column has this use.
    pub fn has(self, wanted: ColumnUse) -> bool {
        match wanted {
            ColumnUse::Filter => self.filter,
            ColumnUse::Terms => self.terms.is_some(),
            ColumnUse::Embed => self.embed,
            ColumnUse::Boost => self.boost.is_some(),
        }
    }
}

/// One use of a custom column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUse {
    /// See [`ColumnUses::filter`].
    Filter,
    /// See [`ColumnUses::terms`].
    Terms,
    /// See [`ColumnUses::embed`].
    Embed,
    /// See [`ColumnUses::boost`].
    Boost,
}
