//! Confidence in answers: `confidence` and `close`.

use std::sync::Arc;

use crate::corpus::{self, Bag, NOW, Row};
use aurora_query::{
    Aging, FilterSpec, Forgetting, Mode, Query, Retention, SearchConfig, SearchResults, Searcher, Source, search_all,
};
use aurora_storage::{AccessRecord, ChunkRecord, ChunkType, Snapshot, StorageError};
use roaring::RoaringBitmap;

fn rows() -> Vec<Row> {
    let function = |path: &str, name: &str, text: &str| Row::new(path, name, ChunkType::Function, text);
    vec![
        function("src/auth/login.py", "authenticate_user", "check the password of a user and open a session"),
        function("src/auth/token.py", "refresh_token", "extend a session before it expires"),
        function("src/web/views.py", "render_page", "fill the template of a page and send the response"),
        function("src/store/cache.py", "evict_entries", "remove the oldest entries of the cache when it is full"),
        function("src/store/disk.py", "write_block", "append a block to the file and flush it to the disk"),
        function("src/config/parse.py", "parse_config", "read the configuration file and report unknown keys"),
    ]
}

/// An index of [`rows`], with or without vectors.
struct Index {
    _directory: tempfile::TempDir,
    searcher: Searcher,
}

impl Index {
    fn new(name: &str, model: Option<Bag>) -> Self {
        Self::with_rows(name, &rows(), model)
    }

    fn with_rows(name: &str, rows: &[Row], model: Option<Bag>) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let snapshot = corpus::write(directory.path(), rows, model.as_ref());
        let embedder = model.map(|model| Arc::new(model) as Arc<dyn aurora_analysis::QueryEmbedder>);
        let searcher = Searcher::new(snapshot, embedder, SearchConfig::default()).with_name(name);
        Self { _directory: directory, searcher }
    }

    fn ask(&self, mode: Mode, text: &str) -> SearchResults {
        self.searcher.search(&Query { mode, ..Query::new(text, NOW) }).expect("a valid query")
    }
}

fn judged(found: &SearchResults) -> (f32, bool) {
    let confidence = found.confidence.expect("a query has a confidence");
    assert!((0.0..=1.0).contains(&confidence), "{confidence}");
    (confidence, found.close.expect("a query is close or not"))
}

#[test]
fn names_and_questions_are_close_and_other_topics_are_not() {
    let (with, without) = (Index::new("with", Some(Bag::default())), Index::new("without", None));
    let cases = [(&with, Mode::Hybrid), (&with, Mode::Sparse), (&with, Mode::Dense), (&without, Mode::Hybrid)];
    for (index, mode) in cases {
        for text in ["authenticate_user", "parse_config", "where are the oldest entries of the cache removed"] {
            assert!(judged(&index.ask(mode, text)).1, "{mode:?}: {text}");
        }
        for text in ["xyzabc123", "zebra giraffe elephant", "write a poem about autumn leaves"] {
            let found = index.ask(mode, text);
            assert!(!judged(&found).1, "{mode:?}: {text}: {:?}", found.evidence);
            assert_eq!(found.is_distant(), !found.hits.is_empty());
            assert!(judged(&found).0 < judged(&index.ask(mode, "authenticate_user")).0);
        }
    }
}

#[test]
fn more_words_of_the_best_result_do_not_lower_the_confidence() {
    let index = Index::new("index", None);
    let known = ["oldest", "entries", "cache", "full"];
    let other = ["zebra", "giraffe", "elephant", "rhinoceros"];
    let confidences: Vec<f32> = (0..=known.len())
        .map(|count| {
            let words: Vec<_> = known[..count].iter().chain(&other[count..]).copied().collect();
            judged(&index.ask(Mode::Hybrid, &words.join(" "))).0
        })
        .collect();
    assert!(confidences.is_sorted() && confidences[0] < confidences[known.len()], "{confidences:?}");
}

#[test]
fn the_confidence_depends_neither_on_the_limit_nor_on_the_division_into_roots() {
    let (a, b) = (Index::new("a", Some(Bag::default())), Index::new("b", Some(Bag::default())));
    for text in ["refresh_token", "fill a template", "xyzabc123"] {
        let ask = |limit| search_all(&[&a.searcher, &b.searcher], &Query { limit, ..Query::new(text, NOW) });
        let (one, ten) = (ask(1).expect("a valid query"), ask(10).expect("a valid query"));
        assert_eq!((judged(&one), one.evidence), (judged(&ten), ten.evidence), "{text}");
        assert_eq!(judged(&ten).1, judged(&a.ask(Mode::Hybrid, text)).1, "{text}");
    }
}

/// Rules of a memory whose entries are visible and do not age.
struct Ageless;

impl Retention for Ageless {
    fn visible(&self, _: &Snapshot) -> Result<Option<RoaringBitmap>, StorageError> {
        Ok(None)
    }

    fn aging(&self, _: ChunkRecord<'_>, _: Option<&AccessRecord>, _: i64) -> Aging {
        Aging { is_expired: false, forgetting: Forgetting::None, weight: 1.0, reason: String::new() }
    }
}

#[test]
fn code_and_memory_are_judged_separately() {
    let notes = [
        ("printer", "the printer on the third floor only accepts jobs from the guest network"),
        ("invoices", "invoices of customers are numbered without gaps"),
    ];
    let notes = notes.map(|(name, text)| Row::new(&format!("@@memory/note:{name}"), name, ChunkType::Note, text));
    for model in [None, Some(Bag::default())] {
        let code = Index::new("code", model.clone());
        let memory = Index::with_rows("memory", &notes, model);
        let memory = memory.searcher.with_memory(Arc::new(Ageless));
        let ask = |text: &str| search_all(&[&code.searcher, &memory], &Query::new(text, NOW)).expect("a valid query");
        let close = |found: &SearchResults, source| {
            found.hits.iter().filter(|hit| hit.source == source && hit.is_close).count()
        };
        let of_note = ask("which jobs does the printer on the third floor accept");
        assert!(of_note.hits.iter().any(|hit| hit.source == Source::Code));
        assert_eq!((close(&of_note, Source::Memory) > 0, close(&of_note, Source::Code)), (true, 0));
        let of_code = ask("remove the oldest entries of the cache when it is full");
        assert!(of_code.hits.iter().any(|hit| hit.source == Source::Memory));
        assert_eq!((close(&of_code, Source::Memory), close(&of_code, Source::Code) > 0), (0, true));
        let mut of_neither = ask("write a poem about autumn leaves");
        of_neither.remove_distant();
        assert!(of_neither.hits.is_empty());
    }
}

#[test]
fn a_list_without_a_query_has_no_confidence() {
    let index = Index::new("index", None);
    let filter = FilterSpec { types: vec!["function".to_owned()], ..FilterSpec::default() };
    let found = index.searcher.search(&Query { filter, ..Query::new("", NOW) }).expect("a valid filter");
    assert!(!found.hits.is_empty() && !found.is_distant());
    assert_eq!((found.confidence, found.close, found.evidence), (None, None, None));
}
