//! Pushes an index to a remote.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use aurora_storage::{DividedPart, FORMAT_VERSION, Snapshot, Workers};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::cache::PartCache;
use crate::encoder::{Encoded, Encoder, PreviousParts, excessive_bases};
use crate::error::RemoteError;
use crate::list::{ListReader, PartList};
use crate::locks::Lock;
use crate::manifest::{LAYOUT, MAX_SEQUENCE, PreviousManifest, RemoteManifest};
use crate::part::StoredPart;
use crate::remote::{FORMAT, Listed, Remote, manifest_name, part_name};
use crate::signature::{Signature, SigningKey};
use crate::store::{PARALLEL, Store};

/// Maximum number of attempts to write a manifest if other machines push or prune at the same time.
const MAX_ATTEMPTS: usize = 20;
/// Maximum number of manifests in which a push looks for a trusted signature.
const MAX_PREVIOUS: usize = 16;

/// Context of a push.
#[derive(Clone, Copy)]
pub struct PushContext<'a> {
    /// The `.aurora` directory of the project.
    pub directory: &'a Path,
    /// Name and version of the program.
    pub program: &'a str,
    /// The current time in Unix seconds.
    pub now: i64,
    /// The key that signs the manifest; `None` for an unsigned manifest.
    pub key: Option<&'a SigningKey>,
    /// Threads that read the index.
    pub workers: Workers,
    /// Called when the push continues.
    pub progress: &'a (dyn Fn(PushProgress) + Sync),
}

/// The progress of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushProgress {
    /// The push waits for the end of a prune.
    Waiting,
    /// The push has compared some of the parts with those in the remote.
    Parts {
        /// Number of compared parts.
        compared: u64,
        /// Size of these parts before compression.
        compared_bytes: u64,
        /// Number of bytes that were uploaded or are being uploaded.
        uploaded_bytes: u64,
        /// Size of all parts of the newest manifest before compression, which is an estimate for the new manifest.
        /// `None` for the first manifest.
        expected_bytes: Option<u64>,
    },
}

/// The result of a push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pushed {
    /// The manifest of the index.
    pub manifest: RemoteManifest,
    /// Number of parts that were uploaded.
    pub uploaded_parts: u64,
    /// Size of the uploaded parts and of the list of parts, in bytes.
    pub uploaded_bytes: u64,
    /// Uploaded bytes for each group of parts, and for the list of parts.
    pub uploaded_by_group: BTreeMap<String, u64>,
    /// Number of bytes that were downloaded: parts of the previous index, and its list of parts.
    pub downloaded_bytes: u64,
    /// Whether a new manifest was written; `false` if the newest one already describes this index.
    pub written: bool,
}

impl Remote {
    /// Uploads the parts of an index that the remote does not have, and then a manifest. A push that was interrupted
    /// leaves only parts, which the next push uses.
    ///
    /// # Errors
    /// Fails if the index is damaged, or if the store cannot be written or does not support conditional writes.
    pub fn push(&self, snapshot: &Snapshot, context: PushContext<'_>) -> Result<Pushed, RemoteError> {
        // Reads the whole index, and fails before anything is uploaded if it is damaged.
        let digest = snapshot.digest_with(context.workers)?;
        self.runtime.block_on(self.prepare())?;
        let (mut uploaded, mut written) = (Uploaded::default(), false);
        for _ in 0..MAX_ATTEMPTS {
            let wait = || (context.progress)(PushProgress::Waiting);
            let lock = self.runtime.block_on(Lock::push(&self.store, &wait))?;
            let attempt = self.push_locked(snapshot, &digest, &lock, context, &mut uploaded);
            let is_held = self.runtime.block_on(lock.is_held(&self.store));
            self.runtime.block_on(lock.release(&self.store));
            let Some((manifest, is_new)) = attempt? else { continue };
            written |= is_new;
            // Otherwise, a prune has perhaps not read the manifest before it deleted parts.
            if is_held? {
                let Uploaded { parts, by_group, downloaded } = uploaded;
                return Ok(Pushed {
                    manifest,
                    uploaded_parts: parts,
                    uploaded_bytes: by_group.values().sum(),
                    uploaded_by_group: by_group,
                    downloaded_bytes: downloaded,
                    written,
                });
            }
        }
        Err(RemoteError::Busy(format!("{MAX_ATTEMPTS} prunes interrupted the push; push again")))
    }

    /// Creates the remote if it does not exist, and finds out whether the store refuses to overwrite objects.
    async fn prepare(&self) -> Result<(), RemoteError> {
        self.store.put_new("format", FORMAT.to_vec()).await?;
        if self.store.put_new("format", FORMAT.to_vec()).await? {
            self.store.set_ignores_conditions();
        }
        self.check_format().await
    }

    /// Uploads the missing parts and the manifest. Returns the manifest and whether it is new, or `None` if a prune has
    /// interrupted the push before it wrote the manifest.
    fn push_locked(
        &self,
        snapshot: &Snapshot,
        digest: &str,
        lock: &Lock,
        context: PushContext<'_>,
        uploaded: &mut Uploaded,
    ) -> Result<Option<(RemoteManifest, bool)>, RemoteError> {
        let listed = self.runtime.block_on(self.store.list("parts"))?;
        let known = listed.into_iter().map(|entry| (entry.name, entry.bytes)).collect();
        let cache = PartCache::open(context.directory).ok();
        let (previous, downloaded) = self.runtime.block_on(self.previous_parts(cache.as_ref()))?;
        uploaded.downloaded += downloaded;
        let mut encoder = Encoder::new(self, cache.as_ref(), &known, &previous);
        let mut uploads = Uploads::new(self, &known, previous.length(), context.progress, uploaded);
        let list = loop {
            let work = |part: DividedPart| encoder.encode(&part);
            let each = |encoded: Result<Encoded, RemoteError>| uploads.add(encoded?);
            let (index, parts) = snapshot.divide(context.program, context.workers, work, each)?;
            let excessive = excessive_bases(&parts);
            if excessive.is_empty() {
                break PartList::divide(index, parts, |part| uploads.add(encoder.encode(&part)?))?;
            }
            encoder.without_base.extend(excessive);
        };
        uploads.finish()?;
        uploaded.downloaded += encoder.downloaded.into_inner();
        if !self.runtime.block_on(lock.is_held(&self.store))? {
            return Ok(None);
        }
        let manifest = RemoteManifest {
            layout: LAYOUT,
            sequence: 0,
            commit: list.index.head_commit.clone(),
            generation: snapshot.manifest().generation,
            time: context.now,
            program: context.program.to_owned(),
            index_format: FORMAT_VERSION,
            digest: digest.to_owned(),
            complete: list.index.complete,
            files: list.index.files,
            chunks: list.index.chunks,
            vectors: list.index.vectors,
            parts: list.parts.len() as u64,
            bytes: list.bytes(),
            list: list.head().hash.clone(),
            list_bytes: list.head().compressed,
            list_length: list.head().length,
            previous: None,
        };
        let written = self.runtime.block_on(self.write_manifest(manifest, context.key))?;
        if let Some(cache) = cache {
            cache.retain(&list.objects());
        }
        Ok(Some(written))
    }

    /// Returns the parts of the newest manifest with a trusted signature, or of the newest one if no recent one has
    /// such a signature, and the number of downloaded bytes.
    async fn previous_parts(&self, cache: Option<&PartCache>) -> Result<(PreviousParts, u64), RemoteError> {
        let list = async {
            let mut previous = None;
            for (sequence, entry) in self.list_manifests().await?.into_iter().take(MAX_PREVIOUS) {
                let Some(listed) = self.read_manifest(sequence, entry.modified).await? else { continue };
                if matches!(listed.signature, Signature::Trusted(_)) {
                    previous = Some(listed);
                    break;
                }
                previous.get_or_insert(listed);
                if self.trust.keys.is_empty() {
                    break;
                }
            }
            let Some(previous) = previous else { return Ok(Default::default()) };
            let (list, downloaded) = ListReader::new(self, cache).read(&previous.manifest).await?;
            Ok((PreviousParts::new(list), downloaded))
        };
        match list.await {
            // The new manifest replaces a damaged one.
            Err(RemoteError::Damaged { .. } | RemoteError::TooLarge(_)) => Ok(Default::default()),
            result => result,
        }
    }

    /// Writes the manifest under the number after the highest one. Returns the existing manifest if the newest one
    /// already describes this index.
    async fn write_manifest(
        &self,
        manifest: RemoteManifest,
        key: Option<&SigningKey>,
    ) -> Result<(RemoteManifest, bool), RemoteError> {
        if !self.store.ignores_conditions() {
            return self.write_next(manifest, key, &|| Ok(())).await;
        }
        let lock = Lock::manifest(&self.store).await?;
        let written = self.write_next(manifest, key, &|| lock.check_time()).await;
        lock.release(&self.store).await;
        written
    }

    /// Writes the manifest unless another machine has taken its number. `may_write` is called directly before each
    /// attempt.
    async fn write_next(
        &self,
        mut manifest: RemoteManifest,
        key: Option<&SigningKey>,
        may_write: &(dyn Fn() -> Result<(), RemoteError> + Sync),
    ) -> Result<(RemoteManifest, bool), RemoteError> {
        for _ in 0..MAX_ATTEMPTS {
            let manifests = self.read_manifests().await?;
            if let Some(newest) = manifests.first().filter(|newest| self.is_same(newest, &manifest, key)) {
                return Ok((newest.manifest.clone(), false));
            }
            manifest.previous = manifests.first().map(|Listed { manifest, .. }| PreviousManifest {
                sequence: manifest.sequence,
                commit: manifest.commit.clone(),
                generation: manifest.generation,
                time: manifest.time,
            });
            manifest.sequence = manifest.previous.as_ref().map_or(1, |previous| previous.sequence + 1);
            if manifest.sequence > MAX_SEQUENCE {
                return Err(RemoteError::TooLarge("there are no more numbers for manifests".to_owned()));
            }
            let bytes = manifest.encode(key)?;
            may_write()?;
            if self.store.put_new(&manifest_name(manifest.sequence), bytes.clone()).await? {
                // The writer accepts its own manifest even if it does not trust its own key.
                self.seen.check(&self.url, Some((manifest.sequence, &bytes)), |_| None)?;
                return Ok((manifest, true));
            }
        }
        Err(RemoteError::Busy(format!("other machines pushed during {MAX_ATTEMPTS} attempts; push again")))
    }

    /// Whether a manifest describes the index of a new manifest, and has the signature of `key` if there is a key.
    fn is_same(&self, newest: &Listed, new: &RemoteManifest, key: Option<&SigningKey>) -> bool {
        let RemoteManifest { commit, digest, list, .. } = &newest.manifest;
        let is_signed = |key: &SigningKey| {
            let decoded = RemoteManifest::decode(&newest.raw, newest.manifest.sequence, &key.trusted());
            matches!(decoded, Ok((_, Signature::Trusted(_))))
        };
        (commit, digest, list) == (&new.commit, &new.digest, &new.list) && key.is_none_or(is_signed)
    }
}

/// The transfers of a push.
#[derive(Default)]
struct Uploaded {
    parts: u64,
    /// Number of downloaded bytes.
    downloaded: u64,
    /// Sizes in bytes by group. Groups without uploads are included.
    by_group: BTreeMap<String, u64>,
}

/// Uploads that run at the same time.
struct Uploads<'r> {
    remote: &'r Remote,
    /// Sizes of the objects below `parts` in the remote.
    known: &'r HashMap<String, u64>,
    /// Number of the parts that were compared with `known`, and their size before compression.
    compared: (u64, u64),
    /// Size of the parts of the previous index before compression.
    expected_bytes: Option<u64>,
    /// Names of the objects that were uploaded or are being uploaded.
    started: HashSet<String>,
    uploaded: &'r mut Uploaded,
    progress: &'r (dyn Fn(PushProgress) + Sync),
    slots: Arc<Semaphore>,
    running: JoinSet<Result<(), RemoteError>>,
}

impl<'r> Uploads<'r> {
    fn new(
        remote: &'r Remote,
        known: &'r HashMap<String, u64>,
        expected_bytes: Option<u64>,
        progress: &'r (dyn Fn(PushProgress) + Sync),
        uploaded: &'r mut Uploaded,
    ) -> Self {
        let slots = Arc::new(Semaphore::new(PARALLEL));
        let (compared, started, running) = Default::default();
        Self { remote, known, compared, expected_bytes, started, uploaded, progress, slots, running }
    }

    /// Uploads the object of a part, unless the remote has it. Waits while too many uploads are running.
    fn add(&mut self, Encoded { stored, object }: Encoded) -> Result<StoredPart, RemoteError> {
        self.remote.store.check_running()?;
        while let Some(finished) = self.running.try_join_next() {
            joined(finished)?;
        }
        self.compared = (self.compared.0 + 1, self.compared.1 + stored.part.length);
        let of_group = self.uploaded.by_group.entry(stored.group.clone()).or_default();
        if let Some(bytes) = object.filter(|_| self.started.insert(stored.object())) {
            *of_group += bytes.len() as u64;
            self.uploaded.parts += 1;
            let (store, object) = (self.remote.store.clone(), stored.object());
            let replaces = self.known.contains_key(&object);
            let slot = self.remote.runtime.block_on(Arc::clone(&self.slots).acquire_owned());
            let upload = async move {
                let _slot = slot;
                upload(&store, &part_name(&object), bytes, replaces).await
            };
            self.running.spawn_on(upload, self.remote.runtime.handle());
        }
        let uploaded_bytes = self.uploaded.by_group.values().sum();
        let ((compared, compared_bytes), expected_bytes) = (self.compared, self.expected_bytes);
        (self.progress)(PushProgress::Parts { compared, compared_bytes, uploaded_bytes, expected_bytes });
        Ok(stored)
    }

    /// Waits for all uploads.
    fn finish(mut self) -> Result<(), RemoteError> {
        while let Some(finished) = self.remote.runtime.block_on(self.running.join_next()) {
            joined(finished)?;
        }
        Ok(())
    }
}

/// Writes a part. `replaces` is set if the remote has an incomplete object of this name.
async fn upload(store: &Store, name: &str, bytes: Vec<u8>, replaces: bool) -> Result<(), RemoteError> {
    if replaces {
        return store.put(name, bytes).await;
    }
    // If another machine has written the part in the meantime, it has the same content.
    store.put_new(name, bytes).await.map(drop)
}

fn joined(finished: Result<Result<(), RemoteError>, tokio::task::JoinError>) -> Result<(), RemoteError> {
    finished.unwrap_or_else(|error| Err(RemoteError::Busy(format!("an upload stopped: {error}"))))
}
