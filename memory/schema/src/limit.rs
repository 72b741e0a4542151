//! The bounds of an entry.

/// Longest id, in bytes.
pub const ID_BYTES: usize = 256;
/// Longest tag, keyword, domain, semantic role or relation, in bytes.
pub const LABEL_BYTES: usize = 128;
/// Most values of a list of tags, keywords, links or retention rules.
pub const LIST_VALUES: usize = 256;
/// Longest text of a field, and longest note, in bytes.
pub const TEXT_BYTES: usize = 4 << 20;
/// Longest JSON document, in bytes. A text of [`TEXT_BYTES`] fits even if half of its bytes are escaped.
pub const DOCUMENT_BYTES: usize = 8 << 20;
/// Deepest nesting of lists and objects. `serde_json` refuses the 128th level.
pub const DEPTH: usize = 127;
/// Most mistakes that are reported.
pub const MISTAKES: usize = 100;
