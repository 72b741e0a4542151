//! Commits and people in the results of attribution.

use std::fmt;
use std::sync::Arc;

use gix::ObjectId;

/// The object id of a commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub(crate) ObjectId);

impl CommitId {
    /// Returns the raw bytes of the id: 20 for SHA-1, 32 for SHA-256.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// Creates an id from raw bytes. Returns `None` unless there are 20 or 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        ObjectId::try_from(bytes).ok().map(Self)
    }

    /// Parses an id of 40 or 64 hexadecimal digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        ObjectId::from_hex(hex.as_bytes()).ok().map(Self)
    }
}

/// Formats the id with all hexadecimal digits.
impl fmt::Display for CommitId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CommitId({})", self.0)
    }
}

/// An author, after applying `.mailmap`. Bytes that are not UTF-8 are replaced by U+FFFD.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The e-mail address, without angle brackets.
    pub email: String,
}

/// A commit to which lines are attributed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitInfo {
    /// The object id of the commit.
    pub id: CommitId,
    /// The author of the commit.
    pub author: Arc<Person>,
    /// The author time in Unix seconds. `git blame` displays this time.
    pub author_time: i64,
    /// The committer time in Unix seconds. After a rebase, it is later than `author_time`.
    pub committer_time: i64,
}
