//! Tokens of a source with their matching brackets.

use std::ops::Range;

use crate::c::lexer::{Token, TokenKind};
use crate::c::words::is_macro;

pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    /// For each token, the index of the matching bracket, or of the token itself.
    pub(super) partners: Vec<u32>,
    /// Indices of words that may end a block, such as `JVM_END`.
    pub(super) ends: Vec<usize>,
    /// Indices of the semicolons.
    pub(super) semicolons: Vec<usize>,
    /// Indices of the commas.
    pub(super) commas: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        let (mut semicolons, mut commas) = (Vec::new(), Vec::new());
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Punctuation(b';') => semicolons.push(at),
                TokenKind::Punctuation(b',') => commas.push(at),
                _ => {}
            }
        }
        Self { text, partners: partners(&tokens), ends: ends(&tokens, text), semicolons, commas, tokens }
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.bytes.clone()])
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word)
    }

    pub(super) fn is(&self, at: usize, punctuation: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Punctuation(punctuation))
    }

    /// Returns the index of the closing parenthesis of the arguments that begin at `at`.
    pub(super) fn close(&self, at: usize) -> Option<usize> {
        let close = *self.partners.get(at)? as usize;
        (self.is(at, b'(') && close > at).then_some(close)
    }

    pub(super) fn bytes(&self, first: usize, last: usize) -> Range<usize> {
        self.tokens[first].bytes.start..self.tokens[last].bytes.end
    }

    /// Whether only white space precedes a token on its line.
    pub(super) fn begins_line(&self, at: usize) -> bool {
        let before = &self.text[..self.tokens[at].bytes.start];
        before.trim_end_matches([' ', '\t']).ends_with('\n') || before.trim_end().is_empty()
    }

    /// Whether a line feed separates a token from the previous token.
    pub(super) fn follows_line(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or(0, |before| self.tokens[before].bytes.end);
        self.tokens.get(at).is_none_or(|token| self.text[before..token.bytes.start].contains('\n'))
    }

    /// Whether a declaration or statement can begin at a token.
    pub(super) fn begins_declaration(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        match self.tokens[before].kind {
            TokenKind::Directive => true,
            TokenKind::Punctuation(b')') => self.is_macro_line(self.partners[before] as usize) && self.follows_line(at),
            TokenKind::Punctuation(b) => matches!(b, b';' | b'{' | b'}' | b':' | b'>'),
            TokenKind::Word if is_macro(self.word(before)) => self.begins_line(before) && self.follows_line(at),
            TokenKind::Word => matches!(self.word(before), "static" | "extern" | "inline" | "virtual" | "end"),
            TokenKind::Literal => self.word(before) == "\"C\"",
        }
    }

    /// Whether the argument list that begins at a token belongs to a macro that begins a line.
    fn is_macro_line(&self, open: usize) -> bool {
        let name = open.wrapping_sub(1);
        self.is_word(name) && is_macro(self.word(name)) && self.begins_line(name)
    }

    /// Returns the index of the first comma between two brackets that is not inside nested brackets.
    pub(super) fn comma(&self, open: usize, close: usize) -> Option<usize> {
        let mut at = open + 1;
        while at < close {
            if self.is(at, b',') {
                return Some(at);
            }
            at = (self.partners[at] as usize).max(at) + 1;
        }
        None
    }
}

/// Whether a range contains any of `indices`, which must be in ascending order.
pub(super) fn is_any_in(indices: &[usize], range: Range<usize>) -> bool {
    indices.get(indices.partition_point(|index| *index < range.start)).is_some_and(|index| *index < range.end)
}

/// For each token, returns the index of the matching bracket, or of the token itself.
fn partners(tokens: &[Token]) -> Vec<u32> {
    let mut partners: Vec<u32> = (0..tokens.len() as u32).collect();
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let TokenKind::Punctuation(b) = token.kind else { continue };
        let opening = match b {
            b'(' | b'[' | b'{' => {
                open.push((b, index));
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        if let Some((_, start)) = open.pop_if(|(b, _)| *b == opening) {
            partners[start] = index as u32;
            partners[index] = start as u32;
        } else if b == b'}' {
            // This brace or an open bracket before it is unbalanced. Starts again after the brace, because the grammar
            // also recovers at the end of a block.
            open.clear();
        }
    }
    partners
}

fn ends(tokens: &[Token], text: &str) -> Vec<usize> {
    let is_end = |token: &Token| {
        let word = &text[token.bytes.clone()];
        token.kind == TokenKind::Word && word.ends_with("_END") && is_macro(word)
    };
    (0..tokens.len()).filter(|index| is_end(&tokens[*index])).collect()
}
