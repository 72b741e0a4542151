//! Reduces definitions of tables and views to syntax that the grammar supports.

use std::iter::Peekable;
use std::ops::Range;

use crate::sql::columns::replace_columns;
use crate::sql::head::{Head, Kind};
use crate::sql::lexer::{Lexer, Token, TokenKind};
use crate::sql::output::{Tokens, blank, blank_tokens, hide, quote, write_before, write_tokens};
use crate::sql::statements::{begins_statement, is_separator};

/// Words that begin a query that the grammar supports. The grammar also supports queries in parentheses.
const QUERIES: &[&str] = &["SELECT", "WITH"];

/// The tokens of `TABLE name AS SELECT … 1` after the name.
const AS_QUERY: Tokens = Tokens { head: &[b"AS"], body: &[b"SELECT"], last: b"1" };

const TYPE: &[u8] = b"TYPE";

/// A table or view.
pub(super) struct Table {
    head: Head,
    /// Tokens between the name and the query, or up to the end if there is no query.
    tokens: Vec<Token>,
    has_query: bool,
    /// Spans of the names in brackets in the query.
    bracketed: Vec<Range<usize>>,
}

impl Table {
    /// Reads the rest of a definition after its head.
    pub(super) fn read(text: &str, head: Head, lexer: &mut Peekable<Lexer<'_>>, delimiter: Option<&str>) -> Self {
        let mut table = Self { head, tokens: Vec::new(), has_query: false, bracketed: Vec::new() };
        let mut parentheses = 0usize;
        let mut is_as = false;
        while let Some(token) = lexer.next_if(|token| {
            let is_delimiter = delimiter.is_some_and(|delimiter| text[token.bytes.start..].starts_with(delimiter));
            let is_end = token.kind == TokenKind::Mark(';') || begins_statement(text, token);
            !(is_delimiter || is_separator(text, token) || (parentheses == 0 && is_end))
        }) {
            match token.kind {
                TokenKind::Mark('(') => parentheses += 1,
                TokenKind::Mark(')') => parentheses = parentheses.saturating_sub(1),
                _ => {}
            }
            if table.has_query {
                let is_bracketed = token.kind == TokenKind::Word && text[token.bytes.start..].starts_with('[');
                table.bracketed.extend(is_bracketed.then_some(token.bytes));
            } else if is_as && (token.kind == TokenKind::Mark('(') || token.is_any(text, QUERIES)) {
                table.has_query = true;
                // `AS` is part of the query.
                table.tokens.pop();
            } else {
                is_as = parentheses == 0 && token.is(text, "AS");
                table.tokens.push(token);
            }
        }
        table
    }

    /// Replaces the definition with one that the grammar supports. The new definition has the same name, columns and
    /// query, and its last token ends at the same offset.
    pub(super) fn replace(&self, text: &str, bytes: &mut [u8]) {
        let Head { kind, create, keyword, name } = &self.head;
        blank(&mut bytes[*create..keyword.start]);
        blank(&mut bytes[keyword.end..name.start]);
        hide(bytes, name.clone());
        self.bracketed.iter().for_each(|name| quote(bytes, name.clone()));
        let columns = if *kind == Kind::Table { self.columns() } else { &[] };
        let has_columns = replace_columns(text, columns, bytes);
        match self.tokens.last() {
            Some(last) if has_columns && !self.has_query => {
                blank_tokens(bytes, &self.tokens[columns.len() - 1..]);
                write_before(bytes, last.bytes.end, b')');
            }
            _ if has_columns => blank_tokens(bytes, &self.tokens[columns.len()..]),
            _ if self.has_query => blank_tokens(bytes, &self.tokens),
            last => self.replace_rest(bytes, last.map_or(name.end, |last| last.bytes.end)),
        }
    }

    /// Returns the tokens of the columns, including the parentheses around them.
    fn columns(&self) -> &[Token] {
        let mut parentheses = 0usize;
        let close = self.tokens.iter().position(|token| {
            match token.kind {
                TokenKind::Mark('(') => parentheses += 1,
                TokenKind::Mark(')') => parentheses = parentheses.saturating_sub(1),
                _ => {}
            }
            parentheses == 0
        });
        close.map_or(&[], |close| &self.tokens[..=close])
    }

    /// Replaces everything after the name with a query. If the query does not fit, the table becomes a type.
    fn replace_rest(&self, bytes: &mut [u8], end: usize) {
        let Head { keyword, name, .. } = &self.head;
        blank_tokens(bytes, &self.tokens);
        if write_tokens(bytes, name.end + 1, end, &AS_QUERY, name.end).is_none() {
            blank(&mut bytes[name.end..end]);
            blank(&mut bytes[keyword.clone()]);
            bytes[keyword.start..keyword.start + TYPE.len()].copy_from_slice(TYPE);
        }
    }
}
