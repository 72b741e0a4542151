//! The key under which the attribution of a path can be stored between runs.

use std::fmt;

use gix::ObjectId;

/// Bytes of one object id within a key; a SHA-1 id is padded with zeros.
const ID_BYTES: usize = 32;

/// Identifies the latest change of a path: the commit that made it, and the blob that it left.
///
/// The history of a commit never changes, so the commit alone would do; the blob is there for cross-checks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey([u8; EventKey::LEN]);

impl EventKey {
    /// The size of a key in bytes.
    pub const LEN: usize = 2 * ID_BYTES;

    pub(crate) fn new(commit: &ObjectId, blob: &ObjectId) -> Self {
        let mut bytes = [0; Self::LEN];
        let (commit, blob) = (commit.as_slice(), blob.as_slice());
        bytes[..commit.len()].copy_from_slice(commit);
        bytes[ID_BYTES..ID_BYTES + blob.len()].copy_from_slice(blob);
        Self(bytes)
    }

    /// The blob that the change left, in a repository with this hash function.
    pub(crate) fn blob(&self, hash: gix::hash::Kind) -> ObjectId {
        let bytes = &self.0[ID_BYTES..ID_BYTES + hash.len_in_bytes()];
        ObjectId::try_from(bytes).expect("the length is that of the hash")
    }

    /// The key that [`EventKey::to_bytes`] gave.
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.0
    }
}

impl fmt::Debug for EventKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (commit, blob) = self.0.split_at(ID_BYTES);
        let hex = |bytes: &[u8]| bytes.iter().take(10).map(|byte| format!("{byte:02x}")).collect::<String>();
        write!(formatter, "EventKey({}, {})", hex(commit), hex(blob))
    }
}
