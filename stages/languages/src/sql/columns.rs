//! Reduces the columns of a table to syntax that the grammar supports.

use crate::sql::lexer::{Token, TokenKind};
use crate::sql::output::{blank_tokens, hide};

/// Words that begin an entry that is not a column, such as a constraint.
const CONSTRAINTS: &[&str] =
    &["CHECK", "CONSTRAINT", "EXCLUDE", "FOREIGN", "FULLTEXT", "LIKE", "PRIMARY", "SPATIAL", "UNIQUE"];

/// Words that begin an index if column names in parentheses follow. Otherwise, such a word is the name of a column.
const INDEXES: &[&str] = &["DISTRIBUTE", "INDEX", "KEY", "PARTITION", "PERIOD", "PROJECTION"];

/// Words that the grammar supports after the name of a column.
const SUPPORTED: &[&str] = &[
    "AUTO_INCREMENT",
    "BIGINT",
    "BIGSERIAL",
    "BOOL",
    "BOOLEAN",
    "BYTEA",
    "CASCADE",
    "CHAR",
    "DATE",
    "DECIMAL",
    "DEFAULT",
    "DELETE",
    "DOUBLE",
    "FALSE",
    "FLOAT",
    "INT",
    "INTEGER",
    "JSON",
    "JSONB",
    "KEY",
    "NOT",
    "NULL",
    "NUMERIC",
    "ON",
    "PRECISION",
    "PRIMARY",
    "REAL",
    "REFERENCES",
    "SERIAL",
    "SMALLINT",
    "TEXT",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMPTZ",
    "TINYINT",
    "TRUE",
    "UNIQUE",
    "UPDATE",
    "UUID",
    "VARCHAR",
];

/// Reduces each column to its name and a word for its type, unless the grammar supports the whole column. Masks all
/// other entries. `tokens` are the parentheses and all tokens between them. Returns whether there are columns.
pub(super) fn replace_columns(text: &str, tokens: &[Token], bytes: &mut [u8]) -> bool {
    let Some(inside) = tokens.len().checked_sub(1).and_then(|last| tokens.get(1..last)) else { return false };
    let is_comma = |token: &Token| token.kind == TokenKind::Mark(',');
    let mut has_columns = false;
    for entry in entries(inside) {
        let is_after_comma = entry.first().is_some_and(is_comma);
        let column = &entry[usize::from(is_after_comma)..];
        if is_column(text, column) {
            // If the entries before the first column were masked, blanks the comma after them.
            blank_tokens(bytes, &entry[..usize::from(is_after_comma && !has_columns)]);
            replace_column(text, column, bytes);
            has_columns = true;
        } else {
            blank_tokens(bytes, entry);
        }
    }
    has_columns
}

/// Returns the tokens of each column or constraint. All entries except the first begin with a comma.
fn entries(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let (mut parentheses, mut parameters) = (0usize, 0usize);
    let mut starts = vec![0];
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Mark('(' | '[') => parentheses += 1,
            TokenKind::Mark(')' | ']') => parentheses = parentheses.saturating_sub(1),
            // Outside of parentheses, `<` begins type parameters. Inside, it is a comparison.
            TokenKind::Mark('<') if parentheses == 0 => parameters += 1,
            TokenKind::Mark('>') if parentheses == 0 => parameters = parameters.saturating_sub(1),
            TokenKind::Mark(',') if parentheses + parameters == 0 && index > 0 => starts.push(index),
            _ => {}
        }
    }
    let ends: Vec<usize> = starts[1..].iter().copied().chain([tokens.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &tokens[start..end])
}

fn is_column(text: &str, tokens: &[Token]) -> bool {
    let Some(first) = tokens.first().filter(|first| first.kind == TokenKind::Word) else { return false };
    if first.is_any(text, INDEXES) {
        let open = tokens.iter().position(|token| token.kind == TokenKind::Mark('('));
        let inside = open.and_then(|open| tokens.get(open + 1));
        let is_length = |token: &Token| {
            token.is(text, "MAX") || text[token.bytes.start..].starts_with(|c: char| c.is_ascii_digit())
        };
        return inside.is_none_or(is_length);
    }
    !first.is_any(text, CONSTRAINTS)
}

fn replace_column(text: &str, tokens: &[Token], bytes: &mut [u8]) {
    let [name, rest @ ..] = tokens else { return };
    hide(bytes, name.bytes.clone());
    if is_supported(text, rest) {
        return;
    }
    if let [kind, rest @ ..] = rest {
        hide(bytes, kind.bytes.clone());
        blank_tokens(bytes, rest);
    }
}

/// Whether the grammar supports the tokens after the name of a column.
fn is_supported(text: &str, tokens: &[Token]) -> bool {
    let mut before: Option<&Token> = None;
    // For each open parenthesis, whether it contains arguments or column names, and not the length of a type.
    let mut has_names: Vec<bool> = Vec::new();
    tokens.iter().all(|token| {
        let before = before.replace(token);
        match token.kind {
            TokenKind::Word => {
                let is_named = before.is_some_and(|before| match before.kind {
                    TokenKind::Mark(mark) => mark == '.' || has_names.last() == Some(&true),
                    _ => before.is_any(text, &["DEFAULT", "REFERENCES"]),
                });
                let word = &text[token.bytes.clone()];
                let is_keyword = has_names.is_empty() && token.is_any(text, SUPPORTED);
                let is_number = word.starts_with(|c: char| c.is_ascii_digit());
                !word.starts_with(['[', '@', '#']) && (is_number || is_named || is_keyword)
            }
            TokenKind::Mark('(') => {
                let is_name = |before: &Token| before.kind == TokenKind::Word && !before.is_any(text, SUPPORTED);
                has_names.push(before.is_some_and(is_name));
                true
            }
            TokenKind::Mark(mark) => {
                if mark == ')' {
                    has_names.pop();
                }
                matches!(mark, ')' | ',' | '.')
            }
            TokenKind::Literal => true,
        }
    })
}
