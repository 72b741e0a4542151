//! The single name or literal that a query asks for, such as `MAX_RETRIES` in `where is MAX_RETRIES defined`.

use crate::understand::word_form::is_function_word;

/// Keywords that declare the following name.
#[rustfmt::skip]
const DECLARING: &[&str] = &[
    "class", "const", "constant", "constexpr", "def", "define", "enum", "fn", "fun", "func", "function", "interface",
    "let", "macro", "method", "module", "namespace", "object", "protocol", "record", "static", "struct", "trait",
    "type", "typedef", "union", "val", "var", "variable",
];
/// Other words that ask for the definition of a name.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "code", "configured", "constants", "declaration", "declarations", "declare", "declared", "declares", "default",
    "defined", "defines", "definition", "definitions", "field", "find", "global", "identifier", "implementation",
    "implemented", "initial", "located", "location", "me", "set", "show", "source", "symbol", "value", "values",
];
/// Words that specify the kind of a name or ask to search for it. They can be names themselves.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "component", "config", "configuration", "dependency", "env", "environment", "export", "file", "flag", "grep",
    "import", "key", "local", "option", "package", "parameter", "property", "search", "selector", "setting",
];
/// Words that ask for tests of a name.
const TESTS: &[&str] = &["spec", "specs", "test", "testcase", "tested", "testing", "tests", "unittest", "unittests"];
/// Words that ask for the uses of a name.
const USES: &[&str] = &["occurrences", "reference", "referenced", "references", "usage", "usages", "used"];
/// Words that describe tests in a query about tests, and have other meanings in any other query.
#[rustfmt::skip]
const TEST_DETAILS: &[&str] = &[
    "call", "calling", "calls", "case", "cases", "cover", "coverage", "covering", "covers", "integration", "suite",
    "unit", "use", "uses", "using",
];

/// The subject of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject<'q> {
    /// The name or literal as typed, or the whole query if it is a sentence.
    pub(crate) text: &'q str,
    /// Whether the subject is a single name or literal.
    pub(crate) is_single: bool,
    /// Whether the query asks for tests of the subject.
    pub(crate) of_tests: bool,
    /// Whether the query asks for uses of the subject.
    pub(crate) of_uses: bool,
}

impl<'q> Subject<'q> {
    /// Finds the subject of a query. All other words must ask for a definition, for uses or for tests. Unless the query
    /// asks for tests, the name must be written as an identifier, be quoted, or follow a declaring keyword.
    pub(crate) fn parse(query: &'q str) -> Self {
        let query = query.trim();
        let sentence = Self { text: query, is_single: false, of_tests: false, of_uses: false };
        if !query.contains(char::is_whitespace) {
            return Self { is_single: true, ..sentence };
        }
        let (mut subject, mut of_tests, mut of_uses, mut has_details, mut before) = (None, false, false, false, "");
        // A word that can be the name, as in `class Config` and `tests for search`, if no other word is a name.
        let mut possible = None;
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
            let follows_keyword = DECLARING.contains(&before);
            of_tests |= is(TESTS);
            of_uses |= is(USES) && !follows_keyword;
            has_details |= is(TEST_DETAILS) && !follows_keyword;
            let is_declared = is(USES) || is(TEST_DETAILS) || is(ASKING) && bare.starts_with(char::is_uppercase);
            if is(KINDS) || follows_keyword && is_declared {
                possible = possible.or(Some((bare, follows_keyword)));
            }
            let is_other =
                [TESTS, USES, TEST_DETAILS, DECLARING, ASKING, KINDS].into_iter().any(is) || is_function_word(&lower);
            if !is_other && !bare.is_empty() {
                if subject.is_some() {
                    return sentence;
                }
                subject = Some((bare, is_identifier(bare) || follows_keyword));
            }
            before = keyword;
        }
        let Some((text, is_named)) = subject.or(possible) else { return sentence };
        // In a query with a word such as `calls`, this word must describe tests, and the only other word must be a
        // name.
        let is_single = if has_details { is_named && of_tests } else { is_named || of_tests };
        if is_single { Self { text, is_single, of_tests, of_uses } } else { sentence }
    }

    /// Returns whether the subject is written like an identifier rather than an ordinary word.
    pub(crate) fn is_identifier(&self) -> bool {
        self.is_single && is_identifier(self.text)
    }
}

/// Returns whether a word is quoted or called, begins with the sigil of a variable, or contains a capital, a digit, `_`
/// or a member separator after its first character.
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
            ("import max-retries", "max-retries"),
            ("what is the default value of TIMEOUT", "TIMEOUT"),
            ("class session", "session"),
            ("class config", "config"),
            ("enum case", "case"),
            ("type Value", "Value"),
            ("where is is_valid? defined?", "is_valid?"),
            ("def save!", "save!"),
            ("the function `parse`", "`parse`"),
            ("definition of Foo::bar()", "Foo::bar()"),
            ("lazyfree-lazy-eviction", "lazyfree-lazy-eviction"),
        ] {
            assert_eq!(
                Subject::parse(query),
                Subject { text: subject, is_single: true, of_tests: false, of_uses: false },
                "{query}"
            );
        }
        for query in ["test for parse", "parse tests", "where is parse tested", "unittest parse"] {
            assert_eq!(
                Subject::parse(query),
                Subject { text: "parse", is_single: true, of_tests: true, of_uses: false },
                "{query}"
            );
        }
        assert_eq!(Subject::parse("tests for search").text, "search");
        assert!(Subject::parse("where is MAX_RETRIES used").of_uses && Subject::parse("MAX_RETRIES usage").is_single);
        for query in ["unit tests for `parse`", "which tests cover `parse`", "test case of `parse`"] {
            assert_eq!(
                Subject::parse(query),
                Subject { text: "`parse`", is_single: true, of_tests: true, of_uses: false },
                "{query}"
            );
        }
    }

    #[test]
    fn a_sentence_has_no_single_subject() {
        for query in [
            "how are sessions refreshed",
            "session implementation",
            "search implementation",
            "function definition",
            "default value",
            "where is the cache",
            "who calls MAX_RETRIES",
            "use MAX_RETRIES",
            "how is the cache used",
            "use the test database",
            "test whether a path is absolute",
        ] {
            assert!(!Subject::parse(query).is_single, "{query}");
        }
    }
}
