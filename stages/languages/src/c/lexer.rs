//! Splits C, C++ and Objective-C sources into tokens. The lexer distinguishes only the kinds of tokens that are needed
//! to mask macros and conditionals.

use std::ops::Range;

/// A token. Comments and white space are not tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) bytes: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A number, string or character.
    Literal,
    /// A single character, so `::` is two tokens.
    Punctuation(u8),
    /// A preprocessor line with its continuations, without the last line feed.
    Directive,
}

/// Splits a source into tokens.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(text.len() / 4);
    let (mut at, mut begins_line) = (0, true);
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b'\n' => {
                (at, begins_line) = (at + 1, true);
                continue;
            }
            b if b.is_ascii_whitespace() || b == b'\\' => {
                at += 1;
                continue;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                at = comment_end(bytes, at);
                continue;
            }
            b'#' if begins_line => {
                at = directive_end(bytes, at);
                TokenKind::Directive
            }
            b'"' if is_raw(bytes, at) => {
                at = raw_string_end(bytes, at);
                TokenKind::Literal
            }
            quote @ (b'"' | b'\'') => {
                at = literal_end(bytes, at, quote);
                TokenKind::Literal
            }
            b if b.is_ascii_digit() => {
                at = number_end(bytes, at);
                TokenKind::Literal
            }
            b if is_word(b) => {
                at += bytes[at..].iter().take_while(|b| is_word(**b)).count();
                TokenKind::Word
            }
            b => {
                at += 1;
                TokenKind::Punctuation(b)
            }
        };
        begins_line = false;
        found.push(Token { kind, bytes: start..at });
    }
    found
}

fn is_word(b: u8) -> bool {
    /// For each byte, whether it can be part of a word.
    const IS_WORD: [bool; 256] = {
        let mut is_word = [false; 256];
        let mut b = 0;
        while b < 256 {
            let byte = b as u8;
            is_word[b] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii();
            b += 1;
        }
        is_word
    };
    IS_WORD[usize::from(b)]
}

fn comment_end(bytes: &[u8], at: usize) -> usize {
    if bytes[at + 1] == b'/' {
        return memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
    }
    memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |length| at + length + 4)
}

/// Returns the end of a directive, including continuation lines and a comment that begins in it.
fn directive_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(next) = memchr::memchr2(b'\n', b'/', &bytes[end.min(bytes.len())..]) {
        end += next;
        match bytes[end] {
            b'\n' if bytes[..end].ends_with(b"\\") || bytes[..end].ends_with(b"\\\r") => end += 1,
            b'\n' => return end,
            _ if bytes.get(end + 1) == Some(&b'*') => end = comment_end(bytes, end),
            _ => end += 1,
        }
    }
    bytes.len()
}

/// Whether the quote at `at` begins a raw string such as `R"x(…)x"`.
fn is_raw(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].strip_suffix(b"R").map(|before| before.last());
    matches!(before, Some(None | Some(b'u' | b'U' | b'L' | b'8'))) || matches!(before, Some(Some(b)) if !is_word(*b))
}

/// Returns the raw strings whose delimiter has the maximum length of 16 characters, which the C++ grammar does not
/// support. Each range starts at the quote.
pub(super) fn longest_raw_strings(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut found, mut after) = (Vec::new(), 0);
    for at in memchr::memmem::find_iter(bytes, b"R\"") {
        let quote = at + 1;
        let is_longest = || bytes[quote + 1..].iter().take(17).position(|b| *b == b'(') == Some(16);
        if quote >= after && is_raw(bytes, quote) && is_longest() {
            after = raw_string_end(bytes, quote);
            found.push(quote..after);
        }
    }
    found
}

fn raw_string_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at + 1..];
    let Some(length) = rest.iter().take(17).position(|b| *b == b'(') else { return literal_end(bytes, at, b'"') };
    let close = [b")", &rest[..length], b"\""].concat();
    rest.windows(close.len()).position(|window| window == close).map_or(bytes.len(), |end| at + 1 + end + close.len())
}

/// Returns the end of a string or character literal, or the end of the line if the closing quote is missing.
fn literal_end(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 1,
            b'\n' => return end,
            b if b == quote => return end + 1,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}

fn number_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < bytes.len() {
        let is_separator = bytes[end] == b'\'' && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        let is_sign = matches!(bytes[end], b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E' | b'p' | b'P');
        let is_hexadecimal = bytes[at..end].starts_with(b"0x") && matches!(bytes[end - 1], b'e' | b'E');
        if !(is_word(bytes[end]) || bytes[end] == b'.' || is_separator || (is_sign && !is_hexadecimal)) {
            break;
        }
        end += 1;
    }
    end
}
