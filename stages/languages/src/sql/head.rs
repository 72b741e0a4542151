//! Reads the beginning of a definition.

use std::iter::Peekable;
use std::ops::Range;

use crate::sql::lexer::{Lexer, Token, TokenKind};
use crate::sql::statements::{begins_statement, is_separator};

/// Maximum number of words between `CREATE` and the kind of the object, such as `OR REPLACE TEMPORARY`.
const MAX_MODIFIERS: usize = 12;

/// Words after which `TABLE` or `VIEW` refers to an existing object and does not begin the name of a new one: `CREATE
/// POLICY p ON TABLE t`, `CREATE TYPE t AS TABLE OF u`.
const REFERENCES: &[&str] = &["AS", "FOR", "FROM", "OF", "ON", "TO"];

/// The kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Routine,
    Trigger,
    Table,
    View,
}

/// The head of a definition, such as `CREATE … TABLE IF NOT EXISTS name`.
pub(super) struct Head {
    pub(super) kind: Kind,
    /// End of the word `CREATE`.
    pub(super) create: usize,
    /// Span of the word for the kind.
    pub(super) keyword: Range<usize>,
    /// Span of the name with its schema.
    pub(super) name: Range<usize>,
}

impl Head {
    /// Reads the words after `CREATE` up to the name. Returns `None` if the kind of the object is not in [`Kind`]; only
    /// the first words are then consumed.
    pub(super) fn read(text: &str, create: usize, lexer: &mut Peekable<Lexer<'_>>) -> Option<Self> {
        let (kind, keyword) = Self::kind(text, lexer)?;
        while lexer.next_if(|token| token.is_any(text, &["IF", "NOT", "EXISTS"])).is_some() {}
        let mut name = lexer.next_if(|token| token.kind == TokenKind::Word)?.bytes;
        // Names of BigQuery projects may contain `-`.
        while lexer.next_if(|token| matches!(token.kind, TokenKind::Mark('.' | '-'))).is_some() {
            name.end = lexer.next_if(|token| token.kind == TokenKind::Word)?.bytes.end;
        }
        Some(Self { kind, create, keyword, name })
    }

    /// Reads the kind of the object. Also returns the span of the word for the kind.
    fn kind(text: &str, lexer: &mut Peekable<Lexer<'_>>) -> Option<(Kind, Range<usize>)> {
        let mut is_reference = false;
        for _ in 0..MAX_MODIFIERS {
            let token = lexer.next_if(|token| {
                let is_end = is_separator(text, token) || begins_statement(text, token);
                !is_end && !matches!(token.kind, TokenKind::Mark(';' | '('))
            })?;
            // `TABLE FUNCTION` defines a function.
            let is_attribute = is_reference || lexer.peek().is_some_and(|next| next.is(text, "FUNCTION"));
            match kind_of(token.word(text)) {
                Some(Kind::Table | Kind::View) if is_attribute => {}
                Some(kind) => return Some((kind, token.bytes)),
                None => {}
            }
            is_reference = token.is_any(text, REFERENCES);
        }
        None
    }
}

fn kind_of(word: &str) -> Option<Kind> {
    let is = |kind: &&str| word.eq_ignore_ascii_case(kind);
    if ["FUNCTION", "PROC", "PROCEDURE"].iter().any(is) {
        return Some(Kind::Routine);
    }
    [("TRIGGER", Kind::Trigger), ("TABLE", Kind::Table), ("VIEW", Kind::View)]
        .into_iter()
        .find_map(|(name, kind)| is(&name).then_some(kind))
}

impl Token {
    /// Returns the text of a word, or an empty string for all other tokens.
    pub(super) fn word<'t>(&self, text: &'t str) -> &'t str {
        if self.kind == TokenKind::Word { &text[self.bytes.clone()] } else { "" }
    }

    pub(super) fn is(&self, text: &str, word: &str) -> bool {
        self.word(text).eq_ignore_ascii_case(word)
    }

    pub(super) fn is_any(&self, text: &str, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(text, word))
    }
}
