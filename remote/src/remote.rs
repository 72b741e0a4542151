//! A remote and its manifests.

use std::path::PathBuf;

use aurora_storage::{ArtefactManifest, ArtefactPart};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::error::RemoteError;
use crate::location::RemoteUrl;
use crate::manifest::{MAX_MANIFEST_BYTES, MAX_SEQUENCE, RemoteManifest};
use crate::seen::SeenManifests;
use crate::signature::{Signature, TrustedKeys};
use crate::store::{Entry, PARALLEL, Stopper, Store, runtime};

/// Content of the object `format`.
pub(crate) const FORMAT: &[u8] = b"aurora remote 1\n";
/// Maximum number of manifests that are read. Older ones are ignored.
const MAX_MANIFESTS: usize = 1000;
/// Maximum number of parts of an index.
const MAX_PARTS: usize = 1 << 20;

/// The signatures that a caller accepts.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The trusted public keys.
    pub keys: TrustedKeys,
    /// Whether manifests without the signature of a trusted key are accepted. Invalid signatures never are.
    pub allows_unsigned: bool,
}

/// A place where indexes are stored.
pub struct Remote {
    pub(crate) url: RemoteUrl,
    pub(crate) trust: Trust,
    pub(crate) store: Store,
    pub(crate) seen: SeenManifests,
    pub(crate) runtime: Runtime,
}

/// A manifest in a remote.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// The manifest.
    #[serde(flatten)]
    pub manifest: RemoteManifest,
    /// Its signature.
    pub signature: Signature,
    /// Time of the push by the clock of the store, in Unix seconds.
    pub stored: i64,
    /// The stored bytes.
    #[serde(skip)]
    pub(crate) raw: Vec<u8>,
}

impl Remote {
    /// Opens a remote. `creates` allows it to create the directory of a `file` URL. `records` is the directory in which
    /// the newest manifest of each remote is remembered.
    ///
    /// # Errors
    /// Fails if the URL is not supported, the directory is missing, or the configuration of the store is incomplete.
    pub fn open(url: RemoteUrl, trust: Trust, records: Option<PathBuf>, creates: bool) -> Result<Self, RemoteError> {
        let store = Store::open(&url, creates)?;
        Ok(Self { url, trust, store, seen: SeenManifests::at(records), runtime: runtime()? })
    }

    /// Returns a handle that stops the operations of this remote.
    pub fn stopper(&self) -> Stopper {
        self.store.stopper.clone()
    }

    /// Returns the manifests, newest first.
    ///
    /// # Errors
    /// Fails if there is no remote, a manifest is damaged, or the newest manifest is older than one that was seen.
    pub fn manifests(&self) -> Result<Vec<Listed>, RemoteError> {
        self.runtime.block_on(self.read_manifests())
    }

    pub(crate) async fn read_manifests(&self) -> Result<Vec<Listed>, RemoteError> {
        self.check_format().await?;
        let numbered = self.list_manifests().await?;
        let read = |(sequence, entry): (u64, Entry)| async move {
            let name = manifest_name(sequence);
            // A prune may delete a manifest after the listing.
            let Some(raw) = self.store.get(&name, MAX_MANIFEST_BYTES).await? else { return Ok(None) };
            let (manifest, signature) = RemoteManifest::decode(&raw, sequence, &self.trust.keys)?;
            Ok::<_, RemoteError>(Some(Listed { manifest, signature, stored: entry.modified, raw }))
        };
        let newest = numbered.into_iter().take(MAX_MANIFESTS);
        let listed: Vec<Option<Listed>> = stream::iter(newest).map(read).buffered(PARALLEL).try_collect().await?;
        let listed: Vec<Listed> = listed.into_iter().flatten().collect();
        // A manifest that is not accepted must not hide that a newer accepted one has disappeared.
        let newest = listed.iter().find(|listed| self.accept(listed).is_ok());
        let newest = newest.map(|listed| (listed.manifest.sequence, listed.raw.as_slice()));
        let stored = |sequence| {
            let found = listed.iter().find(|listed| listed.manifest.sequence == sequence);
            found.map(|listed| listed.raw.as_slice())
        };
        self.seen.check(&self.url, newest, stored)?;
        Ok(listed)
    }

    /// Returns the size of the parts of the newest manifest; `None` if it does not exist or cannot be read.
    pub(crate) async fn newest_size(&self) -> Option<u64> {
        let (sequence, _) = self.list_manifests().await.ok()?.into_iter().next()?;
        let raw = self.store.get(&manifest_name(sequence), MAX_MANIFEST_BYTES).await.ok()??;
        Some(RemoteManifest::decode(&raw, sequence, &self.trust.keys).ok()?.0.bytes)
    }

    /// Returns the numbers of all manifests, the highest first, with their objects.
    pub(crate) async fn list_manifests(&self) -> Result<Vec<(u64, Entry)>, RemoteError> {
        let entries = self.store.list("manifests").await?;
        let mut numbered = Vec::with_capacity(entries.len());
        for entry in entries {
            let sequence = entry.name.parse().ok().filter(|sequence| (1..=MAX_SEQUENCE).contains(sequence));
            let sequence = sequence.filter(|sequence| manifest_name(*sequence).ends_with(&entry.name));
            let sequence = sequence.ok_or_else(|| {
                RemoteError::damaged("manifests", format!("{} is not a number", entry.name.escape_debug()))
            })?;
            numbered.push((sequence, entry));
        }
        numbered.sort_unstable_by_key(|(sequence, _)| std::cmp::Reverse(*sequence));
        Ok(numbered)
    }

    /// Checks that the location contains a remote of this layout.
    pub(crate) async fn check_format(&self) -> Result<(), RemoteError> {
        match self.store.get("format", 64).await? {
            None => Err(RemoteError::Missing(self.url.to_string())),
            Some(bytes) if bytes == FORMAT => Ok(()),
            Some(bytes) => Err(RemoteError::Layout(format!("`{}`", bytes.trim_ascii().escape_ascii()))),
        }
    }

    /// Checks that the signature of a manifest is accepted.
    ///
    /// # Errors
    /// Returns [`RemoteError::Untrusted`] with the reason.
    pub fn accept(&self, listed: &Listed) -> Result<(), RemoteError> {
        let what = match &listed.signature {
            Signature::Trusted(_) => return Ok(()),
            Signature::Invalid => "its signature is invalid".to_owned(),
            Signature::Unsigned | Signature::UnknownKey(_) if self.trust.allows_unsigned => return Ok(()),
            Signature::Unsigned => "it is not signed".to_owned(),
            Signature::UnknownKey(id) if self.trust.keys.is_empty() => {
                format!("it is signed by key {id}, and no key is trusted")
            }
            Signature::UnknownKey(id) => format!("it is signed by key {id}, which is not trusted"),
        };
        Err(RemoteError::Untrusted { sequence: listed.manifest.sequence, what })
    }

    /// Reads the list of parts of a manifest, and checks it against the manifest.
    pub(crate) async fn read_list(&self, manifest: &RemoteManifest) -> Result<ArtefactManifest, RemoteError> {
        manifest.check_sizes()?;
        let name = part_name(&manifest.list);
        let damaged = |what: &str| RemoteError::damaged(&name, what);
        let bytes = self.store.get(&name, manifest.list_bytes).await?.ok_or_else(|| damaged("it is missing"))?;
        if blake3::hash(&bytes).to_hex().as_str() != manifest.list {
            return Err(damaged("its checksum is wrong"));
        }
        let length = usize::try_from(manifest.list_length).map_err(|_| damaged("it is too long"))?;
        let json = zstd::bulk::decompress(&bytes, length).map_err(|error| damaged(&error.to_string()))?;
        let list: ArtefactManifest = serde_json::from_slice(&json).map_err(|error| damaged(&error.to_string()))?;
        if list.parts.len() > MAX_PARTS {
            return Err(RemoteError::TooLarge(format!("an index has more than {MAX_PARTS} parts")));
        }
        let is_name =
            |part: &ArtefactPart| part.blake3.len() == 64 && part.blake3.bytes().all(|b| b.is_ascii_hexdigit());
        let announced = (manifest.parts, manifest.bytes, manifest.files, manifest.chunks, manifest.vectors);
        let found = (list.parts.len() as u64, list.compressed(), list.files, list.chunks, list.vectors);
        if announced != found || manifest.commit != list.head_commit || !list.parts.iter().all(is_name) {
            return Err(damaged("it does not match the manifest"));
        }
        Ok(list)
    }
}

/// Returns the name of the object with a part.
pub(crate) fn part_name(hash: &str) -> String {
    format!("parts/{hash}")
}

/// Returns the name of the object with a manifest. The names sort in the order of the numbers.
pub(crate) fn manifest_name(sequence: u64) -> String {
    format!("manifests/{sequence:016}")
}
