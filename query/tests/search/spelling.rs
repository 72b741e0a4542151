//! Queries with words that the index does not contain verbatim.

use crate::corpus::{self, NOW, Row};
use aurora_query::{Mode, Query, SearchConfig, SearchResults, Searcher};
use aurora_storage::ChunkType;
use proptest::prelude::*;

const NAMES: [&str; 6] =
    ["parseQuery", "authenticate_user", "RetryScheduler", "invalidateCache", "open_connection", "renderTemplate"];

struct Index {
    _directory: tempfile::TempDir,
    searcher: Searcher,
}

fn index(config: SearchConfig) -> Index {
    let rows: Vec<Row> = NAMES
        .iter()
        .enumerate()
        .map(|(at, name)| Row::new(&format!("src/file{at}.py"), name, ChunkType::Function, "some shared words"))
        .chain([Row::new("src/other.py", "other", ChunkType::Function, "the database configuration has an index")])
        .collect();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let snapshot = corpus::write(directory.path(), &rows, None);
    Index { _directory: directory, searcher: Searcher::new(snapshot, None, config) }
}

impl Index {
    fn ask(&self, text: &str) -> SearchResults {
        self.searcher.search(&Query { mode: Mode::Sparse, ..Query::new(text, NOW) }).expect("a valid query")
    }

    fn first(&self, text: &str) -> Option<String> {
        self.ask(text).hits.first().map(|hit| hit.qualified_name.clone())
    }
}

#[test]
fn a_misspelt_identifier_is_corrected_with_its_original_case() {
    let index = index(SearchConfig::default());
    let results = index.ask("parseQurey");
    assert_eq!(results.hits[0].qualified_name, "parseQuery");
    assert_eq!(results.notes, ["No match for \"parseQurey\"; searched for parseQuery"]);
    assert_eq!(results.query, "parseQurey");
    let results = index.ask("how does RetrySchduler work");
    assert_eq!(results.hits[0].qualified_name, "RetryScheduler");
    assert_eq!(results.notes, ["No match for \"RetrySchduler\"; searched for RetryScheduler"]);
    let results = index.ask("shared wrods");
    assert_eq!(results.notes, ["No match for \"wrods\"; searched for words"]);
}

#[test]
fn nothing_is_corrected_if_something_matches_or_nothing_is_near() {
    let index = index(SearchConfig::default());
    for text in ["parseQuery", "parse words", "Query.parse", "zyzzyva", "user_query", "abc", "sha255"] {
        assert!(index.ask(text).notes.iter().all(|note| !note.contains("searched for")), "{text}");
    }
    let mut off = SearchConfig::default();
    off.expansion.spelling = 0.0;
    assert!(self::index(off).ask("parseQurey").notes.iter().all(|note| !note.contains("searched for")));
}

#[test]
fn additional_terms_are_weaker_and_explained() {
    let index = index(SearchConfig::default());
    for (text, term) in [
        ("db", "database (for db)"),
        ("cfg", "configuration (for cfg)"),
        ("indexing", "index (form of indexing)"),
        ("databas", "database (begins with databas)"),
    ] {
        let results = index.ask(text);
        let matched = results.hits.first().map(|hit| hit.explanation.matched_terms.clone()).unwrap_or_default();
        assert_eq!(matched, [term], "{text}");
        assert!(results.notes.is_empty(), "{:?}", results.notes);
    }
    let score = |text: &str| index.ask(text).hits[0].scores.raw.bm25;
    assert!(score("db") < score("database"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_typo_in_a_name_is_corrected(name in prop::sample::select(NAMES.to_vec()), at in 1usize..20, slip in 0u8..4) {
        let mut letters: Vec<char> = name.chars().collect();
        let at = at % (letters.len() - 1);
        match slip {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, 'z'),
            2 => letters[at] = 'z',
            _ => letters.swap(at, at + 1),
        }
        let typed: String = letters.into_iter().collect();
        let case_only = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
        // A `_` at the start or end is not part of the word.
        prop_assume!(!case_only(&typed, name) && !typed.starts_with('_') && !typed.ends_with('_'));
        thread_local!(static INDEX: Index = index(SearchConfig::default()));
        let found = INDEX.with(|index| index.first(&typed));
        prop_assert_eq!(found.as_deref(), Some(name), "{}", typed);
    }
}
