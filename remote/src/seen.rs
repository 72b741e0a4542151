//! The newest manifest that a user has seen in a remote.

use std::io::Write;
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use serde::{Deserialize, Serialize};

use crate::error::RemoteError;
use crate::location::RemoteUrl;

/// Maximum size of a record in bytes.
const MAX_RECORD_BYTES: u64 = 8192;

/// The records of a user, in one directory with a file for each remote.
#[derive(Debug, Clone)]
pub(crate) struct SeenManifests {
    directory: Option<PathBuf>,
}

/// The newest manifest that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    url: String,
    sequence: u64,
    /// BLAKE3 hash of the stored manifest.
    hash: String,
}

impl SeenManifests {
    /// Returns the records in `directory`, which may not exist yet. Without a directory, nothing is remembered.
    pub(crate) fn at(directory: Option<PathBuf>) -> Self {
        Self { directory }
    }

    /// Checks that the newest accepted manifest of a remote is not older than the known one, and remembers it. `None`
    /// means that no manifest is accepted. `stored` returns the bytes of any manifest in the remote: the known one may
    /// still be there, but no longer be accepted.
    pub(crate) fn check<'m>(
        &self,
        url: &RemoteUrl,
        newest: Option<(u64, &[u8])>,
        stored: impl Fn(u64) -> Option<&'m [u8]>,
    ) -> Result<(), RemoteError> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let io = |source| RemoteError::Io { path: directory.clone(), source };
        let name = format!("{}.json", &blake3::hash(url.as_str().as_bytes()).to_hex()[..32]);
        let records = Directory::create_private_root(directory).map_err(io)?;
        let known: Option<Record> = match records.read(&name, MAX_RECORD_BYTES) {
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| {
                RemoteError::damaged(Path::new(directory).join(&name).display().to_string(), error.to_string())
            })?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(io(error)),
        };
        let (sequence, hash) = match newest {
            Some((sequence, bytes)) => (sequence, blake3::hash(bytes).to_hex().to_string()),
            None => (0, String::new()),
        };
        if let Some(known) = &known {
            let is_unchanged = |bytes: &[u8]| blake3::hash(bytes).to_hex().as_str() == known.hash;
            if sequence < known.sequence && stored(known.sequence).is_some_and(is_unchanged) {
                return Ok(());
            }
            if sequence < known.sequence {
                return Err(RemoteError::Replayed { found: sequence, seen: known.sequence });
            }
            if sequence == known.sequence && hash != known.hash {
                return Err(RemoteError::Changed(sequence));
            }
        }
        let record = Record { url: url.to_string(), sequence, hash };
        if sequence == 0 || known.as_ref() == Some(&record) {
            return Ok(());
        }
        let json = serde_json::to_vec(&record).map_err(|error| io(error.into()))?;
        records.replace(&name, |file| file.write_all(&json)).map_err(io)
    }
}
