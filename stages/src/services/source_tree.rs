//! The files that are indexed: where each is, and what of them could not be read.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use aurora_confined::{Directory, Refusal, refusal_of};
use aurora_storage::UserDirectory;

use super::unread::{Unread, is_gone};
use crate::columns::RelativePath;

/// Files of more bytes than this are not indexed, unless the pipeline says otherwise.
pub(crate) const MAX_FILE_SIZE: u64 = 4 << 20;

/// The indexed directory, and the user's conversation logs outside of it, which are indexed under
/// [`UserDirectory::CONVERSATIONS_PREFIX`].
pub(crate) struct SourceTree {
    /// The indexed directory.
    pub(crate) root: Directory,
    conversations: Option<PathBuf>,
    /// The only file of the run.
    only: Option<RelativePath>,
    max_file_size: OnceLock<u64>,
    unread: Mutex<Unread>,
}

impl SourceTree {
    /// A tree in which nothing has been read, and the directory of the user's conversation logs.
    pub(crate) fn new(root: Directory, conversations: Option<PathBuf>) -> Self {
        Self { root, conversations, only: None, max_file_size: OnceLock::new(), unread: Mutex::default() }
    }

    /// The same tree for a run on one file or document.
    #[must_use]
    pub(crate) fn with_only(self, path: &str) -> Self {
        Self { only: Some(path.into()), ..self }
    }

    /// The path of the only file or document of the run; `None` in a run on all files.
    pub(crate) fn only(&self) -> Option<&RelativePath> {
        self.only.as_ref()
    }

    /// The user's conversation logs.
    pub(crate) fn conversations(&self) -> Option<PathBuf> {
        self.conversations.clone()
    }

    /// Sets the size above which [`SourceTree::read`] refuses a file, in bytes.
    pub(crate) fn limit_file_size(&self, bytes: u64) {
        self.max_file_size.get_or_init(|| bytes);
    }

    /// The content of the file with an indexed path.
    ///
    /// # Errors
    /// When it is not a regular file, is too large, a component of the path is a symbolic link, or the system refuses.
    pub(crate) fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let limit = self.max_file_size.get().copied().unwrap_or(MAX_FILE_SIZE);
        match self.conversation(path) {
            Some((log, logs)) => Directory::open_root(&logs)?.read(log, limit),
            None => self.root.read(path, limit),
        }
    }

    /// Whether nothing is left at an indexed path. A directory on the way that has become a symbolic link leads
    /// elsewhere.
    pub(crate) fn is_gone(&self, path: &str) -> bool {
        let metadata = match self.conversation(path) {
            Some((log, logs)) => Directory::open_root(&logs).and_then(|logs| logs.metadata(log)),
            None => self.root.metadata(path),
        };
        metadata.is_err_and(|error| is_gone(&error) || refusal_of(&error) == Some(Refusal::SymbolicLink))
    }

    /// Records a file or directory that exists and could not be read.
    pub(crate) fn note_unread(&self, path: &str) {
        self.unread().add(path);
    }

    /// What could not be read so far.
    pub(crate) fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the conversation log with an indexed path, and the directory of the logs.
    fn conversation<'p>(&self, path: &'p str) -> Option<(&'p str, PathBuf)> {
        Some((path.strip_prefix(UserDirectory::CONVERSATIONS_PREFIX)?, self.conversations()?))
    }
}
