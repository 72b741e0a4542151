//! Pushes an index to a remote.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use aurora_storage::{ArtefactPart, FORMAT_VERSION, Snapshot, Workers};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::error::RemoteError;
use crate::locks::Lock;
use crate::manifest::{LAYOUT, MAX_SEQUENCE, PreviousManifest, RemoteManifest};
use crate::remote::{FORMAT, Listed, Remote, manifest_name, part_name};
use crate::signature::{Signature, SigningKey};
use crate::store::{PARALLEL, Store};

/// Compression level of lists of parts, which consist mostly of hashes.
const LIST_LEVEL: i32 = 3;
/// Maximum number of attempts to write a manifest if other machines push or prune at the same time.
const MAX_ATTEMPTS: usize = 20;

/// Context of a push.
#[derive(Clone, Copy)]
pub struct PushContext<'a> {
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
        /// Size of these parts.
        compared_bytes: u64,
        /// Number of bytes that were uploaded or are being uploaded.
        uploaded_bytes: u64,
        /// Size of all parts of the newest manifest, which is an estimate for the new manifest. `None` for the first manifest.
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
        let expected_bytes = self.runtime.block_on(self.newest_size());
        let (mut uploaded, mut written) = (Uploaded::default(), false);
        for _ in 0..MAX_ATTEMPTS {
            let wait = || (context.progress)(PushProgress::Waiting);
            let lock = self.runtime.block_on(Lock::push(&self.store, &wait))?;
            let attempt = self.push_locked(snapshot, &digest, &lock, context, expected_bytes, &mut uploaded);
            let is_held = self.runtime.block_on(lock.is_held(&self.store));
            self.runtime.block_on(lock.release(&self.store));
            let Some((manifest, is_new)) = attempt? else { continue };
            written |= is_new;
            // Otherwise, a prune has perhaps not read the manifest before it deleted parts.
            if is_held? {
                let Uploaded { parts, by_group } = uploaded;
                return Ok(Pushed {
                    manifest,
                    uploaded_parts: parts,
                    uploaded_bytes: by_group.values().sum(),
                    uploaded_by_group: by_group,
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
        expected_bytes: Option<u64>,
        uploaded: &mut Uploaded,
    ) -> Result<Option<(RemoteManifest, bool)>, RemoteError> {
        let listed = self.runtime.block_on(self.store.list("parts"))?;
        let known = listed.into_iter().map(|entry| (entry.name, entry.bytes)).collect();
        let mut uploads = Uploads::new(self, known, expected_bytes, context.progress, uploaded);
        let list = snapshot.divide(context.program, context.workers, |part, bytes| uploads.add(part, bytes))?;
        let json = serde_json::to_vec(&list).map_err(|error| RemoteError::damaged("the list", error.to_string()))?;
        let bytes = zstd::bulk::compress(&json, LIST_LEVEL);
        let bytes = bytes.map_err(|source| RemoteError::Io { path: "memory".into(), source })?;
        let part = ArtefactPart {
            name: "list".to_owned(),
            length: json.len() as u64,
            compressed: bytes.len() as u64,
            blake3: blake3::hash(&bytes).to_hex().to_string(),
        };
        uploads.add(&part, bytes)?;
        uploads.finish()?;
        if !self.runtime.block_on(lock.is_held(&self.store))? {
            return Ok(None);
        }
        let manifest = RemoteManifest {
            layout: LAYOUT,
            sequence: 0,
            commit: list.head_commit.clone(),
            generation: snapshot.manifest().generation,
            time: context.now,
            program: context.program.to_owned(),
            index_format: FORMAT_VERSION,
            digest: digest.to_owned(),
            complete: list.complete,
            files: list.files,
            chunks: list.chunks,
            vectors: list.vectors,
            parts: list.parts.len() as u64,
            bytes: list.compressed(),
            list: part.blake3,
            list_bytes: part.compressed,
            list_length: part.length,
            previous: None,
        };
        self.runtime.block_on(self.write_manifest(manifest, context.key)).map(Some)
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

/// The parts that a push has uploaded.
#[derive(Default)]
struct Uploaded {
    parts: u64,
    /// Sizes in bytes by group. Groups without uploads are included.
    by_group: BTreeMap<String, u64>,
}

/// Uploads that run at the same time.
struct Uploads<'r> {
    remote: &'r Remote,
    /// Sizes of the parts in the remote.
    known: HashMap<String, u64>,
    /// Number and size of the parts that were compared with `known`.
    compared: (u64, u64),
    expected_bytes: Option<u64>,
    uploaded: &'r mut Uploaded,
    progress: &'r (dyn Fn(PushProgress) + Sync),
    slots: Arc<Semaphore>,
    running: JoinSet<Result<(), RemoteError>>,
}

impl<'r> Uploads<'r> {
    fn new(
        remote: &'r Remote,
        known: HashMap<String, u64>,
        expected_bytes: Option<u64>,
        progress: &'r (dyn Fn(PushProgress) + Sync),
        uploaded: &'r mut Uploaded,
    ) -> Self {
        let slots = Arc::new(Semaphore::new(PARALLEL));
        Self { remote, known, compared: (0, 0), expected_bytes, uploaded, progress, slots, running: JoinSet::new() }
    }

    /// Uploads a part, unless the remote has it. Waits while too many uploads are running.
    fn add(&mut self, part: &ArtefactPart, bytes: Vec<u8>) -> Result<(), RemoteError> {
        self.remote.store.check_running()?;
        while let Some(finished) = self.running.try_join_next() {
            joined(finished)?;
        }
        self.compared = (self.compared.0 + 1, self.compared.1 + part.compressed);
        let known = self.known.insert(part.blake3.clone(), part.compressed);
        let of_group = self.uploaded.by_group.entry(part.name.clone()).or_default();
        if known != Some(part.compressed) {
            *of_group += part.compressed;
            self.uploaded.parts += 1;
            let (store, name) = (self.remote.store.clone(), part_name(&part.blake3));
            let slot = self.remote.runtime.block_on(Arc::clone(&self.slots).acquire_owned());
            let upload = async move {
                let _slot = slot;
                upload(&store, &name, bytes, known.is_some()).await
            };
            self.running.spawn_on(upload, self.remote.runtime.handle());
        }
        let uploaded_bytes = self.uploaded.by_group.values().sum();
        let ((compared, compared_bytes), expected_bytes) = (self.compared, self.expected_bytes);
        (self.progress)(PushProgress::Parts { compared, compared_bytes, uploaded_bytes, expected_bytes });
        Ok(())
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
