//! Blank texts.

/// Whether a text has no visible character. JSON Schema, unlike Unicode, treats the byte order mark as white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}
