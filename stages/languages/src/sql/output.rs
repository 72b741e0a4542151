//! Overwrites parts of a text. The text keeps its length and line feeds.

use std::ops::Range;

use crate::sql::lexer::Token;

/// Replaces the brackets around an identifier with quotes.
pub(super) fn quote(bytes: &mut [u8], name: Range<usize>) {
    bytes[name].iter_mut().filter(|byte| matches!(**byte, b'[' | b']')).for_each(|byte| *byte = b'"');
}

/// Replaces the parts of a name with words that are not keywords in any dialect. Symbols still get the original name,
/// because it is read from the original text.
pub(super) fn hide(bytes: &mut [u8], name: Range<usize>) {
    let mut closing = None;
    for byte in &mut bytes[name] {
        let is_between = closing.is_none() && matches!(*byte, b'.' | b' ' | b'\t');
        if is_between || matches!(*byte, b'\n' | b'\r') {
            continue;
        }
        closing = match (closing, *byte) {
            (None, b'[') => Some(b']'),
            (None, quote @ (b'"' | b'`')) => Some(quote),
            (Some(closing), byte) if byte == closing => None,
            (closing, _) => closing,
        };
        *byte = b'a';
    }
}

/// Replaces tokens with blanks. Comments between them remain.
pub(super) fn blank_tokens(bytes: &mut [u8], tokens: &[Token]) {
    tokens.iter().for_each(|token| blank(&mut bytes[token.bytes.clone()]));
}

/// The white space character that replaces bytes of non-ASCII characters. It is never overwritten.
const FORM_FEED: u8 = 0x0c;

/// Replaces ASCII bytes, except for line feeds, with spaces, and the bytes of other characters with form feeds. Tokens
/// are only written over spaces, so that their offsets are on character boundaries of the original text.
pub(super) fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| !matches!(**byte, b'\n' | b'\r')) {
        *byte = if byte.is_ascii() && *byte != FORM_FEED { b' ' } else { FORM_FEED };
    }
}

/// Writes a token over the first run of spaces between `from` and `to` that is long enough. Returns the offset past the
/// token and, if a space follows the token, past this space.
pub(super) fn write(bytes: &mut [u8], from: usize, to: usize, token: &[u8]) -> Option<usize> {
    let fits = |window: &[u8]| window.iter().all(|byte| *byte == b' ');
    let at = from + bytes.get(from..to)?.windows(token.len()).position(fits)?;
    bytes[at..at + token.len()].copy_from_slice(token);
    Some(at + token.len() + usize::from(bytes.get(at + token.len()) == Some(&b' ')))
}

/// Writes a character over the last space of the white space before an offset, if there is a space.
pub(super) fn write_before(bytes: &mut [u8], at: usize, mark: u8) {
    let white_space = bytes[..at].iter().rev().take_while(|byte| byte.is_ascii_whitespace());
    if let Some(distance) = white_space.enumerate().find_map(|(index, byte)| (*byte == b' ').then_some(index + 1)) {
        bytes[at - distance] = mark;
    }
}

/// Writes the tokens of a statement between `from` and `end`, with the last token at the end. The tokens of the body
/// begin at or after the offset `body`. Returns `None` if the tokens do not fit.
pub(super) fn write_tokens(bytes: &mut [u8], from: usize, end: usize, tokens: &Tokens, body: usize) -> Option<()> {
    let last_at = end.checked_sub(tokens.last.len())?;
    let head_end = tokens.head.iter().try_fold(from, |at, token| write(bytes, at, last_at, token))?;
    tokens.body.iter().try_fold(head_end.max(body), |at, token| write(bytes, at, last_at, token))?;
    write(bytes, last_at, end, tokens.last).map(|_| ())
}

/// The tokens after the name that a statement defines.
pub(super) struct Tokens {
    pub(super) head: &'static [&'static [u8]],
    /// The tokens at the start of the body.
    pub(super) body: &'static [&'static [u8]],
    /// The token at the end of the statement.
    pub(super) last: &'static [u8],
}
