//! Commits and people as attribution shows them.

use std::fmt;
use std::sync::Arc;

use gix::ObjectId;

/// The name of a commit: its object id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub(crate) ObjectId);

impl CommitId {
    /// The raw bytes of the id: 20 for SHA-1, 32 for SHA-256.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// The id with these raw bytes; `None` unless they are 20 or 32.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        ObjectId::try_from(bytes).ok().map(Self)
    }

    /// Reads an id of 40 or 64 hexadecimal digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        ObjectId::from_hex(hex.as_bytes()).ok().map(Self)
    }
}

/// Writes all hexadecimal digits.
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

/// An author, after `.mailmap`. Bytes that are no UTF-8 are replaced by U+FFFD.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The e-mail address, without angle brackets.
    pub email: String,
}

/// What is known about a commit that lines are attributed to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitInfo {
    /// The commit.
    pub id: CommitId,
    /// Who wrote it.
    pub author: Arc<Person>,
    /// When it was written, in Unix seconds; the time that `git blame` shows.
    pub author_time: i64,
    /// When it was committed, in Unix seconds; later than `author_time` after a rebase.
    pub committer_time: i64,
}
