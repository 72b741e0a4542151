//! The tokens of Groovy.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword or an identifier.
    Word,
    Number,
    /// A string in quotes or slashes.
    Literal,
    /// An operator, a bracket or any other character.
    Punctuation,
}

/// A token with its bytes.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) bytes: Range<usize>,
    /// Whether a line feed is between the token before and this one.
    pub(super) begins_line: bool,
}

/// A text as tokens and comments.
pub(super) struct Tokens {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Range<usize>>,
    /// For each bracket, the index of the other one of its pair.
    pub(super) partners: Vec<Option<usize>>,
}

/// Operators of several characters, the longer before the shorter. `>>` is not among them: it may end type arguments.
const OPERATORS: &[&str] = &[
    "...", "..<", "<=>", "==~", "===", "!==", "**=", "??.", "->", "&&", "||", "?.", "*.", ".&", ".@", "?:", "?=", "::",
    "==", "!=", "<=", ">=", "=~", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "**", "..",
];

/// Words after which an expression begins.
const BEFORE_EXPRESSION: &[&str] =
    &["return", "in", "case", "assert", "throw", "else", "do", "yield", "instanceof", "as"];

/// The tokens, comments and pairs of brackets of a text; nothing if it has more than `most` tokens.
pub(super) fn tokens(text: &str, most: usize) -> Option<Tokens> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), comments: Vec::new(), is_open: Unclosed::default() };
    let mut begins_line = true;
    while let Some(first) = text[lexer.at..].chars().next() {
        let start = lexer.at;
        if first.is_whitespace() {
            begins_line |= first == '\n';
            lexer.at += first.len_utf8();
        } else if let Some(end) = lexer.comment_end() {
            begins_line |= text[start..end].contains('\n');
            lexer.comments.push(start..end);
            lexer.at = end;
        } else if lexer.tokens.len() == most {
            return None;
        } else {
            let (kind, end) = lexer.token(first);
            lexer.tokens.push(Token { kind, bytes: start..end, begins_line });
            begins_line = false;
            lexer.at = end;
        }
    }
    let Lexer { tokens, comments, .. } = lexer;
    let partners = partners(text, &tokens);
    Some(Tokens { tokens, comments, partners })
}

/// Which literals have no end in the rest of the text, so that no end is searched for a second time.
#[derive(Default)]
struct Unclosed {
    slashes: bool,
    dollar_slashes: bool,
    /// Bytes that were read for interpolations without an end: at most as many as the text has, and those of one more.
    interpolated: usize,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
    comments: Vec<Range<usize>>,
    is_open: Unclosed,
}

impl Lexer<'_> {
    fn comment_end(&self) -> Option<usize> {
        let rest = &self.text[self.at..];
        if rest.starts_with("//") || (self.at == 0 && rest.starts_with("#!")) {
            return Some(self.at + rest.find('\n').unwrap_or(rest.len()));
        }
        let inside = rest.strip_prefix("/*")?;
        Some(self.at + inside.find("*/").map_or(rest.len(), |length| length + 4))
    }

    fn token(&mut self, first: char) -> (TokenKind, usize) {
        let rest = &self.text[self.at..];
        if let Some(end) = self.literal_end(first) {
            return (TokenKind::Literal, end);
        }
        if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let kind = if first.is_ascii_digit() { TokenKind::Number } else { TokenKind::Word };
            let fraction = rest[length..].strip_prefix('.').filter(|_| kind == TokenKind::Number);
            let fraction = fraction.filter(|fraction| fraction.starts_with(|c: char| c.is_ascii_digit()));
            let more = fraction.map_or(0, |rest| 1 + rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            return (kind, self.at + length + more);
        }
        let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
        (TokenKind::Punctuation, self.at + operator.map_or(first.len_utf8(), |operator| operator.len()))
    }

    fn literal_end(&mut self, first: char) -> Option<usize> {
        let rest = &self.text[self.at..];
        match first {
            '\'' if rest.starts_with("'''") => Some(self.end_of("'''", false).unwrap_or(self.text.len())),
            '\'' => Some(self.end_of("'", false).unwrap_or_else(|| self.line_end())),
            '"' => {
                let quote = if rest.starts_with("\"\"\"") { "\"\"\"" } else { "\"" };
                if let Some(end) = self.end_of(quote, true) {
                    return Some(end);
                }
                let missing = if quote.len() == 3 { self.text.len() } else { self.line_end() };
                Some(self.end_of(quote, false).unwrap_or(missing))
            }
            '/' if !self.is_open.slashes && self.may_begin_literal() => {
                let end = self.end_of("/", true).or_else(|| self.end_of("/", false));
                self.is_open.slashes = end.is_none();
                end
            }
            '$' if rest.starts_with("$/") && !self.is_open.dollar_slashes && self.may_begin_literal() => {
                let end = dollar_slashy_length(&rest[2..]).map(|length| self.at + 2 + length);
                self.is_open.dollar_slashes = end.is_none();
                end
            }
            _ => None,
        }
    }

    fn line_end(&self) -> usize {
        let rest = &self.text[self.at..];
        self.at + rest.find('\n').unwrap_or(rest.len())
    }

    /// Whether the token before is no operand, so that `/` is no division.
    fn may_begin_literal(&self) -> bool {
        let Some(last) = self.tokens.last() else { return true };
        let last_text = &self.text[last.bytes.clone()];
        match last.kind {
            TokenKind::Word => BEFORE_EXPRESSION.contains(&last_text),
            TokenKind::Number | TokenKind::Literal => false,
            TokenKind::Punctuation => !matches!(last_text, ")" | "]" | "}" | "++" | "--"),
        }
    }

    /// The end of a literal that begins here and ends with the same quote; one with a single quote ends in its line.
    fn end_of(&mut self, quote: &str, has_interpolations: bool) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let has_interpolations = has_interpolations && self.is_open.interpolated <= self.text.len();
        // The quotes and braces that are open, innermost last.
        let mut open = vec![quote];
        let mut at = self.at + quote.len();
        while let Some(innermost) = open.last().copied() {
            let rest = &bytes[at.min(bytes.len())..];
            let ends_line = || matches!(innermost, "'" | "\"") && rest[0] == b'\n';
            if rest.is_empty() || ends_line() {
                self.is_open.interpolated += if has_interpolations { at - self.at } else { 0 };
                return None;
            }
            let first = rest[0];
            let is_text = innermost != "}";
            if rest.starts_with(innermost.as_bytes()) {
                open.pop();
                at += innermost.len();
            } else if is_text && first == b'\\' {
                at += if innermost == "/" && rest.get(1) != Some(&b'/') { 1 } else { 2 };
            } else if is_text && has_interpolations && !innermost.starts_with('\'') && rest.starts_with(b"${") {
                open.push("}");
                at += 2;
            } else if !is_text && first == b'{' {
                open.push("}");
                at += 1;
            } else if !is_text && matches!(first, b'\'' | b'"') {
                let quote = ["'''", "\"\"\"", "'", "\""].into_iter().find(|quote| rest.starts_with(quote.as_bytes()));
                let quote = quote.unwrap_or("'");
                open.push(quote);
                at += quote.len();
            } else {
                at += 1;
            }
        }
        Some(at)
    }
}

/// The bytes up to the end of a literal after its `$/`.
fn dollar_slashy_length(inside: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = &inside.as_bytes()[at..];
        let next = rest.windows(2).position(|pair| matches!(pair, b"/$" | b"$$" | b"$/"))?;
        if rest[next] == b'/' {
            return Some(at + next + 2);
        }
        at += next + 2;
    }
}

/// Whether a character may be in a word.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The pairs of brackets; one that is closed by a bracket of another kind has no partner.
fn partners(text: &str, tokens: &[Token]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut counts = [0usize; 3];
    for (index, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Punctuation {
            continue;
        }
        let bracket = &text[token.bytes.clone()];
        if let Some(kind) = ["(", "[", "{"].iter().position(|open| *open == bracket) {
            open.push((index, kind));
            counts[kind] += 1;
        } else if let Some(kind) = [")", "]", "}"].iter().position(|close| *close == bracket) {
            // A brace ends other brackets; these end no brace.
            let ends = kind == 2 || open.last().is_some_and(|(_, last)| *last == kind);
            while ends && counts[kind] > 0 {
                let Some((other, other_kind)) = open.pop() else { break };
                counts[other_kind] -= 1;
                if other_kind == kind {
                    partners[other] = Some(index);
                    partners[index] = Some(other);
                    break;
                }
            }
        }
    }
    partners
}
