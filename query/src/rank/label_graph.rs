//! The edges along which activation spreads: calls, imports, containment, conversations and links, from the labels of
//! the indexes.
//!
//! If a name has several definitions, a call leads to the nearest definitions by file, imports and directory, among
//! which the activation is divided. [`crate::RelationIndex`] is more precise, but has to read texts. A name that many
//! chunks define or use is not selective, so it produces no edges. Links of entries can lead from one index to another;
//! all other edges stay within an index.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aurora_storage::{CacheCounter, ChunkId, ChunkRecord, ChunkType, Label, StorageError};
use rustc_hash::FxHashMap;

use crate::memory::{column, text, texts};
use crate::rank::spreading::{Node, RelationGraph};
use crate::retrieve::PreparedQuery;

/// Maximum number of chunks that may define or use a name. A more frequent name produces no edges.
const MAX_FAN_OUT: usize = 8;
/// Maximum number of children, phases of one conversation, answers or links to which edges lead.
const MAX_SIBLINGS: usize = 32;
/// Maximum number of names of one chunk that are followed.
const MAX_NAMES: usize = 32;

/// Cache of the labels that searches of a generation have looked up, with the chunks of each label. Lookups repeat,
/// because chunks of one file have the same imports and parent and similar calls, and because searches reach the same
/// names.
#[derive(Default)]
pub(crate) struct LabelCache {
    labels: Mutex<FxHashMap<Vec<u8>, Vec<ChunkId>>>,
    pub(crate) counter: CacheCounter,
}

impl LabelCache {
    /// Maximum number of labels in the caches of all indexes of a search.
    const MAX_LABELS: usize = 1 << 15;
    /// Number of labels that each cache may contain in any case.
    const MIN_LABELS: usize = 1 << 9;

    /// Returns the chunks with a label from the cache, or calls `look_up` and caches the result. The cache is cleared
    /// when it contains its share of [`Self::MAX_LABELS`] in a search of `indexes` indexes.
    fn get(
        &self,
        label: Vec<u8>,
        indexes: usize,
        look_up: impl FnOnce() -> Result<Vec<ChunkId>, StorageError>,
    ) -> Result<Vec<ChunkId>, StorageError> {
        let known = self.lock().get(&label).cloned();
        self.counter.count(known.is_some());
        if let Some(known) = known {
            return Ok(known);
        }
        let found = look_up()?;
        let mut known = self.lock();
        if known.len() >= (Self::MAX_LABELS / indexes.max(1)).max(Self::MIN_LABELS) {
            known.clear();
        }
        Ok(known.entry(label).or_insert(found).clone())
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<Vec<u8>, Vec<ChunkId>>> {
        self.labels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The relations in the labels of all indexes of a search.
pub(crate) struct LabelGraph<'r, 's> {
    pub(crate) roots: &'r [PreparedQuery<'s>],
    /// The caches of the same indexes, in the same order.
    pub(crate) caches: &'r [&'r LabelCache],
}

impl RelationGraph for LabelGraph<'_, '_> {
    fn neighbours(&self, (at, id): Node) -> Result<Vec<(Node, f32)>, StorageError> {
        let labels = RootLabels { root: &self.roots[at], cache: self.caches[at], indexes: self.roots.len() };
        let Some(chunk) = labels.root.snapshot.chunk(id)? else { return Ok(Vec::new()) };
        let within = labels.neighbours(id, chunk)?.into_iter().map(|(id, confidence)| ((at, id), confidence));
        let mut found: Vec<(Node, f32)> = within.collect();
        self.add_links(&labels, chunk, &mut found)?;
        found.retain(|&(neighbour, _)| neighbour != (at, id));
        Ok(found)
    }
}

impl LabelGraph<'_, '_> {
    /// Adds the link targets of an entry of memory, and the entries that link to a chunk, from all indexes.
    fn add_links(
        &self,
        labels: &RootLabels<'_, '_>,
        chunk: ChunkRecord<'_>,
        found: &mut Vec<(Node, f32)>,
    ) -> Result<(), StorageError> {
        if self.roots.iter().all(|root| root.memory.is_none()) {
            return Ok(());
        }
        let key = chunk.key();
        let links = if labels.root.memory.is_some() { texts(chunk, column::LINKS) } else { Vec::new() };
        for (at, (root, cache)) in self.roots.iter().zip(self.caches).enumerate() {
            let labels = RootLabels { root, cache, indexes: self.roots.len() };
            let mut add = |label, most| -> Result<(), StorageError> {
                found.extend(labels.few(label, most)?.into_iter().map(|id| ((at, id), 1.0)));
                Ok(())
            };
            for link in links.iter().take(MAX_NAMES) {
                add(Label::Key(link), 1)?;
            }
            if root.memory.is_some() {
                add(Label::Meta { key: column::LINKS, value: &key }, MAX_SIBLINGS)?;
            }
        }
        Ok(())
    }
}

/// The labels of one index.
struct RootLabels<'r, 's> {
    root: &'r PreparedQuery<'s>,
    cache: &'r LabelCache,
    /// Number of indexes of the search.
    indexes: usize,
}

impl RootLabels<'_, '_> {
    /// Returns the neighbours of a chunk within its index.
    fn neighbours(&self, id: ChunkId, chunk: ChunkRecord<'_>) -> Result<Vec<(ChunkId, f32)>, StorageError> {
        let Some(relations) = self.root.snapshot.relations(id)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for name in relations.calls.iter().take(MAX_NAMES) {
            let named = self.few(Label::Defines(last_member(name)), MAX_FAN_OUT)?;
            found.extend(self.likely_definitions(&named, chunk, &relations.imports)?);
        }
        let imports = relations.imports.iter().take(MAX_NAMES.saturating_sub(relations.calls.len()));
        for name in imports {
            self.add(Label::Defines(last_member(name)), MAX_FAN_OUT, &mut found)?;
        }
        if chunk.chunk_type().is_source_code() && !chunk.name().is_empty() {
            let named = self.few(Label::Defines(chunk.name()), MAX_FAN_OUT)?.len().max(1) as f32;
            for caller in self.few(Label::Calls(chunk.name()), MAX_FAN_OUT)? {
                let is_near = self.root.snapshot.chunk(caller)?.is_some_and(|caller| caller.path() == chunk.path());
                found.push((caller, if is_near { 1.0 } else { 1.0 / named }));
            }
            self.add(Label::Imports(chunk.name()), MAX_FAN_OUT, &mut found)?;
        }
        self.add(Label::Contains(&chunk.key()), MAX_SIBLINGS, &mut found)?;
        if let Some(parent) = &relations.parent {
            self.add(Label::Key(parent), 1, &mut found)?;
        }
        match chunk.chunk_type() {
            ChunkType::Knowledge => self.add_conversation(chunk, &mut found)?,
            ChunkType::Turn => self.add_turns(chunk, &mut found)?,
            _ => {}
        }
        found.retain(|&(neighbour, _)| neighbour != id);
        Ok(found)
    }

    /// Returns the definitions of a name to which a call in `from` most likely refers, with the confidence of each:
    /// definitions in the same file, otherwise in an imported file, otherwise in the same directory, otherwise all of
    /// them.
    fn likely_definitions(
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
            let Some(chunk) = self.root.snapshot.chunk(id)? else { continue };
            let nearness = Nearness::between(chunk.path(), from.path(), imports);
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

    /// Adds the chunks with a label unless there are more than `most`. Because results are cached by label, `most` must
    /// be the same for all labels of a kind.
    fn add(&self, label: Label<'_>, most: usize, found: &mut Vec<(ChunkId, f32)>) -> Result<(), StorageError> {
        found.extend(self.few(label, most)?.into_iter().map(|id| (id, 1.0)));
        Ok(())
    }

    /// Returns the chunks with a label; empty if there are more than `most`.
    fn few(&self, label: Label<'_>, most: usize) -> Result<Vec<ChunkId>, StorageError> {
        let look_up = || Ok(self.root.snapshot.few_with_label(label, most)?.unwrap_or_default());
        self.cache.get(label.to_bytes(), self.indexes, look_up)
    }

    /// Adds the other phases of a conversation log.
    fn add_conversation(&self, chunk: ChunkRecord<'_>, found: &mut Vec<(ChunkId, f32)>) -> Result<(), StorageError> {
        if let Some(file) = self.root.snapshot.file(chunk.path())?
            && file.chunks.len() <= MAX_SIBLINGS
        {
            found.extend(file.chunks.into_iter().map(|id| (id, 1.0)));
        }
        Ok(())
    }

    /// Adds the turns before and after a turn of a session, the turn that it answers, and its answers.
    fn add_turns(&self, chunk: ChunkRecord<'_>, found: &mut Vec<(ChunkId, f32)>) -> Result<(), StorageError> {
        let key = chunk.key();
        if let Some((session, order)) =
            key.rsplit_once(':').and_then(|(head, tail)| Some((head, tail.parse::<u32>().ok()?)))
        {
            for order in [order.saturating_sub(1), order.saturating_add(1)] {
                self.add(Label::Key(&format!("{session}:{order}")), 1, found)?;
            }
        }
        if let Some(answered) = text(chunk, column::REPLY_TO) {
            self.add(Label::Key(answered), 1, found)?;
        }
        self.add(Label::Meta { key: column::REPLY_TO, value: &key }, MAX_SIBLINGS, found)
    }
}

/// Location of a definition relative to a call, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    File,
    Imported,
    Directory,
    Elsewhere,
}

impl Nearness {
    fn between(path: &str, from: &str, imports: &[String]) -> Self {
        let directory = |path: &str| path.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
        if path == from {
            return Self::File;
        }
        // `a.b.C`, `./a/b` and `a/b` all refer to the file or directory `b`, or to its content.
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

/// Returns the last member of a name: `send` for `queue.Manager::send`.
fn last_member(name: &str) -> &str {
    name.rsplit(['.', ':', '/', '#']).find(|part| !part.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearer_definitions_are_preferred() {
        let imports = ["pkg.money.Till".to_owned(), "./log".to_owned()];
        let of = |path: &str| Nearness::between(path, "shop/store.py", &imports);
        assert_eq!(of("shop/store.py"), Nearness::File);
        assert_eq!((of("lib/money.py"), of("shop/log.ts")), (Nearness::Imported, Nearness::Imported));
        assert_eq!((of("shop/other.py"), of("x/other.py")), (Nearness::Directory, Nearness::Elsewhere));
    }

    #[test]
    fn names_are_shortened_to_their_last_member() {
        assert_eq!(last_member("queue.Manager::send"), "send");
        assert_eq!(last_member("./lib/session"), "session");
    }
}
