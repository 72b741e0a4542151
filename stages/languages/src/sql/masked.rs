//! Masks text that the grammar cannot read: bodies of functions, dialect-specific parts of definitions, and statements
//! of scripts.
//!
//! A definition is replaced with a statement that has the same length, defines the same name, and ends with a token at
//! the same offset. Other unsupported statements are blanked, because the grammar would read parts of the next
//! statement as parts of them.

use std::iter::Peekable;
use std::ops::Range;

use crate::sql::head::{Head, Kind};
use crate::sql::lexer::{Lexer, Token, TokenKind};
use crate::sql::output::{blank, quote, write_before};
use crate::sql::routines::Routine;
use crate::sql::statements::{begins_statement, foreign_lines, is_separator, is_supported};
use crate::sql::tables::Table;

/// Returns the masked text, or `None` if nothing is masked.
pub(super) fn masked(text: &str) -> Option<String> {
    // Each step blanks whole characters, so the text remains valid UTF-8.
    let sql = without(text.to_owned(), foreign_lines(text))?;
    let comments = Lexer::hash_comments(&sql);
    let readable = without(sql, comments)?;
    let mut masker = Masker::new(&readable);
    while let Some(token) = masker.lexer.next() {
        masker.token(&token);
    }
    masker.end_statement(readable.len(), false);
    let bytes = masker.bytes;
    (bytes != text.as_bytes()).then(|| String::from_utf8(bytes).ok()).flatten()
}

/// Returns the text with `parts` replaced by blanks.
fn without(text: String, parts: Vec<Range<usize>>) -> Option<String> {
    if parts.is_empty() {
        return Some(text);
    }
    let mut bytes = text.into_bytes();
    parts.into_iter().for_each(|part| blank(&mut bytes[part]));
    String::from_utf8(bytes).ok()
}

struct Masker<'t> {
    text: &'t str,
    lexer: Peekable<Lexer<'t>>,
    bytes: Vec<u8>,
    /// The delimiter that ends statements instead of a semicolon.
    delimiter: Option<&'t str>,
    /// Whether the next token begins a statement.
    is_start: bool,
    parentheses: usize,
    unsupported: Option<UnsupportedStatement>,
}

/// A statement that the grammar does not support.
struct UnsupportedStatement {
    start: usize,
    /// Whether the statement before this statement ended with a semicolon or separator.
    previous_ended: bool,
}

impl<'t> Masker<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            lexer: Lexer::new(text).peekable(),
            bytes: text.as_bytes().to_vec(),
            delimiter: None,
            is_start: true,
            parentheses: 0,
            unsupported: None,
        }
    }

    fn token(&mut self, token: &Token) {
        let (text, at) = (self.text, token.bytes.start);
        if let Some(delimiter) = self.delimiter.filter(|delimiter| text[at..].starts_with(*delimiter)) {
            self.separate(at, at + delimiter.len());
        } else if is_separator(text, token) {
            let line = text[at..].lines().next().unwrap_or_default();
            if token.is(text, "DELIMITER") {
                self.delimiter = line.split_whitespace().nth(1).filter(|delimiter| *delimiter != ";");
            }
            self.separate(at, at + line.len());
        } else if self.is_start || (self.parentheses == 0 && begins_statement(text, token)) {
            self.begin_statement(token);
        } else {
            match token.kind {
                TokenKind::Mark(';') => self.end_statement(token.bytes.end, true),
                TokenKind::Mark('(') => self.parentheses += 1,
                TokenKind::Mark(')') => self.parentheses = self.parentheses.saturating_sub(1),
                TokenKind::Word if text[at..].starts_with('[') => quote(&mut self.bytes, token.bytes.clone()),
                _ => {}
            }
        }
    }

    fn begin_statement(&mut self, token: &Token) {
        let at = token.bytes.start;
        let previous_ended =
            self.is_start || self.unsupported.as_ref().is_some_and(|unsupported| unsupported.previous_ended);
        self.end_statement(at, false);
        self.is_start = token.kind == TokenKind::Mark(';');
        if token.is(self.text, "CREATE") {
            if !previous_ended {
                write_before(&mut self.bytes, at, b';');
            }
            self.replace_definition(token);
        } else if !self.is_start && !is_supported(self.text, token) {
            self.unsupported = Some(UnsupportedStatement { start: at, previous_ended });
        }
    }

    /// Ends the current statement at the offset `end`. If `has_semicolon` is true, the statement ends with a semicolon.
    fn end_statement(&mut self, end: usize, has_semicolon: bool) {
        if let Some(UnsupportedStatement { start, previous_ended }) = self.unsupported.take() {
            let end = end - usize::from(has_semicolon && !previous_ended);
            blank(&mut self.bytes[start..end]);
        }
        self.is_start = has_semicolon;
        self.parentheses = 0;
    }

    /// Replaces a separator of statements with a semicolon.
    fn separate(&mut self, at: usize, end: usize) {
        let previous_ended =
            self.is_start || self.unsupported.as_ref().is_some_and(|unsupported| unsupported.previous_ended);
        self.end_statement(at, false);
        blank(&mut self.bytes[at..end]);
        if !previous_ended {
            self.bytes[at] = b';';
        }
        while self.lexer.next_if(|token| token.bytes.start < end).is_some() {}
        self.is_start = true;
    }

    /// Replaces the definition that begins with `create`.
    fn replace_definition(&mut self, create: &Token) {
        let Some(head) = Head::read(self.text, create.bytes.end, &mut self.lexer) else { return };
        if matches!(head.kind, Kind::Routine | Kind::Trigger) {
            Routine::read(self.text, head, &mut self.lexer, self.delimiter).replace(&mut self.bytes);
        } else {
            Table::read(self.text, head, &mut self.lexer, self.delimiter).replace(self.text, &mut self.bytes);
        }
    }
}
