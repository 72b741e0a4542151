//! Limits for entries.

/// Maximum length of an id in bytes.
pub const ID_BYTES: usize = 256;
/// Maximum length of a tag, keyword, domain, semantic role or relation in bytes.
pub const LABEL_BYTES: usize = 128;
/// Maximum number of values in a list of tags, keywords, links or retention rules.
pub const LIST_VALUES: usize = 256;
/// Maximum length in bytes of the text of a field, and of the file of a note.
pub const TEXT_BYTES: usize = 4 << 20;
/// Maximum length of a JSON document in bytes. The limit is large enough for a text of [`TEXT_BYTES`] that contains
/// many escape sequences.
pub const DOCUMENT_BYTES: usize = 8 << 20;
/// Maximum nesting depth of lists and objects. It is the greatest depth that `serde_json` accepts.
pub const DEPTH: usize = 127;
