//! Exposes the statics in `thread_local! { … }` and `lazy_static! { … }`, which the grammar parses as plain tokens.

use crate::mask::Mask;

const MACROS: [&str; 2] = ["thread_local!", "lazy_static!"];

/// Masks the macros around statics, and `ref` after `static`.
pub(super) fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    for name in MACROS {
        let mut end = 0;
        for at in memchr::memmem::find_iter(text.as_bytes(), name) {
            let begins_word = !text.as_bytes()[..at].last().is_some_and(|byte| is_word(*byte));
            let after = at + name.len();
            let open = after + text[after..].len() - text[after..].trim_start().len();
            if at < end || !begins_word || !text[open..].starts_with(['{', '(']) {
                continue;
            }
            let Some(close) = close(text.as_bytes(), open) else { break };
            mask.blank(at..open + 1);
            mask.replace(close..close + 1, ";");
            for reference in memchr::memmem::find_iter(&text.as_bytes()[open..close], "static ref ") {
                mask.blank(open + reference + 7..open + reference + 10);
            }
            end = close;
        }
    }
    mask.text()
}

/// Returns the position of the bracket that closes the bracket at `open`, ignoring strings, characters and comments.
fn close(bytes: &[u8], open: usize) -> Option<usize> {
    let (mut at, mut depth) = (open, 0_usize);
    while at < bytes.len() {
        let rest = &bytes[at..];
        at += match rest {
            [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n')?,
            [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/")? + 2,
            [b'"', ..] => string_length(rest)?,
            [b'\'', b'\\', _, ..] => 4 + rest[3..].iter().position(|byte| *byte == b'\'')?,
            [b'\'', _, b'\'', ..] => 3,
            [b'{' | b'(' | b'[', ..] => {
                depth += 1;
                1
            }
            [b'}' | b')' | b']', ..] => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
                1
            }
            _ => 1,
        };
    }
    None
}

/// Length in bytes of a string with its quotes.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}
