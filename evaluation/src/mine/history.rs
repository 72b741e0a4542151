//! Reads the commits of a repository and the files of their trees.

use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::hashtable::HashSet;
use gix::objs::tree::EntryKind;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use crate::mine::error::MineError;

/// Maximum depth of directories that are read.
const MAX_DEPTH: usize = 128;

/// The history of the repository that contains a directory, starting at HEAD. Paths are relative to the directory.
pub(crate) struct CommitHistory {
    repository: gix::Repository,
    head: ObjectId,
    /// Path of the directory relative to the work tree, ending in `/`, or empty.
    pub(crate) prefix: String,
}

/// A commit.
pub(crate) struct Commit {
    pub(crate) id: ObjectId,
    pub(crate) parents: Vec<ObjectId>,
    pub(crate) message: String,
}

/// A regular file that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) old: Option<ObjectId>,
    pub(crate) new: Option<ObjectId>,
}

/// A regular file of a tree.
pub(crate) struct CommittedFile {
    /// Path relative to the top of the work tree.
    pub(crate) path: String,
    pub(crate) blob: ObjectId,
}

impl CommitHistory {
    /// Opens the repository at or above `root`. Returns `None` if there is no repository or no commit.
    pub(crate) fn open(root: &Path) -> Result<Option<Self>, MineError> {
        let is_git = root.ancestors().any(|directory| directory.join(".git").exists());
        if !is_git {
            return Ok(None);
        }
        let git = |reason: String| MineError::Git { path: root.to_owned(), reason };
        let mut repository = gix::discover(root).map_err(|error| git(error.to_string()))?;
        repository.object_cache_size_if_unset(32 << 20);
        if repository.head().map_err(|error| git(error.to_string()))?.is_unborn() {
            return Ok(None);
        }
        let head = repository.head_id().map_err(|error| git(error.to_string()))?.detach();
        let top = repository.workdir().map(Path::canonicalize).transpose();
        let top = top.map_err(|error| git(error.to_string()))?.unwrap_or_else(|| root.to_owned());
        let below = root.strip_prefix(&top).unwrap_or(Path::new(""));
        let prefix = below.components().map(|part| format!("{}/", part.as_os_str().to_string_lossy())).collect();
        Ok(Some(Self { repository, head, prefix }))
    }

    pub(crate) fn head(&self) -> ObjectId {
        self.head
    }

    /// Returns the commits that are reachable from HEAD, newest first.
    pub(crate) fn commits(&self) -> Result<impl Iterator<Item = Commit> + '_, MineError> {
        let walk = self.repository.rev_walk([self.head]).sorting(Sorting::ByCommitTime(CommitTimeOrder::NewestFirst));
        let walk = walk.all().map_err(|error| self.failure(error.to_string()))?;
        Ok(walk.filter_map(|info| {
            let info = info.ok()?;
            let commit = self.repository.find_commit(info.id).ok()?;
            let message = commit.message_raw().ok()?.to_str_lossy().into_owned();
            Some(Commit { id: info.id, parents: commit.parent_ids().map(|id| id.detach()).collect(), message })
        }))
    }

    /// Returns `from` and its ancestors.
    pub(crate) fn reachable(&self, from: ObjectId) -> Result<HashSet<ObjectId>, MineError> {
        let walk = self.repository.rev_walk([from]).all().map_err(|error| self.failure(error.to_string()))?;
        Ok(walk.filter_map(|info| Some(info.ok()?.id)).collect())
    }

    /// Returns the regular files below the directory that differ between two commits, by path, or `None` if a tree is
    /// missing.
    pub(crate) fn changes(&self, old: ObjectId, new: ObjectId) -> Option<Vec<FileChange>> {
        let mut changes = Vec::new();
        self.compare(Some(self.tree(old)?), Some(self.tree(new)?), &mut String::new(), 0, &mut changes)?;
        changes.retain_mut(|change| match change.path.strip_prefix(&self.prefix) {
            Some(path) => {
                change.path = path.to_owned();
                true
            }
            None => false,
        });
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Some(changes)
    }

    /// Returns the regular files of a commit below the directory. Also returns the ignore, attribute and mailmap files
    /// at the top, because they apply to the whole work tree.
    pub(crate) fn files(&self, commit: ObjectId) -> Result<Vec<CommittedFile>, MineError> {
        let missing = || self.failure(format!("the tree of commit {commit} is missing from this clone"));
        let mut files = Vec::new();
        let empty = self.compare(None, Some(self.tree(commit).ok_or_else(missing)?), &mut String::new(), 0, &mut files);
        empty.ok_or_else(missing)?;
        let rules = [".gitignore", ".gitattributes", ".mailmap"];
        let kept = files.into_iter().filter(|file| file.path.starts_with(&self.prefix) || rules.contains(&&*file.path));
        Ok(kept.filter_map(|file| Some(CommittedFile { path: file.path, blob: file.new? })).collect())
    }

    /// Returns the bytes of a file, or `None` if they are missing from this clone.
    pub(crate) fn blob(&self, id: ObjectId) -> Option<Vec<u8>> {
        Some(self.repository.find_blob(id).ok()?.take_data())
    }

    /// Returns the tree of a commit.
    pub(crate) fn tree(&self, commit: ObjectId) -> Option<ObjectId> {
        Some(self.repository.find_commit(commit).ok()?.tree_id().ok()?.detach())
    }

    /// Returns the directory of the repository's objects.
    pub(crate) fn objects(&self) -> PathBuf {
        self.repository.objects.store_ref().path().to_owned()
    }

    /// Returns the path of the file that lists the boundary commits of a shallow clone.
    pub(crate) fn shallow_file(&self) -> Option<PathBuf> {
        self.repository.shallow_file().ok()
    }

    /// Returns `true` if object ids are SHA-256 hashes.
    pub(crate) fn is_sha256(&self) -> bool {
        self.repository.object_hash() == gix::hash::Kind::Sha256
    }

    fn compare(
        &self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        path: &mut String,
        depth: usize,
        changes: &mut Vec<FileChange>,
    ) -> Option<()> {
        if old == new || depth > MAX_DEPTH {
            return Some(());
        }
        let (old, new) = (self.entries(old)?, self.entries(new)?);
        let mut names: Vec<&BString> = old.iter().chain(&new).map(|entry| &entry.name).collect();
        names.sort_unstable();
        names.dedup();
        let find = |entries: &[GitTreeEntry], name: &BString| entries.iter().position(|entry| entry.name == *name);
        for name in names {
            let of = |entries: &[GitTreeEntry]| find(entries, name).map(|at| (entries[at].kind, entries[at].id));
            let (before, after) = (of(&old), of(&new));
            // Names that are not UTF-8 are skipped: the index contains no such paths.
            let Ok(text) = name.to_str() else { continue };
            if before == after {
                continue;
            }
            let length = path.len();
            path.push_str(text);
            let file = |entry: Option<(EntryKind, ObjectId)>| {
                let regular = |kind| matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable);
                entry.filter(|(kind, _)| regular(*kind)).map(|(_, id)| id)
            };
            let directory = |entry: Option<(EntryKind, ObjectId)>| entry.filter(|(kind, _)| *kind == EntryKind::Tree);
            if file(before) != file(after) {
                changes.push(FileChange { path: path.clone(), old: file(before), new: file(after) });
            }
            let (before, after) = (directory(before).map(|(_, id)| id), directory(after).map(|(_, id)| id));
            if before.is_some() || after.is_some() {
                path.push('/');
                self.compare(before, after, path, depth + 1, changes)?;
            }
            path.truncate(length);
        }
        Some(())
    }

    fn entries(&self, tree: Option<ObjectId>) -> Option<Vec<GitTreeEntry>> {
        let Some(tree) = tree else { return Some(Vec::new()) };
        let tree = self.repository.find_tree(tree).ok()?;
        let entries = tree.iter().filter_map(Result::ok);
        Some(
            entries
                .map(|entry| GitTreeEntry {
                    kind: entry.mode().kind(),
                    name: entry.filename().to_owned(),
                    id: entry.object_id(),
                })
                .collect(),
        )
    }

    fn failure(&self, reason: String) -> MineError {
        MineError::Git { path: self.repository.path().to_owned(), reason }
    }
}

struct GitTreeEntry {
    kind: EntryKind,
    name: BString,
    id: ObjectId,
}
