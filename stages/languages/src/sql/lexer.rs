//! The tokens of SQL in any dialect, as far as the ends of statements depend on them.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword or an identifier, with or without quotes.
    Word,
    /// A text in single quotes, or between `$$` and `$$` or `$tag$` and `$tag$`.
    Literal,
    /// Any other character.
    Mark(char),
}

/// A token with its bytes.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) bytes: Range<usize>,
}

/// Reads one token after another; comments and white space are left out.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The end of a text that begins at `from` and ends with `end`, or with the file.
    fn past(&self, from: usize, end: &str) -> usize {
        self.text.get(from..).and_then(|rest| rest.find(end)).map_or(self.text.len(), |at| from + at + end.len())
    }

    /// `$$` or `$tag$` at an offset.
    fn dollar_quote(&self, at: usize) -> Option<&'t str> {
        let rest = &self.text[at..];
        let length = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_')? + 1;
        rest[length..].starts_with('$').then(|| &rest[..=length])
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = &self.text[self.at..];
            let start = self.at;
            let first = rest.chars().next()?;
            let (kind, end) = match first {
                _ if first.is_whitespace() => (None, start + first.len_utf8()),
                _ if rest.starts_with("--") => (None, self.past(start, "\n")),
                _ if rest.starts_with("/*") => (None, self.past(start + 2, "*/")),
                '\'' => (Some(TokenKind::Literal), self.past(start + 1, "'")),
                '"' => (Some(TokenKind::Word), self.past(start + 1, "\"")),
                '`' => (Some(TokenKind::Word), self.past(start + 1, "`")),
                // An index of an array begins with a digit more often.
                '[' if rest[1..].starts_with(is_name) => (Some(TokenKind::Word), self.past(start + 1, "]")),
                '$' if self.dollar_quote(start).is_some() => {
                    let quote = self.dollar_quote(start).unwrap_or_default();
                    (Some(TokenKind::Literal), self.past(start + quote.len(), quote))
                }
                _ if is_word(first) => {
                    (Some(TokenKind::Word), rest.find(|c| !is_word(c)).map_or(self.text.len(), |length| start + length))
                }
                _ => (Some(TokenKind::Mark(first)), start + first.len_utf8()),
            };
            self.at = end;
            if let Some(kind) = kind {
                return Some(Token { kind, bytes: start..end });
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '@' | '#')
}
