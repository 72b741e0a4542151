//! Tokens of source code, for syntax highlighting.

use aurora_languages::{TokenClass, by_name};
use aurora_query::LineToken;

/// Returns the tokens of every line of `text`. If the language is unknown, no line has tokens.
pub(crate) fn tokens(text: &str, language: &str) -> Vec<Vec<LineToken>> {
    let Some(language) = by_name(language) else { return text.lines().map(|_| Vec::new()).collect() };
    let lines = language.highlight(text).into_iter();
    lines
        .map(|line| line.into_iter().map(|token| (token.bytes.start, token.bytes.end, name(token.class))).collect())
        .collect()
}

fn name(class: TokenClass) -> &'static str {
    match class {
        TokenClass::Keyword => "keyword",
        TokenClass::String => "string",
        TokenClass::Comment => "comment",
        TokenClass::Number => "number",
        TokenClass::Heading => "heading",
    }
}
