//! What the grammar cannot read: bodies of functions, parts of definitions that one dialect has, statements of scripts.
//!
//! A definition is replaced by a statement of the same length that defines the same name, and whose last token is at its end.
//! Other statements that the grammar does not know are left out, because it would take parts of the next one for theirs.

use std::iter::Peekable;
use std::ops::Range;

use crate::sql::head::{Head, Kind};
use crate::sql::lexer::{Lexer, Token, TokenKind};
use crate::sql::output::{blank, quote, write_before};
use crate::sql::routines::Routine;
use crate::sql::statements::{begins_statement, foreign_lines, is_read, is_separator};
use crate::sql::tables::Table;

/// The text for the grammar, if it is another one.
pub(super) fn masked(text: &str) -> Option<String> {
    // Characters of several bytes are replaced as a whole.
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

/// The text with blanks instead of some of its parts.
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
    /// What ends statements instead of a semicolon.
    delimiter: Option<&'t str>,
    /// Whether the next token begins a statement.
    is_start: bool,
    parentheses: usize,
    unread: Option<Unread>,
}

/// A statement that the grammar does not read.
struct Unread {
    start: usize,
    /// Whether the one before it has ended.
    is_alone: bool,
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
            unread: None,
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
        let is_alone = self.is_start || self.unread.as_ref().is_some_and(|unread| unread.is_alone);
        self.end_statement(at, false);
        self.is_start = token.kind == TokenKind::Mark(';');
        if token.is(self.text, "CREATE") {
            if !is_alone {
                write_before(&mut self.bytes, at, b';');
            }
            self.replace_definition(token);
        } else if !self.is_start && !is_read(self.text, token) {
            self.unread = Some(Unread { start: at, is_alone });
        }
    }

    /// Ends a statement at an offset, with its semicolon before it or without one.
    fn end_statement(&mut self, end: usize, has_semicolon: bool) {
        if let Some(Unread { start, is_alone }) = self.unread.take() {
            let end = end - usize::from(has_semicolon && !is_alone);
            blank(&mut self.bytes[start..end]);
        }
        self.is_start = has_semicolon;
        self.parentheses = 0;
    }

    /// Replaces what separates statements by a semicolon.
    fn separate(&mut self, at: usize, end: usize) {
        let is_alone = self.is_start || self.unread.as_ref().is_some_and(|unread| unread.is_alone);
        self.end_statement(at, false);
        blank(&mut self.bytes[at..end]);
        if !is_alone {
            self.bytes[at] = b';';
        }
        while self.lexer.next_if(|token| token.bytes.start < end).is_some() {}
        self.is_start = true;
    }

    /// Replaces a definition after its `CREATE`.
    fn replace_definition(&mut self, create: &Token) {
        let Some(head) = Head::read(self.text, create.bytes.end, &mut self.lexer) else { return };
        if matches!(head.kind, Kind::Routine | Kind::Trigger) {
            Routine::read(self.text, head, &mut self.lexer, self.delimiter).replace(&mut self.bytes);
        } else {
            Table::read(self.text, head, &mut self.lexer, self.delimiter).replace(self.text, &mut self.bytes);
        }
    }
}
