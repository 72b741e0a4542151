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
    "config",
    "configuration",
    "configured",
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
    "env",
    "environment",
    "export",
    "field",
    "find",
    "flag",
    "global",
    "identifier",
    "implementation",
    "implemented",
    "initial",
    "key",
    "located",
    "location",
    "me",
    "option",
    "parameter",
    "property",
    "set",
    "setting",
    "show",
    "source",
    "symbol",
    "value",
    "values",
];
/// Words that ask for tests of a name.
const TESTS: &[&str] = &["spec", "specs", "test", "testcase", "tested", "testing", "tests", "unittest", "unittests"];

/// Words that describe tests of a name, and otherwise mean something else.
const TEST_DETAILS: &[&str] = &[
    "call",
    "calling",
    "calls",
    "case",
    "cases",
    "cover",
    "coverage",
    "covering",
    "covers",
    "integration",
    "suite",
    "unit",
    "use",
    "uses",
    "using",
];

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
        let (mut subject, mut of_tests, mut has_details, mut before) = (None, false, false, "");
        let mut words = query.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let mut bare = word.trim_end_matches([',', ';', ':', '.']);
            // Names in Ruby and Elixir may end with `?` or `!`.
            if words.peek().is_none() && !DECLARING.contains(&before) {
                bare = bare.trim_end_matches(['?', '!']);
            }
            // C writes `#define`.
            let keyword = bare.strip_prefix('#').unwrap_or(bare);
            let lower = keyword.to_lowercase();
            let is = |words: &[&str]| words.contains(&lower.as_str());
            of_tests |= is(TESTS);
            has_details |= is(TEST_DETAILS);
            let is_other = is(TESTS) || is(TEST_DETAILS) || is(DECLARING) || is(ASKING) || is_function_word(&lower);
            if !is_other && !bare.is_empty() {
                if subject.is_some() {
                    return sentence;
                }
                subject = Some((bare, is_identifier(bare) || DECLARING.contains(&before)));
            }
            before = keyword;
        }
        let Some((text, is_named)) = subject else { return sentence };
        // A word such as `calls` must describe tests, and only a name may stand beside it.
        let is_single = if has_details { is_named && of_tests } else { is_named || of_tests };
        if is_single { Self { text, is_single, of_tests } } else { sentence }
    }

    /// Whether it is written like an identifier rather than an ordinary word.
    pub(crate) fn is_identifier(&self) -> bool {
        self.is_single && is_identifier(self.text)
    }
}

/// Whether a word is quoted or called, begins with the sigil of a variable, or contains a capital, a digit, `_` or a
/// member separator after its first character.
fn is_identifier(word: &str) -> bool {
    let inner = word.trim_matches(['`', '"', '\'']);
    let plain = inner.strip_suffix("()").unwrap_or(inner);
    let is_quoted = inner.len() < word.len();
    let is_joined = plain.chars().skip(1).any(|c| c.is_uppercase() || c.is_numeric() || "_.:#>-$".contains(c));
    is_quoted || plain.len() < inner.len() || plain.starts_with(['$', '@']) || is_joined
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
            ("#define MAX_RETRIES", "MAX_RETRIES"),
            ("environment variable MAX_RETRIES", "MAX_RETRIES"),
            ("max-retries option", "max-retries"),
            ("what is the default value of TIMEOUT", "TIMEOUT"),
            ("class session", "session"),
            ("where is is_valid? defined?", "is_valid?"),
            ("def save!", "save!"),
            ("the function `parse`", "`parse`"),
            ("definition of Foo::bar()", "Foo::bar()"),
            ("lazyfree-lazy-eviction", "lazyfree-lazy-eviction"),
        ] {
            assert_eq!(Subject::parse(query), Subject { text: subject, is_single: true, of_tests: false }, "{query}");
        }
        for query in ["test for parse", "parse tests", "where is parse tested", "unittest parse"] {
            assert_eq!(Subject::parse(query), Subject { text: "parse", is_single: true, of_tests: true }, "{query}");
        }
        for query in ["unit tests for `parse`", "which tests cover `parse`", "test case of `parse`"] {
            assert_eq!(Subject::parse(query), Subject { text: "`parse`", is_single: true, of_tests: true }, "{query}");
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
            "use MAX_RETRIES",
            "use the test database",
            "test whether a path is absolute",
        ] {
            assert!(!Subject::parse(query).is_single, "{query}");
        }
    }
}
