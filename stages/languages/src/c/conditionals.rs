//! Masks conditionals that the grammar cannot read: conditionals with unbalanced brackets in a branch, and conditionals
//! inside parentheses, initialisers and statements. Only the first branch of such a conditional remains. All other
//! conditionals stay unchanged, because the grammar can read them.

use std::ops::Range;

use crate::c::lexer::{Token, TokenKind};
use crate::c::words::is_macro;
use crate::mask::Mask;

/// Maximum number of open brackets that are tracked.
const MAX_DEPTH: usize = 256;
/// Maximum number of tokens before a directive that are searched for the beginning of a constructor's initialisers.
const MAX_INITIALISER_TOKENS: usize = 256;

/// An open `#if`.
struct Conditional {
    /// Indices of the `#if`, `#else`, … tokens so far.
    directives: Vec<usize>,
    is_unreadable: bool,
    /// The open brackets before the `#if`.
    before: Vec<Bracket>,
    /// The open brackets after the first branch.
    after: Option<Vec<Bracket>>,
    /// The lowest number of open brackets that was reached in a branch.
    min_depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Parenthesis,
    Block,
    Initialiser,
}

/// Masks the directives of unreadable conditionals, and all their branches except the first.
pub(super) fn mask(text: &str, tokens: &[Token], mask: &mut Mask) {
    let mut brackets: Vec<Bracket> = Vec::new();
    let mut open: Vec<Conditional> = Vec::new();
    let mut blanked: Vec<Range<usize>> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punctuation(b @ (b'(' | b'[' | b'{')) if brackets.len() < MAX_DEPTH => {
                let is_initialiser = || begins_initialiser(&tokens[..index], text, brackets.last());
                brackets.push(match b {
                    b'{' if is_initialiser() => Bracket::Initialiser,
                    b'{' => Bracket::Block,
                    _ => Bracket::Parenthesis,
                });
            }
            TokenKind::Punctuation(b')' | b']' | b'}') => {
                brackets.pop();
                if let Some(conditional) = open.last_mut() {
                    conditional.min_depth = conditional.min_depth.min(brackets.len());
                }
            }
            TokenKind::Directive => match directive(&text[token.bytes.clone()]) {
                "if" | "ifdef" | "ifndef" => {
                    open.push(Conditional {
                        directives: vec![index],
                        is_unreadable: is_inside(brackets.last())
                            || interrupts(&tokens[..index], text)
                            || is_in_initialisers(&tokens[..index]),
                        before: brackets.clone(),
                        after: None,
                        min_depth: brackets.len(),
                    });
                }
                "else" | "elif" | "elifdef" | "elifndef" => {
                    if let Some(conditional) = open.last_mut() {
                        conditional.end_branch(index, &brackets);
                        brackets.clone_from(&conditional.before);
                    }
                }
                "endif" => {
                    let Some(mut conditional) = open.pop() else { continue };
                    conditional.end_branch(index, &brackets);
                    if conditional.is_unreadable {
                        conditional.blank(tokens, &mut blanked);
                    }
                    if let Some(outer) = open.last_mut() {
                        outer.min_depth = outer.min_depth.min(conditional.min_depth);
                    }
                    brackets = conditional.after.unwrap_or_default();
                }
                _ if is_inside(brackets.last()) => blanked.push(token.bytes.clone()),
                _ => {}
            },
            _ => {}
        }
    }
    blanked.into_iter().for_each(|bytes| mask.blank(bytes));
}

impl Conditional {
    fn end_branch(&mut self, directive: usize, brackets: &[Bracket]) {
        self.directives.push(directive);
        self.is_unreadable |= brackets != self.before || self.min_depth < self.before.len();
        self.after.get_or_insert_with(|| brackets.to_vec());
    }

    /// Adds the directives of the conditional, and all branches except the first, to the blanked ranges. Removes ranges
    /// that are inside these branches, so that each byte is blanked only once even if conditionals are nested.
    fn blank(&self, tokens: &[Token], blanked: &mut Vec<Range<usize>>) {
        let bytes = |directive: usize| tokens[directive].bytes.clone();
        if let [first, second, .., last] = self.directives[..] {
            let others = bytes(second).start..bytes(last).end;
            while blanked.pop_if(|inner| others.start <= inner.start).is_some() {}
            blanked.extend([bytes(first), others]);
        } else {
            blanked.extend(self.directives.iter().map(|directive| bytes(*directive)));
        }
    }
}

/// Returns the name of a preprocessor directive.
fn directive(line: &str) -> &str {
    let name = line.trim_start_matches('#').trim_start();
    &name[..name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len())]
}

fn is_inside(bracket: Option<&Bracket>) -> bool {
    matches!(bracket, Some(Bracket::Parenthesis | Bracket::Initialiser))
}

/// Whether a brace after `before` begins an initialiser.
fn begins_initialiser(before: &[Token], text: &str, around: Option<&Bracket>) -> bool {
    let Some(last) = before.iter().rev().find(|token| token.kind != TokenKind::Directive) else { return false };
    match last.kind {
        TokenKind::Punctuation(b'=') => true,
        TokenKind::Punctuation(b',' | b'{') => around == Some(&Bracket::Initialiser),
        TokenKind::Word => &text[last.bytes.clone()] == "return",
        _ => false,
    }
}

/// Whether a directive after `before` is inside an expression or a declaration.
fn interrupts(before: &[Token], text: &str) -> bool {
    let Some(last) = before.last() else { return false };
    match last.kind {
        TokenKind::Punctuation(b) => !matches!(b, b';' | b'{' | b'}' | b':' | b')' | b',' | b'>'),
        TokenKind::Word => !can_end(&text[last.bytes.clone()]),
        TokenKind::Literal => true,
        TokenKind::Directive => false,
    }
}

/// Whether a directive after `before` is among the initialisers of a constructor, as in `Name(int a) : a_(a),`.
fn is_in_initialisers(before: &[Token]) -> bool {
    let mut after = None;
    for token in before.iter().rev().take(MAX_INITIALISER_TOKENS) {
        match (token.kind, after) {
            (TokenKind::Punctuation(b';' | b'{' | b'}'), _) => return false,
            (TokenKind::Punctuation(b')'), Some(TokenKind::Punctuation(b':'))) => return true,
            (TokenKind::Directive, _) => {}
            _ => after = Some(token.kind),
        }
    }
    false
}

/// Whether a word can end a declaration without a semicolon: macros, and words such as `@end` of Objective-C.
fn can_end(word: &str) -> bool {
    is_macro(word) || matches!(word, "end" | "optional" | "required" | "else" | "do")
}
