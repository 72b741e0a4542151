//! Blame: finds the commit that each line of a file at HEAD came from, by the rules of `git blame`.
//!
//! The walk visits the events of a path, newest first. If a parent has identical content at an event, all lines pass to
//! that parent. Otherwise, the walk compares the file with each parent in order. Lines that are unchanged since a
//! parent pass to that parent, and all other lines are attributed to the commit. If a parent does not have the path,
//! rename detection searches the parent for the file that was renamed. The walk of a line ends at an event whose
//! attribution is cached.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::HashSet;
use rustc_hash::FxHashMap;

use crate::attribution::{FileAttribution, FileBlame};
use crate::blamer::Blamer;
use crate::change_table::PathId;
use crate::commit::CommitInfo;
use crate::commit_graph::CommitPos;
use crate::event_key::EventKey;
use crate::events::{EventId, EventIndex};
use crate::ignore_revs::guess_line_blames;
use crate::line_diff::{DiffRegion, RegionKind};
use crate::rename::RenameTarget;
use crate::touch::{RangeCounts, TouchQuery, TouchWalk};
use crate::tree_diff::PathState;
use crate::version_cache::VersionCache;

/// A function that looks up the attribution that an earlier run stored under a path and an event key. The path is
/// relative to the root of the history.
///
/// Blame stops at an event whose attribution is cached. The attribution must have been computed under the same
/// [`config_fingerprint`](crate::History::config_fingerprint).
pub type CachedAttribution<'a> = dyn Fn(&[u8], &EventKey) -> Option<Arc<FileAttribution>> + 'a;

/// The commit of each line of a file.
pub(crate) struct LineCommits {
    /// The content of the file.
    pub(crate) text: Vec<u8>,
    pub(crate) commits: Vec<CommitPos>,
    /// Whether an object was missing. If true, lines may be older than the commits to which they are attributed.
    pub(crate) incomplete: bool,
}

impl Blamer {
    /// Attributes the lines of `blob`, which is `path` at HEAD. Returns `None` if the blob is missing or too large.
    ///
    /// If `query` is given, also counts touches. Both walks advance together, newest commit first, so that each version
    /// that both walks need is read and compared only once.
    pub(crate) fn attribute(
        &mut self,
        (index, path, blob): (&EventIndex, PathId, ObjectId),
        ignored: &HashSet<ObjectId>,
        cached: &CachedAttribution<'_>,
        query: Option<&TouchQuery<'_>>,
    ) -> Option<(LineCommits, RangeCounts)> {
        let mut files = VersionCache::new(self, index, query.is_some());
        let version = files.version(blob, None)?;
        let mut blame = BlameWalk::new(index, ignored, cached);
        blame.start(path, blob, version.len());
        let parts = query.map(|query| query.parts(&version)).unwrap_or_default();
        let mut touches = query.map(|query| TouchWalk::new(index, query, parts.clone(), path, blob));
        loop {
            let next_touch = touches.as_ref().and_then(TouchWalk::next_commit);
            let Some(commit) = [blame.next_commit(), next_touch].into_iter().flatten().min() else { break };
            if blame.next_commit() == Some(commit) {
                blame.step(&mut files);
            }
            if let Some(touches) = touches.as_mut().filter(|_| next_touch == Some(commit)) {
                touches.step(&mut files);
            }
            let few_needed = blame.queue.len() <= 1 && touches.as_ref().is_none_or(|touches| touches.pending() <= 1);
            files.evict(few_needed, || {
                let of_touches = touches.iter().flat_map(TouchWalk::needed);
                blame.suspects.values().map(|suspect| suspect.blob).chain(of_touches).collect()
            });
        }
        drop(files);
        let text = Arc::try_unwrap(version).map_or_else(|shared| shared.bytes.clone(), |version| version.bytes);
        let lines = LineCommits { text, commits: blame.commits, incomplete: blame.incomplete };
        Some((lines, RangeCounts { parts, of_ranges: touches.map(TouchWalk::into_counts).unwrap_or_default() }))
    }
}

/// Consecutive lines of the file at HEAD that are not attributed yet, with their line numbers in an older version.
/// Corresponds to git's `blame_entry`.
#[derive(Clone, Copy)]
struct UnblamedHunk {
    /// The first line at HEAD.
    line: u32,
    /// The first line in the older version.
    source: u32,
    len: u32,
}

/// An event and the lines that came from this event or an older event. Corresponds to git's `blame_origin` with its
/// entries.
struct Suspect {
    path: PathId,
    blob: ObjectId,
    hunks: Vec<UnblamedHunk>,
}

/// The file in one parent of a commit.
#[derive(Clone, Copy)]
struct ParentOrigin {
    parent: usize,
    path: PathId,
    blob: ObjectId,
}

/// The walk that blames one file.
struct BlameWalk<'a> {
    index: &'a EventIndex,
    ignored: &'a HashSet<ObjectId>,
    cached: &'a CachedAttribution<'a>,
    queue: BinaryHeap<(Reverse<CommitPos>, EventId)>,
    suspects: FxHashMap<EventId, Suspect>,
    commits: Vec<CommitPos>,
    incomplete: bool,
}

impl<'a> BlameWalk<'a> {
    fn new(index: &'a EventIndex, ignored: &'a HashSet<ObjectId>, cached: &'a CachedAttribution<'a>) -> Self {
        Self {
            index,
            ignored,
            cached,
            queue: BinaryHeap::new(),
            suspects: FxHashMap::default(),
            commits: Vec::new(),
            incomplete: false,
        }
    }

    /// Starts the walk with all lines of `path` at HEAD. `lines` is the number of lines.
    fn start(&mut self, path: PathId, blob: ObjectId, lines: u32) {
        self.commits = vec![CommitPos(0); lines as usize];
        let all = UnblamedHunk { line: 0, source: 0, len: lines };
        self.pass_to(CommitPos(0), path, blob, if lines == 0 { Vec::new() } else { vec![all] });
    }

    /// Returns the commit of the next event.
    fn next_commit(&self) -> Option<CommitPos> {
        self.queue.peek().map(|(Reverse(commit), _)| *commit)
    }

    /// Examines the next event.
    fn step(&mut self, files: &mut VersionCache<'_>) {
        let Some((Reverse(commit), event)) = self.queue.pop() else { return };
        if let Some(suspect) = self.suspects.remove(&event) {
            self.examine(files, commit, event, suspect);
        }
    }

    /// Assigns `hunks` to the next event of `path` at or below `commit`. `blob` is the content of the path after that
    /// event.
    fn pass_to(&mut self, commit: CommitPos, path: PathId, blob: ObjectId, hunks: Vec<UnblamedHunk>) {
        if hunks.is_empty() {
            return;
        }
        let Some(event) = self.index.next_event(path, commit) else {
            self.incomplete = true;
            return self.attribute_to(commit, &hunks);
        };
        if let Some(suspect) = self.suspects.get_mut(&event) {
            suspect.hunks.extend(hunks);
            return;
        }
        if let Some(cached) = self.cached_at(event, path)
            && self.attribute_as(&cached.blame, &hunks)
        {
            return;
        }
        self.queue.push((Reverse(self.index.commit(event)), event));
        self.suspects.insert(event, Suspect { path, blob, hunks });
    }

    /// Returns the cached attribution of the file as it was after an event.
    fn cached_at(&self, event: EventId, path: PathId) -> Option<Arc<FileAttribution>> {
        let path = self.index.path(path).strip_prefix(self.index.prefix.as_slice())?;
        (self.cached)(path, &self.index.key(event)?)
    }

    /// Attributes `hunks` according to the attribution `cached`. Returns false if `cached` does not cover all lines of
    /// the hunks, or contains a commit that is not reachable from HEAD.
    fn attribute_as(&mut self, cached: &FileBlame, hunks: &[UnblamedHunk]) -> bool {
        let position = |commit: &CommitInfo| self.index.graph.position(&commit.id.0);
        let Some(commits) = cached.commits.iter().map(position).collect::<Option<Vec<_>>>() else { return false };
        let end = hunks.iter().map(|hunk| hunk.source + hunk.len).max();
        if end > Some(cached.line_count()) {
            return false;
        }
        self.incomplete |= cached.incomplete;
        for hunk in hunks {
            let mut line = hunk.line as usize;
            for entry in cached.entries_within(hunk.source..hunk.source + hunk.len) {
                self.commits[line..line + entry.len as usize].fill(commits[entry.commit as usize]);
                line += entry.len as usize;
            }
        }
        true
    }

    /// Attributes `hunks` to `commit`.
    fn attribute_to(&mut self, commit: CommitPos, hunks: &[UnblamedHunk]) {
        for hunk in hunks {
            self.commits[hunk.line as usize..(hunk.line + hunk.len) as usize].fill(commit);
        }
    }

    /// Passes the unchanged lines of a suspect to the parents of the commit, and attributes all other lines to the
    /// commit.
    fn examine(&mut self, files: &mut VersionCache<'_>, commit: CommitPos, event: EventId, suspect: Suspect) {
        let Suspect { path, blob, mut hunks } = suspect;
        let index = self.index;
        let parents = index.graph.parents(commit);
        let origins = self.parent_origins(files, commit, event, path, blob);
        if let Some(file) = origins.iter().find(|file| file.blob == blob) {
            return self.pass_to(parents[file.parent], file.path, blob, hunks);
        }
        if origins.is_empty() {
            return self.attribute_to(commit, &hunks);
        }
        for file in &origins {
            if hunks.is_empty() {
                break;
            }
            if let Some(regions) = files.regions(file.blob, blob) {
                let (unchanged, changed) = split(&hunks, &regions);
                self.pass_to(parents[file.parent], file.path, file.blob, unchanged);
                hunks = changed;
            } else {
                self.incomplete = true;
            }
        }
        if !hunks.is_empty() && self.ignored.contains(&index.graph.id(commit)) {
            hunks = self.pass_ignored(files, &origins, parents, blob, hunks);
        }
        self.attribute_to(commit, &hunks);
    }

    /// Returns the file in each parent, without duplicates of equal content. The search ends with the first file that
    /// is identical to `blob`.
    fn parent_origins(
        &self,
        versions: &mut VersionCache<'_>,
        commit: CommitPos,
        event: EventId,
        path: PathId,
        blob: ObjectId,
    ) -> Vec<ParentOrigin> {
        let count = self.index.graph.parents(commit).len();
        let mut files: Vec<ParentOrigin> = Vec::with_capacity(count);
        let add = |files: &mut Vec<ParentOrigin>, file: ParentOrigin| {
            if files.iter().all(|known| known.blob != file.blob) {
                files.push(file);
            }
            file.blob == blob
        };
        let mut absent = Vec::new();
        for parent in 0..count {
            match self.index.parent_state(event, parent) {
                PathState::File(content) if add(&mut files, ParentOrigin { parent, path, blob: content }) => {
                    return files;
                }
                PathState::Absent => absent.push(parent),
                _ => {}
            }
        }
        for parent in absent {
            if let Some(source) = versions.source(RenameTarget { commit, parent, path, blob })
                && add(&mut files, ParentOrigin { parent, path: source.path, blob: source.blob })
            {
                return files;
            }
        }
        files.sort_by_key(|file| file.parent);
        files
    }

    /// Passes the lines that an ignored commit changed to the most similar lines of its parents. Returns the lines for
    /// which no parent has a similar line.
    fn pass_ignored(
        &mut self,
        versions: &mut VersionCache<'_>,
        files: &[ParentOrigin],
        parents: &[CommitPos],
        blob: ObjectId,
        mut hunks: Vec<UnblamedHunk>,
    ) -> Vec<UnblamedHunk> {
        for file in files {
            let Some(regions) = versions.regions(file.blob, blob) else { continue };
            let Some(new) = versions.version(blob, None) else { continue };
            let Some(old) = versions.version(file.blob, Some(&new)) else { continue };
            let sources = guess_line_blames(&old, &new, &regions);
            let (mut passed, mut unmatched) = (Vec::new(), Vec::new());
            for hunk in &hunks {
                for offset in 0..hunk.len {
                    let (line, source) = (hunk.line + offset, hunk.source + offset);
                    match sources[source as usize] {
                        Some(source) => passed.push(UnblamedHunk { line, source, len: 1 }),
                        None => unmatched.push(UnblamedHunk { line, source, len: 1 }),
                    }
                }
            }
            self.pass_to(parents[file.parent], file.path, file.blob, passed);
            hunks = unmatched;
        }
        hunks
    }
}

/// Splits `hunks` along `regions`. Returns the unchanged lines, with their line numbers in the old version, and the
/// changed lines.
fn split(hunks: &[UnblamedHunk], regions: &[DiffRegion]) -> (Vec<UnblamedHunk>, Vec<UnblamedHunk>) {
    let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
    for hunk in hunks {
        let mut rest = *hunk;
        let mut at = regions.partition_point(|region| region.start <= rest.source).saturating_sub(1);
        while let Some(region) = regions.get(at).filter(|_| rest.len > 0) {
            let end = regions.get(at + 1).map_or(u32::MAX, |next| next.start);
            let len = rest.len.min(end.saturating_sub(rest.source));
            match region.kind {
                RegionKind::Unchanged(old) => {
                    unchanged.push(UnblamedHunk { line: rest.line, source: old + (rest.source - region.start), len });
                }
                RegionKind::Changed(_) => changed.push(UnblamedHunk { len, ..rest }),
            }
            rest = UnblamedHunk { line: rest.line + len, source: rest.source + len, len: rest.len - len };
            at += 1;
        }
    }
    (unchanged, changed)
}
