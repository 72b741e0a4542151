//! The id of an index.

use std::fmt;
use std::io;

/// Number of bytes of an id.
const ID_BYTES: usize = 16;

/// Identifies an index. Ids are random, so that they cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexId([u8; ID_BYTES]);

impl IndexId {
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; ID_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.try_into().ok()?))
    }

    /// Returns the id in its stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for IndexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for IndexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexId({self})")
    }
}
