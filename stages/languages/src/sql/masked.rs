//! What the grammar cannot read: functions, procedures and triggers, whose bodies are in another language in every dialect.
//!
//! Each is replaced by a statement of the same length that defines the same name, and whose last token is at its end.

use std::iter::Peekable;
use std::ops::Range;

use crate::sql::lexer::{Lexer, Token, TokenKind};

/// Words before the kind of an object in `CREATE OR REPLACE TEMPORARY FUNCTION` and the like, at most.
const MAX_MODIFIERS: usize = 12;

/// Words with which the only statement of a body begins; other bodies without `BEGIN` have declarations before it.
const STATEMENTS: &[&str] = &[
    "DELETE", "EXEC", "EXECUTE", "EXTERNAL", "INSERT", "LANGUAGE", "MERGE", "RETURN", "SELECT", "SET", "UPDATE", "WITH",
];

/// Blocks with an end of their own, such as `END IF`.
const OTHER_BLOCKS: &[&str] = &["FOR", "IF", "LOOP", "REPEAT", "WHILE"];

/// Replaces the definitions of functions, procedures and triggers, and what separates statements in scripts of T-SQL and
/// MySQL.
pub(super) fn masked(text: &str) -> Option<String> {
    let mut masked: Option<Vec<u8>> = None;
    let mut lexer = Lexer::new(text).peekable();
    let mut starts_statement = true;
    let mut delimiter = None;
    while let Some(token) = lexer.next() {
        let at = token.bytes.start;
        if starts_statement && is(text, &token, "CREATE") {
            starts_statement = false;
            if let Some(routine) = Routine::read(text, token.bytes.end, &mut lexer, delimiter) {
                routine.replace(masked.get_or_insert_with(|| text.as_bytes().to_vec()));
            }
        } else if let Some(delimiter) = delimiter.filter(|delimiter| text[at..].starts_with(*delimiter)) {
            let end = at + delimiter.len();
            let bytes = masked.get_or_insert_with(|| text.as_bytes().to_vec());
            blank(&mut bytes[at..end]);
            bytes[at] = b';';
            skip(&mut lexer, end);
            starts_statement = true;
        } else if is_separator(text, &token) {
            let line = text[at..].lines().next().unwrap_or_default();
            if is(text, &token, "DELIMITER") {
                delimiter = line.split_whitespace().nth(1).filter(|delimiter| *delimiter != ";");
            }
            let bytes = masked.get_or_insert_with(|| text.as_bytes().to_vec());
            blank(&mut bytes[at..at + line.len()]);
            if !starts_statement {
                bytes[at] = b';';
            }
            skip(&mut lexer, at + line.len());
            starts_statement = true;
        } else {
            starts_statement = token.kind == TokenKind::Mark(';');
            if text[at..].starts_with('[') && token.kind == TokenKind::Word {
                quote(masked.get_or_insert_with(|| text.as_bytes().to_vec()), token.bytes);
            }
        }
    }
    // Characters of several bytes are replaced as a whole.
    masked.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// A function, procedure or trigger.
struct Routine {
    /// The end of `CREATE`.
    create: usize,
    is_trigger: bool,
    /// Its name with its schema.
    name: Range<usize>,
    /// The first word of its body.
    body: usize,
    end: usize,
}

impl Routine {
    /// Reads a definition after `CREATE`; `None` for other objects, of which it reads the first words only.
    fn read(text: &str, create: usize, lexer: &mut Peekable<Lexer<'_>>, delimiter: Option<&str>) -> Option<Self> {
        let mut is_trigger = None;
        for _ in 0..MAX_MODIFIERS {
            let token =
                lexer.next_if(|token| token.kind != TokenKind::Mark(';') && token.kind != TokenKind::Mark('('))?;
            if ["FUNCTION", "PROC", "PROCEDURE", "TRIGGER"].iter().any(|kind| is(text, &token, kind)) {
                is_trigger = Some(is(text, &token, "TRIGGER"));
                break;
            }
        }
        let is_trigger = is_trigger?;
        while ["IF", "NOT", "EXISTS"].iter().any(|word| lexer.peek().is_some_and(|token| is(text, token, word))) {
            lexer.next();
        }
        let mut name = lexer.next_if(|token| token.kind == TokenKind::Word)?.bytes;
        while lexer.next_if(|token| token.kind == TokenKind::Mark('.')).is_some() {
            name.end = lexer.next_if(|token| token.kind == TokenKind::Word)?.bytes.end;
        }
        let limit = delimiter.map(|delimiter| text[name.end..].find(delimiter).map_or(text.len(), |at| name.end + at));
        let (body, end) = body_and_end(text, lexer, name.end, limit);
        Some(Self { create, is_trigger, name, body, end })
    }

    /// Replaces the definition, if the new statement fits between its line feeds.
    fn replace(&self, bytes: &mut [u8]) {
        let original = bytes[self.create..self.end].to_vec();
        if self.rewrite(bytes).is_none() {
            bytes[self.create..self.end].copy_from_slice(&original);
        }
    }

    /// Writes the new statement.
    fn rewrite(&self, bytes: &mut [u8]) -> Option<()> {
        let Statement { keyword, head, begin, last } =
            if self.is_trigger { Statement::INDEX } else { Statement::FUNCTION };
        let Self { name, end, .. } = self;
        blank(&mut bytes[self.create..name.start]);
        write(bytes, self.create + 1, name.start.checked_sub(1)?, keyword)?;
        quote(bytes, name.clone());
        blank(&mut bytes[name.end..*end]);
        let last_at = end.checked_sub(last.len())?;
        let head_end = head.iter().try_fold(name.end + 1, |at, token| write(bytes, at, last_at, token))?;
        begin.iter().try_fold(head_end.max(self.body), |at, token| write(bytes, at, last_at, token))?;
        write(bytes, last_at, *end, last).map(|_| ())
    }
}

/// The tokens of a statement that the grammar reads: `FUNCTION name () RETURNS INT AS '…'` or `INDEX name ON t (… a)`.
struct Statement {
    keyword: &'static [u8],
    /// After the name.
    head: &'static [&'static [u8]],
    /// At the start of the body.
    begin: &'static [&'static [u8]],
    /// At the end.
    last: &'static [u8],
}

impl Statement {
    const FUNCTION: Self =
        Self { keyword: b"FUNCTION", head: &[b"()", b"RETURNS", b"INT"], begin: &[b"AS", b"'"], last: b"'" };
    const INDEX: Self = Self { keyword: b"INDEX", head: &[b"ON", b"t"], begin: &[b"("], last: b"a)" };
}

/// The first word of the body of a definition, and the end of the definition without its semicolon: it ends at `limit`, if
/// there is one.
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
                let is = |word: &str| self::is(text, &token, word);
                if body.is_none() && ["AS", "IS", "BEGIN", "RETURN"].iter().any(|word| is(word)) {
                    body = Some(token.bytes.start);
                    let next = lexer.peek();
                    let is_statement = |next: &Token| STATEMENTS.iter().any(|word| self::is(text, next, word));
                    let is_literal = next.is_some_and(|next| next.kind == TokenKind::Literal);
                    is_complete = is("RETURN") || is_literal || next.is_some_and(is_statement);
                }
                // `END IF` ends no block that a word has begun.
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

/// Leaves out the tokens before an offset.
fn skip(lexer: &mut Peekable<Lexer<'_>>, to: usize) {
    while lexer.next_if(|token| token.bytes.start < to).is_some() {}
}

fn word<'t>(text: &'t str, token: &Token) -> &'t str {
    if token.kind == TokenKind::Word { &text[token.bytes.clone()] } else { "" }
}

fn is(text: &str, token: &Token, word: &str) -> bool {
    self::word(text, token).eq_ignore_ascii_case(word)
}

/// Whether a token begins a line `GO`, `/`, `//` or `DELIMITER …`.
fn is_separator(text: &str, token: &Token) -> bool {
    let before = text.as_bytes()[..token.bytes.start].last();
    if before.is_some_and(|byte| *byte != b'\n') {
        return false;
    }
    let line = text[token.bytes.start..].lines().next().unwrap_or_default().trim_end();
    line.eq_ignore_ascii_case("GO") || matches!(line, "/" | "//") || is(text, token, "DELIMITER")
}

/// Replaces brackets around identifiers by quotes.
fn quote(bytes: &mut [u8], name: Range<usize>) {
    bytes[name].iter_mut().filter(|byte| matches!(**byte, b'[' | b']')).for_each(|byte| *byte = b'"');
}

/// Replaces all bytes but line feeds by blanks.
fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| !matches!(**byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

/// Writes a token over blanks at or after `from`, and returns the offset of the blank after it.
fn write(bytes: &mut [u8], from: usize, to: usize, token: &[u8]) -> Option<usize> {
    let fits = |window: &[u8]| window.iter().all(|byte| *byte == b' ');
    let at = from + bytes.get(from..to)?.windows(token.len()).position(fits)?;
    bytes[at..at + token.len()].copy_from_slice(token);
    Some(at + token.len() + usize::from(bytes.get(at + token.len()) == Some(&b' ')))
}
