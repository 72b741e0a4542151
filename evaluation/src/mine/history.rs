//! Reads the commits of a repository and the files of their trees.

use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::diff::tree::Recorder;
use gix::diff::tree::recorder::Change;
use gix::hashtable::HashSet;
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryMode;
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
        let mut changes = self.compare(self.tree(old)?, self.tree(new)?)?;
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
        let empty = ObjectId::empty_tree(self.repository.object_hash());
        let files = self.tree(commit).and_then(|tree| self.compare(empty, tree)).ok_or_else(missing)?;
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

    /// Returns the regular files that differ between two trees, or `None` if a tree is missing. Paths that are not
    /// UTF-8 are skipped: the index contains no such paths.
    fn compare(&self, old: ObjectId, new: ObjectId) -> Option<Vec<FileChange>> {
        let (old, new) = (self.repository.find_tree(old).ok()?, self.repository.find_tree(new).ok()?);
        let mut changes = Recorder::default();
        let (state, objects) = (gix::diff::tree::State::default(), &self.repository.objects);
        let [old, new] = [&old, &new].map(|tree| TreeRefIter::from_bytes(&tree.data, tree.id.kind()));
        gix::diff::tree(old, new, state, objects, &mut changes).ok()?;
        let file = |mode: EntryMode, id| mode.is_blob().then_some(id);
        let change = |change| {
            let (path, old, new) = match change {
                Change::Addition { path, entry_mode, oid, .. } => (path, None, file(entry_mode, oid)),
                Change::Deletion { path, entry_mode, oid, .. } => (path, file(entry_mode, oid), None),
                Change::Modification { path, previous_entry_mode, previous_oid, entry_mode, oid } => {
                    (path, file(previous_entry_mode, previous_oid), file(entry_mode, oid))
                }
            };
            let path = String::from_utf8(path.into()).ok()?;
            let is_read = old != new && path.matches('/').count() <= MAX_DEPTH;
            is_read.then_some(FileChange { path, old, new })
        };
        Some(changes.records.into_iter().filter_map(change).collect())
    }

    fn failure(&self, reason: String) -> MineError {
        MineError::Git { path: self.repository.path().to_owned(), reason }
    }
}
