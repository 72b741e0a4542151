//! Access to the files of a run, and the paths that could not be read.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use aurora_confined::{Directory, Refusal, refusal_of};
use aurora_storage::UserDirectory;

use super::shard::ShardRun;
use super::unread::{UnreadPaths, is_gone};
use crate::columns::RelativePath;

/// Default maximum size of an indexed file, in bytes. The pipeline can override the value.
pub(crate) const MAX_FILE_SIZE: u64 = 4 << 20;

/// The indexed directory and the user's conversation logs. The logs are outside the directory, and their indexed paths
/// begin with [`UserDirectory::CONVERSATIONS_PREFIX`].
pub(crate) struct SourceTree {
    /// The indexed directory.
    pub(crate) root: Directory,
    conversations: Option<PathBuf>,
    /// The only file or document that the run processes, if the run is limited to one.
    only: Option<RelativePath>,
    /// The part of the tree that the run indexes, if the run is limited to a part.
    shard: Option<ShardRun>,
    max_file_size: OnceLock<u64>,
    unread: Mutex<UnreadPaths>,
}

impl SourceTree {
    /// Returns a tree in which nothing has been read. `conversations` is the directory of the user's conversation logs.
    pub(crate) fn new(root: Directory, conversations: Option<PathBuf>) -> Self {
        Self { root, conversations, only: None, shard: None, max_file_size: OnceLock::new(), unread: Mutex::default() }
    }

    /// Limits the tree to one file or document.
    #[must_use]
    pub(crate) fn with_only(self, path: &str) -> Self {
        Self { only: Some(path.into()), ..self }
    }

    /// Limits the tree to a shard.
    #[must_use]
    pub(crate) fn with_shard(self, run: ShardRun) -> Self {
        Self { shard: Some(run), ..self }
    }

    /// Returns the shard to which the run is limited.
    pub(crate) fn shard(&self) -> Option<&ShardRun> {
        self.shard.as_ref()
    }

    /// Returns the path of the only file or document of the run, or `None` in a run on all files.
    pub(crate) fn only(&self) -> Option<&RelativePath> {
        self.only.as_ref()
    }

    /// Returns the directory of the user's conversation logs.
    pub(crate) fn conversations(&self) -> Option<PathBuf> {
        self.conversations.clone()
    }

    /// Sets the maximum file size for [`SourceTree::read`], in bytes. Only the first call has an effect.
    pub(crate) fn limit_file_size(&self, bytes: u64) {
        self.max_file_size.get_or_init(|| bytes);
    }

    /// Reads the file at an indexed path, which is not a conversation log.
    ///
    /// # Errors
    /// Fails if the path is not a regular file, the file is too large, a component of the path is a symbolic link, or
    /// the system reports an error.
    pub(crate) fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.root.read(path, self.max_file_size.get().copied().unwrap_or(MAX_FILE_SIZE))
    }

    /// Opens the conversation log at an indexed path. Its size is not limited, because logs are read in parts.
    ///
    /// # Errors
    /// Fails if the path is not the path of a log or not a regular file, a component of the path is a symbolic link, or the
    /// system reports an error.
    pub(crate) fn open_log(&self, path: &str) -> io::Result<File> {
        let (log, logs) = self.conversation(path).ok_or(io::ErrorKind::NotFound)?;
        Directory::open_root(&logs)?.open_file(log)
    }

    /// Whether nothing exists at an indexed path. A path through a directory that has become a symbolic link leads to
    /// another directory, so it counts as a path that does not exist.
    pub(crate) fn is_gone(&self, path: &str) -> bool {
        let metadata = match self.conversation(path) {
            Some((log, logs)) => Directory::open_root(&logs).and_then(|logs| logs.metadata(log)),
            None => self.root.metadata(path),
        };
        metadata.is_err_and(|error| is_gone(&error) || refusal_of(&error) == Some(Refusal::SymbolicLink))
    }

    /// Records a file or directory that exists but could not be read.
    pub(crate) fn note_unread(&self, path: &str) {
        self.unread().add(path);
    }

    /// Returns the paths that could not be read so far.
    pub(crate) fn unread(&self) -> MutexGuard<'_, UnreadPaths> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name of a conversation log and the directory of the logs, or `None` if the path is not the path of a
    /// log.
    fn conversation<'p>(&self, path: &'p str) -> Option<(&'p str, PathBuf)> {
        Some((path.strip_prefix(UserDirectory::CONVERSATIONS_PREFIX)?, self.conversations()?))
    }
}
