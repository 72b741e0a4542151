//! The key under which the attribution of a path can be stored between runs.

use std::fmt;

use gix::ObjectId;

/// The identity of the latest change of a path: the commit that made the change, and the blob of the path after the
/// change.
///
/// For a given path, the commit alone identifies the change, because the history of a commit never changes. The blob
/// allows cross-checks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    commit: ObjectId,
    blob: ObjectId,
}

impl EventKey {
    pub(crate) fn new(commit: &ObjectId, blob: &ObjectId) -> Self {
        Self { commit: *commit, blob: *blob }
    }

    /// Returns the blob of the path after the change.
    pub(crate) fn blob(&self) -> ObjectId {
        self.blob
    }

    /// Decodes the result of [`EventKey::to_bytes`]. Returns `None` unless the bytes are two object ids of the same
    /// length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (commit, blob) = bytes.split_at(bytes.len() / 2);
        let id = |bytes| ObjectId::try_from(bytes).ok();
        Some(Self { commit: id(commit)?, blob: id(blob)? })
    }

    /// Returns the bytes to store: the two object ids.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.commit.as_slice(), self.blob.as_slice()].concat()
    }
}

impl fmt::Debug for EventKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "EventKey({}, {})", self.commit.to_hex_with_len(20), self.blob.to_hex_with_len(20))
    }
}
