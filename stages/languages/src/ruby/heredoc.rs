//! Detects here-documents with a long terminator, which would crash the scanner of the grammar.

/// Maximum length of the terminator in bytes. The scanner stores the length in one byte, and ends the process if the
/// length does not fit.
const MAX_WORD_BYTES: usize = 255;

/// Whether a here-document has a terminator that is too long for the scanner.
pub(super) fn has_long_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"<<").any(|at| {
        let rest = &bytes[at + 2..];
        let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"~")).unwrap_or(rest);
        rest.len() > MAX_WORD_BYTES
            && !is_quoted(&bytes[..at], rest[0])
            && !rest[1..=MAX_WORD_BYTES].iter().any(ends(rest[0]))
    })
}

/// Whether the operator `<<` is in quotes: `'<<'`.
fn is_quoted(before: &[u8], quote: u8) -> bool {
    let begins = |before: &[u8]| before.last().is_none_or(|byte| byte.is_ascii_whitespace() || b"([{,=".contains(byte));
    matches!(before, [before @ .., last] if *last == quote && begins(before))
}

/// Returns a test for the byte that ends a word. `first` is the first byte of the word, which may be a quote.
fn ends(first: u8) -> impl Fn(&u8) -> bool {
    move |byte| match first {
        b'"' | b'\'' | b'`' => *byte == first,
        _ => !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80),
    }
}
