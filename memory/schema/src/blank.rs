//! What counts as no text.

/// Whether a text has no visible character. The byte order mark is white space to JSON Schema, but not to Unicode.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}
