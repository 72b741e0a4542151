//! What the grammar cannot read: the bodies of functions in procedural languages.

/// Replaces the text between `$$` and `$$`, or `$tag$` and `$tag$`, by blanks, and the marks by quotes, so that the grammar
/// reads it as a literal.
pub(super) fn masked(text: &str) -> Option<String> {
    let mut masked: Option<Vec<u8>> = None;
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'$', &text.as_bytes()[from..]).map(|at| from + at) {
        let Some(mark) = mark_at(text, at) else {
            from = at + 1;
            continue;
        };
        let inner = at + mark.len();
        let Some(length) = text[inner..].find(mark) else { break };
        let end = inner + length + mark.len();
        let bytes = masked.get_or_insert_with(|| text.as_bytes().to_vec());
        let feeds = |byte: &mut u8| *byte = if matches!(*byte, b'\n' | b'\r') { *byte } else { b' ' };
        bytes[at..end].iter_mut().for_each(feeds);
        (bytes[at], bytes[end - 1]) = (b'\'', b'\'');
        from = end;
    }
    // Characters of several bytes are replaced as a whole.
    masked.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// `$$` or `$tag$` at an offset.
fn mark_at(text: &str, at: usize) -> Option<&str> {
    let rest = &text[at..];
    let length = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_')? + 1;
    rest[length..].starts_with('$').then(|| &rest[..=length])
}
