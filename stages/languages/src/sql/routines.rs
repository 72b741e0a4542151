//! Replaces functions, procedures and triggers, because every dialect has a different language for their bodies.

use std::iter::Peekable;

use crate::sql::head::{Head, Kind};
use crate::sql::lexer::{Lexer, Token, TokenKind};
use crate::sql::output::{Tokens, blank, hide, write, write_tokens};
use crate::sql::statements::is_separator;

/// Words that begin the only statement of a body. A body that begins with any other word has declarations before
/// `BEGIN`.
const STATEMENTS: &[&str] = &[
    "DELETE", "EXEC", "EXECUTE", "EXTERNAL", "INSERT", "LANGUAGE", "MERGE", "RETURN", "SELECT", "SET", "UPDATE", "WITH",
];

/// Words that begin blocks whose end repeats the word after `END`, such as `END IF`.
const OTHER_BLOCKS: &[&str] = &["FOR", "IF", "LOOP", "REPEAT", "WHILE"];

/// The tokens of `FUNCTION name () RETURNS INT AS '…'` after the name.
const FUNCTION: Tokens = Tokens { head: &[b"()", b"RETURNS", b"INT"], body: &[b"AS", b"'"], last: b"'" };
/// The tokens of `INDEX name ON t (… a)` after the name. Such a definition of an index replaces a trigger.
const INDEX: Tokens = Tokens { head: &[b"ON", b"t"], body: &[b"("], last: b"a)" };

/// A function, procedure or trigger.
pub(super) struct Routine {
    head: Head,
    /// Offset of the first word of the body.
    body: usize,
    end: usize,
}

impl Routine {
    pub(super) fn read(text: &str, head: Head, lexer: &mut Peekable<Lexer<'_>>, delimiter: Option<&str>) -> Self {
        let from = head.name.end;
        let limit = delimiter.map(|delimiter| text[from..].find(delimiter).map_or(text.len(), |at| from + at));
        let (body, end) = body_and_end(text, lexer, from, limit);
        Self { head, body, end }
    }

    /// Replaces the definition with a simple one that has the same name and whose last token ends at the same offset.
    /// Does nothing if the tokens do not fit between the line feeds.
    pub(super) fn replace(&self, bytes: &mut [u8]) {
        let original = bytes[self.head.create..self.end].to_vec();
        if self.rewrite(bytes).is_none() {
            bytes[self.head.create..self.end].copy_from_slice(&original);
        }
    }

    fn rewrite(&self, bytes: &mut [u8]) -> Option<()> {
        let Self { head: Head { kind, create, name, .. }, body, end } = self;
        let (keyword, tokens) =
            if *kind == Kind::Trigger { (b"INDEX".as_slice(), &INDEX) } else { (b"FUNCTION".as_slice(), &FUNCTION) };
        blank(&mut bytes[*create..name.start]);
        write(bytes, create + 1, name.start.checked_sub(1)?, keyword)?;
        hide(bytes, name.clone());
        blank(&mut bytes[name.end..*end]);
        write_tokens(bytes, name.end + 1, *end, tokens, *body)
    }
}

/// Returns the offset of the first word of the body of a definition, and the end of the definition without its
/// semicolon. If there is a `limit`, the definition ends at this offset.
fn body_and_end(text: &str, lexer: &mut Peekable<Lexer<'_>>, from: usize, limit: Option<usize>) -> (usize, usize) {
    let (mut body, mut end) = (None, from);
    let (mut parentheses, mut blocks) = (0usize, 0usize);
    // Whether the next semicolon outside of blocks ends the definition.
    let mut is_complete = true;
    let mut after_end = false;
    let is_inside = |token: &Token| match limit {
        Some(limit) => token.bytes.start < limit,
        None => !is_separator(text, token),
    };
    while let Some(token) = lexer.peek().filter(|token| is_inside(token)).cloned() {
        if token.kind == TokenKind::Mark(';') && limit.is_none() && parentheses == 0 && blocks == 0 && is_complete {
            break;
        }
        lexer.next();
        match token.kind {
            TokenKind::Mark('(') => parentheses += 1,
            TokenKind::Mark(')') => parentheses = parentheses.saturating_sub(1),
            TokenKind::Word if parentheses == 0 => {
                let is = |word: &str| token.is(text, word);
                if body.is_none() && ["AS", "IS", "BEGIN", "RETURN"].iter().any(|word| is(word)) {
                    body = Some(token.bytes.start);
                    let next = lexer.peek();
                    let is_statement = |next: &Token| next.is_any(text, STATEMENTS);
                    let is_literal = next.is_some_and(|next| next.kind == TokenKind::Literal);
                    is_complete = is("RETURN") || is_literal || next.is_some_and(is_statement);
                }
                // `END IF` does not end a `BEGIN` or `CASE` block, so it undoes the effect of its `END`.
                let ends_other = after_end && OTHER_BLOCKS.iter().any(|word| is(word));
                if ends_other || is("BEGIN") || (is("CASE") && !after_end) {
                    blocks += 1;
                } else if is("END") {
                    blocks = blocks.saturating_sub(1);
                    is_complete |= blocks == 0;
                }
                after_end = is("END");
            }
            _ => {}
        }
        end = token.bytes.end;
    }
    (body.unwrap_or(from), end)
}
