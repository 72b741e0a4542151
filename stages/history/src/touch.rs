//! Counts the commits that touched a range of lines, by the rules of `git log -L`.
//!
//! The walk follows all ranges of a file from event to event of the path, as blame follows lines. A commit touches a
//! range if it changed a line in the range, or deleted lines inside the range. At a merge, the range passes to the
//! first parent that does not differ within the range. If all parents differ, the merge touched the range, and each
//! parent receives the part of the range that came from the parent. A range ends at the commit that added all lines of
//! the range.
//!
//! Blame follows a line only to the commit that last changed it. A range continues with the lines that were replaced,
//! so a commit counts even if no line of the commit remains.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use gix::ObjectId;
use rustc_hash::FxHashMap;

use crate::attribution::TouchCount;
use crate::blamer::Blamer;
use crate::change_table::PathId;
use crate::commit_graph::CommitPos;
use crate::event_key::EventKey;
use crate::events::{EventId, EventIndex};
use crate::line_diff::{FileVersion, Hunk, LineDiffer, LineInterner};
use crate::line_ranges::{RangePart, map_to_parent, merge_adjacent};
use crate::rename::RenameTarget;
use crate::tree_diff::PathState;
use crate::version_cache::VersionCache;
use crate::working_copy::WorkingCopy;

/// A function that looks up a touch count that an earlier run stored. The count is the number of commits that touched a
/// range of lines of a path, up to and including the commit of an event. The range refers to the file after the event.
///
/// Paths are relative to the directory at which the [`History`](crate::History) was opened. The function returns `None`
/// if the count is unknown.
pub type CachedTouches<'a> = dyn Fn(&[u8], &EventKey, &Range<u32>) -> Option<u32> + 'a;

/// The number of commits that touched each range of a [`TouchQuery`].
pub(crate) struct RangeCounts {
    /// The lines that the ranges cover at HEAD, in the order of the ranges. A range without lines at HEAD has no part.
    pub(crate) parts: Vec<RangePart>,
    pub(crate) of_ranges: Vec<u32>,
}

impl RangeCounts {
    /// Returns the counts of the ranges that have lines at HEAD, sorted and without duplicates.
    pub(crate) fn at_head(&self) -> Vec<TouchCount> {
        let count =
            |part: &RangePart| TouchCount { lines: part.start..part.end, commits: self.of_ranges[part.range as usize] };
        let mut counts: Vec<TouchCount> = self.parts.iter().map(count).collect();
        counts.sort_unstable_by_key(|count| (count.lines.start, count.lines.end));
        counts.dedup();
        counts
    }
}

/// The ranges of a file whose touches are counted.
pub(crate) struct TouchQuery<'a> {
    pub(crate) ranges: &'a [Range<u32>],
    /// The file whose lines the ranges refer to, or `None` for the file at HEAD.
    pub(crate) copy: Option<WorkingCopy<'a>>,
    /// The directory to which the paths of `cached` are relative, ending in `/`, or empty.
    pub(crate) prefix: &'a [u8],
    pub(crate) cached: Option<&'a CachedTouches<'a>>,
}

impl TouchQuery<'_> {
    /// Converts the ranges to parts of the version at HEAD.
    pub(crate) fn parts(&self, head: &FileVersion) -> Vec<RangePart> {
        let compared = self.copy.map(|copy| copy.compared_with(&head.bytes));
        let part = |lines: u32, (range, covered): (u32, &Range<u32>)| {
            let covered = compared.as_ref().map_or_else(|| covered.clone(), |compared| compared.lines_of(covered));
            RangePart { range, start: covered.start, end: covered.end.min(lines) }
        };
        let ranges = (0u32..).zip(self.ranges);
        let mut parts: Vec<RangePart> = match &compared {
            Some(compared) if compared.bytes != head.bytes => {
                let mut table = LineInterner::default();
                let head_again = table.version(head.bytes.clone(), None);
                let worktree = table.version(compared.bytes.to_vec(), Some(&head_again));
                let hunks = LineDiffer::new(false).hunks(&table, &head_again, &worktree);
                let parts = ranges.map(|range| part(worktree.len(), range)).filter(|part| part.start < part.end);
                parts.map(|part| map_to_parent(part, &hunks).0).collect()
            }
            _ => ranges.map(|range| part(head.len(), range)).collect(),
        };
        parts.retain(|part| part.start < part.end);
        parts
    }
}

impl Blamer {
    /// Counts the touches of `blob`, which is `path` at HEAD. Returns `None` if the blob is missing or too large.
    pub(crate) fn count_touches(
        &mut self,
        index: &EventIndex,
        path: PathId,
        blob: ObjectId,
        query: &TouchQuery<'_>,
    ) -> Option<Vec<u32>> {
        let mut files = VersionCache::new(self, index, true);
        let version = files.version(blob, None)?;
        let mut walk = TouchWalk::new(index, query, query.parts(&version), path, blob);
        drop(version);
        while walk.next_commit().is_some() {
            walk.step(&mut files);
            files.evict(walk.pending() <= 1, || walk.needed().collect());
        }
        Some(walk.into_counts())
    }
}

/// An event of a path, and the parts of ranges that reach it.
struct RangeSuspect {
    event: EventId,
    path: PathId,
    blob: ObjectId,
    parts: Vec<RangePart>,
}

/// The file in a parent of a suspect's commit.
struct ParentVersion {
    path: PathId,
    blob: ObjectId,
    /// The hunks from this file to the suspect's file, or `None` if the files are equal.
    hunks: Option<Arc<[Hunk]>>,
}

/// The parts of ranges, as lines of the file in a parent. A part passes to the parent at once if the parent does not
/// differ in the range, and otherwise only if every parent differs in the range.
struct ParentRanges {
    parent: usize,
    path: PathId,
    blob: ObjectId,
    parts: Vec<RangePart>,
}

/// The walk that follows the ranges of one file.
pub(crate) struct TouchWalk<'a> {
    index: &'a EventIndex,
    query: &'a TouchQuery<'a>,
    queue: BinaryHeap<(Reverse<CommitPos>, EventId)>,
    suspects: FxHashMap<EventId, RangeSuspect>,
    counts: Vec<u32>,
    /// For each range, whether the parent that is being examined differs within the range.
    differs: Vec<bool>,
}

impl<'a> TouchWalk<'a> {
    /// Starts the walk at HEAD with the ranges of `query`. `blob` is the version of `path` at HEAD, and `parts` are the
    /// lines of this version that the ranges cover.
    pub(crate) fn new(
        index: &'a EventIndex,
        query: &'a TouchQuery<'a>,
        parts: Vec<RangePart>,
        path: PathId,
        blob: ObjectId,
    ) -> Self {
        let mut walk = Self {
            index,
            query,
            queue: BinaryHeap::new(),
            suspects: FxHashMap::default(),
            counts: vec![0; query.ranges.len()],
            differs: vec![false; query.ranges.len()],
        };
        walk.pass_to(CommitPos(0), path, blob, parts);
        walk
    }

    /// Returns the commit of the next event.
    pub(crate) fn next_commit(&self) -> Option<CommitPos> {
        self.queue.peek().map(|(Reverse(commit), _)| *commit)
    }

    /// Returns the number of queued events.
    pub(crate) fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Returns the versions that the queued events need.
    pub(crate) fn needed(&self) -> impl Iterator<Item = ObjectId> {
        self.suspects.values().map(|suspect| suspect.blob)
    }

    /// Returns the number of commits found so far for each range.
    pub(crate) fn into_counts(self) -> Vec<u32> {
        self.counts
    }

    /// Examines all events of the next commit together, so that the commit counts once.
    pub(crate) fn step(&mut self, files: &mut VersionCache<'_>) {
        let Some(commit) = self.next_commit() else { return };
        let mut suspects = Vec::new();
        while self.next_commit() == Some(commit) {
            let event = self.queue.pop().map(|(_, event)| event);
            suspects.extend(event.and_then(|event| self.suspects.remove(&event)));
        }
        for suspect in &mut suspects {
            merge_adjacent(&mut suspect.parts);
        }
        if self.query.cached.is_some() {
            self.add_cached(commit, &mut suspects);
        }
        suspects.retain(|suspect| !suspect.parts.is_empty());
        self.examine(files, commit, suspects);
    }

    /// Assigns `parts` to the next event of `path` at or below `commit`. `blob` is the content of the path after that
    /// event.
    fn pass_to(&mut self, commit: CommitPos, path: PathId, blob: ObjectId, parts: Vec<RangePart>) {
        if parts.is_empty() {
            return;
        }
        // An event is missing only if a tree object was missing. In that case, earlier touches of the parts are
        // unknown.
        let Some(event) = self.index.next_event(path, commit) else { return };
        if let Some(suspect) = self.suspects.get_mut(&event) {
            suspect.parts.extend(parts);
            return;
        }
        self.queue.push((Reverse(self.index.commit(event)), event));
        self.suspects.insert(event, RangeSuspect { event, path, blob, parts });
    }

    /// Adds cached counts, and stops following the ranges of these counts. A cached count applies to one part, so it is
    /// used only if the part is the only part of its range. Another part could reach the same commits, which would then
    /// be counted twice.
    fn add_cached(&mut self, commit: CommitPos, suspects: &mut [RangeSuspect]) {
        let Some(cached) = self.query.cached else { return };
        for at in 0..suspects.len() {
            let RangeSuspect { path, blob, .. } = suspects[at];
            let Some(path) = self.index.path(path).strip_prefix(self.query.prefix) else { continue };
            let key = EventKey::new(&self.index.graph.id(commit), &blob);
            let mut parts = std::mem::take(&mut suspects[at].parts);
            let is_elsewhere = |range: u32| {
                let others = suspects.iter().chain(self.suspects.values());
                others.flat_map(|suspect| &suspect.parts).any(|part| part.range == range)
            };
            let mut ended = Vec::new();
            for same in parts.chunk_by(|left, right| left.range == right.range) {
                if let [part] = same
                    && let Some(count) = cached(path, &key, &(part.start..part.end))
                    && !is_elsewhere(part.range)
                {
                    ended.push((part.range, count));
                }
            }
            for (range, count) in &ended {
                self.counts[*range as usize] += count;
            }
            if !ended.is_empty() {
                parts.retain(|part| ended.binary_search_by_key(&part.range, |(range, _)| *range).is_err());
            }
            suspects[at].parts = parts;
        }
    }

    /// Counts the touches of `commit` and passes the ranges to its parents.
    fn examine(&mut self, files: &mut VersionCache<'_>, commit: CommitPos, mut suspects: Vec<RangeSuspect>) {
        let index = self.index;
        let parents = index.graph.parents(commit);
        let mut candidates: Vec<ParentRanges> = Vec::new();
        for (number, &parent) in parents.iter().enumerate() {
            let mut found = Vec::with_capacity(suspects.len());
            for suspect in &suspects {
                let file = self.parent_file(files, commit, number, suspect);
                let mut parts = suspect.parts.clone();
                for part in &mut parts {
                    let (mapped, touched) = match &file {
                        None => (RangePart { end: part.start, ..*part }, true),
                        Some(ParentVersion { hunks: None, .. }) => (*part, false),
                        Some(ParentVersion { hunks: Some(hunks), .. }) => map_to_parent(*part, hunks),
                    };
                    self.differs[part.range as usize] |= touched;
                    *part = mapped;
                }
                parts.retain(|part| part.start < part.end);
                found.extend(file.map(|file| ParentRanges { parent: number, path: file.path, blob: file.blob, parts }));
            }
            for mut candidate in found {
                let taken = candidate.parts.extract_if(.., |part| !self.differs[part.range as usize]).collect();
                self.pass_to(parent, candidate.path, candidate.blob, taken);
                candidates.push(candidate);
            }
            // Keep the ranges that differ from all parents so far.
            for suspect in &mut suspects {
                suspect.parts.retain(|part| self.differs[part.range as usize]);
            }
            for part in suspects.iter().flat_map(|suspect| &suspect.parts) {
                self.differs[part.range as usize] = false;
            }
            if suspects.iter().all(|suspect| suspect.parts.is_empty()) {
                return;
            }
        }
        for part in suspects.iter().flat_map(|suspect| &suspect.parts) {
            self.differs[part.range as usize] = true;
        }
        for ParentRanges { parent, path, blob, mut parts } in candidates {
            parts.retain(|part| self.differs[part.range as usize]);
            self.pass_to(parents[parent], path, blob, parts);
        }
        for part in suspects.iter().flat_map(|suspect| &suspect.parts) {
            if std::mem::take(&mut self.differs[part.range as usize]) {
                self.counts[part.range as usize] += 1;
            }
        }
    }

    /// Returns the suspect's file in a parent, or `None` if the parent has no such regular file.
    fn parent_file(
        &self,
        files: &mut VersionCache<'_>,
        commit: CommitPos,
        parent: usize,
        suspect: &RangeSuspect,
    ) -> Option<ParentVersion> {
        let &RangeSuspect { event, path, blob, .. } = suspect;
        let (path, old) = match self.index.parent_state(event, parent) {
            PathState::File(old) => (path, old),
            PathState::Other => return None,
            PathState::Absent => {
                let source = files.source(RenameTarget { commit, parent, path, blob })?;
                (source.path, source.blob)
            }
        };
        let hunks = if old == blob { None } else { Some(files.hunks(old, blob)?) };
        Some(ParentVersion { path, blob: old, hunks })
    }
}
