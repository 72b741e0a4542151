//! How long does a query take on an open index?
//!
//! Corpus: the index in the directory given on the command line. Queries: names and first sentences of documentation,
//! drawn from that index. Baselines, in the same run: for keywords, scoring every posting of every term; for vectors,
//! scoring every stored vector. Each query runs several times, and its minimum time counts, since a busy machine can
//! only make a query slower.
//!
//! `cargo xtask bench query DIR`

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_analysis::{Analyzer, QueryEmbedder, StaticModel};
use aurora_query::{FieldScorer, Mode, Query, SearchConfig, Searcher, WeightedTerm, best_chunks, idf};
use aurora_storage::{ChunkId, Environment, OpenMode, ProjectDirectory, Snapshot, Threads};

/// Number of queries of each kind.
const SAMPLE: usize = 250;
/// Number of candidates that keywords and vectors retrieve.
const TOP: usize = 100;
/// Number of words that a sentence must have to serve as a query.
const WORDS: std::ops::RangeInclusive<usize> = 4..=14;
/// Number of runs of each query.
const ROUNDS: usize = 5;
/// Number of queries for which recall is measured, against an exhaustive scan of the vectors.
const RECALLED: usize = 100;

fn main() {
    let Some(root) = std::env::args().nth(1).filter(|argument| !argument.starts_with("--")) else {
        return println!("usage: cargo xtask bench query DIR");
    };
    let environment = Environment::open(&Path::new(&root).join(ProjectDirectory::NAME), OpenMode::Existing)
        .expect("the directory contains an index");
    let snapshot = environment.snapshot().expect("the index can be read");
    let model: Arc<dyn QueryEmbedder> = StaticModel::built_in().expect("the built-in model can be loaded");
    println!("{} chunks, {} segments", snapshot.live().len(), snapshot.manifest().segments.len());

    let (names, sentences) = queries(&snapshot);
    let searcher = Searcher::new(snapshot.clone(), Some(Arc::clone(&model)), SearchConfig::default());
    for (kind, queries) in [("names", &names), ("sentences", &sentences)] {
        for mode in [Mode::Sparse, Mode::Dense, Mode::Hybrid] {
            let times = best_times(queries, |text| {
                let query = Query { mode, ..Query::new(text, 1_760_000_000) };
                searcher.search(&query).map(|found| found.hits.len())
            });
            report(&format!("search, {}, {kind}", mode.as_str()), times, None);
        }
        let baseline = best_times(queries, |text| exhaustive(&snapshot, text));
        report(
            &format!("best chunks by keywords, {kind}"),
            best_times(queries, |text| pruned(&snapshot, text)),
            Some(&baseline),
        );
        report(&format!("every posting scored, {kind}"), baseline, None);
    }
    vectors(&snapshot, model.as_ref(), &sentences);
}

fn pruned(snapshot: &Snapshot, text: &str) -> usize {
    let terms = terms(text);
    let terms: Vec<_> = terms.iter().map(|(text, weight)| WeightedTerm { text, weight: *weight }).collect();
    let found = best_chunks(snapshot, &SearchConfig::default().bm25, &terms, TOP, None);
    found.expect("the index can be read").len()
}

fn exhaustive(snapshot: &Snapshot, text: &str) -> usize {
    let config = SearchConfig::default().bm25;
    let total = snapshot.live().len();
    let scorer = FieldScorer::new(&config, total, snapshot.field_totals());
    let lengths = snapshot.all_field_lengths().expect("the index can be read");
    let mut scores = vec![0f32; snapshot.manifest().next_chunk_id as usize];
    for (term, count) in terms(text) {
        let postings = snapshot.postings(&term).expect("the index can be read");
        let weight = count * idf(total, u64::from(postings.doc_frequency()));
        postings.for_each(|id, frequencies| {
            scores[id.0 as usize] += weight * scorer.saturated(frequencies, lengths.of(id));
        });
    }
    let mut best: Vec<(u32, f32)> = (0..).zip(scores).filter(|(_, score)| *score > 0.0).collect();
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    best.truncate(TOP);
    best.len()
}

fn terms(text: &str) -> Vec<(String, f32)> {
    let mut terms: Vec<(String, f32)> = Vec::new();
    Analyzer.terms(text, &mut |term| match terms.iter_mut().find(|(known, _)| known == term) {
        Some((_, count)) => *count += 1.0,
        None => terms.push((term.to_owned(), 1.0)),
    });
    terms
}

/// Compares the search for nearest vectors with the exhaustive scan, in time and results.
fn vectors(snapshot: &Snapshot, model: &dyn QueryEmbedder, queries: &[String]) {
    let stored: Vec<(ChunkId, Vec<f32>)> = snapshot
        .live()
        .iter()
        .filter_map(|id| Some((ChunkId(id), snapshot.vector(ChunkId(id)).expect("the index can be read")?)))
        .collect();
    if stored.is_empty() {
        return println!("no vectors");
    }
    let queries = &queries[..queries.len().min(RECALLED)];
    let embed = |text: &str| model.embed_query(text).expect("the built-in model does not fail");
    let nearest = |text: &str| snapshot.nearest(&embed(text), TOP, None, Threads::All).expect("the index can be read");
    let exact = |text: &str| {
        let query = embed(text);
        let mut all: Vec<(ChunkId, f32)> = stored.iter().map(|(id, vector)| (*id, dot(vector, &query))).collect();
        if all.len() > TOP {
            all.select_nth_unstable_by(TOP, |a, b| b.1.total_cmp(&a.1));
            all.truncate(TOP);
        }
        all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        all
    };
    let baseline = best_times(queries, exact);
    report("nearest", best_times(queries, nearest), Some(&baseline));
    report("every vector scored", baseline, None);
    for count in [10, TOP] {
        let shares = queries.iter().map(|text| recall(&exact(text), &nearest(text), count));
        println!("recall of nearest: @{count} {:.4}", shares.sum::<f64>() / queries.len().max(1) as f64);
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, b) = (a.as_chunks::<16>().0, b.as_chunks::<16>().0);
    let mut sums = [0f32; 16];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

/// Returns the recall of `found` for the `count` best vectors. Scores are compared, so vectors with equal scores are
/// interchangeable.
fn recall(exact: &[(ChunkId, f32)], found: &[(ChunkId, f32)], count: usize) -> f64 {
    let exact = &exact[..exact.len().min(count)];
    let last = exact.last().map_or(0.0, |(_, score)| *score);
    let reached = found.iter().take(count).filter(|(_, score)| *score >= last - 1e-5);
    reached.count() as f64 / exact.len().max(1) as f64
}

/// Returns names and sentences, in an order that depends only on the texts.
fn queries(snapshot: &Snapshot) -> (Vec<String>, Vec<String>) {
    let mut by_name: HashMap<String, u32> = HashMap::new();
    let mut sentences = BTreeSet::new();
    for id in snapshot.live() {
        let chunk = snapshot.whole_chunk(ChunkId(id)).expect("the index can be read").expect("the chunk is live");
        if chunk.chunk_type.is_source_code() && chunk.name.len() > 4 {
            *by_name.entry(chunk.name.to_string()).or_default() += 1;
            let sentence = chunk.doc.split(['.', '\n']).next().unwrap_or_default().trim();
            if WORDS.contains(&sentence.split_whitespace().count()) {
                sentences.insert(sentence.to_owned());
            }
        }
    }
    (draw(by_name.into_keys()), draw(sentences.into_iter()))
}

fn draw(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<_> = texts.map(|text| (Reverse(digest(&text)), text)).collect();
    texts.sort_unstable();
    texts.into_iter().take(SAMPLE).map(|(_, text)| text).collect()
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns the minimum time of each query.
fn best_times<T>(queries: &[String], work: impl Fn(&str) -> T) -> Vec<Duration> {
    let mut best = vec![Duration::MAX; queries.len()];
    for _ in 0..ROUNDS {
        for (text, best) in queries.iter().zip(&mut best) {
            let begun = Instant::now();
            std::hint::black_box(work(text));
            *best = begun.elapsed().min(*best);
        }
    }
    best
}

fn report(what: &str, mut times: Vec<Duration>, baseline: Option<&[Duration]>) {
    let mean = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64() / times.len().max(1) as f64;
    let ratio =
        baseline.map(|baseline| format!(", {:.2} x the baseline", mean(&times) / mean(baseline))).unwrap_or_default();
    times.sort_unstable();
    if times.is_empty() {
        return println!("{what}: no queries");
    }
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!("{what}: p50 {:.2} ms, p99 {:.2} ms, mean {:.2} ms{ratio}", at(50), at(99), mean(&times) * 1e3);
}
