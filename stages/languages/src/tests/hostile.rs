//! Tests with texts that are designed to take very long or to crash the process.

use std::time::Duration;

use crate::{LANGUAGES, ParseFailure, ParseLimits, Parser, by_name};

/// Beginnings of constructs in various languages. The tests repeat and nest them, and leave them open.
const REPEATED: &[&str] = &[
    "[",
    "{",
    "(",
    "<",
    "- ",
    "? ",
    "<a>",
    "<a ",
    "</a>",
    "<!--",
    "\"",
    "'",
    "`",
    "a: ",
    "a:\n ",
    "{\"a\":",
    "[[",
    "a {",
    "$(",
    "${",
    "$$",
    "/*",
    "#[[",
    "<<E\n",
    "a=[",
    "\\\n",
    "\t",
    "\r",
    "\u{feff}",
    "\u{1f600}",
    "if(\n",
    "CREATE FUNCTION f ",
    "FROM a\n",
    ".. _a:\n",
    "====  ====\n",
    "[[a",
    "<<a",
    "----\n",
    "#+begin_a\n",
];

#[test]
fn every_parse_ends_within_the_limits() {
    // Some of these texts take quadratic time, so the time limit ends their parse.
    let parser = Parser::with_limits(ParseLimits { time: Duration::from_millis(10), ..ParseLimits::default() });
    for language in LANGUAGES {
        for repeated in REPEATED {
            let text = repeated.repeat(4_000 / repeated.len());
            let found = parser.parse(Some(language), &text);
            let is_inside = |end: u32| text.is_char_boundary(end as usize);
            assert!(
                found.symbols.iter().all(|s| is_inside(s.bytes.start) && is_inside(s.bytes.end)),
                "{}",
                language.name
            );
        }
    }
}

/// Without limits, tree-sitter would need gigabytes for some of these texts and overflow the stack with others.
#[test]
fn nested_errors_and_very_deep_texts_are_too_complex() {
    let failure = |language, text: &str| Parser::new().parse(by_name(language), text).failure;
    for (language, repeated) in [
        ("c", "=>$"),
        ("cpp", "%w=>"),
        ("go", "%w["),
        ("java", "$=>"),
        ("javascript", "}{a:"),
        ("python", "/*\n"),
        ("ruby", "%wif(a){"),
        ("rust", ">a("),
    ] {
        assert_eq!(failure(language, &repeated.repeat(4_000)), Some(ParseFailure::TooComplex), "{language}");
    }
    for (language, repeated) in [("cpp", "{-"), ("json", "["), ("swift", "&\n")] {
        assert_eq!(failure(language, &repeated.repeat(100_000)), Some(ParseFailure::TooComplex), "{language}");
    }
    // For every token of these texts, the scanner reads the whole rest of the text.
    for (language, repeated) in [("lua", "{-"), ("ruby", "\\ "), ("scala", "'<a a<![CDATA[")] {
        assert_eq!(failure(language, &repeated.repeat(20_000)), Some(ParseFailure::TooComplex), "{language}");
    }
    for (language, open, close) in
        [("json", "[", "]"), ("go", "(", ")"), ("javascript", "f(", ")"), ("rust", "a(", ")")]
    {
        assert_eq!(failure(language, &(open.repeat(2_000) + &close.repeat(2_000))), None, "{language}");
    }
}
