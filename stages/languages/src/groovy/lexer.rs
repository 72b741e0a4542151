//! Splits Groovy sources into tokens.

use std::ops::Range;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword or an identifier.
    Word,
    /// A number, or a string in quotes or slashes.
    Literal,
    /// An operator, a bracket or any other character.
    Punctuation,
}

/// A token with its span.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) bytes: Range<usize>,
    /// Whether a line feed separates the token from the previous token.
    pub(super) begins_line: bool,
    /// Whether the innermost open bracket is `(` or `[`.
    pub(super) is_grouped: bool,
    /// Index of the matching bracket, if the token is a bracket that has one.
    pub(super) partner: Option<usize>,
}

/// Operators of several characters, separated by spaces. A longer operator precedes its prefixes. `>>` is not listed,
/// because it may end type arguments.
const OPERATORS: &str = "@interface <=> ==~ ??. -> && || ?. *. .& .@ ?: :: == != =~ += ++ -- .* ..";

/// The quotes of literals. A longer quote precedes its prefixes.
const QUOTES: [&str; 6] = ["'''", "\"\"\"", "$/", "'", "\"", "/"];

/// Words after which an expression begins.
const BEFORE_EXPRESSION: &[&str] =
    &["return", "in", "case", "assert", "throw", "else", "do", "yield", "instanceof", "as"];

/// Returns the tokens of a text and the spans of its comments.
pub(super) fn tokens(text: &str) -> (Vec<Token>, Vec<Range<usize>>) {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), open: Vec::new(), has_open_literal: false };
    let (mut comments, mut begins_line) = (Vec::new(), true);
    while let Some(first) = lexer.rest().chars().next() {
        let start = lexer.at;
        if first.is_whitespace() {
            lexer.at += first.len_utf8();
        } else if let Some(end) = lexer.comment_end() {
            comments.push(start..end);
            lexer.at = end;
        } else {
            lexer.push_token(first, begins_line);
            begins_line = false;
            continue;
        }
        begins_line |= text[start..lexer.at].contains('\n');
    }
    (lexer.tokens, comments)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
    /// Indices of the open brackets.
    open: Vec<usize>,
    /// Whether a literal without a closing quote was read. All later interpolations are read as text, so that the lexer
    /// takes linear time.
    has_open_literal: bool,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn word(&self, index: usize) -> &'t str {
        &self.text[self.tokens[index].bytes.clone()]
    }

    fn comment_end(&self) -> Option<usize> {
        let rest = self.rest();
        if rest.starts_with("//") || (self.at == 0 && rest.starts_with("#!")) {
            return Some(self.line_end());
        }
        let inside = rest.strip_prefix("/*")?;
        Some(self.at + inside.find("*/").map_or(rest.len(), |length| length + 4))
    }

    fn line_end(&self) -> usize {
        self.rest().find('\n').map_or(self.text.len(), |length| self.at + length)
    }

    fn push_token(&mut self, first: char, begins_line: bool) {
        let rest = self.rest();
        let quote = QUOTES.into_iter().find(|quote| rest.starts_with(quote));
        let (kind, end) = match quote.filter(|quote| !quote.ends_with('/') || self.may_begin_literal()) {
            Some(quote) => (TokenKind::Literal, self.literal_end(quote)),
            None if is_word(first) => {
                let end = rest.find(|c| !is_word(c)).map_or(self.text.len(), |length| self.at + length);
                (if first.is_ascii_digit() { TokenKind::Literal } else { TokenKind::Word }, end)
            }
            None => {
                let operator = OPERATORS.split(' ').find(|operator| rest.starts_with(operator));
                (TokenKind::Punctuation, self.at + operator.map_or(first.len_utf8(), str::len))
            }
        };
        let is_grouped = self.open.last().is_some_and(|open| self.word(*open) != "{");
        self.tokens.push(Token { kind, bytes: self.at..end, begins_line, is_grouped, partner: None });
        self.at = end;
        self.pair_bracket(self.tokens.len() - 1);
    }

    /// Whether `/` begins a literal here. It is a division if the previous token is an operand.
    fn may_begin_literal(&self) -> bool {
        let Some(last) = self.tokens.len().checked_sub(1) else { return true };
        match self.tokens[last].kind {
            TokenKind::Word => BEFORE_EXPRESSION.contains(&self.word(last)),
            TokenKind::Literal => false,
            TokenKind::Punctuation => !matches!(self.word(last), ")" | "]" | "}" | "++" | "--"),
        }
    }

    /// Returns the end of the literal that begins here. If the closing quote is missing, returns the end of the line,
    /// or the end of the text for literals that may span lines.
    fn literal_end(&mut self, quote: &'static str) -> usize {
        if quote == "$/" {
            return self.rest()[2..].find("/$").map_or(self.text.len(), |length| self.at + length + 4);
        }
        let has_interpolations = !quote.starts_with('\'') && !self.has_open_literal;
        let mut end = self.quote_end(quote, has_interpolations);
        if has_interpolations && end.is_none() {
            self.has_open_literal = true;
            end = self.quote_end(quote, false);
        }
        end.unwrap_or_else(|| if quote.len() == 3 { self.text.len() } else { self.line_end() })
    }

    fn quote_end(&self, quote: &'static str, has_interpolations: bool) -> Option<usize> {
        let bytes = self.text.as_bytes();
        // The closing quotes and braces that are expected, innermost last.
        let mut open = vec![quote];
        let mut at = self.at + quote.len();
        while let Some(innermost) = open.last().copied() {
            let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
            let is_code = innermost == "}";
            if rest.starts_with(innermost.as_bytes()) {
                open.pop();
                at += innermost.len();
            } else if is_code {
                let opening = [("{", "}"), ("'''", "'''"), ("\"\"\"", "\"\"\""), ("'", "'"), ("\"", "\"")];
                let opened = opening.into_iter().find(|(begin, _)| rest.starts_with(begin.as_bytes()));
                open.extend(opened.map(|(_, end)| end));
                at += opened.map_or(1, |(begin, _)| begin.len());
            } else if rest[0] == b'\n' && innermost.len() == 1 {
                return None;
            } else if rest[0] == b'\\' {
                at += if innermost == "/" && rest.get(1) != Some(&b'/') { 1 } else { 2 };
            } else if has_interpolations && !innermost.starts_with('\'') && rest.starts_with(b"${") {
                open.push("}");
                at += 2;
            } else {
                at += 1;
            }
        }
        Some(at)
    }

    /// Records an opening bracket, or matches a closing bracket with its opening bracket.
    fn pair_bracket(&mut self, index: usize) {
        let open = match self.word(index) {
            "(" | "[" | "{" => return self.open.push(index),
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => return,
        };
        // A closing brace also ends open parentheses and square brackets, but `)` and `]` do not end an open brace.
        while open == "{" && self.open.last().is_some_and(|last| self.word(*last) != "{") {
            self.open.pop();
        }
        if let Some(other) = self.open.last().copied().filter(|last| self.word(*last) == open) {
            self.open.pop();
            self.tokens[other].partner = Some(index);
            self.tokens[index].partner = Some(other);
        }
    }
}

/// Whether a character can be part of a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}
