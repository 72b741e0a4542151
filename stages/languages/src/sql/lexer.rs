//! Splits SQL of any dialect into tokens. The lexer distinguishes only the kinds of tokens that are needed to find the
//! ends of statements.

use std::ops::Range;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword or an identifier, with or without quotes.
    Word,
    /// A string in single quotes, or between `$$` and `$$` or `$tag$` and `$tag$`.
    Literal,
    /// Any other character.
    Mark(char),
}

/// A token with its span.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) bytes: Range<usize>,
}

/// Iterator over the tokens of a text. It skips comments and white space.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// Spans of the `#` comments so far.
    hash_comments: Vec<Range<usize>>,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, hash_comments: Vec::new() }
    }

    /// Returns the spans of all comments that begin with `#`, as in MySQL.
    pub(super) fn hash_comments(text: &'t str) -> Vec<Range<usize>> {
        if memchr::memchr(b'#', text.as_bytes()).is_none() {
            return Vec::new();
        }
        let mut lexer = Self::new(text);
        lexer.by_ref().for_each(drop);
        lexer.hash_comments
    }

    /// Whether the `#` at an offset begins a comment, and not an operator or the name of a temporary table.
    fn is_hash_comment(&self, at: usize) -> bool {
        let next = self.text[at + 1..].chars().next();
        let is_line = || self.text[..at].trim_end_matches([' ', '\t']).ends_with('\n') || at == 0;
        next.is_none_or(|next| next.is_whitespace() || next == '#' || (!next.is_alphanumeric() && is_line()))
    }

    /// Returns the offset past the next `end` at or after `from`, or the end of the text.
    fn past(&self, from: usize, end: &str) -> usize {
        self.text.get(from..).and_then(|rest| rest.find(end)).map_or(self.text.len(), |at| from + at + end.len())
    }

    /// Returns the `$$` or `$tag$` at an offset.
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
                '#' if self.is_hash_comment(start) => {
                    let end = self.past(start, "\n");
                    self.hash_comments.push(start..end);
                    (None, end)
                }
                _ if rest.starts_with("/*") => (None, self.past(start + 2, "*/")),
                '\'' => (Some(TokenKind::Literal), self.past(start + 1, "'")),
                '"' => (Some(TokenKind::Word), self.past(start + 1, "\"")),
                '`' => (Some(TokenKind::Word), self.past(start + 1, "`")),
                // Before other characters, such as digits, the bracket probably begins an array index.
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
    c.is_alphabetic() || matches!(c, '_' | '#' | '<')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '@' | '#')
}
