//! Finds the beginnings and ends of statements in scripts of all dialects.

use std::ops::Range;

use crate::sql::lexer::{Token, TokenKind};

/// Words that begin a statement at the start of a line even if no semicolon precedes them.
const STARTERS: &[&str] = &[
    "ALTER", "BEGIN", "COMMIT", "CREATE", "DECLARE", "DELETE", "DROP", "END", "EXEC", "EXECUTE", "GRANT", "IF",
    "INSERT", "MERGE", "PRINT", "TRUNCATE", "UPDATE", "USE",
];

/// Words that begin statements that the grammar supports at least in part.
const SUPPORTED: &[&str] = &[
    "ALTER", "COMMENT", "CREATE", "DELETE", "DROP", "EXPLAIN", "INSERT", "MERGE", "REPLACE", "SELECT", "TRUNCATE",
    "UPDATE", "VALUES", "WITH",
];

/// Whether a token begins a statement even if no semicolon ends the previous statement.
pub(super) fn begins_statement(text: &str, token: &Token) -> bool {
    token.is_any(text, STARTERS) && begins_line(text, token)
}

fn begins_line(text: &str, token: &Token) -> bool {
    let before = text[..token.bytes.start].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// Whether the grammar supports a statement that begins with a token.
pub(super) fn is_supported(text: &str, token: &Token) -> bool {
    token.kind == TokenKind::Mark('(') || token.is_any(text, SUPPORTED)
}

/// Whether a token begins a line with a separator of statements: `GO`, `/`, `//` or `DELIMITER …`.
pub(super) fn is_separator(text: &str, token: &Token) -> bool {
    if !begins_line(text, token) {
        return false;
    }
    let line = text[token.bytes.start..].lines().next().unwrap_or_default().trim_end();
    line.eq_ignore_ascii_case("GO") || matches!(line, "/" | "//") || token.is(text, "DELIMITER")
}

/// Returns the spans of lines that are not SQL: commands of `psql`, and the rows that `COPY` reads.
pub(super) fn foreign_lines(text: &str) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut at, mut is_data) = (0, false);
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let is_copy = !is_data && is_copy(content);
        if is_data || is_copy || line.starts_with('\\') {
            lines.push(at..at + line.len());
        }
        is_data = is_copy || (is_data && content != "\\.");
        at += line.len();
    }
    lines
}

/// Whether a line is `COPY … FROM stdin;`.
fn is_copy(line: &str) -> bool {
    let is = |part: Option<&str>, word: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(word));
    let mut words = line.split_whitespace();
    is(words.next(), "COPY") && is(words.next_back(), "stdin;") && is(words.next_back(), "FROM")
}
