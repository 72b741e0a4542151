//! Here-documents with a long word.

/// The scanner of the grammar stores the length of the word in a byte, and ends the process where it does not fit.
const LONGEST_WORD: usize = 255;

/// Whether a here-document ends with a word that is too long for the scanner.
pub(super) fn has_long_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"<<").any(|at| {
        let rest = &bytes[at + 2..];
        let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"~")).unwrap_or(rest);
        rest.len() > LONGEST_WORD
            && !is_quoted(&bytes[..at], rest[0])
            && !rest[1..=LONGEST_WORD].iter().any(ends(rest[0]))
    })
}

/// Whether the quote after an operator ends what the one before it begins: `'<<'`.
fn is_quoted(before: &[u8], quote: u8) -> bool {
    let begins = |before: &[u8]| before.last().is_none_or(|byte| byte.is_ascii_whitespace() || b"([{,=".contains(byte));
    matches!(before, [before @ .., last] if *last == quote && begins(before))
}

/// Whether a byte ends a word that begins with `first`, a quote or a part of it.
fn ends(first: u8) -> impl Fn(&u8) -> bool {
    move |byte| match first {
        b'"' | b'\'' | b'`' => *byte == first,
        _ => !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80),
    }
}
