//! The limits of an entry.

/// Maximum length of an id in bytes.
pub const ID_BYTES: usize = 256;
/// Maximum length of a tag, keyword, domain, semantic role or relation in bytes.
pub const LABEL_BYTES: usize = 128;
/// Maximum number of values in a list of tags, keywords, links or retention rules.
pub const LIST_VALUES: usize = 256;
/// Maximum length of the text of a field, and of a note, in bytes.
pub const TEXT_BYTES: usize = 4 << 20;
/// Maximum length of a JSON document in bytes. A text of [`TEXT_BYTES`] fits even if half of its bytes are escaped.
pub const DOCUMENT_BYTES: usize = 8 << 20;
/// Maximum nesting depth of lists and objects. `serde_json` rejects the 128th level.
pub const DEPTH: usize = 127;
