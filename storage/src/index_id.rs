//! The id of an index.

use std::fmt;
use std::io;

/// Bytes of an id.
const ID: usize = 16;

/// Identifies an index. It is random, so that it cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexId([u8; ID]);

impl IndexId {
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; ID];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }

    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.try_into().ok()?))
    }

    /// The id as it is stored.
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
