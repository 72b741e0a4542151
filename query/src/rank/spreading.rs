//! Spreading activation: the best candidates prime what they are related to.
//!
//! From each source activation travels along calls, imports, containment and conversations, in both directions, and
//! loses a fixed share with every hop (Anderson, "A spreading activation theory of memory", 1983). Of several definitions
//! of a name, a call means the nearest ones, by file, imports and directory, which share its activation. [`crate::RelationIndex`]
//! is more exact, but reads texts. A name that many chunks define or use relates nothing, so such edges are left out; this,
//! and a bound on the chunks whose neighbours are looked up, keeps the work small on any graph.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use aurora_storage::{ChunkId, ChunkRecord, ChunkType, Label, Snapshot, StorageError};
use rustc_hash::FxHashMap;

use crate::config::ActivationConfig;

/// Most chunks that an edge by name may lead to.
const FAN: usize = 8;
/// Most children, or phases of one conversation, that count as related.
const SIBLINGS: usize = 32;
/// Most names of one chunk that are followed.
const NAMES: usize = 32;
/// Most chunks whose neighbours are looked up in one search.
const EXPANSIONS: usize = 24;

/// Related chunks of a chunk.
pub(crate) trait RelationGraph {
    /// Neighbours in either direction, each with the confidence of the relation, from 0 to 1; may hold repetitions.
    fn neighbours(&self, id: ChunkId) -> Result<Vec<(ChunkId, f32)>, StorageError>;
}

/// Activation that arrives at each chunk from `sources`, best source first: `spread^hops` from every source but
/// itself, times the confidences of the relations on the way, summed. Of several ways of a length the best one counts.
///
/// A level is expanded whole or not at all, so the result does not depend on the order of neighbours.
pub(crate) fn spread(
    config: &ActivationConfig,
    sources: &[ChunkId],
    graph: &impl RelationGraph,
) -> Result<BTreeMap<ChunkId, f32>, StorageError> {
    let mut arrived: BTreeMap<ChunkId, f32> = BTreeMap::new();
    let mut known: BTreeMap<ChunkId, Vec<(ChunkId, f32)>> = BTreeMap::new();
    for &source in sources.iter().take(config.sources) {
        let mut seen = BTreeSet::from([source]);
        let mut level = BTreeMap::from([(source, 1.0f32)]);
        for hop in 1..=config.max_hops {
            let unknown = level.keys().filter(|id| !known.contains_key(id)).count();
            if known.len() + unknown > EXPANSIONS {
                break;
            }
            let mut next: BTreeMap<ChunkId, f32> = BTreeMap::new();
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

/// Chunks by label, as far as searches of a generation have looked them up: chunks of one file import the same, call much of it, and
/// have one parent, and most searches come by the same names.
#[derive(Default)]
pub(crate) struct KnownLabels(Mutex<FxHashMap<Vec<u8>, Vec<ChunkId>>>);

impl KnownLabels {
    /// Most labels; with more, all are forgotten.
    const MOST: usize = 1 << 15;

    /// The chunks with a label: those that are known, else those that `look_up` finds.
    fn get(
        &self,
        label: Vec<u8>,
        look_up: impl FnOnce() -> Result<Vec<ChunkId>, StorageError>,
    ) -> Result<Vec<ChunkId>, StorageError> {
        if let Some(known) = self.lock().get(&label) {
            return Ok(known.clone());
        }
        let found = look_up()?;
        let mut known = self.lock();
        if known.len() >= Self::MOST {
            known.clear();
        }
        Ok(known.entry(label).or_insert(found).clone())
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<Vec<u8>, Vec<ChunkId>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The relationships that the index's labels hold.
pub(crate) struct LabelGraph<'s> {
    snapshot: &'s Snapshot,
    known: &'s KnownLabels,
}

impl<'s> LabelGraph<'s> {
    /// The relationships of `snapshot`; `known` is of no other.
    pub(crate) fn new(snapshot: &'s Snapshot, known: &'s KnownLabels) -> Self {
        Self { snapshot, known }
    }
}

impl RelationGraph for LabelGraph<'_> {
    fn neighbours(&self, id: ChunkId) -> Result<Vec<(ChunkId, f32)>, StorageError> {
        let (Some(chunk), Some(relations)) = (self.snapshot.chunk(id)?, self.snapshot.relations(id)?) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for name in relations.calls.iter().take(NAMES) {
            let named = self.few(Label::Defines(last_member(name)), FAN)?;
            found.extend(self.meant(&named, chunk, &relations.imports)?);
        }
        let imports = relations.imports.iter().take(NAMES.saturating_sub(relations.calls.len()));
        for name in imports {
            self.add(Label::Defines(last_member(name)), FAN, &mut found)?;
        }
        if chunk.chunk_type().is_source_code() && !chunk.name().is_empty() {
            let named = self.few(Label::Defines(chunk.name()), FAN)?.len().max(1) as f32;
            for caller in self.few(Label::Calls(chunk.name()), FAN)? {
                let is_near = self.snapshot.chunk(caller)?.is_some_and(|caller| caller.path() == chunk.path());
                found.push((caller, if is_near { 1.0 } else { 1.0 / named }));
            }
            self.add(Label::Imports(chunk.name()), FAN, &mut found)?;
        }
        self.add(Label::Contains(&chunk.key()), SIBLINGS, &mut found)?;
        if let Some(parent) = &relations.parent {
            self.add(Label::Key(parent), 1, &mut found)?;
        }
        self.add_conversation(chunk, &mut found)?;
        found.retain(|&(neighbour, _)| neighbour != id);
        Ok(found)
    }
}

impl LabelGraph<'_> {
    /// Those of the definitions of a name that a call in `from` most likely means, with the confidence of each: those of its file,
    /// else those of a file that it imports, else those of its directory, else all of them.
    fn meant(
        &self,
        named: &[ChunkId],
        from: ChunkRecord<'_>,
        imports: &[String],
    ) -> Result<Vec<(ChunkId, f32)>, StorageError> {
        if named.len() < 2 {
            return Ok(named.iter().map(|&id| (id, 1.0)).collect());
        }
        let mut nearest = (Nearness::Elsewhere, Vec::new());
        for &id in named {
            let Some(chunk) = self.snapshot.chunk(id)? else { continue };
            let nearness = Nearness::of(chunk.path(), from.path(), imports);
            if nearness < nearest.0 {
                nearest = (nearness, Vec::new());
            }
            if nearness == nearest.0 {
                nearest.1.push(id);
            }
        }
        let confidence = 1.0 / nearest.1.len().max(1) as f32;
        Ok(nearest.1.into_iter().map(|id| (id, confidence)).collect())
    }

    /// Adds the chunks with a label if they are at most `most`, which is the same for all labels of a kind.
    fn add(&self, label: Label<'_>, most: usize, found: &mut Vec<(ChunkId, f32)>) -> Result<(), StorageError> {
        found.extend(self.few(label, most)?.into_iter().map(|id| (id, 1.0)));
        Ok(())
    }

    /// The chunks with a label if they are at most `most`, else none.
    fn few(&self, label: Label<'_>, most: usize) -> Result<Vec<ChunkId>, StorageError> {
        let look_up = || Ok(self.snapshot.few_with_label(label, most)?.unwrap_or_default());
        self.known.get(label.to_bytes(), look_up)
    }

    fn add_conversation(&self, chunk: ChunkRecord<'_>, found: &mut Vec<(ChunkId, f32)>) -> Result<(), StorageError> {
        if chunk.chunk_type() == ChunkType::Knowledge
            && let Some(file) = self.snapshot.file(chunk.path())?
            && file.chunks.len() <= SIBLINGS
        {
            found.extend(file.chunks.into_iter().map(|id| (id, 1.0)));
        }
        Ok(())
    }
}

/// Where a definition is, seen from a call; the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    File,
    Imported,
    Directory,
    Elsewhere,
}

impl Nearness {
    fn of(path: &str, from: &str, imports: &[String]) -> Self {
        let directory = |path: &str| path.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
        if path == from {
            return Self::File;
        }
        // `a.b.C`, `./a/b` and `a/b` all name the file or directory `b`, or what is in it.
        let stem = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
        let folder = directory(path).rsplit('/').next().unwrap_or_default().to_owned();
        let names = |import: &String| {
            let mut parts = import.rsplit(['.', ':', '/', '\\']).filter(|part| !part.is_empty()).take(2);
            parts.any(|part| part == stem || part == folder)
        };
        match imports.iter().any(names) {
            true => Self::Imported,
            false if directory(path) == directory(from) => Self::Directory,
            false => Self::Elsewhere,
        }
    }
}

/// `send` of `queue.Manager::send`.
fn last_member(name: &str) -> &str {
    name.rsplit(['.', ':', '/', '#']).find(|part| !part.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SearchConfig;

    struct Edges(Vec<(u32, u32)>);

    impl RelationGraph for Edges {
        fn neighbours(&self, id: ChunkId) -> Result<Vec<(ChunkId, f32)>, StorageError> {
            let ends = self.0.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
            Ok(ends.filter(|(a, _)| *a == id.0).map(|(_, b)| (ChunkId(b), 1.0)).collect())
        }
    }

    fn arrived(edges: &[(u32, u32)], sources: &[u32]) -> Vec<(u32, f32)> {
        let sources: Vec<_> = sources.iter().map(|&id| ChunkId(id)).collect();
        let map = spread(&SearchConfig::default().activation, &sources, &Edges(edges.to_vec()))
            .expect("no storage behind it");
        map.into_iter().map(|(id, energy)| (id.0, (energy * 1000.0).round() / 1000.0)).collect()
    }

    #[test]
    fn seven_tenths_a_hop_and_three_hops() {
        assert_eq!(arrived(&[(1, 2), (2, 3), (3, 4), (4, 5)], &[1]), [(2, 0.7), (3, 0.49), (4, 0.343)]);
    }

    #[test]
    fn the_shortest_way_counts_once_and_sources_add_up() {
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
    fn a_crowded_level_is_not_expanded() {
        let crowd: Vec<_> = (2..100).map(|leaf| (1, leaf)).chain([(50, 200)]).collect();
        assert!(arrived(&crowd, &[1]).iter().all(|&(id, _)| id != 200));
    }

    #[test]
    fn nearer_definitions_are_meant() {
        let imports = ["pkg.money.Till".to_owned(), "./log".to_owned()];
        let of = |path: &str| Nearness::of(path, "shop/store.py", &imports);
        assert_eq!(of("shop/store.py"), Nearness::File);
        assert_eq!((of("lib/money.py"), of("shop/log.ts")), (Nearness::Imported, Nearness::Imported));
        assert_eq!((of("shop/other.py"), of("x/other.py")), (Nearness::Directory, Nearness::Elsewhere));
    }

    #[test]
    fn names_are_cut_to_their_last_member() {
        assert_eq!(last_member("queue.Manager::send"), "send");
        assert_eq!(last_member("./lib/session"), "session");
    }
}
