//! Checks the analyzer on any text: terms have a bounded length and no control characters. Analysing a term again
//! yields the same term first.

use aurora_analysis::{Analyzer, MAX_TERM_BYTES};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for term in terms(&text) {
        assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES, "{term:?}");
        assert!(!term.chars().any(|c| c.is_control() || c.is_whitespace()), "{term:?}");
        assert_eq!(terms(&term).first(), Some(&term));
    }
}

fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    Analyzer.terms(text, &mut |term: &str| found.push(term.to_owned()));
    found
}
