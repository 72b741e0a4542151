//! Here-documents with a long word.

/// The scanner of the grammar stores the length of the word in a byte, and ends the process where it does not fit.
const LONGEST_WORD: usize = 255;

/// Whether a here-document ends with a word that is too long for the scanner.
pub(super) fn has_long_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"<<").any(|at| {
        let rest = &bytes[at + 2..];
        let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"~")).unwrap_or(rest);
        let is_end = |byte: &u8| match rest[0] {
            quote @ (b'"' | b'\'' | b'`') => *byte == quote,
            _ => !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80),
        };
        rest.len() > LONGEST_WORD && !rest[1..=LONGEST_WORD].iter().any(is_end)
    })
}
