//! The single name or literal that a query asks for, such as `MAX_RETRIES` in `where is MAX_RETRIES defined`.

use crate::understand::word_form::is_function_word;

/// Keywords that declare the following name.
const DECLARING: &[&str] = &[
    "class",
    "const",
    "constant",
    "constexpr",
    "def",
    "define",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "let",
    "macro",
    "method",
    "module",
    "namespace",
    "object",
    "protocol",
    "record",
    "static",
    "struct",
    "trait",
    "type",
    "typedef",
    "union",
    "val",
    "var",
    "variable",
];
/// Other words that ask for the definition of a name.
const ASKING: &[&str] = &[
    "code",
    "constants",
    "declaration",
    "declarations",
    "declare",
    "declared",
    "declares",
    "default",
    "defined",
    "defines",
    "definition",
    "definitions",
    "field",
    "find",
    "global",
    "identifier",
    "implementation",
    "implemented",
    "initial",
    "located",
    "location",
    "me",
    "set",
    "show",
    "source",
    "symbol",
    "value",
    "values",
];
/// Words that ask for tests of a name.
const TESTS: &[&str] = &["spec", "specs", "test", "testcase", "tested", "testing", "tests", "unittest", "unittests"];

/// The subject of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject<'q> {
    /// The name or literal as typed, or the whole query if it is a sentence.
    pub(crate) text: &'q str,
    /// Whether it is one name or literal.
    pub(crate) is_single: bool,
    /// Whether the query asks for its tests.
    pub(crate) of_tests: bool,
}

impl<'q> Subject<'q> {
    /// Finds the subject of a query. Among words that ask for a definition or for tests, a name must be written as an
    /// identifier, be quoted, or follow a declaring keyword.
    pub(crate) fn parse(query: &'q str) -> Self {
        let query = query.trim();
        let sentence = Self { text: query, is_single: false, of_tests: false };
        if !query.contains(char::is_whitespace) {
            return Self { is_single: true, ..sentence };
        }
        let (mut subject, mut of_tests, mut before) = (None, false, "");
        for word in query.split_whitespace() {
            let bare = word.trim_end_matches(['?', '!', ',', ';', ':', '.']);
            let lower = bare.to_lowercase();
            let is = |words: &[&str]| words.contains(&lower.as_str());
            of_tests |= is(TESTS);
            if !(is(TESTS) || is(DECLARING) || is(ASKING) || is_function_word(&lower)) && !bare.is_empty() {
                if subject.is_some() {
                    return sentence;
                }
                subject = Some((bare, is_identifier(bare) || DECLARING.contains(&before)));
            }
            before = bare;
        }
        match subject {
            Some((text, is_named)) if is_named || of_tests => Self { text, is_single: true, of_tests },
            _ => sentence,
        }
    }

    /// Whether it is written like an identifier rather than an ordinary word.
    pub(crate) fn is_identifier(&self) -> bool {
        self.is_single && is_identifier(self.text)
    }
}

/// Whether a word is quoted or called, or contains a capital, a digit, `_` or a member separator after its first
/// character.
fn is_identifier(word: &str) -> bool {
    let inner = word.trim_matches(['`', '"', '\'']);
    let plain = inner.strip_suffix("()").unwrap_or(inner);
    let is_quoted = inner.len() < word.len();
    let is_joined = plain.chars().skip(1).any(|c| c.is_uppercase() || c.is_numeric() || "_.:#>-$".contains(c));
    is_quoted || plain.len() < inner.len() || is_joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_the_requested_name() {
        for (query, subject) in [
            ("MAX_RETRIES", "MAX_RETRIES"),
            ("const MAX_RETRIES", "MAX_RETRIES"),
            ("where is MAX_RETRIES defined?", "MAX_RETRIES"),
            ("MAX_RETRIES value", "MAX_RETRIES"),
            ("what is the default value of TIMEOUT", "TIMEOUT"),
            ("class session", "session"),
            ("the function `parse`", "`parse`"),
            ("definition of Foo::bar()", "Foo::bar()"),
            ("lazyfree-lazy-eviction", "lazyfree-lazy-eviction"),
        ] {
            assert_eq!(Subject::parse(query), Subject { text: subject, is_single: true, of_tests: false }, "{query}");
        }
        for query in ["test for parse", "parse tests", "where is parse tested", "unittest parse"] {
            assert_eq!(Subject::parse(query), Subject { text: "parse", is_single: true, of_tests: true }, "{query}");
        }
    }

    #[test]
    fn a_sentence_has_no_single_subject() {
        for query in [
            "how are sessions refreshed",
            "session implementation",
            "default value",
            "where is the cache",
            "who calls MAX_RETRIES",
            "test whether a path is absolute",
        ] {
            assert!(!Subject::parse(query).is_single, "{query}");
        }
    }
}
