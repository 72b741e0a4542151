//! Rename detection for one added file, by the rules of git's `diffcore-rename.c`.

use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::HashMap;
use rustc_hash::FxHashMap;

use crate::change_table::PathId;
use crate::commit_graph::CommitPos;
use crate::events::EventIndex;
use crate::mask::file_name;
use crate::objects::ObjectReader;
use crate::similarity::{MAX_SCORE, SpanHashes, score, sizes_rule_out};
use crate::tree::TreeCache;
use crate::tree_diff::{PathState, TreeDiffer};

/// Minimum score of a rename: 50 %, git's default.
const MIN_SCORE: u64 = MAX_SCORE / 2;
/// Minimum score of a source with the target's file name. If there is only one such source and it reaches this score,
/// it is accepted before other sources are compared (git's `find_basename_matches`).
const MIN_SCORE_SAME_NAME: u64 = MAX_SCORE * 3 / 4;
/// Number of candidates per target, as in git (`NUM_CANDIDATE_PER_DST`). The number affects the choice among equal
/// scores.
const CANDIDATES: usize = 4;
/// Maximum number of sources with identical content among which git searches for a source with the target's file name.
const MAX_IDENTICAL: usize = 100;
/// Maximum size of the cached span hashes, in bytes.
const MAX_CACHED_SPAN_BYTES: usize = 32 << 20;
/// Maximum number of cached deleted files.
const MAX_CACHED_DELETIONS: usize = 200_000;
/// Maximum number of cached blob sizes.
const MAX_CACHED_SIZES: usize = 200_000;
/// Maximum number of deleted files with which an added file is compared. If a commit deleted more files, the added file
/// is compared only with deleted files of the same name. Git compares it with all deleted files.
const MAX_COMPARED: usize = 10_000;
/// Maximum size of a candidate in bytes. A larger file is a candidate only if its content is identical.
const MAX_CANDIDATE_BYTES: u64 = 64 << 20;

/// A candidate for the source of a rename: a regular file that exists in a parent but not in the commit.
#[derive(Clone, Copy)]
pub(crate) struct RenameSource {
    pub(crate) path: PathId,
    pub(crate) blob: ObjectId,
}

/// An added file for which the rename source is searched.
#[derive(Clone, Copy)]
pub(crate) struct RenameTarget {
    pub(crate) commit: CommitPos,
    /// The index of the parent to search.
    pub(crate) parent: usize,
    pub(crate) path: PathId,
    pub(crate) blob: ObjectId,
}

/// Detects renames, with caches so that several searches in the same commit are cheap.
pub(crate) struct RenameDetector {
    deletions: FxHashMap<(CommitPos, usize), Arc<[RenameSource]>>,
    deletion_count: usize,
    spans: HashMap<ObjectId, Arc<SpanHashes>>,
    span_bytes: usize,
    sizes: HashMap<ObjectId, Option<u64>>,
    /// Whether an object was missing in any search so far. If true, renames may not have been detected.
    pub(crate) missing: bool,
    buffer: Vec<u8>,
}

impl RenameDetector {
    /// Creates a detector with empty caches.
    pub(crate) fn new() -> Self {
        Self {
            deletions: FxHashMap::default(),
            deletion_count: 0,
            spans: HashMap::default(),
            span_bytes: 0,
            sizes: HashMap::default(),
            missing: false,
            buffer: Vec::new(),
        }
    }

    /// Returns the file that was renamed to `target`. This is a file with identical content, or else the only file with
    /// the same name if it is similar enough, or else the most similar file. Returns `None` if no file is similar
    /// enough.
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
        let mut same_name = sources.iter().filter(|source| has_name(source));
        if let (Some(&only), None) = (same_name.next(), same_name.next())
            && self.score(reader, &only.blob, &target.blob, MIN_SCORE_SAME_NAME) >= MIN_SCORE_SAME_NAME
        {
            return Some(only);
        }
        let mut best: Vec<(u64, bool, usize)> = Vec::with_capacity(CANDIDATES);
        let is_compared = |source: &RenameSource| sources.len() <= MAX_COMPARED || has_name(source);
        for (position, source) in sources.iter().enumerate().filter(|(_, source)| is_compared(source)) {
            let score = self.score(reader, &source.blob, &target.blob, MIN_SCORE);
            record_if_better(&mut best, (score, has_name(source), position));
        }
        let rank = |candidate: &(u64, bool, usize)| (candidate.0, candidate.1);
        let top = best.iter().map(rank).max()?;
        let &(score, _, position) = best.iter().find(|candidate| rank(candidate) == top)?;
        (score >= MIN_SCORE).then(|| sources[position])
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
        if self.deletion_count + sources.len() > MAX_CACHED_DELETIONS {
            self.deletions.clear();
            self.deletion_count = 0;
        }
        self.deletion_count += sources.len() + 1;
        self.deletions.insert(key, Arc::clone(&sources));
        sources
    }

    /// Returns the similarity score of two blobs. Returns 0 if a blob is missing or too large, or if the sizes rule out
    /// the score `minimum`.
    fn score(&mut self, reader: &ObjectReader, source: &ObjectId, target: &ObjectId, minimum: u64) -> u64 {
        let sizes = (self.size(reader, source), self.size(reader, target));
        let (Some(source_size), Some(target_size)) = sizes else { return 0 };
        let larger = source_size.max(target_size);
        if larger > MAX_CANDIDATE_BYTES || sizes_rule_out(source_size, target_size, minimum) {
            return 0;
        }
        let (Some(source), Some(target)) = (self.spans(reader, source), self.spans(reader, target)) else { return 0 };
        score(&source, &target, larger)
    }

    fn size(&mut self, reader: &ObjectReader, blob: &ObjectId) -> Option<u64> {
        if self.sizes.len() > MAX_CACHED_SIZES {
            self.sizes.clear();
        }
        let size = *self.sizes.entry(*blob).or_insert_with(|| reader.size(blob));
        self.missing |= size.is_none();
        size
    }

    fn spans(&mut self, reader: &ObjectReader, blob: &ObjectId) -> Option<Arc<SpanHashes>> {
        if let Some(known) = self.spans.get(blob) {
            return Some(Arc::clone(known));
        }
        if reader.read(blob, &mut self.buffer).is_none() {
            self.missing = true;
            return None;
        }
        let counts = Arc::new(SpanHashes::new(&self.buffer));
        if self.span_bytes > MAX_CACHED_SPAN_BYTES {
            self.spans.clear();
            self.span_bytes = 0;
        }
        self.span_bytes += counts.weight();
        self.spans.insert(*blob, Arc::clone(&counts));
        Some(counts)
    }
}

/// Replaces the worst candidate if `candidate` is better.
fn record_if_better(best: &mut Vec<(u64, bool, usize)>, candidate: (u64, bool, usize)) {
    if best.len() < CANDIDATES {
        best.push(candidate);
        return;
    }
    let rank = |candidate: &(u64, bool, usize)| (candidate.0, candidate.1);
    // If several candidates are equally bad, replace the first.
    if let Some(worst) = best.iter_mut().min_by_key(|kept| rank(kept))
        && rank(worst) < rank(&candidate)
    {
        *worst = candidate;
    }
}
