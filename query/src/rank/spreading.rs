//! Spreading activation: the best candidates activate related chunks.
//!
//! From each source, activation travels along calls, imports, containment and conversations in both directions, and
//! loses a fixed share with every hop (Anderson, "A spreading activation theory of memory", 1983).
//! [`super::label_graph`] provides the edges. The number of chunks whose neighbours are looked up is limited, which
//! bounds the work on any graph.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use aurora_storage::{ChunkId, StorageError};

use crate::config::ActivationConfig;

/// Maximum number of chunks whose neighbours are looked up in one search.
const MAX_EXPANSIONS: usize = 24;

/// A chunk, with the position of its index among the indexes of a search.
pub(crate) type Node = (usize, ChunkId);

/// A graph of the relations between chunks.
pub(crate) trait RelationGraph {
    /// Returns the neighbours in either direction, each with the confidence of the relation, 0..=1. May contain
    /// duplicates.
    fn neighbours(&self, node: Node) -> Result<Vec<(Node, f32)>, StorageError>;
}

/// Returns the activation that arrives at each chunk from `sources`, which must be ordered best first: the sum of
/// `spread^hops`, times the confidences of the relations on the path, over all sources except the chunk itself. Only
/// the shortest path from a source counts. Of several shortest paths, the path with the highest confidence counts.
///
/// A level is expanded completely or not at all, so the result does not depend on the order of neighbours.
pub(crate) fn spread(
    config: &ActivationConfig,
    sources: &[Node],
    graph: &impl RelationGraph,
) -> Result<BTreeMap<Node, f32>, StorageError> {
    let mut arrived: BTreeMap<Node, f32> = BTreeMap::new();
    let mut known: BTreeMap<Node, Vec<(Node, f32)>> = BTreeMap::new();
    for &source in sources.iter().take(config.sources) {
        let mut seen = BTreeSet::from([source]);
        let mut level = BTreeMap::from([(source, 1.0f32)]);
        for hop in 1..=config.max_hops {
            let unknown = level.keys().filter(|id| !known.contains_key(id)).count();
            if known.len() + unknown > MAX_EXPANSIONS {
                break;
            }
            let mut next: BTreeMap<Node, f32> = BTreeMap::new();
            for (id, confidence) in level {
                let neighbours = match known.entry(id) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => entry.insert(graph.neighbours(id)?),
                };
                for &(neighbour, of_relation) in neighbours.iter().filter(|(neighbour, _)| !seen.contains(neighbour)) {
                    let best = next.entry(neighbour).or_default();
                    *best = best.max(confidence * of_relation);
                }
            }
            seen.extend(next.keys());
            let energy = config.spread.powi(hop as i32);
            for (&id, confidence) in &next {
                *arrived.entry(id).or_default() += energy * confidence;
            }
            level = next;
        }
    }
    Ok(arrived)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SearchConfig;

    struct Edges(Vec<(u32, u32)>);

    impl RelationGraph for Edges {
        fn neighbours(&self, (root, id): Node) -> Result<Vec<(Node, f32)>, StorageError> {
            let ends = self.0.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
            Ok(ends.filter(|(a, _)| *a == id.0).map(|(_, b)| ((root, ChunkId(b)), 1.0)).collect())
        }
    }

    fn arrived(edges: &[(u32, u32)], sources: &[u32]) -> Vec<(u32, f32)> {
        let sources: Vec<_> = sources.iter().map(|&id| (0, ChunkId(id))).collect();
        let map = spread(&SearchConfig::default().activation, &sources, &Edges(edges.to_vec()))
            .expect("the edges are in memory");
        map.into_iter().map(|((_, id), energy)| (id.0, (energy * 1000.0).round() / 1000.0)).collect()
    }

    #[test]
    fn activation_keeps_seven_tenths_per_hop_for_three_hops() {
        assert_eq!(arrived(&[(1, 2), (2, 3), (3, 4), (4, 5)], &[1]), [(2, 0.7), (3, 0.49), (4, 0.343)]);
    }

    #[test]
    fn the_shortest_path_counts_once_and_sources_add_up() {
        assert_eq!(arrived(&[(1, 2), (2, 3), (1, 3)], &[1]), [(2, 0.7), (3, 0.7)]);
        assert_eq!(arrived(&[(1, 3), (2, 3)], &[1, 2]), [(1, 0.49), (2, 0.49), (3, 1.4)]);
    }

    #[test]
    fn the_order_of_edges_does_not_matter() {
        let mut edges = vec![(1, 2), (1, 3), (3, 4), (2, 5), (5, 6), (4, 6)];
        let before = arrived(&edges, &[1, 4]);
        edges.reverse();
        assert_eq!(before, arrived(&edges, &[1, 4]));
    }

    #[test]
    fn a_level_with_too_many_chunks_is_not_expanded() {
        let crowd: Vec<_> = (2..100).map(|leaf| (1, leaf)).chain([(50, 200)]).collect();
        assert!(arrived(&crowd, &[1]).iter().all(|&(id, _)| id != 200));
    }
}
