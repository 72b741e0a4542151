//! Relevance of conversation turns by their connections: a PageRank that teleports to turns with words of the query
//! (Haveliwala, "Topic-Sensitive PageRank", 2002).
//!
//! The graph consists of the candidates of a query, so its size is bounded. Edges lead from a turn to the next turn of
//! its session, from an answer to the answered turn, and from a turn to every later turn with which it shares at least
//! two rare words. A turn is later if its key is greater.

use std::collections::BTreeMap;

use aurora_storage::ChunkType;

use crate::memory::{column, text};
use crate::rank::candidate::RankedCandidate;

/// Share of a turn's rank that comes from other turns; the rest comes from the query.
const DAMPING: f64 = 0.85;
/// Number of rounds of the power iteration.
const ROUNDS: usize = 20;
/// Minimum number of shared words for an edge between two turns.
const MIN_SHARED_WORDS: usize = 2;
/// Maximum share of turns that may contain a shared word. A word in more turns is not rare, so it does not indicate a
/// topic.
const MAX_WORD_SHARE: f64 = 0.2;

/// An edge from one node to another, with its weight.
pub type Edge = (usize, usize, f64);

/// Returns the rank of each node: `damping · Σ rank(from) · weight / out_degree(from) + (1 − damping) · teleport`,
/// iterated `rounds` times starting from `teleport`. `out_degree` is the number of edges that leave a node.
///
/// ```
/// use aurora_query::graph_relevance;
/// // 0 → 1, and the query is about 0: 0.15 and 0.85 · 0.15.
/// let ranks = graph_relevance(&[(0, 1, 1.0)], &[1.0, 0.0], 0.85, 20);
/// assert!((ranks[0] - 0.15).abs() < 1e-12 && (ranks[1] - 0.1275).abs() < 1e-12);
/// ```
pub fn graph_relevance(edges: &[Edge], teleport: &[f64], damping: f64, rounds: usize) -> Vec<f64> {
    let mut out_degree = vec![0u32; teleport.len()];
    edges.iter().for_each(|&(from, ..)| out_degree[from] += 1);
    let mut ranks = teleport.to_vec();
    for _ in 0..rounds {
        let mut incoming = vec![0.0; teleport.len()];
        for &(from, to, weight) in edges {
            incoming[to] += ranks[from] * weight / f64::from(out_degree[from]);
        }
        let next = incoming.iter().zip(teleport).map(|(incoming, start)| damping * incoming + (1.0 - damping) * start);
        ranks = next.collect();
    }
    ranks
}

/// Returns the relevance of each candidate that is a turn, 0..=1, where the best turn has 1. `None` for all other
/// candidates.
pub(super) fn turn_relevance(ranked: &[RankedCandidate<'_>]) -> Vec<Option<f32>> {
    let is_turn = |candidate: &RankedCandidate<'_>| candidate.retrieved.chunk.chunk_type() == ChunkType::Turn;
    let turns: Vec<usize> = (0..ranked.len()).filter(|&at| is_turn(&ranked[at])).collect();
    let mut relevance = vec![None; ranked.len()];
    if turns.len() < 2 {
        return relevance;
    }
    let keys: Vec<(usize, &str)> =
        turns.iter().map(|&at| (ranked[at].retrieved.root, &*ranked[at].retrieved.key)).collect();
    let nodes: BTreeMap<(usize, &str), usize> = keys.iter().enumerate().map(|(node, key)| (*key, node)).collect();
    let mut edges = Vec::new();
    for (node, &(root, key)) in keys.iter().enumerate() {
        let next = key
            .rsplit_once(':')
            .and_then(|(session, order)| Some(format!("{session}:{}", order.parse::<u32>().ok()?.checked_add(1)?)));
        let next = next.as_deref().and_then(|next| nodes.get(&(root, next)));
        edges.extend(next.map(|&to| (node, to, 1.0)));
        let answered = text(ranked[turns[node]].retrieved.chunk, column::REPLY_TO);
        edges.extend(answered.and_then(|answered| nodes.get(&(root, answered))).map(|&to| (node, to, 1.0)));
    }
    let words: Vec<Vec<u16>> = turns.iter().map(|&at| ranked[at].retrieved.chunk.code_tokens().collect()).collect();
    edges.extend(shared_topics(&words));
    let teleport: Vec<f64> = turns.iter().map(|&at| f64::from(u8::from(ranked[at].retrieved.bm25 > 0.0))).collect();
    let ranks = graph_relevance(&edges, &teleport, DAMPING, ROUNDS);
    let best = ranks.iter().copied().fold(0.0, f64::max);
    for (at, rank) in turns.into_iter().zip(ranks) {
        relevance[at] = Some(if best > 0.0 { (rank / best) as f32 } else { 0.0 });
    }
    relevance
}

/// Returns the edges between turns that share words. The weight is the number of shared words, divided by the number of
/// words in the longer turn. The words of a turn are its distinct model tokens, which the index stores.
fn shared_topics(words: &[Vec<u16>]) -> Vec<Edge> {
    let mut turns_by_word: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (node, words) in words.iter().enumerate() {
        words.iter().for_each(|&word| turns_by_word.entry(word).or_default().push(node));
    }
    let most = ((words.len() as f64 * MAX_WORD_SHARE) as usize).max(MIN_SHARED_WORDS);
    let mut shared: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for nodes in turns_by_word.values().filter(|nodes| nodes.len() <= most) {
        for (at, &from) in nodes.iter().enumerate() {
            nodes[at + 1..].iter().for_each(|&to| *shared.entry((from, to)).or_default() += 1);
        }
    }
    let weight =
        |(from, to): (usize, usize), count: usize| count as f64 / words[from].len().max(words[to].len()) as f64;
    let topics = shared.into_iter().filter(|(_, count)| *count >= MIN_SHARED_WORDS);
    topics.map(|((from, to), count)| (from, to, weight((from, to), count))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_by_hand() {
        let check = |edges: &[Edge], teleport: &[f64], rounds, expected: &[f64]| {
            let ranks = graph_relevance(edges, teleport, 0.85, rounds);
            for (rank, expected) in ranks.iter().zip(expected) {
                assert!((rank - expected).abs() < 1e-12, "{ranks:?}, not {expected:?}");
            }
        };
        // Without iteration, only the query counts.
        check(&[(0, 1, 1.0)], &[1.0, 0.0], 0, &[1.0, 0.0]);
        // After one round: 0.15, and 0.85 of the rank of 0.
        check(&[(0, 1, 1.0)], &[1.0, 0.0], 1, &[0.15, 0.85]);
        check(&[(0, 1, 1.0)], &[1.0, 0.0], 2, &[0.15, 0.1275]);
        // Two edges from 0 share its rank; a weight lowers the share.
        check(&[(0, 1, 1.0), (0, 2, 0.5)], &[1.0, 0.0, 0.0], 1, &[0.15, 0.425, 0.2125]);
        // 0 → 1 → 2, where 1 also contains words of the query.
        check(&[(0, 1, 1.0), (1, 2, 1.0)], &[1.0, 1.0, 0.0], 3, &[0.15, 0.2775, 0.85 * 0.2775]);
    }

    #[test]
    fn topics_by_hand() {
        // Two of eleven turns share 1 and 2; all turns share 9.
        let mut words = vec![vec![1, 2, 3, 9], vec![1, 2, 9]];
        words.extend(std::iter::repeat_n(vec![9], 9));
        assert_eq!(shared_topics(&words), [(0, 1, 0.5)]);
        assert_eq!(shared_topics(&[vec![1], vec![1]]), []);
    }

    proptest! {
        #[test]
        fn ranks_do_not_exceed_the_sum_of_the_teleport_vector(
            edges in prop::collection::vec((0usize..8, 0usize..8, 0.0f64..=1.0), 0..30),
            teleport in prop::collection::vec(0.0f64..=1.0, 8), rounds in 0usize..30,
        ) {
            let ranks = graph_relevance(&edges, &teleport, 0.85, rounds);
            let (given, sum): (f64, f64) = (teleport.iter().sum(), ranks.iter().sum());
            prop_assert!(ranks.iter().all(|rank| *rank >= 0.0) && sum <= given + 1e-9);
        }
    }
}
