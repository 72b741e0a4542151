//! The weighted fields of a chunk.

use serde::{Deserialize, Serialize};

/// Number of [`Field`]s.
pub const FIELDS: usize = 7;

/// A field of a chunk. Terms are counted and weighted separately for each field (BM25F).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[repr(u8)]
pub enum Field {
    /// Simple name.
    Name,
    /// Name with its enclosing scopes.
    QualifiedName,
    /// Declaration without its body.
    Signature,
    /// Path of the file.
    Path,
    /// Documentation text.
    Doc,
    /// Text of custom columns.
    Custom,
    /// Everything else: text, calls, imports.
    Body,
}

impl Field {
    /// All fields, in the order of arrays that are indexed by field.
    pub const ALL: [Self; FIELDS] =
        [Self::Name, Self::QualifiedName, Self::Signature, Self::Path, Self::Doc, Self::Custom, Self::Body];

    /// Position in arrays that are indexed by field.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name used in configuration and explanations.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
