//! Masks syntax that the grammar does not support: `ref` before `partial`, some pointer dereferences, and directives of
//! single-file programs, such as `#:package Name`.

use crate::lines::begins_line;
use crate::mask::Mask;

pub(super) fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    mask_directives(text, &mut mask);
    mask_ref(text, &mut mask);
    if memchr::memmem::find(text.as_bytes(), b"unsafe").is_some() {
        mask_dereferences(text.as_bytes(), &mut mask);
    }
    mask.text()
}

/// Masks lines that begin with `#:`.
fn mask_directives(text: &str, mask: &mut Mask) {
    for at in memchr::memmem::find_iter(text.as_bytes(), b"#:") {
        if begins_line(text, at as u32) {
            mask.blank(at..at + text[at..].find('\n').unwrap_or(text.len() - at));
        }
    }
}

/// Masks `ref` in `ref partial struct`.
fn mask_ref(text: &str, mask: &mut Mask) {
    for at in memchr::memmem::find_iter(text.as_bytes(), b"ref ") {
        let is_word = !text.as_bytes()[..at].last().is_some_and(|byte| is_word(*byte));
        if is_word && text[at + 4..].trim_start_matches([' ', '\t']).starts_with("partial ") {
            mask.blank(at..at + 3);
        }
    }
}

/// Masks `*` in `*(p + 1)` where an operand is expected.
fn mask_dereferences(bytes: &[u8], mask: &mut Mask) {
    let mut last_masked = None;
    for at in memchr::memchr_iter(b'*', bytes) {
        let is_before_operand =
            bytes.get(at + 1).is_some_and(|next| is_word(*next) || matches!(next, b'(' | b'*' | b'+' | b'-'));
        let before = bytes[..at].iter().rposition(|byte| !byte.is_ascii_whitespace());
        let is_operand = match before.map(|before| (before, bytes[before])) {
            None => true,
            Some((before, b'*')) => last_masked == Some(before) || before + 1 < at,
            // `/*` begins a comment.
            Some((before, b'/')) => before + 1 < at,
            Some((before, byte)) if is_word(byte) => ends_with_keyword(&bytes[..=before]),
            Some((_, byte)) => b"(,;{}=&|!<?:+-%^~[".contains(&byte),
        };
        if is_before_operand && is_operand {
            mask.blank(at..at + 1);
            last_masked = Some(at);
        }
    }
}

fn ends_with_keyword(bytes: &[u8]) -> bool {
    [&b"return"[..], b"else", b"do", b"in"].iter().any(|keyword| {
        let rest = bytes.strip_suffix(*keyword);
        rest.is_some_and(|rest| !rest.last().is_some_and(|byte| is_word(*byte)))
    })
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}
