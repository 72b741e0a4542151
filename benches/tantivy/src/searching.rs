//! How long does a query for the best chunks with any of its terms take?
//!
//! One field, the same constants, the peer merged into one segment, both warm. For each query, both sides take turns
//! several times, and the best time of each counts. Both times include looking up the terms. Neither includes looking
//! up the records of the results, except that ours reads the keys of chunks with equal scores to order them.
//!
//! Scores are equal except for the lengths of chunks, which the peer rounds down from 41 terms on, and ours from 64
//! terms on. Therefore the output states how many of the peer's best chunks are among ours, and how much the scores of
//! chunks with exact lengths differ.

use std::collections::HashMap;
use std::time::Duration;

use aurora_query::{Bm25Config, WeightedTerm, best_chunks};
use aurora_storage::{ChunkId, Environment, OpenMode, Snapshot};

use crate::Outcome;
use crate::corpus::Corpus;
use crate::lab::Lab;
use crate::measure::{Unit, mean, percentile, row, table, thread_cost};
use crate::ours::{Fields, ONE_FIELD};
use crate::peer::Peer;
use crate::queries::{CLASSES, draw};

/// Number of queries of a class, and of runs of each.
pub const QUERIES: usize = 400;
pub const PASSES: usize = 5;
/// Maximum length that the peer's index stores exactly.
const EXACT: u32 = 40;
/// Maximum ratio of our time to the peer's, with one copy of the corpus and with several.
const BAR: f64 = 0.60;
const COPIES_BAR: f64 = 0.70;

/// Prints the table.
pub fn run(lab: &Lab) -> Outcome<()> {
    let environment = Environment::open(lab.ours(Fields::One)?, OpenMode::Existing)?;
    let snapshot = environment.snapshot()?;
    let peer = Peer::open(lab.peer()?)?;
    let title = format!("query: {} against {} segment(s)", snapshot.manifest().segments.len(), peer.segments());
    table(&title, "ours", "tantivy");
    for terms in CLASSES {
        let queries = draw(&lab.corpus, &snapshot, terms, QUERIES)?;
        for k in [10, 100] {
            class(lab, &snapshot, &peer, &queries, k)?;
        }
    }
    Ok(())
}

fn class(lab: &Lab, snapshot: &Snapshot, peer: &Peer, queries: &[Vec<String>], k: usize) -> Outcome<()> {
    let mut ours = vec![Duration::MAX; queries.len()];
    let mut theirs = ours.clone();
    let mut agreement = Agreement::default();
    for pass in 0..PASSES {
        for (at, query) in queries.iter().enumerate() {
            let (found, took) = thread_cost(|| best(snapshot, &ONE_FIELD, query, k));
            ours[at] = ours[at].min(took);
            let (documents, took) = thread_cost(|| peer.best(query, k));
            theirs[at] = theirs[at].min(took);
            if pass == 0 {
                agreement.add(&lab.corpus, &found?, &chunks(peer, documents?)?);
            }
        }
    }
    let terms = queries[0].len();
    let name = |what: &str| format!("{terms} term(s), top {k}, {what}");
    let of_means = if lab.corpus.copies == 1 { BAR } else { COPIES_BAR };
    let say = |what: &str, ours: f64, peer: f64, bar| row(&name(what), ours, peer, Unit::Microseconds, bar);
    say("mean", mean(&ours), mean(&theirs), Some(of_means));
    say("p50", percentile(&ours, 50), percentile(&theirs, 50), None);
    let of_p99 = (terms > 1 && lab.corpus.copies == 1).then_some(BAR);
    say("p99", percentile(&ours, 99), percentile(&theirs, 99), of_p99);
    println!("    {agreement}");
    Ok(())
}

/// The `k` best chunks in our index.
pub fn best(snapshot: &Snapshot, config: &Bm25Config, query: &[String], k: usize) -> Outcome<Vec<(ChunkId, f32)>> {
    let terms: Vec<_> = query.iter().map(|text| WeightedTerm { text, weight: 1.0 }).collect();
    Ok(best_chunks(snapshot, config, &terms, k, None)?)
}

fn chunks(peer: &Peer, documents: Vec<(f32, tantivy::DocAddress)>) -> Outcome<Vec<(ChunkId, f32)>> {
    documents.into_iter().map(|(score, document)| Ok((ChunkId(peer.chunk(document)?), score))).collect()
}

/// Agreement of both results.
#[derive(Default)]
struct Agreement {
    found: usize,
    shared: usize,
    sizes_differ: usize,
    exact: usize,
    apart: f32,
}

impl Agreement {
    fn add(&mut self, corpus: &Corpus, ours: &[(ChunkId, f32)], peer: &[(ChunkId, f32)]) {
        self.sizes_differ += usize::from(ours.len() != peer.len());
        let ours: HashMap<ChunkId, f32> = ours.iter().copied().collect();
        for (id, score) in peer {
            self.found += 1;
            let Some(own) = ours.get(id) else { continue };
            self.shared += 1;
            if corpus.copies == 1 && corpus.length(id.0) <= EXACT {
                self.exact += 1;
                self.apart = self.apart.max((own - score).abs() / score);
            }
        }
    }
}

impl std::fmt::Display for Agreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = 100.0 * self.shared as f64 / self.found.max(1) as f64;
        write!(f, "{share:.1} % of tantivy's results are among ours")?;
        if self.exact > 0 {
            let (exact, apart) = (self.exact, self.apart);
            write!(f, "; {exact} of them with exact lengths, whose scores are at most {apart:.1e} apart, relatively")?;
        }
        match self.sizes_differ {
            0 => Ok(()),
            some => write!(f, "; {some} queries have a DIFFERENT NUMBER of results"),
        }
    }
}
