//! Kinds of queries: names, paths, error messages and plain words. Most queries mix several kinds, so each kind has a
//! share of the query, and the weights change continuously with the shares.

use serde::Serialize;

use crate::understand::parsed_query::ParsedQuery;
use crate::understand::word_form::{is_function_word, is_path};

/// Words that are typical of error messages.
#[rustfmt::skip]
const ERROR_WORDS: &[&str] = &[
    "cannot", "error", "exception", "expected", "failed", "failure", "fatal", "invalid", "missing", "panic",
    "panicked", "refused", "traceback", "unable", "undefined", "unexpected", "unknown", "unsupported", "warning",
];

/// Share of each kind in one query. The shares sum to 1.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QueryKind {
    /// Share of names in the style of code: `parseQuery`, `user_id`, `Session.save`.
    pub identifier: f32,
    /// Share of paths: `src/auth/login.py`, `login.py`.
    pub path: f32,
    /// Share of the text of an error message.
    pub error: f32,
    /// Share of plain words.
    pub words: f32,
}

impl QueryKind {
    /// Determines the shares from the form of the words, ignoring function words, and from the punctuation.
    pub(crate) fn from_query(text: &str, parsed: &ParsedQuery) -> Self {
        let content: Vec<&str> = text.split_whitespace().filter(|word| !is_function_word(word)).collect();
        let count = content.len().max(1) as f32;
        let share = |holds: &dyn Fn(&str) -> bool| content.iter().filter(|word| holds(word)).count() as f32 / count;
        let path = share(&|word| is_path(word));
        let error = if looks_like_an_error(text, parsed) { (1.0 - path) * 0.5 } else { 0.0 };
        let compound =
            |word: &str| parsed.words.iter().any(|other| other.compound && word.contains(other.text.as_str()));
        let identifier = share(&|word| !is_path(word) && compound(word)) * (1.0 - path - error).max(0.0);
        Self { identifier, path, error, words: (1.0 - identifier - path - error).max(0.0) }
    }
}

/// Returns whether the text has a word typical of error messages together with a colon, a quotation or a call.
fn looks_like_an_error(text: &str, parsed: &ParsedQuery) -> bool {
    let is_error_word = |text: &str| {
        ERROR_WORDS.contains(&text) || text.len() > 9 && (text.ends_with("error") || text.ends_with("exception"))
    };
    let detail = text.contains(": ") || text.contains(['"', '\'', '`']) || text.contains("()");
    detail && parsed.terms.iter().any(|term| is_error_word(&term.text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::{SearchConfig, Weights};

    fn kind(text: &str) -> QueryKind {
        QueryKind::from_query(text, &ParsedQuery::parse(text).expect("words"))
    }

    #[test]
    fn kinds_are_distinguished_by_form() {
        assert_eq!(kind("parseAuthHeader").identifier, 1.0);
        assert_eq!(kind("src/auth/login.py").path, 1.0);
        assert_eq!(kind("login.py").path, 1.0);
        assert_eq!(kind("how are users authenticated").words, 1.0);
        assert!(kind("TypeError: cannot read properties of undefined (reading 'map')").error > 0.4);
        let mixed = kind("where is QueueManager created");
        assert_eq!((mixed.identifier, mixed.words), (0.5, 0.5));
    }

    proptest! {
        #[test]
        fn shares_and_weights_sum_to_one(text in "[a-zA-Z_./:' ]{1,40}x") {
            let kind = kind(&text);
            prop_assert!((kind.identifier + kind.path + kind.error + kind.words - 1.0).abs() < 1e-5);
            let config = SearchConfig::default();
            let weights = Weights::for_kind(&kind, &config.hybrid, &config.kinds);
            prop_assert!((weights.bm25 + weights.semantic + weights.activation - 1.0).abs() < 1e-5);
            prop_assert!(weights.bm25 >= config.hybrid.weights.bm25);
        }
    }
}
