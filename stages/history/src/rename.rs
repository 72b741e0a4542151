//! Where an added file came from: git's rename detection for a single target.

use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::HashMap;
use rustc_hash::FxHashMap;

use crate::change_table::PathId;
use crate::commit_graph::CommitPos;
use crate::events::EventIndex;
use crate::objects::ObjectReader;
use crate::similarity::{MAX_SCORE, SpanHashes, score, sizes_rule_out};
use crate::tree::TreeCache;
use crate::tree_diff::{PathState, TreeDiffer};

/// A source must reach this score.
const MINIMUM: u64 = MAX_SCORE / 2;
/// The only source with the target's file name is taken at this score, before others are looked at.
const MINIMUM_SAME_NAME: u64 = MAX_SCORE * 3 / 4;
/// Git keeps this many candidates; it decides between equal scores.
const CANDIDATES: usize = 4;
/// Git looks at this many sources with identical content for one with the target's file name.
const MAX_IDENTICAL: usize = 100;
/// Bytes of chunk counts kept between searches.
const CHUNK_CACHE_BYTES: usize = 32 << 20;
/// Deleted files kept between searches.
const CACHED_DELETIONS: usize = 200_000;
/// Blob sizes kept between searches.
const CACHED_SIZES: usize = 200_000;
/// If a commit deleted more files than this, only those with the name of the added file are compared with it.
const MAX_COMPARED: usize = 10_000;
/// Files above this size are no candidates unless their content is identical.
const MAX_CANDIDATE_BYTES: u64 = 64 << 20;

/// A regular file that a parent has and the commit lacks.
#[derive(Clone, Copy)]
pub(crate) struct RenameSource {
    pub(crate) path: PathId,
    pub(crate) blob: ObjectId,
}

/// The added file whose source is sought.
#[derive(Clone, Copy)]
pub(crate) struct RenameTarget {
    pub(crate) commit: CommitPos,
    /// Which parent to search.
    pub(crate) parent: usize,
    pub(crate) path: PathId,
    pub(crate) blob: ObjectId,
}

/// Searches rename sources; keeps what neighbouring searches need again.
pub(crate) struct RenameDetector {
    deletions: FxHashMap<(CommitPos, usize), Arc<[RenameSource]>>,
    deletion_count: usize,
    chunks: HashMap<ObjectId, Arc<SpanHashes>>,
    chunk_bytes: usize,
    sizes: HashMap<ObjectId, Option<u64>>,
    /// Whether an object was missing in any search so far, so that a source may have been passed over.
    pub(crate) missing: bool,
    buffer: Vec<u8>,
}

impl RenameDetector {
    /// A finder with empty caches.
    pub(crate) fn new() -> Self {
        Self {
            deletions: FxHashMap::default(),
            deletion_count: 0,
            chunks: HashMap::default(),
            chunk_bytes: 0,
            sizes: HashMap::default(),
            missing: false,
            buffer: Vec::new(),
        }
    }

    /// The file that became `target`: one with identical content, else the only one of that name if it is similar enough,
    /// else the most similar one.
    pub(crate) fn source(
        &mut self,
        index: &EventIndex,
        reader: &ObjectReader,
        trees: &mut TreeCache,
        target: RenameTarget,
    ) -> Option<RenameSource> {
        let sources = self.deletions(index, reader, trees, target);
        let name = file_name(index.path(target.path));
        let has_name = |source: &RenameSource| file_name(index.path(source.path)) == name;
        let mut identical = sources.iter().filter(|source| source.blob == target.blob).take(MAX_IDENTICAL);
        if let Some(&first) = identical.clone().next() {
            return Some(identical.find(|source| has_name(source)).copied().unwrap_or(first));
        }
        let mut namesakes = sources.iter().filter(|source| has_name(source));
        if let (Some(&only), None) = (namesakes.next(), namesakes.next())
            && self.score(reader, &only.blob, &target.blob, MINIMUM_SAME_NAME) >= MINIMUM_SAME_NAME
        {
            return Some(only);
        }
        let mut best: Vec<(u64, bool, usize)> = Vec::with_capacity(CANDIDATES);
        let is_compared = |source: &RenameSource| sources.len() <= MAX_COMPARED || has_name(source);
        for (position, source) in sources.iter().enumerate().filter(|(_, source)| is_compared(source)) {
            let score = self.score(reader, &source.blob, &target.blob, MINIMUM);
            keep_better(&mut best, (score, has_name(source), position));
        }
        let rank = |candidate: &(u64, bool, usize)| (candidate.0, candidate.1);
        let top = best.iter().map(rank).max()?;
        let &(score, _, position) = best.iter().find(|candidate| rank(candidate) == top)?;
        (score >= MINIMUM).then(|| sources[position])
    }

    fn deletions(
        &mut self,
        index: &EventIndex,
        reader: &ObjectReader,
        trees: &mut TreeCache,
        target: RenameTarget,
    ) -> Arc<[RenameSource]> {
        let key = (target.commit, target.parent);
        if let Some(known) = self.deletions.get(&key) {
            return Arc::clone(known);
        }
        let sources: Arc<[RenameSource]> = match target.parent {
            0 => index.deletions(target.commit).map(|(path, blob)| RenameSource { path, blob }).collect(),
            parent => {
                let mut sources = Vec::new();
                let parent = index.graph.parents(target.commit).get(parent).map(|&parent| index.graph.tree(parent));
                let mut differ = TreeDiffer { reader, trees, cancel: None, missing: false };
                differ.compare(parent, Some(index.graph.tree(target.commit)), &mut |path, old, new| {
                    if let (PathState::File(blob), PathState::Absent) = (old, new) {
                        sources.extend(index.path_id(path).map(|path| RenameSource { path, blob }));
                    }
                });
                self.missing |= differ.missing;
                sources.into()
            }
        };
        if self.deletion_count + sources.len() > CACHED_DELETIONS {
            self.deletions.clear();
            self.deletion_count = 0;
        }
        self.deletion_count += sources.len() + 1;
        self.deletions.insert(key, Arc::clone(&sources));
        sources
    }

    /// The similarity of two blobs; 0 if it is below `minimum` by their sizes alone or one is missing.
    fn score(&mut self, reader: &ObjectReader, source: &ObjectId, target: &ObjectId, minimum: u64) -> u64 {
        let sizes = (self.size(reader, source), self.size(reader, target));
        let (Some(source_size), Some(target_size)) = sizes else { return 0 };
        let larger = source_size.max(target_size);
        if larger > MAX_CANDIDATE_BYTES || sizes_rule_out(source_size, target_size, minimum) {
            return 0;
        }
        let (Some(source), Some(target)) = (self.chunks(reader, source), self.chunks(reader, target)) else { return 0 };
        score(&source, &target, larger)
    }

    fn size(&mut self, reader: &ObjectReader, blob: &ObjectId) -> Option<u64> {
        if self.sizes.len() > CACHED_SIZES {
            self.sizes.clear();
        }
        let size = *self.sizes.entry(*blob).or_insert_with(|| reader.size(blob));
        self.missing |= size.is_none();
        size
    }

    fn chunks(&mut self, reader: &ObjectReader, blob: &ObjectId) -> Option<Arc<SpanHashes>> {
        if let Some(known) = self.chunks.get(blob) {
            return Some(Arc::clone(known));
        }
        if reader.read(blob, &mut self.buffer).is_none() {
            self.missing = true;
            return None;
        }
        let counts = Arc::new(SpanHashes::of(&self.buffer));
        if self.chunk_bytes > CHUNK_CACHE_BYTES {
            self.chunks.clear();
            self.chunk_bytes = 0;
        }
        self.chunk_bytes += counts.weight();
        self.chunks.insert(*blob, Arc::clone(&counts));
        Some(counts)
    }
}

/// Puts `candidate` in place of the worst of the candidates if it beats that one.
fn keep_better(best: &mut Vec<(u64, bool, usize)>, candidate: (u64, bool, usize)) {
    if best.len() < CANDIDATES {
        best.push(candidate);
        return;
    }
    let rank = |candidate: &(u64, bool, usize)| (candidate.0, candidate.1);
    // Of equally bad ones the first gives way.
    if let Some(worst) = best.iter_mut().min_by_key(|kept| rank(kept))
        && rank(worst) < rank(&candidate)
    {
        *worst = candidate;
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).map_or(path, |slash| &path[slash + 1..])
}
