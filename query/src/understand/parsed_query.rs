//! A query as terms, words and paths, the input of every later step.

use std::borrow::Cow;

use aurora_analysis::Analyzer;
use rustc_hash::FxHashMap;

use crate::query::QueryError;
use crate::understand::word_form::{is_function_word, is_path};

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    /// The term as the analyzer returns it.
    pub(crate) text: String,
    /// Number of occurrences in the query.
    pub(crate) count: u32,
    /// Whether the term is a whole identifier whose parts are also terms.
    pub(crate) whole: bool,
    /// Factor of the score; below 1 for corrected words and function words.
    pub(crate) weight: f32,
    /// Whether the term replaces a word that no chunk contains.
    pub(crate) corrected: bool,
}

/// An identifier or plain word of a query. A text between two spaces may contain several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word without surrounding punctuation.
    pub(crate) text: String,
    /// The word in lower case.
    pub(crate) folded: String,
    /// Whether the word looks like an identifier: parts joined by case, `_`, `.`, `::` or digits.
    pub(crate) compound: bool,
}

/// A term that is searched for in addition to a term of the query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExtraTerm {
    /// Index of the query's term.
    pub(crate) of: usize,
    /// The additional term.
    pub(crate) text: String,
    /// Factor of the score.
    pub(crate) weight: f32,
    /// The reason for the additional term.
    pub(crate) reason: ExpansionReason,
}

/// The relation of an additional term to the query's term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpansionReason {
    /// Another form of the same word.
    Inflection,
    /// One term abbreviates the other.
    Abbreviation,
    /// The additional term begins with the query's term.
    Prefix,
}

/// A query that was split into terms, words and paths.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ParsedQuery {
    /// Distinct terms in the order of their first appearance, which is the order of summation of scores.
    pub(crate) terms: Vec<QueryTerm>,
    /// Words in the order of the query.
    pub(crate) words: Vec<Word>,
    /// Words that look like paths.
    pub(crate) paths: Vec<Word>,
    /// Terms in set phrases. A query with the phrase `for example` does not ask for example code.
    pub(crate) in_phrases: Vec<String>,
    /// Additional terms with lower weights. Positions of terms number the query's own terms first, then the additional
    /// terms.
    pub(crate) extras: Vec<ExtraTerm>,
}

impl ParsedQuery {
    /// Splits `text` with the analyzer of the index.
    ///
    /// # Errors
    /// Returns [`QueryError::Empty`] if `text` is blank, and [`QueryError::NoTerms`] if it contains no term.
    pub(crate) fn parse(text: &str) -> Result<Self, QueryError> {
        if text.trim().is_empty() {
            return Err(QueryError::Empty);
        }
        let mut parsed = Self::default();
        let mut seen: FxHashMap<String, usize> = FxHashMap::default();
        let (mut before, mut words) = ("", text.split_whitespace().peekable());
        while let Some(raw) = words.next() {
            let mut terms: Vec<String> = Vec::new();
            Analyzer.terms(&as_written(raw), &mut |term| terms.push(term.to_owned()));
            if is_in_set_phrase(before, raw, words.peek().copied().unwrap_or("")) {
                parsed.in_phrases.extend(terms.iter().cloned());
            }
            before = raw;
            parsed.words.extend(words_of(raw));
            parsed.paths.extend(path_of(raw));
            for (at, term) in terms.iter().enumerate() {
                let whole =
                    terms[at + 1..].first().is_some_and(|part| term.len() > part.len() && term.contains(part.as_str()));
                match seen.get(term) {
                    Some(&index) => parsed.terms[index].count += 1,
                    None => {
                        seen.insert(term.clone(), parsed.terms.len());
                        parsed.terms.push(QueryTerm {
                            text: term.clone(),
                            count: 1,
                            whole,
                            weight: 1.0,
                            corrected: false,
                        });
                    }
                }
            }
        }
        if parsed.terms.is_empty() { Err(QueryError::NoTerms(text.trim().to_owned())) } else { Ok(parsed) }
    }

    /// Marks terms that `given`, the query before spelling correction, does not contain, and lowers their weight.
    pub(crate) fn weigh_guesses(&mut self, given: &Self, weight: f32) {
        for term in &mut self.terms {
            if !given.terms.iter().any(|other| other.text == term.text) {
                (term.weight, term.corrected) = (weight, true);
            }
        }
    }

    /// Lowers the weight of function words, unless the query has no other words.
    pub(crate) fn weigh_function_words(&mut self, weight: f32) {
        if self.terms.iter().all(|term| is_function_word(&term.text)) {
            return;
        }
        for term in self.terms.iter_mut().filter(|term| is_function_word(&term.text)) {
            term.weight *= weight;
        }
    }

    /// Returns the terms that do not consist of other terms of the query, with their positions.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (usize, &QueryTerm)> {
        self.terms.iter().enumerate().filter(|(_, term)| !term.whole)
    }

    /// Returns the additional term at a position; `None` for the position of one of the query's own terms.
    pub(crate) fn extra(&self, position: usize) -> Option<&ExtraTerm> {
        self.extras.get(position.checked_sub(self.terms.len())?)
    }

    /// Returns the text of the term at a position.
    pub(crate) fn term_at(&self, position: usize) -> Option<&str> {
        let own = self.terms.get(position).map(|term| term.text.as_str());
        own.or_else(|| self.extra(position).map(|extra| extra.text.as_str()))
    }

    /// Describes the term at a position for users. The description of an additional term includes the query's term.
    pub(crate) fn describe_term(&self, position: usize) -> String {
        match (self.terms.get(position), self.extra(position)) {
            (Some(term), _) => term.text.clone(),
            (None, Some(extra)) => {
                let why = match extra.reason {
                    ExpansionReason::Inflection => "form of",
                    ExpansionReason::Abbreviation => "for",
                    ExpansionReason::Prefix => "begins with",
                };
                format!("{} ({why} {})", extra.text, self.terms[extra.of].text)
            }
            (None, None) => String::new(),
        }
    }

    /// Returns whether one of `terms` occurs in the query outside of set phrases.
    pub(crate) fn asks_for(&self, terms: &[&str]) -> bool {
        let count_in_phrases =
            |term: &QueryTerm| self.in_phrases.iter().filter(|phrase_term| **phrase_term == term.text).count();
        self.terms
            .iter()
            .any(|term| terms.contains(&term.text.as_str()) && term.count as usize > count_in_phrases(term))
    }
}

/// Converts language names such as `c++` or `c#` to upper case, as texts usually write them.
fn as_written(raw: &str) -> Cow<'_, str> {
    match raw.as_bytes() {
        [letter, b'+', b'+', ..] | [letter, b'#', ..] if letter.is_ascii_lowercase() => {
            Cow::Owned([&raw[..1].to_ascii_uppercase(), &raw[1..]].concat())
        }
        _ => Cow::Borrowed(raw),
    }
}

/// Returns whether a word between two other words is part of a set phrase: `for example`, `test whether`.
fn is_in_set_phrase(before: &str, word: &str, after: &str) -> bool {
    let is = |text: &str, words: &[&str]| {
        let text = text.trim_matches(|character: char| !character.is_alphanumeric());
        words.iter().any(|word| text.eq_ignore_ascii_case(word))
    };
    (is(before, &["for"]) && is(word, &["example"]))
        || (is(word, &["test", "tests", "testing"]) && is(after, &["if", "whether", "that"]))
}

/// Returns the identifiers and plain words of `raw`, which contains no spaces: for example both names in
/// `nextInt/nextLong()`.
fn words_of(raw: &str) -> impl Iterator<Item = Word> {
    raw.split(|c: char| !c.is_alphanumeric() && !"_$@.:#->".contains(c)).filter_map(|piece| {
        let text = piece.trim_matches(['.', ':', '-', '>', '#']);
        let mut terms = 0;
        Analyzer.terms(text, &mut |_| terms += 1);
        (terms > 0).then(|| Word { text: text.to_owned(), folded: text.to_lowercase(), compound: terms > 1 })
    })
}

/// Returns `raw`, which contains no spaces, as a path if it looks like one.
fn path_of(raw: &str) -> Option<Word> {
    let text = raw.trim_matches(|c: char| !c.is_alphanumeric() && !"/._-".contains(c)).trim_start_matches("./");
    is_path(text).then(|| Word { text: text.to_owned(), folded: text.to_lowercase(), compound: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ParsedQuery {
        ParsedQuery::parse(text).expect("not empty")
    }

    #[test]
    fn a_query_without_words_is_rejected() {
        assert!(matches!(ParsedQuery::parse(" \t "), Err(QueryError::Empty)));
        assert!(matches!(ParsedQuery::parse("?!"), Err(QueryError::NoTerms(text)) if text == "?!"));
    }

    #[test]
    fn terms_are_distinct_and_in_order() {
        let query = parse("parse userName then parse");
        let terms: Vec<_> = query.terms.iter().map(|term| (term.text.as_str(), term.count, term.whole)).collect();
        assert_eq!(
            terms,
            [("parse", 2, false), ("username", 1, true), ("user", 1, false), ("name", 1, false), ("then", 1, false)]
        );
    }

    #[test]
    fn a_set_phrase_requests_nothing() {
        let asks = |text: &str, word: &str| parse(text).asks_for(&[word]);
        assert!(asks("parse test", "test") && asks("example of a router", "example"));
        assert!(!asks("fields left out, for example, transient ones", "example"));
        assert!(!asks("Test whether a path is absolute", "test") && !asks("tests if it fits", "tests"));
        assert!(asks("an example, for example", "example"));
    }

    #[test]
    fn splitting_into_words_marks_identifiers() {
        let query = parse("Reject digits in Reader.nextInt/nextLong() (all)");
        let words: Vec<_> = query.words.iter().map(|word| (word.text.as_str(), word.compound)).collect();
        assert_eq!(
            words,
            [
                ("Reject", false),
                ("digits", false),
                ("in", false),
                ("Reader.nextInt", true),
                ("nextLong", true),
                ("all", false)
            ]
        );
    }
}
