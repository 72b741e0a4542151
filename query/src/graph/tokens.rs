//! The tokens of a chunk's text, sufficient to parse calls, types and declarations in any language.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::syntax::{Imports, Names, Syntax};

/// Maximum number of tokens of one text; further tokens are ignored.
const MAX_TOKENS: usize = 65_536;
/// Maximum number of positions that are recorded for one name.
const MAX_POSITIONS: usize = 64;
/// Maximum nesting of code in strings that is read: `${…}` in a string in `${…}`.
const MAX_STRING_DEPTH: u32 = 2;
/// Operators of several characters, longest first.
const OPERATORS: [&str; 23] = [
    "?->", "...", "===", "!==", "::", "->", "?.", "!!", "=>", ":=", "==", "!=", "<=", ">=", "&&", "||", "??", "+=",
    "-=", "..", "&.", "|>", "</",
];

/// The tokens of a text.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    text: String,
    list: Vec<Token>,
    /// For every token, the position of the enclosing opening bracket; for a closing bracket, the position of its
    /// opening bracket.
    openers: Vec<Option<u32>>,
    /// For every opening bracket, the position of its closing bracket.
    closers: Vec<Option<u32>>,
    /// The first positions of every name.
    positions: FxHashMap<String, Vec<u32>>,
    /// Whether an arrow precedes a member.
    arrow_members: bool,
}

#[derive(Debug, Clone, Copy)]
struct Token {
    start: u32,
    end: u32,
    kind: TokenKind,
    /// Whether the token is the first on its line, or the first of the code in a string.
    is_first: bool,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or keyword.
    Name,
    /// An operator, a bracket or any other character.
    Operator,
    /// A string or a regular expression.
    String,
    /// A number.
    Number,
}

impl Tokens {
    /// Splits a text into tokens. Comments are skipped.
    pub(crate) fn read(text: String, syntax: &Syntax) -> Self {
        // In Lua, `object:method()` is read as `object.method()`, so that methods are resolved like other members.
        let text = if syntax.names == Names::Lua { with_dots(&text) } else { text };
        let mut lexer = Lexer { syntax, list: Vec::new(), comments: Vec::new() };
        lexer.read(&text, 0, 0);
        let list = lexer.list;
        let (openers, closers) = brackets(&text, &list);
        let mut positions: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for (index, token) in (0..).zip(&list).filter(|(_, token)| token.kind == TokenKind::Name) {
            let positions = positions.entry(text[token.start as usize..token.end as usize].to_owned()).or_default();
            if positions.len() < MAX_POSITIONS {
                positions.push(index);
            }
        }
        Self { text, list, openers, closers, positions, arrow_members: syntax.arrow_members }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The token at a position; empty outside of the text.
    pub(crate) fn at(&self, index: usize) -> &str {
        self.list.get(index).map_or("", |token| &self.text[token.start as usize..token.end as usize])
    }

    /// The token before a position.
    pub(crate) fn before(&self, index: usize) -> &str {
        index.checked_sub(1).map_or("", |before| self.at(before))
    }

    pub(crate) fn kind(&self, index: usize) -> Option<TokenKind> {
        self.list.get(index).map(|token| token.kind)
    }

    pub(crate) fn is_name(&self, index: usize) -> bool {
        self.kind(index) == Some(TokenKind::Name)
    }

    /// The first positions of a name, in order.
    pub(crate) fn positions(&self, name: &str) -> impl Iterator<Item = usize> {
        self.positions.get(name).into_iter().flatten().map(|position| *position as usize)
    }

    /// Returns whether a token follows the previous token without white space.
    pub(crate) fn is_glued(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.list.get(before));
        before.zip(self.list.get(index)).is_some_and(|(before, token)| before.end == token.start)
    }

    /// Returns whether the token at `index` is a separator that is attached to the preceding name, as in `a::b` but not
    /// in `return ::b`. White space is allowed around dots.
    pub(crate) fn is_separator(&self, index: usize) -> bool {
        match self.at(index) {
            "." | "?." | "?->" | "&." | "$" => true,
            "->" => self.arrow_members,
            "::" | "\\" => self.is_glued(index),
            _ => false,
        }
    }

    /// Returns whether a token is the first on its line, or the first of the code in a string.
    pub(crate) fn is_first(&self, index: usize) -> bool {
        self.list.get(index).is_some_and(|token| token.is_first)
    }

    /// Returns the position of the opening bracket that encloses a token; for a closing bracket, of its opening
    /// bracket.
    pub(crate) fn opener(&self, index: usize) -> Option<usize> {
        self.openers.get(index).copied().flatten().map(|opener| opener as usize)
    }

    /// Returns the position of the closing bracket of an opening bracket.
    pub(crate) fn closer(&self, index: usize) -> Option<usize> {
        self.closers.get(index).copied().flatten().map(|closer| closer as usize)
    }

    /// Returns the position after the closing bracket of an opening bracket; `end` if the bracket is not closed.
    pub(crate) fn after_closer(&self, open: usize, end: usize) -> usize {
        self.closer(open).map_or(end, |closer| closer + 1)
    }
}

/// Returns the spans of the comments in a text, in bytes. If the text is a later piece of a definition, it may begin
/// inside a comment. Doubtful comments are omitted: comments without an end, directives, and line comments that could
/// be part of a word.
pub(crate) fn comments(text: &str, syntax: &Syntax, is_piece: bool) -> Vec<Range<usize>> {
    let mut lexer = Lexer { syntax, list: Vec::new(), comments: Vec::new() };
    lexer.read(text, 0, 0);
    let has_blocks = syntax.comments.contains(&"//");
    let is_end = |pair: &[Token]| {
        let end = text.get(pair[0].start as usize..pair[0].end as usize + 1);
        pair[0].end == pair[1].start && end == Some("*/")
    };
    let first = lexer.comments.first().map_or(text.len(), |comment| comment.start);
    let end = lexer.list.windows(2).find(|pair| has_blocks && is_piece && is_end(pair));
    let end = end.map(|pair| pair[0].end as usize + 1).filter(|end| *end <= first);
    let is_certain = |comment: &Range<usize>| {
        let (before, comment) = (&text[..comment.start], &text[comment.clone()]);
        if comment.starts_with("/*") {
            return comment.len() > 3 && comment.ends_with("*/");
        }
        let is_directive = match syntax.imports {
            Imports::Go => comment.starts_with("//go:") || comment.starts_with("//export "),
            _ => !syntax.comments.iter().any(|mark| comment.starts_with(mark)),
        };
        let is_apart = match comment.starts_with("//") {
            true => !before.ends_with(':'),
            false => before.is_empty() || before.ends_with(char::is_whitespace),
        };
        is_apart && !is_directive
    };
    end.map(|end| 0..end).into_iter().chain(lexer.comments.iter().filter(|one| is_certain(one)).cloned()).collect()
}

/// Replaces every colon that is not part of `::` with a dot.
fn with_dots(text: &str) -> String {
    text.split("::").map(|part| part.replace(':', ".")).collect::<Vec<_>>().join("::")
}

fn brackets(text: &str, list: &[Token]) -> (Vec<Option<u32>>, Vec<Option<u32>>) {
    let (mut openers, mut closers) = (vec![None; list.len()], vec![None; list.len()]);
    let mut open: Vec<u32> = Vec::new();
    for (index, token) in list.iter().enumerate() {
        openers[index] = open.last().copied();
        match &text[token.start as usize..token.end as usize] {
            "(" | "[" | "{" => open.push(index as u32),
            ")" | "]" | "}" => {
                openers[index] = open.pop();
                if let Some(opener) = openers[index] {
                    closers[opener as usize] = Some(index as u32);
                }
            }
            _ => {}
        }
    }
    (openers, closers)
}

struct Lexer<'s> {
    syntax: &'s Syntax,
    list: Vec<Token>,
    /// The comments outside of strings, in bytes of the text.
    comments: Vec<Range<usize>>,
}

impl Lexer<'_> {
    /// Appends the tokens of `text`, which starts at `offset` of the whole text and is nested in `depth` strings.
    fn read(&mut self, text: &str, offset: usize, depth: u32) {
        let bytes = text.as_bytes();
        let (mut at, mut is_first) = (0, true);
        while at < bytes.len() && self.list.len() < MAX_TOKENS {
            let rest = &text[at..];
            let first = bytes[at];
            if first.is_ascii_whitespace() {
                is_first |= first == b'\n';
                at += 1;
                continue;
            }
            // JavaScript: skip the `#` before the name of a private member.
            let is_private_sigil = first == b'#' && self.syntax.imports == Imports::Ecma;
            if is_private_sigil && name_length(&rest[1..], self.syntax.names).is_some() {
                at += 1;
                continue;
            }
            if let Some(length) = self.comment(rest) {
                if depth == 0 {
                    self.comments.push(at..at + length);
                }
                at += length;
                continue;
            }
            let (length, kind) = if let Some(length) = name_length(rest, self.syntax.names) {
                (length, TokenKind::Name)
            } else if first.is_ascii_digit() {
                let ends = |c: char| !(c.is_alphanumeric() || c == '_');
                (rest.find(ends).unwrap_or(rest.len()), TokenKind::Number)
            } else if let Some(length) = self.string(rest) {
                (length, TokenKind::String)
            } else {
                let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
                let length = operator.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |o| o.len());
                (length, TokenKind::Operator)
            };
            let start = (offset + at) as u32;
            self.list.push(Token { start, end: start + length as u32, kind, is_first });
            is_first = false;
            if kind == TokenKind::String && depth < MAX_STRING_DEPTH {
                self.code_in_string(&text[..at + length], at, offset, depth);
            }
            at += length;
        }
    }

    fn comment(&self, rest: &str) -> Option<usize> {
        let starts = self.syntax.comments;
        let line = || rest.find('\n').unwrap_or(rest.len());
        if starts.iter().any(|start| rest.starts_with(start)) && !rest.starts_with("#[") {
            return Some(line());
        }
        // Directives with free text.
        let directive = rest.strip_prefix('#').map(|rest| rest.trim_start().split(|c: char| !c.is_alphabetic()).next());
        if matches!(directive.flatten(), Some("region" | "endregion" | "pragma" | "error" | "warning")) {
            return Some(line());
        }
        (starts.contains(&"//") && rest.starts_with("/*")).then(|| rest.find("*/").map_or(rest.len(), |end| end + 2))
    }

    /// Length in bytes of the string or regular expression at the start of `rest`, if there is one.
    fn string(&self, rest: &str) -> Option<usize> {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let Some(quote) = quote else { return self.regular_expression(rest) };
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        if quote != '`' && rest.starts_with(&triple) {
            return Some(rest[3..].find(&triple).map_or(rest.len(), |end| end + 6));
        }
        let mut escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                // A lifetime, or an apostrophe in prose.
                '\n' if quote != '`' => return (quote != '\'').then_some(at),
                c if c == quote => return Some(at + 1),
                c if quote == '\'' && at >= 2 && self.has_lifetimes() && !c.is_alphanumeric() => return None,
                _ => {}
            }
        }
        (quote != '\'').then_some(rest.len())
    }

    fn has_lifetimes(&self) -> bool {
        self.syntax.languages == ["rust"]
    }

    fn regular_expression(&self, rest: &str) -> Option<usize> {
        if !rest.starts_with('/') || self.syntax.imports != Imports::Ecma {
            return None;
        }
        let follows_value = self.list.last().is_some_and(|token| token.kind != TokenKind::Operator);
        let line = rest.lines().next().unwrap_or_default();
        let (mut is_escaped, mut is_class) = (false, false);
        let end = line.char_indices().skip(1).find_map(|(at, c)| {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '[' => is_class = true,
                ']' => is_class = false,
                '/' if !is_class => return Some(at),
                _ => {}
            }
            None
        })?;
        let ends_element = line.starts_with("/>");
        (!follows_value && !line.starts_with("/ ") && !ends_element).then_some(end + 1)
    }

    /// Appends the tokens of the code in the string that begins at `start` and ends at the end of `text`: `${code}`, or
    /// `{code}` after `f`.
    fn code_in_string(&mut self, text: &str, start: usize, offset: usize, depth: u32) {
        if self.syntax.names == Names::Shell {
            return self.commands_in_string(text, start, offset, depth);
        }
        let is_formatted = text[..start].ends_with(['f', 'F', '$']);
        let mut from = start;
        while let Some(found) = text[from..].find('{') {
            let open = from + found;
            from = open + 1;
            if !is_formatted && !text[..open].ends_with(['$', '#']) {
                continue;
            }
            let Some(length) = text[from..].find('}') else { return };
            self.read(&text[from..from + length], offset + from, depth + 1);
            from += length;
        }
    }

    /// Appends the tokens of the commands in a shell string: `"a $(command) b"`.
    fn commands_in_string(&mut self, text: &str, start: usize, offset: usize, depth: u32) {
        let mut from = start;
        while let Some(found) = text[from..].find("$(").filter(|_| text[start..].starts_with('"')) {
            let open = from + found + 2;
            let mut level = 1_u32;
            let closer = text[open..].char_indices().find(|(_, c)| {
                match c {
                    '(' => level += 1,
                    ')' => level -= 1,
                    _ => {}
                }
                level == 0
            });
            from = closer.map_or(text.len(), |(at, _)| open + at);
            self.read(&text[open..from], offset + open, depth + 1);
        }
    }
}

/// Length in bytes of the name at the start of a text, if the text starts with a name.
fn name_length(rest: &str, names: Names) -> Option<usize> {
    let is_letter = |c: char| c.is_alphabetic() || c == '_';
    let sigils = match names {
        Names::Ruby => rest.len() - rest.trim_start_matches('@').len(),
        _ => 0,
    };
    let first = rest[sigils..].chars().next()?;
    if !(is_letter(first) || (first == '$' && names != Names::R && sigils == 0)) {
        return None;
    }
    let is_part = |c: char| match names {
        _ if c.is_alphanumeric() || c == '_' => true,
        Names::R => c == '.',
        Names::Shell => matches!(c, '-' | ':' | '.'),
        _ => c == '$',
    };
    let start = sigils + first.len_utf8();
    let length = rest[start..].find(|c: char| !is_part(c)).map_or(rest.len(), |length| start + length);
    let end = &rest[length..];
    let has_suffix = matches!(names, Names::Ruby | Names::Elixir)
        && end.starts_with(['?', '!'])
        && (!end[1..].starts_with('=') || end[1..].starts_with("=="));
    Some(length + usize::from(has_suffix))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::syntax;

    fn tokens(language: &str, text: &str) -> Vec<String> {
        let tokens = Tokens::read(text.to_owned(), syntax::for_language(language));
        (0..tokens.len()).map(|at| tokens.at(at).to_owned()).collect()
    }

    #[test]
    fn comments_are_skipped_and_strings_are_one_token() {
        assert_eq!(tokens("python", "a.b('x # y') # c()"), ["a", ".", "b", "(", "'x # y'", ")"]);
        assert_eq!(tokens("go", "x := &T{} // y()\n/* z() */ y"), ["x", ":=", "&", "T", "{", "}", "y"]);
        assert_eq!(tokens("rust", "fn f<'a>(x: &'a str) {}")[..5], ["fn", "f", "<", "'", "a"]);
    }

    #[test]
    fn names_may_contain_special_characters_of_the_language() {
        assert_eq!(tokens("ruby", "@a.ok?(b!) != :c"), ["@a", ".", "ok?", "(", "b!", ")", "!=", ":", "c"]);
        assert_eq!(tokens("r", "my.f(x$y)"), ["my.f", "(", "x", "$", "y", ")"]);
        assert_eq!(tokens("bash", "log::warn a-b"), ["log::warn", "a-b"]);
        assert_eq!(
            tokens("javascript", "this.#a(/[/]\\/\\//, b)"),
            ["this", ".", "a", "(", "/[/]\\/\\//", ",", "b", ")"]
        );
        assert_eq!(tokens("lua", "m:f() ::l::"), ["m", ".", "f", "(", ")", "::", "l", "::"]);
        assert_eq!(tokens("javascript", "<p><A /></p>"), ["<", "p", ">", "<", "A", "/", ">", "</", "p", ">"]);
    }

    #[test]
    fn code_in_strings_is_split_into_tokens() {
        assert_eq!(tokens("typescript", "`a ${f(x)}`")[1..], ["f", "(", "x", ")"]);
        assert_eq!(tokens("python", "f'{g(1)}'")[2..], ["g", "(", "1", ")"]);
        assert_eq!(tokens("python", "'{g(1)}'").len(), 1);
        assert_eq!(tokens("bash", "\"a $(f $(g)) ${h}\"")[1..], ["f", "$", "(", "g", ")"]);
        assert_eq!(tokens("bash", "'$(f)'").len(), 1);
    }

    proptest! {
        #[test]
        fn tokens_of_any_text_are_not_empty_and_brackets_match(text in "\\PC{0,80}|[a-z'\"`{}$/\\\\\n#(.]{0,80}") {
            for language in ["python", "typescript", "rust", "ruby", "php", "lua"] {
                let tokens = Tokens::read(text.clone(), syntax::for_language(language));
                for at in 0..tokens.len() {
                    prop_assert!(!tokens.at(at).is_empty());
                    prop_assert!(tokens.closer(at).is_none_or(|closer| closer > at));
                }
            }
        }
    }
}
