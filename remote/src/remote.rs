//! A remote and its manifests.

use std::path::PathBuf;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use tokio::runtime::Runtime;
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

use crate::cache::PartCache;
use crate::error::RemoteError;
use crate::location::RemoteUrl;
use crate::manifest::{MAX_MANIFEST_BYTES, MAX_SEQUENCE, RemoteManifest};
use crate::part::StoredPart;
use crate::seen::SeenManifests;
use crate::signature::{Signature, TrustedKeys};
use crate::store::{Entry, PARALLEL, Stopper, Store, runtime};

/// Content of the object `format`.
pub(crate) const FORMAT: &[u8] = b"aurora remote 2\n";
/// Maximum number of manifests that are read. Older ones are ignored.
const MAX_MANIFESTS: usize = 1000;
/// Maximum memory in bytes for parts that are read at the same time. A larger part is read alone.
const MAX_MEMORY: u64 = 256 << 20;
/// Memory in bytes for which a permit of the semaphore stands.
const PERMIT_BYTES: u64 = 1024;

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
    /// Limits the memory for parts that are read at the same time.
    memory: Semaphore,
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
        let memory = Semaphore::new((MAX_MEMORY / PERMIT_BYTES) as usize);
        Ok(Self { url, trust, store, seen: SeenManifests::at(records), runtime: runtime()?, memory })
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
        let newest = numbered.into_iter().take(MAX_MANIFESTS);
        // A prune may delete a manifest after the listing.
        let read = |(sequence, entry): (u64, Entry)| self.read_manifest(sequence, entry.modified);
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

    /// Reads a manifest that the store has written at the time `stored`. Returns `None` if it does not exist.
    pub(crate) async fn read_manifest(&self, sequence: u64, stored: i64) -> Result<Option<Listed>, RemoteError> {
        let Some(raw) = self.store.get(&manifest_name(sequence), MAX_MANIFEST_BYTES).await? else { return Ok(None) };
        let (manifest, signature) = RemoteManifest::decode(&raw, sequence, &self.trust.keys)?;
        Ok(Some(Listed { manifest, signature, stored, raw }))
    }

    /// Reads a part, and before it its base. Returns also the number of downloaded bytes. Objects that the cache does
    /// not have are downloaded, checked and added to it.
    pub(crate) async fn read_part(
        &self,
        stored: &StoredPart,
        cache: Option<&PartCache>,
    ) -> Result<(Vec<u8>, u64), RemoteError> {
        let _permits = self.reserve(stored.memory()).await;
        let (mut base, mut downloaded) = (None, 0);
        for stored in stored.with_base() {
            let cached = cache.and_then(|cache| cache.read(&stored, base.as_deref()).ok());
            if cached.is_some() {
                base = cached;
                continue;
            }
            let object = self.object(&stored).await?;
            let bytes = stored.decode(&object, base.as_deref());
            base = Some(bytes.map_err(|what| RemoteError::damaged(part_name(&stored.object()), what))?);
            downloaded += object.len() as u64;
            if let Some(cache) = cache {
                cache.write(&stored, &object)?;
            }
        }
        Ok((base.unwrap_or_default(), downloaded))
    }

    /// Downloads the object of a part to the cache without checking it. Returns its size in bytes.
    pub(crate) async fn download(&self, stored: &StoredPart, cache: &PartCache) -> Result<u64, RemoteError> {
        let _permits = self.reserve(stored.max_bytes()).await;
        let object = self.object(stored).await?;
        cache.write(stored, &object)?;
        Ok(object.len() as u64)
    }

    async fn object(&self, stored: &StoredPart) -> Result<Vec<u8>, RemoteError> {
        let name = part_name(&stored.object());
        let object = self.store.get(&name, stored.max_bytes()).await?;
        object.ok_or_else(|| RemoteError::damaged(&name, "it is missing"))
    }

    /// Waits until this number of bytes can be used.
    async fn reserve(&self, bytes: u64) -> Result<SemaphorePermit<'_>, AcquireError> {
        let permits = bytes.div_ceil(PERMIT_BYTES).min(MAX_MEMORY / PERMIT_BYTES) as u32;
        self.memory.acquire_many(permits).await
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
}

/// Returns the name of the object with a part.
pub(crate) fn part_name(object: &str) -> String {
    format!("parts/{object}")
}

/// Returns the name of the object with a manifest. The names sort in the order of the numbers.
pub(crate) fn manifest_name(sequence: u64) -> String {
    format!("manifests/{sequence:016}")
}
