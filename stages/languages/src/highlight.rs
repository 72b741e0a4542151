//! Highlights syntax with a lexer, which classifies the tokens of a line by the lexical table of a language.
//!
//! Unlike a grammar, the lexer can process any excerpt of a source. It takes a fraction of the time of a parse.

use std::ops::Range;

use crate::lexical_tables::LexicalTable;

/// A span of a line with its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Byte range in the line.
    pub bytes: Range<usize>,
    /// The class of the token.
    pub class: TokenClass,
}

/// The class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenClass {
    /// A reserved word.
    Keyword,
    /// A string or character literal.
    String,
    /// A comment.
    Comment,
    /// A numeric literal.
    Number,
    /// A heading of a document.
    Heading,
}

/// Returns the highlighted spans of each line of `text`. A line is highlighted as a whole if `class_of` returns a class
/// for it.
pub(crate) fn by_line(text: &str, class_of: fn(&str) -> Option<TokenClass>) -> Vec<Vec<Highlight>> {
    let whole = |line: &str| class_of(line).map(|class| Highlight { bytes: 0..line.len(), class });
    text.lines().map(|line| whole(line).into_iter().collect()).collect()
}

/// Returns the highlighted spans of each line of `text`, by the lexical table of a family of languages.
pub(crate) fn by_token(text: &str, family: &str) -> Vec<Vec<Highlight>> {
    let (table, mut open) = (LexicalTable::for_language(family), None);
    text.lines().map(|line| table.map_or_else(Vec::new, |table| table.highlight(line, &mut open))).collect()
}

/// An open token that continues on the next line.
#[derive(Clone, Copy)]
struct OpenToken {
    end: &'static str,
    class: TokenClass,
}

impl LexicalTable {
    fn highlight(&self, line: &str, open: &mut Option<OpenToken>) -> Vec<Highlight> {
        let mut found = Vec::new();
        let mut at = 0;
        if let Some(OpenToken { end, class }) = *open {
            at = match end_of(line, 0, end, class == TokenClass::String) {
                Some(past) => {
                    *open = None;
                    past
                }
                None => line.len(),
            };
            found.push(Highlight { bytes: 0..at, class });
        }
        while at < line.len() {
            let (length, class) = self.token(line, at, open);
            let bytes = at..at + length;
            at = bytes.end;
            found.extend(class.map(|class| Highlight { bytes, class }));
        }
        found
    }

    /// Returns the length and class of the token at `at`. Stores a token that continues on the next line in `open`.
    fn token(&self, line: &str, at: usize, open: &mut Option<OpenToken>) -> (usize, Option<TokenClass>) {
        let rest = &line[at..];
        if self.line_comments.iter().any(|mark| rest.starts_with(mark)) {
            return (rest.len(), Some(TokenClass::Comment));
        }
        if let Some((begin, end)) = self.block_comment.filter(|(begin, _)| rest.starts_with(begin)) {
            let past = end_of(line, at + begin.len(), end, false).unwrap_or_else(|| {
                *open = Some(OpenToken { end, class: TokenClass::Comment });
                line.len()
            });
            return (past - at, Some(TokenClass::Comment));
        }
        if let Some(&(quote, spans_lines)) = self.strings.iter().find(|(quote, _)| rest.starts_with(quote)) {
            let past = end_of(line, at + quote.len(), quote, true).unwrap_or_else(|| {
                *open = spans_lines.then_some(OpenToken { end: quote, class: TokenClass::String });
                line.len()
            });
            return (past - at, Some(TokenClass::String));
        }
        let length = word_length(rest);
        let word = &rest[..length];
        let class = if word.starts_with(|c: char| c.is_ascii_digit()) {
            Some(TokenClass::Number)
        } else {
            self.is_keyword(word).then_some(TokenClass::Keyword)
        };
        (length, class)
    }
}

/// Returns the offset past the first `end` at or after `from`, or `None` if the line contains no `end` there.
fn end_of(line: &str, from: usize, end: &str, has_escapes: bool) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if bytes[at..].starts_with(end.as_bytes()) {
            return Some(at + end.len());
        }
        at += if has_escapes && bytes[at] == b'\\' { 2 } else { 1 };
    }
    None
}

/// Returns the length in bytes of the identifier or number at the start of `rest`, or of the first character if it
/// begins neither.
fn word_length(rest: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    match rest.find(|c| !is_word(c)) {
        Some(0) => rest.chars().next().map_or(1, char::len_utf8),
        Some(end) => end,
        None => rest.len(),
    }
}
