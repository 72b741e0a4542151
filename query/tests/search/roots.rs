//! Searches over several indexes give the same results as one index of all files.

use std::sync::Arc;

use aurora_query::{FilterSpec, Group, Mode, Query, SearchConfig, SearchResults, Searcher, search_all};
use aurora_storage::ChunkType;
use proptest::prelude::*;

use crate::corpus::{self, Bag, Judge, NOW, Row};
use crate::generated::{rows, text};

const PATHS: [&str; 6] =
    ["src/core.py", "src/auth/token.py", "tests/test_core.py", "docs/guide.md", "lib/load.go", "lib/save.go"];

/// An index in its own directory.
struct Index {
    _directory: tempfile::TempDir,
    searcher: Searcher,
}

impl Index {
    fn new(name: &str, rows: &[Row], model: Option<Bag>) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let snapshot = corpus::write(directory.path(), rows, model.as_ref());
        let embedder = model.map(|model| Arc::new(model) as Arc<dyn aurora_analysis::QueryEmbedder>);
        let mut config = SearchConfig { rerank: Some("judge".to_owned()), rerank_words: 1, ..SearchConfig::default() };
        // The smallest limits that can be configured, so that some chunks do not become candidates.
        (config.hybrid.stage1_top_k, config.hybrid.dense_top_k) = (10, 10);
        let searcher = Searcher::new(snapshot, embedder, config).with_name(name);
        let searcher = searcher.with_reranker(Ok(Arc::new(Judge::default())));
        Self { _directory: directory, searcher }
    }
}

fn search(indexes: &[&Index], query: &Query) -> SearchResults {
    let searchers = indexes.iter().map(|index| &index.searcher);
    search_all(&searchers.collect::<Vec<_>>(), query).expect("a valid query")
}

/// Returns the parts of an answer that do not depend on the number of indexes.
fn scores(found: &SearchResults) -> Vec<(String, u32, u32, u32)> {
    let row = |hit: &aurora_query::Hit| {
        let raw = hit.scores.raw;
        (hit.key.clone(), hit.score.to_bits(), raw.bm25.to_bits(), raw.cosine.unwrap_or(-2.0).to_bits())
    };
    found.hits.iter().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn several_indexes_give_the_same_scores_as_one(
        rows in rows(&PATHS, 2..30), second in prop::collection::vec(any::<bool>(), PATHS.len()), query in text(), typo in any::<bool>(),
        mode in prop::sample::select(&[Mode::Hybrid, Mode::Sparse, Mode::Dense][..]), by_file in any::<bool>(),
    ) {
        let is_second = |row: &Row| second[PATHS.iter().position(|path| *path == row.path).expect("one of the paths")];
        let parts: (Vec<Row>, Vec<Row>) = rows.iter().cloned().partition(|row| !is_second(row));
        let all = Index::new("all", &rows, Some(Bag::default()));
        let (a, b) = (Index::new("a", &parts.0, Some(Bag::default())), Index::new("b", &parts.1, Some(Bag::default())));
        // A word that neither index contains is corrected to the nearest word in the two indexes.
        let query = if typo { format!("{query} sesion") } else { query };
        let group = if by_file { Group::File } else { Group::Chunk };
        let query = Query { limit: 8, mode, group, facets: true, ..Query::new(query, NOW) };
        let (one, both) = (search(&[&all], &query), search(&[&a, &b], &query));
        prop_assert_eq!(scores(&one), scores(&both));
        prop_assert_eq!((&one.notes, one.stages), (&both.notes, both.stages));
        let facets = |found: &SearchResults| found.facets.clone().map(|facets| (facets.chunks, facets.types, facets.languages));
        prop_assert_eq!(facets(&one), facets(&both));
        for hit in &both.hits {
            let row = rows.iter().find(|row| row.key() == hit.key).expect("one of the rows");
            prop_assert_eq!(hit.root.as_deref(), Some(if is_second(row) { "b" } else { "a" }));
        }
    }
}

fn twin(name: &str, text: &str) -> Vec<Row> {
    vec![Row::new("src/retry.py", name, ChunkType::Function, text)]
}

#[test]
fn equal_paths_in_two_roots_are_separate_and_equal_texts_are_folded() {
    let text = "wait and try the request again with a longer delay each time";
    let (a, b, c) = (twin("retry", text), twin("retry", text), twin("retry_all", "try every request again"));
    let [a, b, c] = [("one", a), ("two", b), ("three", c)].map(|(name, rows)| Index::new(name, &rows, None));
    let found = search(&[&a, &b, &c], &Query::new("request again", NOW));
    let rows: Vec<_> = found.hits.iter().map(|hit| (hit.display_file(), hit.copies.places.clone())).collect();
    let folded = ("one/src/retry.py".to_owned(), vec!["two/src/retry.py:1".to_owned()]);
    assert!(rows.contains(&folded) && rows.contains(&("three/src/retry.py".to_owned(), vec![])), "{rows:?}");
    assert_eq!(found.hits.iter().map(|hit| hit.rank).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_index_without_vectors_is_searched_by_keywords_and_named_in_a_note() {
    let with = Index::new("with", &twin("retry", "try the request again"), Some(Bag::default()));
    let without = Index::new("without", &twin("repeat", "repeat the request"), None);
    let found = search(&[&with, &without], &Query::new("the request", NOW));
    assert_eq!(found.hits.len(), 2);
    assert_eq!(found.notes, ["Ranked without semantic scores in without: the index holds no embeddings"]);
    let of = |root: &str| found.hits.iter().find(|hit| hit.root.as_deref() == Some(root)).expect("a hit");
    assert!(of("with").scores.raw.cosine.is_some() && of("without").scores.raw.cosine.is_none());
}

#[test]
fn patterns_without_a_query_list_every_root_in_order() {
    let [a, b] = [Index::new("y", &twin("a", "sleep(3)"), None), Index::new("x", &twin("b", "sleep(4)"), None)];
    let filter = FilterSpec { grep: vec![r"sleep\(\d\)".to_owned()], ..FilterSpec::default() };
    let list = |limit| search(&[&a, &b], &Query { limit, filter: filter.clone(), ..Query::new("", NOW) });
    let files = |found: &SearchResults| found.hits.iter().map(aurora_query::Hit::display_file).collect::<Vec<_>>();
    assert_eq!(files(&list(9)), ["y/src/retry.py", "x/src/retry.py"]);
    let one = list(1);
    assert_eq!(files(&one), ["y/src/retry.py"]);
    assert_eq!(one.notes, ["2 chunks match; the list is limited to 1"]);
}
