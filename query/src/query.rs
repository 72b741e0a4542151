//! What is asked: the query as given, and the terms and words that it is made of.

use aurora_analysis::Analyzer;
use aurora_storage::{AccessLog, AccessRecord, StorageError};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::expansion::{Expanded, ExtraTerm};
use crate::filter::{FilterError, FilterSpec};
use crate::kind::{is_function_word, is_path};

/// Which scores a search uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Keywords and vectors.
    #[default]
    Hybrid,
    /// Keywords only.
    Sparse,
    /// Vectors only.
    Dense,
}

impl Mode {
    /// The name as typed after `--mode`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Sparse => "sparse",
            Self::Dense => "dense",
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        [Self::Hybrid, Self::Sparse, Self::Dense]
            .into_iter()
            .find(|mode| mode.as_str().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| QueryError::Mode(text.to_owned()))
    }
}

/// One search.
#[derive(Clone)]
pub struct Query<'a> {
    /// What the user typed.
    pub text: String,
    /// Most hits to return.
    pub limit: usize,
    /// Which scores to use.
    pub mode: Mode,
    /// Which chunks may be found.
    pub filter: FilterSpec,
    /// The time to judge recency by, in Unix seconds.
    pub now: i64,
    /// What was shown before; `None` leaves accesses out of the activation.
    pub access: Option<&'a AccessLog>,
    /// Whether hits carry the chunks' full text.
    pub content: bool,
}

impl Query<'_> {
    /// A hybrid search over everything for ten hits.
    pub fn new(text: impl Into<String>, now: i64) -> Self {
        Self {
            text: text.into(),
            limit: 10,
            mode: Mode::default(),
            filter: FilterSpec::default(),
            now,
            access: None,
            content: false,
        }
    }

    /// What was noted of chunks before. Where the log cannot be read they are ranked without it, and a note says so.
    pub(crate) fn accesses<'k>(
        &self,
        keys: impl Iterator<Item = &'k str>,
        notes: &mut Vec<String>,
    ) -> Vec<Option<AccessRecord>> {
        let keys: Vec<&str> = keys.collect();
        let read = self.access.map(|log| log.get_many(&keys)).transpose();
        let found = read.unwrap_or_else(|error| {
            notes.push(format!("Ranked without access history: {error}"));
            None
        });
        found.unwrap_or_else(|| vec![None; keys.len()])
    }
}

/// Longest query, in bytes: room for a pasted stack trace. What a search costs grows with each of its words.
pub const LONGEST_QUERY: usize = 16 << 10;

/// Why a search cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// Nothing to look for.
    #[error("the query is empty; give at least one word, such as `aur mem search \"parse config\"`")]
    Empty,
    /// See [`LONGEST_QUERY`].
    #[error("the query is longer than {LONGEST_QUERY} bytes; give the lines that say most about what is looked for")]
    TooLong,
    /// No word character in the query.
    #[error("the query `{0}` holds no letter or digit to search for")]
    NoTerms(String),
    /// Not a mode.
    #[error("unknown search mode '{0}'; valid modes: hybrid, sparse, dense")]
    Mode(String),
    /// A filter that cannot be understood.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Vectors only, and there are none to compare.
    #[error("mode `dense` needs vectors: {0}")]
    NoVectors(String),
    /// The index cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl QueryError {
    /// Refuses a query that is too long.
    ///
    /// # Errors
    /// [`QueryError::TooLong`].
    pub fn check_length(text: &str) -> Result<(), Self> {
        if text.len() > LONGEST_QUERY { Err(Self::TooLong) } else { Ok(()) }
    }
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    /// The term as the analyzer gives it.
    pub(crate) text: String,
    /// How often the query holds it.
    pub(crate) count: u32,
    /// Whether it is a whole identifier whose parts are terms too.
    pub(crate) whole: bool,
    /// Factor of its score: below 1 for a word that was guessed.
    pub(crate) weight: f32,
}

/// A word of a query, as it was typed between spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word without punctuation around it.
    pub(crate) text: String,
    /// The same in lower case.
    pub(crate) folded: String,
    /// Whether it reads as an identifier: parts joined by case, `_`, `.`, `::` or digits.
    pub(crate) compound: bool,
}

/// A query as the ranking sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ParsedQuery {
    /// Distinct terms in the order of their first appearance: the order in which scores are summed.
    pub(crate) terms: Vec<QueryTerm>,
    /// Words in order.
    pub(crate) words: Vec<Word>,
    /// Words with the form of a path.
    pub(crate) paths: Vec<Word>,
    /// Terms of figures of speech, which ask for nothing.
    pub(crate) said: Vec<String>,
    /// Terms that are searched for beside its own, weaker ones; places of matched terms go on into them.
    pub(crate) extras: Vec<ExtraTerm>,
}

impl ParsedQuery {
    /// Cuts `text` with the analyzer that also cut the indexed chunks.
    ///
    /// # Errors
    /// [`QueryError::Empty`] and [`QueryError::NoTerms`].
    pub(crate) fn parse(analyzer: &Analyzer, text: &str) -> Result<Self, QueryError> {
        if text.trim().is_empty() {
            return Err(QueryError::Empty);
        }
        let mut parsed = Self::default();
        let mut seen: FxHashMap<String, usize> = FxHashMap::default();
        let (mut before, mut words) = ("", text.split_whitespace().peekable());
        while let Some(raw) = words.next() {
            let mut terms: Vec<String> = Vec::new();
            analyzer.terms(raw, &mut |term| terms.push(term.to_owned()));
            if is_figure_of_speech(before, raw, words.peek().copied().unwrap_or("")) {
                parsed.said.extend(terms.iter().cloned());
            }
            before = raw;
            parsed.words.extend(words_of(analyzer, raw));
            parsed.paths.extend(path_of(raw));
            for (at, term) in terms.iter().enumerate() {
                let whole =
                    terms[at + 1..].first().is_some_and(|part| term.len() > part.len() && term.contains(part.as_str()));
                match seen.get(term) {
                    Some(&index) => parsed.terms[index].count += 1,
                    None => {
                        seen.insert(term.clone(), parsed.terms.len());
                        parsed.terms.push(QueryTerm { text: term.clone(), count: 1, whole, weight: 1.0 });
                    }
                }
            }
        }
        if parsed.terms.is_empty() { Err(QueryError::NoTerms(text.trim().to_owned())) } else { Ok(parsed) }
    }

    /// Weighs down the terms that `given`, the query before its words were corrected, does not hold.
    pub(crate) fn weigh_guesses(&mut self, given: &Self, weight: f32) {
        for term in &mut self.terms {
            if !given.terms.iter().any(|other| other.text == term.text) {
                term.weight = weight;
            }
        }
    }

    /// Weighs down the words that only hold a sentence together; not where there are no others.
    pub(crate) fn weigh_function_words(&mut self, weight: f32) {
        if self.terms.iter().all(|term| is_function_word(&term.text)) {
            return;
        }
        for term in self.terms.iter_mut().filter(|term| is_function_word(&term.text)) {
            term.weight *= weight;
        }
    }

    /// Terms that are not made of other terms of the query: what it says, once.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (usize, &QueryTerm)> {
        self.terms.iter().enumerate().filter(|(_, term)| !term.whole)
    }

    /// The further term at a place beyond those of the query's own terms.
    pub(crate) fn extra(&self, place: usize) -> Option<&ExtraTerm> {
        self.extras.get(place.checked_sub(self.terms.len())?)
    }

    /// The term at a place, as it is told to users: a further one with the term that it stands for.
    pub(crate) fn shown(&self, place: usize) -> String {
        match (self.terms.get(place), self.extra(place)) {
            (Some(term), _) => term.text.clone(),
            (None, Some(extra)) => {
                let why = match extra.reason {
                    Expanded::Inflection => "form of",
                    Expanded::Abbreviation => "for",
                    Expanded::Prefix => "begins with",
                };
                format!("{} ({why} {})", extra.text, self.terms[extra.of].text)
            }
            (None, None) => String::new(),
        }
    }

    /// Whether the query asks for one of `terms`: holds it, and not in a figure of speech only.
    pub(crate) fn asks_for(&self, terms: &[&str]) -> bool {
        let times_said = |term: &QueryTerm| self.said.iter().filter(|said| **said == term.text).count();
        self.terms.iter().any(|term| terms.contains(&term.text.as_str()) && term.count as usize > times_said(term))
    }
}

/// Whether a word between two others is only a turn of phrase: `for example`, `test whether`.
fn is_figure_of_speech(before: &str, word: &str, after: &str) -> bool {
    let is = |text: &str, words: &[&str]| {
        let text = text.trim_matches(|character: char| !character.is_alphanumeric());
        words.iter().any(|word| text.eq_ignore_ascii_case(word))
    };
    (is(before, &["for"]) && is(word, &["example"]))
        || (is(word, &["test", "tests", "testing"]) && is(after, &["if", "whether", "that"]))
}

/// The identifiers and plain words of a stretch without spaces: both names of `nextInt/nextLong()`.
fn words_of(analyzer: &Analyzer, raw: &str) -> impl Iterator<Item = Word> {
    raw.split(|c: char| !c.is_alphanumeric() && !"_$@.:#->".contains(c)).filter_map(|piece| {
        let text = piece.trim_matches(['.', ':', '-', '>', '#']);
        let mut terms = 0;
        analyzer.terms(text, &mut |_| terms += 1);
        (terms > 0).then(|| Word { text: text.to_owned(), folded: text.to_lowercase(), compound: terms > 1 })
    })
}

/// A stretch without spaces as a path, if it has the form of one.
fn path_of(raw: &str) -> Option<Word> {
    let text = raw.trim_matches(|c: char| !c.is_alphanumeric() && !"/._-".contains(c)).trim_start_matches("./");
    is_path(text).then(|| Word { text: text.to_owned(), folded: text.to_lowercase(), compound: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ParsedQuery {
        ParsedQuery::parse(&Analyzer, text).expect("not empty")
    }

    #[test]
    fn a_query_without_words_is_refused() {
        assert!(matches!(ParsedQuery::parse(&Analyzer, " \t "), Err(QueryError::Empty)));
        assert!(matches!(ParsedQuery::parse(&Analyzer, "?!"), Err(QueryError::NoTerms(text)) if text == "?!"));
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
    fn a_figure_of_speech_asks_for_nothing() {
        let asks = |text: &str, word: &str| parse(text).asks_for(&[word]);
        assert!(asks("parse test", "test") && asks("example of a router", "example"));
        assert!(!asks("fields left out, for example, transient ones", "example"));
        assert!(!asks("Test whether a path is absolute", "test") && !asks("tests if it fits", "tests"));
        assert!(asks("an example, for example", "example"));
    }

    #[test]
    fn words_know_identifiers() {
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

    #[test]
    fn modes_are_parsed_and_named() {
        assert_eq!("Sparse".parse::<Mode>().expect("a mode"), Mode::Sparse);
        assert_eq!(
            "fuzzy".parse::<Mode>().expect_err("no mode").to_string(),
            "unknown search mode 'fuzzy'; valid modes: hybrid, sparse, dense"
        );
    }
}
