//! How long does it take to find the best chunks that contain any term of a query?
//!
//! Both indexes have one field, the same constants, one segment, and warm caches. For each query, both run in turn
//! several times, and the minimum time of each counts. Both times include looking up the terms. Neither includes
//! looking up the records of the results, except that our search reads the keys of chunks with equal scores to order
//! them.
//!
//! Both indexes round the lengths of long chunks down: tantivy from 41 terms on, ours from 64 terms on. Otherwise, both
//! compute the same scores. Therefore the output states how many of tantivy's best chunks are among ours, and how much
//! the scores of chunks with exact lengths differ.

use std::collections::HashMap;
use std::time::Duration;

use aurora_query::{Bm25Config, WeightedTerm, best_chunks};
use aurora_storage::{ChunkId, Environment, OpenMode, Snapshot};

use crate::Outcome;
use crate::corpus::Corpus;
use crate::lab::Lab;
use crate::measure::{Unit, mean, percentile, row, table, thread_cost};
use crate::ours::{Fields, ONE_FIELD};
use crate::queries::{CLASSES, draw};
use crate::tantivy_index::TantivyIndex;

/// Number of queries of each class.
pub const QUERIES: usize = 400;
/// Number of runs of each query.
pub const PASSES: usize = 5;
/// Maximum length in terms that tantivy's index stores exactly.
const EXACT: u32 = 40;
/// Maximum ratio of our time to tantivy's, for one copy of the corpus.
const BAR: f64 = 0.60;
/// Maximum ratio of our time to tantivy's, for several copies of the corpus.
const COPIES_BAR: f64 = 0.70;

/// Runs this part and prints its table.
pub fn run(lab: &Lab) -> Outcome<()> {
    let environment = Environment::open(lab.ours(Fields::One)?, OpenMode::Existing)?;
    let snapshot = environment.snapshot()?;
    let tantivy = TantivyIndex::open(lab.tantivy()?)?;
    let (ours, theirs) = (snapshot.manifest().segments.len(), tantivy.segments());
    let title = format!("query: {ours} segment(s) compared with {theirs} segment(s) of tantivy");
    table(&title, "ours", "tantivy");
    for terms in CLASSES {
        let queries = draw(&lab.corpus, &snapshot, terms, QUERIES)?;
        for k in [10, 100] {
            class(lab, &snapshot, &tantivy, &queries, k)?;
        }
    }
    Ok(())
}

fn class(lab: &Lab, snapshot: &Snapshot, tantivy: &TantivyIndex, queries: &[Vec<String>], k: usize) -> Outcome<()> {
    let mut ours = vec![Duration::MAX; queries.len()];
    let mut theirs = ours.clone();
    let mut agreement = Agreement::default();
    for pass in 0..PASSES {
        for (at, query) in queries.iter().enumerate() {
            let (found, took) = thread_cost(|| best(snapshot, &ONE_FIELD, query, k));
            ours[at] = ours[at].min(took);
            let (documents, took) = thread_cost(|| tantivy.best(query, k));
            theirs[at] = theirs[at].min(took);
            if pass == 0 {
                agreement.add(&lab.corpus, &found?, &chunks(tantivy, documents?)?);
            }
        }
    }
    let terms = queries[0].len();
    let name = |what: &str| format!("{terms} term(s), top {k}, {what}");
    let of_means = if lab.corpus.copies == 1 { BAR } else { COPIES_BAR };
    let print_row = |what: &str, ours: f64, tantivy: f64, bar| row(&name(what), ours, tantivy, Unit::Microseconds, bar);
    print_row("mean", mean(&ours), mean(&theirs), Some(of_means));
    print_row("p50", percentile(&ours, 50), percentile(&theirs, 50), None);
    let of_p99 = (terms > 1 && lab.corpus.copies == 1).then_some(BAR);
    print_row("p99", percentile(&ours, 99), percentile(&theirs, 99), of_p99);
    println!("    {agreement}");
    Ok(())
}

/// Returns the `k` best chunks in our index.
pub fn best(snapshot: &Snapshot, config: &Bm25Config, query: &[String], k: usize) -> Outcome<Vec<(ChunkId, f32)>> {
    let terms: Vec<_> = query.iter().map(|text| WeightedTerm { text, weight: 1.0 }).collect();
    Ok(best_chunks(snapshot, config, &terms, k, None)?)
}

fn chunks(tantivy: &TantivyIndex, documents: Vec<(f32, tantivy::DocAddress)>) -> Outcome<Vec<(ChunkId, f32)>> {
    documents.into_iter().map(|(score, document)| Ok((ChunkId(tantivy.chunk(document)?), score))).collect()
}

/// Agreement between the results of both indexes.
#[derive(Default)]
struct Agreement {
    found: usize,
    shared: usize,
    sizes_differ: usize,
    exact: usize,
    apart: f32,
}

impl Agreement {
    fn add(&mut self, corpus: &Corpus, ours: &[(ChunkId, f32)], tantivy: &[(ChunkId, f32)]) {
        self.sizes_differ += usize::from(ours.len() != tantivy.len());
        let ours: HashMap<ChunkId, f32> = ours.iter().copied().collect();
        for (id, score) in tantivy {
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
            write!(f, "; {exact} of them have exact lengths and scores that differ by at most {apart:.1e} (relative)")?;
        }
        match self.sizes_differ {
            0 => Ok(()),
            some => write!(f, "; {some} queries have a DIFFERENT NUMBER of results"),
        }
    }
}
