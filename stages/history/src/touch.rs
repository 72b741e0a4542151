//! How many commits touched a range of lines, by the rules of `git log -L`.
//!
//! The walk takes all ranges of a file back from event to event of its path, as blame does with lines. A commit touches a
//! range if it changed lines in it, or removed some from within it. At a merge the first parent from which nothing in the
//! range differs takes the range; if there is none, the merge touched it and every parent takes its part. A range ends
//! where all of its lines were added.
//!
//! Unlike blame, a range includes what its lines replaced, so that commits count of which no line is left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use gix::ObjectId;
use rustc_hash::FxHashMap;

use crate::attribution::{FileAttribution, TouchCount, WorktreeBlame};
use crate::blame::{Blamer, CachedAttribution};
use crate::change_table::PathId;
use crate::commit_graph::CommitPos;
use crate::error::Unattributed;
use crate::event_key::EventKey;
use crate::events::{EventId, EventIndex};
use crate::history::History;
use crate::line_diff::{FileVersion, Hunk, LineDiffer, LineInterner};
use crate::line_map::{LineMap, without_checkout_crlf};
use crate::line_ranges::{RangePart, join, map};
use crate::rename::RenameTarget;
use crate::tree_diff::PathState;
use crate::version_cache::VersionCache;

/// Touch counts of an earlier run: how many commits touched lines `range` of a path as the event left it, that event and
/// what lies below it included.
///
/// Paths are relative to the directory that the [`History`] was opened at; `None` if the count is not known.
pub type CachedTouches<'a> = dyn Fn(&[u8], &EventKey, &Range<u32>) -> Option<u32> + 'a;

impl History {
    /// Per range the number of commits that touched it: those that `git log -L` prints. Ranges count the lines that `path`
    /// has at HEAD from 0 and exclude their end; what lies behind the last line is ignored.
    ///
    /// `known` shortens the walk and never changes the result.
    pub fn touch_counts(
        &self,
        index: &EventIndex,
        path: impl AsRef<[u8]>,
        ranges: &[Range<u32>],
        known: Option<&CachedTouches<'_>>,
    ) -> Result<Vec<u32>, Unattributed> {
        let (id, blob) = self.file_at_head(index, path.as_ref())?;
        let query = TouchQuery { ranges, worktree_text: None, prefix: &self.prefix, known };
        self.with_blamer(|blamer| {
            let counts = blamer.count_touches(index, id, blob, &query);
            counts.ok_or_else(|| blamer.failure(&blob))
        })
    }

    /// [`History::blame`] and [`History::touch_counts`] together, which costs much less than both in turn. Goes no further
    /// back than to what is `known`.
    pub fn attribute_committed(
        &self,
        index: &EventIndex,
        known: &CachedAttribution<'_>,
        path: impl AsRef<[u8]>,
        ranges: &[Range<u32>],
    ) -> Result<(FileAttribution, Vec<u32>), Unattributed> {
        let found = self.attribute_any(index, known, path.as_ref(), None, ranges)?;
        Ok((found.0.committed, found.1))
    }

    /// Attributes `text`, the content of `path` in the working tree, and counts per range of its lines the commits that
    /// touched it, as if the text were committed and that commit were not counted. Goes no further back than to what is
    /// `known`.
    pub fn attribute(
        &self,
        index: &EventIndex,
        known: &CachedAttribution<'_>,
        path: impl AsRef<[u8]>,
        text: &[u8],
        ranges: &[Range<u32>],
    ) -> Result<(WorktreeBlame, Vec<u32>), Unattributed> {
        self.attribute_any(index, known, path.as_ref(), Some(text), ranges)
    }

    fn attribute_any(
        &self,
        index: &EventIndex,
        known: &CachedAttribution<'_>,
        path: &[u8],
        worktree_text: Option<&[u8]>,
        ranges: &[Range<u32>],
    ) -> Result<(WorktreeBlame, Vec<u32>), Unattributed> {
        let known_touches = |path: &[u8], key: &EventKey, lines: &Range<u32>| {
            known(path, key).and_then(|known| known.touches_of(lines))
        };
        let known_touches = Some(&known_touches as &CachedTouches<'_>);
        let query = TouchQuery { ranges, worktree_text, prefix: &self.prefix, known: known_touches };
        self.with_blamer(|blamer| {
            let (id, blob) = self.file_at_head(index, path)?;
            let found = blamer.attribute((index, id, blob), &self.config.ignored, known, Some(&query));
            let (lines, counts) = found.ok_or_else(|| blamer.failure(&blob))?;
            let blame = self.file_blame(index, &lines);
            let committed = FileAttribution { blame, touches: counts.touched() };
            let text = worktree_text.unwrap_or(&lines.text);
            let lines = LineMap::between(&lines.text, text, &mut blamer.differ);
            Ok((WorktreeBlame { committed, lines }, counts.of_ranges))
        })
    }

    /// The same for a file of which everything but `text` is as it was: `committed` is stored of it under `key`, the one at
    /// HEAD. Needs no walk; `None` if it takes one to count the touches of a range.
    pub fn carry_over(
        &self,
        committed: &FileAttribution,
        key: &EventKey,
        text: &[u8],
        ranges: &[Range<u32>],
    ) -> Result<Option<(WorktreeBlame, Vec<u32>)>, Unattributed> {
        let blob = key.blob(self.info().hash);
        let query = TouchQuery { ranges, worktree_text: Some(text), prefix: &self.prefix, known: None };
        self.with_blamer(|blamer| {
            let committed_text = blamer.read_file(&blob).ok_or_else(|| blamer.failure(&blob))?;
            let lines = LineMap::between(&committed_text, text, &mut blamer.differ);
            let parts = query.parts(&LineInterner::default().version(committed_text, None));
            let mut counts = RangeCounts { of_ranges: vec![0; ranges.len()], parts };
            for part in &counts.parts {
                let Some(known) = committed.touches_of(&(part.start..part.end)) else { return Ok(None) };
                counts.of_ranges[part.range as usize] = known;
            }
            let committed = FileAttribution { blame: committed.blame.clone(), touches: counts.touched() };
            Ok(Some((WorktreeBlame { committed, lines }, counts.of_ranges)))
        })
    }
}

/// How many commits touched each range of a [`TouchQuery`].
pub(crate) struct RangeCounts {
    /// Where the ranges lie at HEAD, those that do; in the order of the ranges.
    pub(crate) parts: Vec<RangePart>,
    pub(crate) of_ranges: Vec<u32>,
}

impl RangeCounts {
    /// The counts of lines at HEAD, sorted, each range once.
    fn touched(&self) -> Vec<TouchCount> {
        let count =
            |part: &RangePart| TouchCount { lines: part.start..part.end, commits: self.of_ranges[part.range as usize] };
        let mut touched: Vec<TouchCount> = self.parts.iter().map(count).collect();
        touched.sort_unstable_by_key(|touched| (touched.lines.start, touched.lines.end));
        touched.dedup();
        touched
    }
}

/// Which ranges of a file to count the touches of.
pub(crate) struct TouchQuery<'a> {
    ranges: &'a [Range<u32>],
    /// The text whose lines the ranges count, unless they count those of HEAD.
    worktree_text: Option<&'a [u8]>,
    /// The directory that the paths of `known` are relative to, ending in `/`, or empty.
    prefix: &'a [u8],
    known: Option<&'a CachedTouches<'a>>,
}

impl TouchQuery<'_> {
    /// The ranges as parts of the version at HEAD.
    pub(crate) fn parts(&self, head: &FileVersion) -> Vec<RangePart> {
        let ranges = (0u32..).zip(self.ranges);
        let part = |lines: u32| {
            move |(range, covered): (u32, &Range<u32>)| RangePart {
                range,
                start: covered.start,
                end: covered.end.min(lines),
            }
        };
        let mut parts: Vec<RangePart> = match self.worktree_text {
            Some(text) if text != head.bytes => {
                let mut table = LineInterner::default();
                let head_again = table.version(head.bytes.clone(), None);
                let text = without_checkout_crlf(&head.bytes, text).into_owned();
                let worktree = table.version(text, Some(&head_again));
                let hunks = LineDiffer::new(false).hunks(&table, &head_again, &worktree);
                let parts = ranges.map(part(worktree.len())).filter(|part| part.start < part.end);
                parts.map(|part| map(part, &hunks).0).collect()
            }
            _ => ranges.map(part(head.len())).collect(),
        };
        parts.retain(|part| part.start < part.end);
        parts
    }
}

impl Blamer {
    /// The touches of `blob`, which is `path` at HEAD; `None` if the blob is missing or too large.
    fn count_touches(
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
            files.forget(walk.waiting() <= 1, || walk.needed().collect());
        }
        Some(walk.into_counts())
    }
}

/// A path at an event, and the parts of ranges that are to be found there.
struct RangeSuspect {
    event: EventId,
    path: PathId,
    blob: ObjectId,
    parts: Vec<RangePart>,
}

/// What a parent of a suspect's commit holds of the file.
struct ParentVersion {
    path: PathId,
    blob: ObjectId,
    /// How the suspect differs from it; `None` if it does not.
    hunks: Option<Arc<[Hunk]>>,
}

/// Parts that go to a parent if nobody takes the whole range.
struct ParentRanges {
    parent: usize,
    path: PathId,
    blob: ObjectId,
    parts: Vec<RangePart>,
}

/// The walk of the ranges of one file.
pub(crate) struct TouchWalk<'a> {
    index: &'a EventIndex,
    query: &'a TouchQuery<'a>,
    queue: BinaryHeap<(Reverse<CommitPos>, EventId)>,
    suspects: FxHashMap<EventId, RangeSuspect>,
    counts: Vec<u32>,
    /// Per range whether the parent at hand differs in it.
    differs: Vec<bool>,
}

impl<'a> TouchWalk<'a> {
    /// Begins with the ranges of `query`, which are `parts` of the version `blob` of `path` at HEAD.
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
        walk.pass_on(CommitPos(0), path, blob, parts);
        walk
    }

    /// The commit of the next event.
    pub(crate) fn next_commit(&self) -> Option<CommitPos> {
        self.queue.peek().map(|(Reverse(commit), _)| *commit)
    }

    /// How many events wait.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The versions that the next steps begin with.
    pub(crate) fn needed(&self) -> impl Iterator<Item = ObjectId> {
        self.suspects.values().map(|suspect| suspect.blob)
    }

    /// Per range the number of commits found so far.
    pub(crate) fn into_counts(self) -> Vec<u32> {
        self.counts
    }

    /// Examines all events of the next commit, so that it counts once.
    pub(crate) fn step(&mut self, files: &mut VersionCache<'_>) {
        let Some(commit) = self.next_commit() else { return };
        let mut suspects = Vec::new();
        while self.next_commit() == Some(commit) {
            let event = self.queue.pop().map(|(_, event)| event);
            suspects.extend(event.and_then(|event| self.suspects.remove(&event)));
        }
        for suspect in &mut suspects {
            join(&mut suspect.parts);
        }
        if self.query.known.is_some() {
            self.settle_known(commit, &mut suspects);
        }
        suspects.retain(|suspect| !suspect.parts.is_empty());
        self.examine(files, commit, suspects);
    }

    /// Hands `parts` to the next event of `path` at or below `commit`, where the path holds `blob`.
    fn pass_on(&mut self, commit: CommitPos, path: PathId, blob: ObjectId, parts: Vec<RangePart>) {
        if parts.is_empty() {
            return;
        }
        // Without an event some tree was missing: what lies below cannot be told.
        let Some(event) = self.index.next_event(path, commit) else { return };
        if let Some(suspect) = self.suspects.get_mut(&event) {
            suspect.parts.extend(parts);
            return;
        }
        self.queue.push((Reverse(self.index.commit(event)), event));
        self.suspects.insert(event, RangeSuspect { event, path, blob, parts });
    }

    /// Ends ranges whose count from here on is known. That count stands for the walk of this one part, so it must be all
    /// that is left of the range: parts elsewhere could meet the same commits.
    fn settle_known(&mut self, commit: CommitPos, suspects: &mut [RangeSuspect]) {
        let Some(known) = self.query.known else { return };
        for at in 0..suspects.len() {
            let RangeSuspect { path, blob, .. } = suspects[at];
            let Some(path) = self.index.path(path).strip_prefix(self.query.prefix) else { continue };
            let key = EventKey::new(&self.index.graph.id(commit), &blob);
            let mut parts = std::mem::take(&mut suspects[at].parts);
            let is_elsewhere = |range: u32| {
                let others = suspects.iter().chain(self.suspects.values());
                others.flat_map(|suspect| &suspect.parts).any(|part| part.range == range)
            };
            let mut settled = Vec::new();
            for same in parts.chunk_by(|left, right| left.range == right.range) {
                if let [part] = same
                    && let Some(count) = known(path, &key, &(part.start..part.end))
                    && !is_elsewhere(part.range)
                {
                    settled.push((part.range, count));
                }
            }
            for (range, count) in &settled {
                self.counts[*range as usize] += count;
            }
            if !settled.is_empty() {
                parts.retain(|part| settled.binary_search_by_key(&part.range, |(range, _)| *range).is_err());
            }
            suspects[at].parts = parts;
        }
    }

    /// RangeCounts the touches of `commit` and passes the ranges on to its parents.
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
                        Some(ParentVersion { hunks: Some(hunks), .. }) => map(*part, hunks),
                    };
                    self.differs[part.range as usize] |= touched;
                    *part = mapped;
                }
                parts.retain(|part| part.start < part.end);
                found.extend(file.map(|file| ParentRanges { parent: number, path: file.path, blob: file.blob, parts }));
            }
            for mut candidate in found {
                let taken = candidate.parts.extract_if(.., |part| !self.differs[part.range as usize]).collect();
                self.pass_on(parent, candidate.path, candidate.blob, taken);
                candidates.push(candidate);
            }
            // Only ranges that differ from all parents so far are left.
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
            self.pass_on(parents[parent], path, blob, parts);
        }
        for part in suspects.iter().flat_map(|suspect| &suspect.parts) {
            if std::mem::take(&mut self.differs[part.range as usize]) {
                self.counts[part.range as usize] += 1;
            }
        }
    }

    /// What a parent holds of the suspect; `None` if it is no regular file there, or is missing.
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
