//! The last published generation, and the part of it that has to be rebuilt.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use aurora_pipeline::{ColumnSpec, StoredValues, Value};
use aurora_storage::{Chunk, ChunkId, FileRecord, MetaValue, Snapshot, StorageError, UnfinishedRow};

use super::source_tree::SourceTree;
use crate::columns::{EMBEDDING, RelativePath};

/// The part of an index that has to be rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunScope {
    /// Files that changed in the tree.
    Changes,
    /// Changed files and, for every unchanged file, the values of custom columns from which nothing else is computed.
    Values,
    /// Changed files and, for every unchanged file, everything that is computed from its stored chunks.
    Derived,
    /// All files.
    Everything,
}

/// The policy for rows for which a stage has no result.
#[derive(Debug, Default)]
pub(crate) struct UnfinishedPolicy {
    /// For each stage of the run, the stage itself and all stages whose output depends on it. The map does not contain
    /// stages that are not run.
    pub(crate) dependants: BTreeMap<String, Arc<BTreeSet<String>>>,
    /// Stages on which chunks depend.
    pub(crate) makers: BTreeSet<String>,
    /// Whether rows on which a stage failed are processed again even if their file is unchanged.
    pub(crate) retries_failures: bool,
}

/// The work on an unchanged file that has rows without a result of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Retry {
    /// Run the stages on the stored chunks.
    Rows,
    /// Rebuild the chunks, because they depend on a stage that has no result.
    Chunks,
}

/// A chunk that is read from the index instead of being rebuilt.
pub(crate) struct RestoredChunk {
    pub(crate) id: ChunkId,
    /// The chunk without the metadata of custom columns.
    pub(crate) chunk: Chunk,
    /// Stored values of the columns that custom stages write.
    pub(crate) custom: StoredValues,
}

/// The generation that was published when the run began.
pub(crate) struct PreviousIndex {
    pub(crate) snapshot: Snapshot,
    /// Whether a custom stage computes the vectors. If true, stored vectors are restored as values of the stage.
    restores_vectors: bool,
    scope: OnceLock<RunScope>,
    unfinished: OnceLock<UnfinishedPolicy>,
    /// Indexed paths by the BLAKE3 hash of the content, computed on first use.
    paths_by_content: OnceLock<HashMap<[u8; 32], KnownPaths>>,
}

/// The indexed paths of files with the same content.
#[derive(Default)]
struct KnownPaths {
    paths: Vec<RelativePath>,
    /// The paths that no longer exist, computed on first use.
    gone: OnceLock<Vec<RelativePath>>,
}

impl PreviousIndex {
    pub(crate) fn new(snapshot: Snapshot, restores_vectors: bool) -> Self {
        Self {
            snapshot,
            restores_vectors,
            scope: OnceLock::new(),
            unfinished: OnceLock::new(),
            paths_by_content: OnceLock::new(),
        }
    }

    /// Returns the part of the index that has to be rebuilt.
    pub(crate) fn scope(&self) -> RunScope {
        self.scope.get().copied().unwrap_or(RunScope::Everything)
    }

    /// Sets the scope. The scope depends on the fingerprints of the stages, so it is unknown until the stages are
    /// built.
    pub(crate) fn set_scope(&self, scope: RunScope) {
        self.scope.get_or_init(|| scope);
    }

    /// Sets the policy for rows without a result. Without a policy, such rows cause no work.
    pub(crate) fn set_unfinished_policy(&self, policy: UnfinishedPolicy) {
        self.unfinished.get_or_init(|| policy);
    }

    /// Returns the work that an unchanged file needs because stages have no result for some of its rows, or `None` if
    /// it needs no work.
    pub(crate) fn retry(&self, path: &str) -> Result<Option<Retry>, StorageError> {
        let (Some(policy), Some(file)) = (self.unfinished.get(), self.snapshot.file(path)?) else { return Ok(None) };
        let is_tried = |row: &&UnfinishedRow| {
            policy.dependants.contains_key(&row.stage) && (row.reason.is_none() || policy.retries_failures)
        };
        let retry = |row: &UnfinishedRow| if policy.makers.contains(&row.stage) { Retry::Chunks } else { Retry::Rows };
        Ok(file.unfinished.iter().filter(is_tried).map(retry).max())
    }

    /// Whether the stored chunks of a file may be incomplete, because a stage on which chunks depend has no result for
    /// the file. Considers only stages of this run.
    pub(crate) fn lacks_chunks(&self, path: &str) -> Result<bool, StorageError> {
        let (Some(policy), Some(file)) = (self.unfinished.get(), self.snapshot.file(path)?) else { return Ok(false) };
        let makes_chunks =
            |row: &UnfinishedRow| policy.makers.contains(&row.stage) && policy.dependants.contains_key(&row.stage);
        Ok(file.unfinished.iter().any(makes_chunks))
    }

    /// Returns the stages whose stored values cannot be reused for a file, or for the chunk at a position in the file.
    /// These are the stages without a result, and the stages that depend on them.
    fn outdated(&self, file: &FileRecord, chunk: Option<usize>) -> Arc<BTreeSet<String>> {
        let Some(policy) = self.unfinished.get() else { return Arc::default() };
        let concerns = |row: &&UnfinishedRow| match (row.extent.chunk(), chunk) {
            (Some(known), Some(chunk)) => known as usize == chunk,
            _ => true,
        };
        let mut stages = file.unfinished.iter().filter(concerns).filter_map(|row| policy.dependants.get(&row.stage));
        let Some(first) = stages.next() else { return Arc::default() };
        let mut outdated = Arc::clone(first);
        for more in stages.filter(|more| !Arc::ptr_eq(first, more)) {
            Arc::make_mut(&mut outdated).extend(more.iter().cloned());
        }
        outdated
    }

    /// Returns the chunks of a file as the last run stored them, with the values of custom columns separated from the
    /// chunk.
    pub(crate) fn chunks_of(&self, path: &str) -> Result<Vec<RestoredChunk>, StorageError> {
        let Some(file) = self.snapshot.file(path)? else { return Ok(Vec::new()) };
        let mut chunks = Vec::with_capacity(file.chunks.len());
        for (at, id) in file.chunks.iter().enumerate() {
            if let Some(chunk) = self.snapshot.whole_chunk(*id)? {
                let restored = self.restore_chunk(*id, chunk)?;
                let custom = restored.custom.outdated_for(self.outdated(&file, Some(at)));
                chunks.push(RestoredChunk { custom, ..restored });
            }
        }
        Ok(chunks)
    }

    /// Returns the custom column values that the last run stored for a file, taken from its first chunk.
    pub(crate) fn custom_values_of(&self, path: &str) -> Result<StoredValues, StorageError> {
        if self.snapshot.manifest().columns.is_empty() {
            return Ok(StoredValues::new_row());
        }
        let Some(file) = self.snapshot.file(path)? else { return Ok(StoredValues::new_row()) };
        let Some(first) = file.chunks.first().copied() else { return Ok(StoredValues::new_row()) };
        let values = self.snapshot.custom_values(first)?.into_iter();
        let custom = StoredValues::new(values.map(|(name, value)| (name, custom_value(value))).collect::<Vec<_>>());
        Ok(custom.outdated_for(self.outdated(&file, None)))
    }

    fn restore_chunk(&self, id: ChunkId, mut chunk: Chunk) -> Result<RestoredChunk, StorageError> {
        let columns = &self.snapshot.manifest().columns;
        let is_custom = |(name, _): &mut (String, MetaValue)| columns.iter().any(|column| column.name == *name);
        let mut custom: Vec<_> =
            chunk.metadata.extract_if(.., is_custom).map(|(name, value)| (name, custom_value(value))).collect();
        if self.restores_vectors
            && let Some(vector) = self.snapshot.vector(id)?
        {
            let embedding = ColumnSpec::from(EMBEDDING);
            custom.push((embedding.short_name().to_owned(), Value::Vector(vector)));
        }
        Ok(RestoredChunk { id, chunk, custom: StoredValues::new(custom) })
    }

    /// Returns the indexed paths with this content that no longer exist, in the order of the index. Each path is looked
    /// up in the tree at most once.
    pub(crate) fn vanished(&self, hash: &[u8; 32], tree: &SourceTree) -> Result<&[RelativePath], StorageError> {
        let Some(known) = self.paths_by_content()?.get(hash) else { return Ok(&[]) };
        let gone = || known.paths.iter().filter(|path| tree.is_gone(path)).cloned().collect();
        Ok(known.gone.get_or_init(gone))
    }

    fn paths_by_content(&self) -> Result<&HashMap<[u8; 32], KnownPaths>, StorageError> {
        if let Some(paths) = self.paths_by_content.get() {
            return Ok(paths);
        }
        let mut paths: HashMap<_, KnownPaths> = HashMap::new();
        for record in self.snapshot.files() {
            let record = record?;
            paths.entry(record.hash).or_default().paths.push(record.path.into());
        }
        Ok(self.paths_by_content.get_or_init(|| paths))
    }
}

fn custom_value(value: MetaValue) -> Value {
    match value {
        MetaValue::String(text) => Value::String(text),
        MetaValue::Integer(number) => Value::Integer(number),
        MetaValue::Float(number) => Value::Float(number),
        MetaValue::Bool(flag) => Value::Bool(flag),
        MetaValue::Strings(list) => Value::Strings(list),
    }
}
