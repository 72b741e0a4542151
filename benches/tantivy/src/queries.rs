//! Draws queries from the corpus: some terms of a chunk that also occur in other chunks.

use std::collections::BTreeSet;

use aurora_storage::Snapshot;

use crate::Outcome;
use crate::corpus::{Corpus, mixed};

/// Numbers of terms per query.
pub const CLASSES: [usize; 4] = [1, 2, 5, 10];

/// Draws `count` queries of `terms` terms. The result is deterministic.
pub fn draw(corpus: &Corpus, snapshot: &Snapshot, terms: usize, count: usize) -> Outcome<Vec<Vec<String>>> {
    let mut state = terms as u64;
    let mut below = |end: usize| {
        state = mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        (state % end as u64) as usize
    };
    let mut queries = Vec::with_capacity(count);
    while queries.len() < count {
        let chunk = below(corpus.len() as usize) as u32;
        let candidates: BTreeSet<&str> = corpus.terms(chunk).map(|(_, term)| term).collect();
        let mut candidates: Vec<&str> = candidates.into_iter().collect();
        let mut query = Vec::with_capacity(terms);
        while query.len() < terms && !candidates.is_empty() {
            let term = candidates.swap_remove(below(candidates.len()));
            if snapshot.doc_frequency(term)? >= 2 {
                query.push(term.to_owned());
            }
        }
        if query.len() == terms {
            queries.push(query);
        }
    }
    Ok(queries)
}
