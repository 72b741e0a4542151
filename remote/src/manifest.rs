//! Manifests: the indexes in a remote.

use serde::{Deserialize, Serialize};

use crate::error::RemoteError;
use crate::signature::{Signature, SigningKey, TrustedKeys};

/// Version of the layout of a remote.
pub(crate) const LAYOUT: u32 = 2;
/// Maximum size of a manifest in bytes.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 64 << 10;
/// Highest number of a manifest.
pub(crate) const MAX_SEQUENCE: u64 = 1 << 53;
/// Maximum size of all parts of an index in bytes.
const MAX_INDEX_BYTES: u64 = 64 << 30;
/// Maximum size of the head of a list of parts in bytes, before and after decompression.
const MAX_HEAD_BYTES: u64 = 16 << 20;

/// Describes a pushed index. The signature covers all fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteManifest {
    /// Version of the layout of the remote.
    pub layout: u32,
    /// Number of the manifest, which increases with every push.
    pub sequence: u64,
    /// Commit that was checked out when the tree was indexed.
    pub commit: Option<String>,
    /// Generation of the index on the machine that pushed it.
    pub generation: u64,
    /// Time of the push by the clock of the machine that pushed, in Unix seconds.
    pub time: i64,
    /// Name and version of the program.
    pub program: String,
    /// Version of the on-disk format of the index.
    pub index_format: u32,
    /// Digest of the index's content.
    pub digest: String,
    /// Whether the index was complete.
    pub complete: bool,
    /// Number of files.
    pub files: u64,
    /// Number of chunks.
    pub chunks: u32,
    /// Number of vectors.
    pub vectors: u64,
    /// Number of parts.
    pub parts: u64,
    /// Size of the objects with these parts and their bases, in bytes.
    pub bytes: u64,
    /// Hash of the head of the list of parts, which is itself stored as a part.
    pub list: String,
    /// Size of the compressed head in bytes.
    pub list_bytes: u64,
    /// Size of the head in bytes.
    pub list_length: u64,
    /// The manifest with the highest number before this one.
    pub previous: Option<PreviousManifest>,
}

/// The manifest that was the newest one before a push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviousManifest {
    /// See [`RemoteManifest::sequence`].
    pub sequence: u64,
    /// See [`RemoteManifest::commit`].
    pub commit: Option<String>,
    /// See [`RemoteManifest::generation`].
    pub generation: u64,
    /// See [`RemoteManifest::time`].
    pub time: i64,
}

/// The stored form of a manifest: its JSON as a string, over which the signature is computed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    manifest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

impl RemoteManifest {
    /// Serialises the manifest with its signature.
    pub(crate) fn encode(&self, key: Option<&SigningKey>) -> Result<Vec<u8>, RemoteError> {
        let failed = |error: serde_json::Error| RemoteError::damaged("the manifest", error.to_string());
        let manifest = serde_json::to_string(self).map_err(failed)?;
        let signature = key.map(|key| key.sign(&manifest, self.sequence)).transpose()?;
        serde_json::to_vec(&Envelope { manifest, signature }).map_err(failed)
    }

    /// Reads a manifest, and checks its signature before its content. A manifest with an invalid signature is returned
    /// too, so that it can be listed.
    pub(crate) fn decode(bytes: &[u8], sequence: u64, keys: &TrustedKeys) -> Result<(Self, Signature), RemoteError> {
        let damaged = |what: String| RemoteError::damaged(format!("manifest {sequence}"), what);
        let envelope: Envelope = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        let signature = keys.check(&envelope.manifest, envelope.signature.as_deref());
        let layout = serde_json::from_str::<serde_json::Value>(&envelope.manifest)
            .map_err(|error| damaged(error.to_string()))?
            .get("layout")
            .and_then(serde_json::Value::as_u64);
        if layout != Some(LAYOUT.into()) {
            return Err(RemoteError::Layout(format!("manifest {sequence} has layout {layout:?}, not {LAYOUT}")));
        }
        let manifest: Self = serde_json::from_str(&envelope.manifest).map_err(|error| damaged(error.to_string()))?;
        if manifest.sequence != sequence {
            return Err(damaged(format!("it is stored under another number than {}", manifest.sequence)));
        }
        let is_hash =
            |text: &str| text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_commit =
            |text: &str| (40..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash(&manifest.list) || !is_hash(&manifest.digest) || !manifest.commit.as_deref().is_none_or(is_commit) {
            return Err(damaged("a hash or the commit is invalid".to_owned()));
        }
        Ok((manifest, signature))
    }

    /// Checks the announced sizes.
    pub(crate) fn check_sizes(&self) -> Result<(), RemoteError> {
        if self.bytes > MAX_INDEX_BYTES {
            return Err(RemoteError::TooLarge(format!("its parts have more than {MAX_INDEX_BYTES} bytes")));
        }
        if self.list_bytes.max(self.list_length) > MAX_HEAD_BYTES {
            return Err(RemoteError::TooLarge(format!("its list of parts has more than {MAX_HEAD_BYTES} bytes")));
        }
        Ok(())
    }
}
