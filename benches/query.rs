//! How long does a query take on an open index?
//!
//! Corpus: the index in the directory given on the command line. Queries: names and first sentences of documentation,
//! drawn from that index. Peers in the same run: for keywords every posting of every term scored, for vectors every
//! vector scored as it is stored. Each query runs on both sides in turn.
//!
//! `cargo xtask bench query DIR`

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_analysis::{Analyzer, Embedder, StaticModel};
use aurora_query::{FieldScorer, Mode, Query, Retriever, SearchConfig, idf};
use aurora_stages::index::INDEX_DIRECTORY;
use aurora_storage::{ChunkId, Environment, OpenMode, Snapshot};

/// Queries of each kind.
const SAMPLE: usize = 250;
/// Candidates of the first stage.
const TOP: usize = 100;
/// Shortest and longest sentence, in words, that is asked as a question.
const WORDS: std::ops::RangeInclusive<usize> = 4..=14;
/// Queries whose nearest vectors are compared with those of the exhaustive scan.
const RECALLED: usize = 100;

fn main() {
    let Some(root) = std::env::args().nth(1).filter(|argument| !argument.starts_with("--")) else {
        return println!("usage: cargo xtask bench query DIR");
    };
    let environment = Environment::open(&Path::new(&root).join(INDEX_DIRECTORY), OpenMode::Existing).expect("an index");
    let snapshot = environment.snapshot().expect("a snapshot");
    let model: Arc<dyn Embedder> = Arc::new(StaticModel::built_in().expect("the embedded model"));
    println!("{} chunks, {} segments", snapshot.live().len(), snapshot.manifest().segments.len());

    let (names, sentences) = queries(&snapshot);
    let retriever = Retriever::new(snapshot.clone(), Some(Arc::clone(&model)), SearchConfig::default());
    for (kind, queries) in [("names", &names), ("sentences", &sentences)] {
        for mode in [Mode::Sparse, Mode::Dense, Mode::Hybrid] {
            let ask = |text: &String| {
                let query = Query { mode, ..Query::new(text.as_str(), 1_760_000_000) };
                std::hint::black_box(retriever.search(&query).map(|found| found.hits.len()).unwrap_or(0));
            };
            queries.iter().for_each(ask);
            let times: Vec<_> = queries.iter().map(|text| timed(|| ask(text))).collect();
            report(&format!("search, {}, {kind}", mode.as_str()), times, None);
        }
        keywords(&snapshot, kind, queries);
    }
    vectors(&snapshot, model.as_ref(), &sentences);
}

/// The exhaustive evaluation of keywords: all that a pruned one saves is below this.
fn keywords(snapshot: &Snapshot, kind: &str, queries: &[String]) {
    let times: Vec<_> = queries.iter().map(|text| timed(|| exhaustive(snapshot, text))).collect();
    report(&format!("every posting scored, {kind}"), times, None);
}

fn exhaustive(snapshot: &Snapshot, text: &str) {
    let config = SearchConfig::default().bm25;
    let total = snapshot.live().len();
    let scorer = FieldScorer::new(&config, total, snapshot.field_totals());
    let mut scores = vec![0f32; snapshot.manifest().next_chunk_id as usize];
    for (term, count) in terms(text) {
        let postings = snapshot.postings(&term).expect("a readable index");
        let weight = count * idf(total, u64::from(postings.doc_frequency()));
        for (id, frequencies) in postings.iter() {
            scores[id.0 as usize] += weight * scorer.saturated(frequencies, snapshot.field_lengths(id));
        }
    }
    let mut best: Vec<(u32, f32)> = (0..).zip(scores).filter(|(_, score)| *score > 0.0).collect();
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    best.truncate(TOP);
    std::hint::black_box(best);
}

fn terms(text: &str) -> Vec<(String, f32)> {
    let mut terms: Vec<(String, f32)> = Vec::new();
    Analyzer.terms(text, &mut |term| match terms.iter_mut().find(|(known, _)| known == term) {
        Some((_, count)) => *count += 1.0,
        None => terms.push((term.to_owned(), 1.0)),
    });
    terms
}

/// The nearest vectors against the exhaustive scan, in time and in what is found.
fn vectors(snapshot: &Snapshot, model: &dyn Embedder, queries: &[String]) {
    let stored: Vec<(ChunkId, Vec<f32>)> = snapshot
        .live()
        .iter()
        .filter_map(|id| Some((ChunkId(id), snapshot.vector(ChunkId(id)).expect("a readable index")?)))
        .collect();
    if stored.is_empty() {
        return println!("no vectors");
    }
    let (mut ours, mut peer, mut at_ten, mut at_hundred) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for text in queries.iter().take(RECALLED) {
        let query = model.embed_query(text).expect("words");
        let mut found = Vec::new();
        ours.push(timed(|| found = snapshot.nearest(&query, TOP, None).expect("a readable index")));
        let mut exact: Vec<(f32, ChunkId)> = Vec::new();
        peer.push(timed(|| {
            exact = stored.iter().map(|(id, vector)| (dot(vector, &query), *id)).collect();
            exact.select_nth_unstable_by(TOP, |a, b| b.0.total_cmp(&a.0));
        }));
        exact.truncate(TOP);
        exact.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        at_ten += recall(&exact[..10], &found[..10]);
        at_hundred += recall(&exact, &found);
    }
    let count = ours.len() as f64;
    report("nearest", ours, Some(&peer));
    report("every vector scored", peer, None);
    println!("recall of nearest: @10 {:.4}, @100 {:.4}", at_ten / count, at_hundred / count);
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

/// Share of the exact scores that ours reach; equal vectors stand for each other.
fn recall(exact: &[(f32, ChunkId)], found: &[(ChunkId, f32)]) -> f64 {
    let last = exact.last().map_or(0.0, |(score, _)| *score);
    found.iter().filter(|(_, score)| *score >= last - 1e-5).count() as f64 / exact.len() as f64
}

/// Names and sentences in an order that depends on nothing but the texts.
fn queries(snapshot: &Snapshot) -> (Vec<String>, Vec<String>) {
    let mut by_name: HashMap<String, u32> = HashMap::new();
    let mut sentences = BTreeSet::new();
    for id in snapshot.live() {
        let chunk = snapshot.chunk(ChunkId(id)).expect("a readable index").expect("a live chunk");
        if chunk.chunk_type.to_native().is_source_code() && chunk.name.len() > 4 {
            *by_name.entry(chunk.name.to_string()).or_default() += 1;
            let sentence = chunk.doc.split(['.', '\n']).next().unwrap_or_default().trim();
            if WORDS.contains(&sentence.split_whitespace().count()) {
                sentences.insert(sentence.to_owned());
            }
        }
    }
    (drawn(by_name.into_keys()), drawn(sentences.into_iter()))
}

fn drawn(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<_> = texts.map(|text| (Reverse(digest(&text)), text)).collect();
    texts.sort_unstable();
    texts.into_iter().take(SAMPLE).map(|(_, text)| text).collect()
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn report(what: &str, mut times: Vec<Duration>, peer: Option<&[Duration]>) {
    let mean = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64() / times.len().max(1) as f64;
    let ratio = peer.map(|peer| format!(", {:.2} x the peer", mean(&times) / mean(peer))).unwrap_or_default();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!("{what}: p50 {:.2} ms, p99 {:.2} ms, mean {:.2} ms{ratio}", at(50), at(99), mean(&times) * 1e3);
}
