//! Properties that hold for every index and query.

use std::sync::Arc;

use crate::corpus::{self, Bag, Judge, NOW, Row};
use crate::generated::{rows, text};
use aurora_query::{
    FacetCount, FilterSpec, Mode, Query, RulesConfig, SearchConfig, SearchResults, Searcher, Weights, idf,
};
use aurora_storage::ChunkType;
use proptest::prelude::*;

const PATHS: [&str; 5] = ["src/core.py", "src/auth/token.py", "tests/test_core.py", "docs/guide.md", "lib/load.go"];

fn search(rows: &[Row], config: &SearchConfig, query: &Query) -> SearchResults {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let model = Bag::default();
    let snapshot = corpus::write(directory.path(), rows, Some(&model));
    let searcher = Searcher::new(snapshot, Some(Arc::new(model)), config.clone());
    searcher.with_reranker(Ok(Arc::new(Judge::default()))).search(query).expect("a valid query")
}

/// Creates a configuration with a reranker, which scores pseudo-randomly.
fn reranked(results: usize, weight: f32) -> SearchConfig {
    let mut config = SearchConfig {
        rerank: Some("judge".to_owned()),
        rerank_results: results,
        rerank_words: 1,
        ..SearchConfig::default()
    };
    config.rules.rerank = weight;
    config
}

/// Serializes the parts of an answer that must not depend on how the index was written.
fn answer(mut results: SearchResults) -> String {
    results.took = std::time::Duration::ZERO;
    results.phases = Default::default();
    serde_json::to_string(&results).expect("serialisable")
}

/// Creates a configuration that uses keywords alone, without rules. Near copies are not folded, because short texts are
/// often equal.
fn plain() -> SearchConfig {
    let mut config = SearchConfig::default();
    config.folding.near_copies = false;
    config.hybrid.weights = Weights { bm25: 1.0, semantic: 0.0, activation: 0.0 };
    config.rules = RulesConfig {
        definition: 0.0,
        name_words: 0.0,
        file_stem: 0.0,
        path: 0.0,
        asked_for: 0.0,
        doc_words: 0.0,
        file_keywords: 0.0,
        file_coverage: 0.0,
        file_meaning: 0.0,
        file_docs: 0.0,
        rerank: 0.0,
        repeated_file: 0.0,
        repeated_name: 0.0,
        tests: 0.0,
        generated: 0.0,
        vendored: 0.0,
        data: 0.0,
        superseded: 0.0,
        examples: 0.0,
        reexports: 0.0,
        declarations: 0.0,
        changelogs: 0.0,
        fragments: 0.0,
        prose: 0.0,
        shapes: 0.0,
        short: 0.0,
        conversation: 0.0,
    };
    config
}

/// Returns the BM25F scores of all rows, computed directly from its definition in double precision.
fn reference(rows: &[Row], config: &SearchConfig, query: &str) -> Vec<f64> {
    let documents: Vec<_> = corpus::chunks(rows).iter().map(corpus::terms_by_field).collect();
    let total = documents.len() as f64;
    let average = |field: usize| documents.iter().map(|fields| fields[field].1.len() as f64).sum::<f64>() / total;
    let score = |fields: &Vec<(aurora_storage::Field, Vec<String>)>| {
        corpus::terms(query)
            .iter()
            .map(|term| {
                let n = documents.iter().filter(|fields| fields.iter().any(|(_, terms)| terms.contains(term))).count();
                let frequency: f64 = (0..fields.len())
                    .map(|field| {
                        let tf = fields[field].1.iter().filter(|other| *other == term).count() as f64;
                        let b = f64::from(config.bm25.b);
                        let norm = if average(field) > 0.0 {
                            1.0 - b + b * fields[field].1.len() as f64 / average(field)
                        } else {
                            1.0
                        };
                        f64::from(config.bm25.fields[field]) * tf / norm
                    })
                    .sum();
                let k1 = f64::from(config.bm25.k1);
                f64::from(idf(documents.len() as u64, n as u64)) * frequency * (k1 + 1.0) / (frequency + k1)
            })
            .sum()
    };
    documents.iter().map(score).collect()
}

/// Counts the values, most frequent first.
fn counted(values: impl Iterator<Item = String>) -> Vec<FacetCount> {
    let mut counts = std::collections::BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().map(|(value, chunks)| FacetCount { value, chunks }).collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.chunks));
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn raw_scores_are_bm25f(rows in rows(&PATHS, 1..25), query in text()) {
        let results = search(&rows, &plain(), &Query { limit: 100, mode: Mode::Sparse, ..Query::new(&query, NOW) });
        let expected = reference(&rows, &plain(), &query);
        let matching = expected.iter().filter(|&&score| score > 0.0).count();
        prop_assert_eq!(results.hits.len(), matching);
        for hit in &results.hits {
            let at = rows.iter().position(|row| row.key() == hit.key).expect("one of the rows");
            prop_assert!((f64::from(hit.scores.raw.bm25) - expected[at]).abs() < 1e-4 * expected[at].max(1.0));
        }
    }

    #[test]
    fn filtering_before_the_top_k_equals_filtering_all_results(rows in rows(&PATHS, 1..25), query in text(), kind in prop::sample::select(&["kb", "class", "code"][..]), limit in 1usize..6) {
        let filter = FilterSpec { types: vec![kind.to_owned()], ..FilterSpec::default() };
        let passes = |row: &ChunkType| if kind == "code" { row.is_source_code() } else { row.as_str() == kind };
        let ask = |filter: FilterSpec, limit| search(&rows, &plain(), &Query { limit, filter, mode: Mode::Sparse, ..Query::new(&query, NOW) });
        let row = |hit: &aurora_query::Hit| (hit.key.clone(), hit.scores.raw.bm25.to_bits(), hit.explanation.matched_terms.clone());
        let before: Vec<_> = ask(filter, limit).hits.iter().map(row).collect();
        let after: Vec<_> = ask(FilterSpec::default(), 1000).hits.iter().filter(|hit| passes(&hit.chunk_type)).take(limit).map(row).collect();
        prop_assert_eq!(before, after);
    }

    #[test]
    fn facets_count_the_results_of_an_unlimited_search(rows in rows(&PATHS, 1..25), query in text(), kind in prop::option::of(prop::sample::select(&["kb", "class"][..]))) {
        let filter = FilterSpec { types: kind.map(str::to_owned).into_iter().collect(), ..FilterSpec::default() };
        let ask = Query { limit: 1000, filter, mode: Mode::Sparse, facets: true, ..Query::new(&query, NOW) };
        let results = search(&rows, &plain(), &ask);
        let hits = &results.hits;
        let directory = |path: &str| path.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
        let all: Vec<String> = hits.iter().map(|hit| directory(&hit.file)).collect();
        let common = all.first().map_or(0, |first| {
            let ends = first.match_indices('/').map(|(at, _)| at + 1).rev();
            ends.into_iter().find(|end| all.iter().all(|other| other.starts_with(&first[..*end]))).unwrap_or(0)
        });
        let below = all.iter().filter_map(|path| path[common..].split_once('/').map(|(name, _)| format!("{}{name}", &path[..common])));
        let facets = results.facets.expect("the query requests facets");
        prop_assert_eq!(facets.chunks, hits.len() as u64);
        prop_assert_eq!(facets.types, counted(hits.iter().map(|hit| hit.chunk_type.as_str().to_owned())));
        prop_assert_eq!(facets.languages, counted(hits.iter().map(|hit| hit.language.clone())));
        prop_assert_eq!(facets.directories, counted(below));
    }

    #[test]
    fn a_chunk_with_the_name_of_the_query_is_first(rows in rows(&PATHS, 1..25), pick in any::<prop::sample::Index>(), mode in prop::sample::select(&[Mode::Hybrid, Mode::Sparse, Mode::Dense][..]), upper in any::<bool>()) {
        let name = pick.get(&rows).qualified_name.clone();
        let typed = if upper { name.to_uppercase() } else { name.clone() };
        let results = search(&rows, &SearchConfig::default(), &Query { limit: 50, mode, ..Query::new(&typed, NOW) });
        let called = rows.iter().filter(|row| row.qualified_name == name).count();
        prop_assert!(results.hits[..called].iter().all(|hit| hit.qualified_name == name));
        prop_assert!(results.hits.iter().map(|hit| hit.score).is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn answers_do_not_depend_on_the_order_of_insertion(rows in rows(&PATHS, 1..25), query in text(), mode in prop::sample::select(&[Mode::Hybrid, Mode::Sparse, Mode::Dense][..])) {
        let ask = |rows: &[Row]| answer(search(rows, &reranked(5, 0.3), &Query { limit: 50, mode, ..Query::new(&query, NOW) }));
        // The files are in a different order. Within a file, rows keep their order and therefore their lines.
        let mut other = rows.clone();
        other.sort_by_key(|row| std::cmp::Reverse(row.path.clone()));
        let lines = |rows: &[Row]| rows.iter().map(|row| (row.key(), row.text.clone())).collect::<std::collections::BTreeSet<_>>();
        prop_assert_eq!(lines(&rows), lines(&other));
        prop_assert_eq!(strip_lines(&ask(&rows)), strip_lines(&ask(&other)));
    }

    #[test]
    fn parts_add_up_with_and_without_a_reranker(rows in rows(&PATHS, 1..25), query in text(), mode in prop::sample::select(&[Mode::Hybrid, Mode::Sparse, Mode::Dense][..]), most in 1usize..30, weight in 0.0f32..2.0, named in any::<bool>()) {
        let query = if named { rows[0].qualified_name.clone() } else { query };
        let ask = |config: &SearchConfig| search(&rows, config, &Query { limit: 100, mode, ..Query::new(&query, NOW) });
        let (plain, read) = (ask(&SearchConfig::default()), ask(&reranked(most, weight)));
        for hit in plain.hits.iter().chain(&read.hits) {
            let effects: f32 = hit.explanation.rules.iter().map(|rule| rule.effect).sum();
            prop_assert!((hit.scores.weighted.sum() + effects - hit.score).abs() < 1e-4, "{:?}", hit.explanation);
            prop_assert!((0.0..=1.0).contains(&hit.score), "{}", hit.score);
        }
        for results in [&plain, &read] {
            prop_assert!(results.hits.iter().map(|hit| hit.score).is_sorted_by(|a, b| a >= b));
            let is_exact: Vec<bool> = results.hits.iter().map(|hit| hit.explanation.exact_identifier).collect();
            prop_assert!(is_exact.is_sorted_by(|a, b| a >= b), "{:?}", is_exact);
        }
        prop_assert_eq!(answer(ask(&reranked(most, weight))), answer(read.clone()));
        let is_read = |results: &SearchResults| results.hits.iter().filter(|hit| hit.scores.raw.rerank.is_some()).count();
        prop_assert_eq!(is_read(&plain), 0);
        prop_assert!(is_read(&read) <= most && read.notes == plain.notes);
        if mode == Mode::Sparse || weight == 0.0 {
            prop_assert_eq!(answer(read), answer(plain));
        } else {
            prop_assert!(read.hits.is_empty() || is_read(&read) > 0);
        }
    }

    #[test]
    fn components_are_normalised_and_shares_are_respected(rows in rows(&PATHS, 1..25), query in text()) {
        let results = search(&rows, &plain(), &Query { limit: 50, ..Query::new(&query, NOW) });
        for hit in &results.hits {
            for value in [Some(hit.scores.bm25), hit.scores.semantic, Some(hit.scores.activation), Some(hit.score)].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&value));
            }
            prop_assert!((hit.scores.fused - hit.scores.bm25).abs() < 1e-6);
        }
    }
}

/// Removes line numbers, which depend on the order of the rows and do not affect scores.
fn strip_lines(json: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(json).expect("serialised by `answer`");
    if let Some(hits) = value["results"].as_array_mut() {
        for hit in hits {
            hit["line_start"] = 0.into();
            hit["line_end"] = 0.into();
            if let Some(places) = hit["copies"]["places"].as_array_mut() {
                let path = |place: &serde_json::Value| {
                    place.as_str().and_then(|place| place.split(':').next()).map(str::to_owned)
                };
                places.iter_mut().for_each(|place| *place = path(place).into());
            }
        }
    }
    value.to_string()
}
