//! Reranking: the texts that the model reads, the effect of its scores, and searches without a model.

use std::sync::Arc;

use crate::corpus::{self, Bag, Judge, NOW, Row};
use aurora_query::{Hit, LoadedReranker, Mode, Query, SearchConfig, SearchResults, Searcher};
use aurora_storage::ChunkType::Function;

/// Returns functions, in the order in which they match the words of the query.
fn rows() -> Vec<Row> {
    vec![
        Row::new("src/a.py", "load_settings", Function, "load the settings of a user from a file"),
        Row::new("src/b.py", "read_settings", Function, "load the settings").doc("Reads what the user has set"),
        Row::new("src/c.py", "apply", Function, "settings and a zebra"),
        Row::new("src/d.py", "draw", Function, "the settings of a window"),
    ]
}

fn config(name: Option<&str>, results: usize) -> SearchConfig {
    SearchConfig {
        rerank: name.map(str::to_owned),
        rerank_results: results,
        rerank_words: 1,
        ..SearchConfig::default()
    }
}

fn search(config: &SearchConfig, reranker: Option<LoadedReranker>, query: Query) -> SearchResults {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let model = Bag::default();
    let snapshot = corpus::write(directory.path(), &rows(), Some(&model));
    let mut searcher = Searcher::new(snapshot, Some(Arc::new(model)), config.clone());
    if let Some(reranker) = reranker {
        searcher = searcher.with_reranker(reranker);
    }
    searcher.search(&query).expect("a valid query")
}

fn names(results: &SearchResults) -> Vec<&str> {
    results.hits.iter().map(|hit| hit.qualified_name.as_str()).collect()
}

fn effect(hit: &Hit) -> Option<f32> {
    hit.explanation.rules.iter().find(|rule| rule.rule == "rerank").map(|rule| rule.effect)
}

const QUERY: &str = "load settings of a user";

#[test]
fn the_model_is_used_only_if_the_configuration_names_it() {
    let judge = Arc::new(Judge::default());
    let plain = search(&config(None, 24), None, Query::new(QUERY, NOW));
    let off = search(&config(None, 24), Some(Ok(judge.clone())), Query::new(QUERY, NOW));
    let sparse = |config: &SearchConfig| {
        search(config, Some(Ok(judge.clone())), Query { mode: Mode::Sparse, ..Query::new(QUERY, NOW) })
    };
    assert_eq!(names(&off), names(&plain));
    let (named, unnamed) = (sparse(&config(Some("judge"), 24)), sparse(&config(None, 24)));
    assert_eq!((names(&named), &named.notes), (names(&unnamed), &unnamed.notes));
    assert!(named.hits.iter().all(|hit| effect(hit).is_none() && hit.scores.raw.rerank.is_none()));
    let mut weightless = config(Some("judge"), 24);
    weightless.rules.rerank = 0.0;
    assert_eq!(names(&search(&weightless, Some(Ok(judge.clone())), Query::new(QUERY, NOW))), names(&plain));
    assert_eq!(judge.read(), []);
}

#[test]
fn the_best_reranked_chunk_is_lifted_and_explained() {
    let plain = search(&config(None, 24), None, Query::new(QUERY, NOW));
    assert_ne!(names(&plain)[0], "apply");
    let judge = || Judge::with_score(|passage| if passage.body.contains("zebra") { 4.0 } else { -3.5 });
    let mut strong = config(Some("judge"), 24);
    strong.rules.rerank = 5.0;
    let read = search(&strong, Some(Ok(Arc::new(judge()))), Query::new(QUERY, NOW));
    assert_eq!(names(&read)[0], "apply");
    assert_eq!(names(&read)[1..], names(&plain).into_iter().filter(|name| *name != "apply").collect::<Vec<_>>());
    for hit in &read.hits {
        let is_best = hit.qualified_name == "apply";
        assert_eq!(hit.scores.raw.rerank, Some(if is_best { 4.0 } else { -3.5 }));
        assert_eq!(effect(hit).is_some_and(|effect| effect > 0.0), is_best, "{:?}", hit.explanation);
    }
    let json = serde_json::to_value(&read).expect("serialisable");
    assert_eq!(json["results"][0]["scores"]["raw"]["rerank"], 4.0);
    let json = serde_json::to_value(&plain).expect("serialisable");
    assert!(json["results"][0]["scores"]["raw"].get("rerank").is_none());
}

#[test]
fn only_the_first_chunks_are_read_with_their_texts() {
    let plain = search(&config(None, 24), None, Query::new(QUERY, NOW));
    let judge = Arc::new(Judge::default());
    let read = search(&config(Some("judge"), 2), Some(Ok(judge.clone())), Query::new(QUERY, NOW));
    let judged: Vec<String> = judge.read().into_iter().map(|(name, _)| name).collect();
    assert_eq!(judged, names(&plain)[..2]);
    for hit in &read.hits {
        assert_eq!(hit.scores.raw.rerank.is_some(), judged.contains(&hit.qualified_name), "{}", hit.qualified_name);
    }
    let (_, text) = judge.read().into_iter().find(|(name, _)| name == "read_settings").expect("it is one of the first");
    assert_eq!(text, "src/b.py\nread_settings\ndef read_settings()\nReads what the user has set\nload the settings");
}

#[test]
fn a_chunk_with_the_name_of_the_query_stays_first() {
    let mut strong = config(Some("judge"), 24);
    strong.rules.rerank = 10.0;
    let judge = Judge::with_score(|passage| f32::from(u8::from(passage.name != "apply")));
    let read = search(&strong, Some(Ok(Arc::new(judge))), Query::new("apply", NOW));
    assert_eq!(names(&read)[0], "apply");
    assert!(read.hits.len() > 1 && read.hits.iter().map(|hit| hit.score).is_sorted_by(|a, b| a >= b));
}

#[test]
fn scores_that_differ_by_rounding_are_equal() {
    let judge = || Judge::with_score(|passage| 7.0 + passage.name.len() as f32 * 1e-6);
    let plain = search(&config(None, 24), None, Query::new(QUERY, NOW));
    let read = search(&config(Some("judge"), 24), Some(Ok(Arc::new(judge()))), Query::new(QUERY, NOW));
    assert_eq!(names(&read), names(&plain));
}

#[test]
fn without_the_model_the_search_continues_and_reports_the_reason() {
    let plain = search(&config(None, 24), None, Query::new(QUERY, NOW));
    let judge = |judge: fn(&aurora_analysis::Passage<'_>) -> f32| -> Option<LoadedReranker> {
        Some(Ok(Arc::new(Judge::with_score(judge))))
    };
    let unreadable = "judge@1 gave no score for some results";
    for (reranker, reason) in [
        (None, "no model is loaded"),
        (Some(Err("there is no such model".to_owned())), "there is no such model"),
        (judge(|_| f32::NAN), unreadable),
        (judge(|_| f32::INFINITY), unreadable),
        (judge(|passage| if passage.name == "apply" { f32::MAX } else { f32::MIN }), unreadable),
    ] {
        let read = search(&config(Some("judge"), 24), reranker, Query::new(QUERY, NOW));
        let note = format!("Ranked without the reranker `judge`: {reason}");
        assert_eq!(read.notes, [plain.notes.clone(), vec![note]].concat());
        let scores = |results: &SearchResults| results.hits.iter().map(|hit| hit.score).collect::<Vec<_>>();
        assert_eq!((names(&read), scores(&read)), (names(&plain), scores(&plain)));
        assert!(read.hits.iter().all(|hit| hit.scores.raw.rerank.is_none()));
    }
}
