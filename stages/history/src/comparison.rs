//! The files and lines that differ between two commits, or between a commit and the working tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aurora_confined::Directory;
use gix::ObjectId;

use crate::commit::CommitId;
use crate::error::HistoryError;
use crate::history::History;
use crate::line_diff::{LineDiffer, LineInterner, MAX_FILE_BYTES};
use crate::open::peel;
use crate::tree_diff::{PathState, TreeDiffer};
use crate::working_copy::WorkingCopy;
use crate::worktree_index::WorktreeState;

/// Maximum length of a revision or range, in bytes.
const MAX_RANGE_BYTES: usize = 1_024;
/// Maximum number of differing files that are read.
const MAX_FILES: usize = 20_000;
/// Maximum size of all differing files together, in bytes.
const MAX_BYTES: usize = 512 << 20;
/// Maximum number of removed files with which an added file is compared.
const MAX_RENAME_SOURCES: usize = 200;
/// Minimum share of the lines of a removed file that an added file must contain to be the same file.
const MIN_SIMILARITY: f64 = 0.5;

/// The sides of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sides {
    /// The old commit; `None` before the first commit.
    pub old: Option<CommitId>,
    /// The new commit; `None` for the working tree.
    pub new: Option<CommitId>,
}

/// A file that differs between the sides of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChange {
    /// The path, or the old path of a removed file.
    pub path: String,
    /// The old path of a renamed file.
    pub renamed_from: Option<String>,
    /// The old content; `None` for an added file.
    pub old: Option<Vec<u8>>,
    /// The new content; `None` for a removed file.
    pub new: Option<Vec<u8>>,
    /// The differing lines, counted from 0. Empty if a side is binary.
    pub hunks: Vec<(Range<u32>, Range<u32>)>,
    /// Whether a side is binary.
    pub is_binary: bool,
}

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// The sides that were compared.
    pub sides: Sides,
    /// Whether differing files are missing: an object is missing or too large, or there are too many files.
    pub is_incomplete: bool,
}

/// The content of a file on one side.
enum Content {
    Blob(ObjectId),
    Working,
}

impl History {
    /// Resolves a range as `git diff` does: `A..B`, `A...B` (from the merge base), or `A` (up to the working tree). A
    /// missing side of `..` is HEAD. An empty range is HEAD up to the working tree.
    ///
    /// # Errors
    /// Fails if a revision is unknown or ambiguous, or if two commits have no common ancestor.
    pub fn resolve_range(&self, range: &str) -> Result<Sides, HistoryError> {
        let unknown = |revision: &str, reason: &str| HistoryError::UnknownRevision {
            revision: revision.chars().take(MAX_RANGE_BYTES).collect(),
            reason: reason.to_owned(),
        };
        if range.len() > MAX_RANGE_BYTES {
            return Err(unknown(&range[..range.floor_char_boundary(64)], "it is too long"));
        }
        let repository = self.local();
        let commit = |revision: &str| -> Result<CommitId, HistoryError> {
            if revision.is_empty() || revision == "HEAD" {
                return self.head().copied().ok_or_else(|| unknown("HEAD", "there are no commits yet"));
            }
            let found = repository.rev_parse_single(revision).map_err(|error| unknown(revision, &error.to_string()))?;
            let id = peel(&repository, &self.objects, found.detach()).map_err(|reason| unknown(revision, &reason))?;
            match repository.find_header(id).map(|header| header.kind()) {
                Ok(gix::objs::Kind::Commit) => Ok(CommitId(id)),
                _ => Err(unknown(revision, "it is not a commit")),
            }
        };
        if range.is_empty() {
            return Ok(Sides { old: self.head().copied(), new: None });
        }
        if let Some((old, new)) = range.split_once("...") {
            let (old, new) = (commit(old)?, commit(new)?);
            let base = repository.merge_base(old.0, new.0);
            let base = base.ok().flatten().ok_or_else(|| unknown(range, "the commits have no common ancestor"))?;
            return Ok(Sides { old: Some(CommitId(base.detach())), new: Some(new) });
        }
        match range.split_once("..") {
            Some((old, new)) => Ok(Sides { old: Some(commit(old)?), new: Some(commit(new)?) }),
            None => Ok(Sides { old: Some(commit(range)?), new: None }),
        }
    }

    /// Calls `visit` with every differing file below the root, ordered by path. `working` lists the files of the
    /// working tree that count if they are not in the old commit. `is_cancelled` ends the comparison early.
    ///
    /// # Errors
    /// Fails if a commit is missing, or the git index cannot be read.
    pub fn compare(
        &self,
        sides: Sides,
        working: &mut dyn Iterator<Item = String>,
        is_cancelled: &dyn Fn() -> bool,
        visit: &mut dyn FnMut(FileChange),
    ) -> Result<Comparison, HistoryError> {
        let mut changed: BTreeMap<String, (Option<ObjectId>, Option<Content>)> = BTreeMap::new();
        let mut is_incomplete = self.compare_trees(sides, &mut |path, old, new| {
            let Some(path) = path.strip_prefix(self.prefix()).and_then(|path| str::from_utf8(path).ok()) else {
                return;
            };
            let blob = |state| if let PathState::File(blob) = state { Some(blob) } else { None };
            changed.insert(path.to_owned(), (blob(old), blob(new).map(Content::Blob)));
        })?;
        if sides.new.is_none() {
            self.add_working_files(&mut changed, working, is_cancelled)?;
        }
        is_incomplete |= changed.len() > MAX_FILES || is_cancelled();
        let directory = Directory::open_root(self.root()).ok();
        let reader = self.reader();
        let read = |content: &Content, path: &str| -> Option<Vec<u8>> {
            match content {
                Content::Blob(id) => {
                    let mut bytes = Vec::new();
                    let size = reader.read(id, &mut bytes).map(|_| bytes.len());
                    size.filter(|size| *size <= MAX_FILE_BYTES).map(|_| bytes)
                }
                Content::Working => directory.as_ref()?.read(path, MAX_FILE_BYTES as u64).ok(),
            }
        };
        let mut changes = Vec::new();
        let mut removed: Vec<FileChange> = Vec::new();
        let mut bytes = 0;
        for (path, (old, new)) in changed.into_iter().take(MAX_FILES) {
            if is_cancelled() || bytes > MAX_BYTES {
                is_incomplete = true;
                break;
            }
            let (had_old, had_new) = (old.is_some(), new.is_some());
            let old = old.and_then(|id| read(&Content::Blob(id), &path));
            let new = new.and_then(|content| read(&content, &path));
            bytes += [&old, &new].into_iter().flatten().map(Vec::len).sum::<usize>();
            if old.is_some() != had_old || new.is_some() != had_new {
                is_incomplete = true;
                continue;
            }
            let change = FileChange { path, old, new, ..FileChange::default() };
            match change.new {
                None => removed.push(change),
                Some(_) => changes.push(change),
            }
        }
        let mut differ = LineDiffer::new(false);
        let added = changes.iter_mut().filter(|change| change.old.is_none());
        for change in added {
            if let Some(source) = rename_source(&mut differ, change, &removed) {
                let source = removed.swap_remove(source);
                change.renamed_from = Some(source.path);
                change.old = source.old;
            }
        }
        changes.extend(removed);
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        for mut change in changes {
            let is_binary = |bytes: &Option<Vec<u8>>| bytes.as_ref().is_some_and(|bytes| is_binary(bytes));
            change.is_binary = is_binary(&change.old) || is_binary(&change.new);
            if !change.is_binary {
                let empty = Vec::new();
                let (old, new) = (change.old.as_ref().unwrap_or(&empty), change.new.as_ref().unwrap_or(&empty));
                change.hunks = hunks(&mut differ, old, new);
            }
            visit(change);
        }
        Ok(Comparison { sides, is_incomplete })
    }

    /// Calls `visit` with the differing regular files of two commits, or with all files of the old commit if the new
    /// side is the working tree. Returns whether files are missing.
    fn compare_trees(
        &self,
        sides: Sides,
        visit: &mut dyn FnMut(&[u8], PathState, PathState),
    ) -> Result<bool, HistoryError> {
        self.with_blamer(|blamer| {
            let tree = |commit: CommitId, blamer: &crate::blamer::Blamer| {
                blamer.reader.tree_of(&commit.0).ok_or(HistoryError::MissingHead { commit })
            };
            let old = sides.old.map(|commit| tree(commit, blamer)).transpose()?;
            let new = sides.new.map(|commit| tree(commit, blamer)).transpose()?;
            let (reader, trees) = (&blamer.reader, &mut blamer.trees);
            let mut differ = TreeDiffer { reader, trees, cancel: None, missing: false };
            match new {
                Some(_) => differ.compare(old.as_ref(), new.as_ref(), visit),
                None if old.is_some() => {
                    differ.compare(None, old.as_ref(), &mut |path, absent, file| visit(path, file, absent));
                }
                None => {}
            }
            Ok(differ.missing)
        })
    }

    /// Removes the files of the old commit that the working tree contains unchanged, and adds the files of the working
    /// tree that the commit does not contain.
    fn add_working_files(
        &self,
        changed: &mut BTreeMap<String, (Option<ObjectId>, Option<Content>)>,
        working: &mut dyn Iterator<Item = String>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), HistoryError> {
        let index = self.worktree_index()?;
        let Ok(directory) = Directory::open_root(self.root()) else { return Ok(()) };
        let reader = self.reader();
        let mut old_bytes = Vec::new();
        let known: BTreeSet<String> = changed.keys().cloned().collect();
        changed.retain(|path, (old, new)| {
            let Some(blob) = old.filter(|_| !is_cancelled()) else { return false };
            let tracked = index.file(path);
            let is_unmodified =
                tracked.is_some_and(|file| file.state == WorktreeState::Unmodified && file.blob == blob);
            if is_unmodified {
                return false;
            }
            let Ok(bytes) = directory.read(path, MAX_FILE_BYTES as u64) else {
                // A file that exists but cannot be read is unknown, and not removed.
                return !directory.contains(path).unwrap_or(true);
            };
            let text = String::from_utf8_lossy(&bytes);
            let copy = WorkingCopy { bytes: &bytes, text: &text, newline: b"\n" };
            *new = Some(Content::Working);
            reader.read(&blob, &mut old_bytes).is_none() || copy.compared_with(&old_bytes).bytes != old_bytes
        });
        for path in working {
            if !known.contains(&path) && directory.contains(&path).unwrap_or(false) {
                changed.insert(path, (None, Some(Content::Working)));
            }
        }
        Ok(())
    }
}

/// Returns the position of the removed file that an added file continues.
fn rename_source(differ: &mut LineDiffer, added: &FileChange, removed: &[FileChange]) -> Option<usize> {
    let new = added.new.as_ref()?;
    if let Some(same) = removed.iter().position(|source| source.old.as_ref() == Some(new)) {
        return Some(same);
    }
    if is_binary(new) {
        return None;
    }
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let mut best: Option<(f64, usize)> = None;
    for (at, source) in removed.iter().enumerate() {
        let Some(old) = source.old.as_ref().filter(|old| !is_binary(old) && !old.is_empty()) else { continue };
        if removed.len() > MAX_RENAME_SOURCES && name(&source.path) != name(&added.path) {
            continue;
        }
        let lines = memchr::memchr_iter(b'\n', old).count().max(1);
        let gone: usize = hunks(differ, old, new).iter().map(|(before, _)| before.len()).sum();
        let similarity = 1.0 - gone as f64 / lines as f64;
        if similarity >= MIN_SIMILARITY && best.is_none_or(|(known, _)| similarity > known) {
            best = Some((similarity, at));
        }
    }
    best.map(|(_, at)| at)
}

fn hunks(differ: &mut LineDiffer, old: &[u8], new: &[u8]) -> Vec<(Range<u32>, Range<u32>)> {
    let mut table = LineInterner::default();
    let old = table.version(old.to_vec(), None);
    let new = table.version(new.to_vec(), Some(&old));
    differ.hunks(&table, &old, &new).into_iter().map(|hunk| (hunk.before, hunk.after)).collect()
}

/// Returns whether git would treat the bytes as binary: the first 8,000 bytes contain a zero byte.
fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(8_000)]).is_some()
}
