//! Pushes an index to a remote.

use std::collections::HashMap;
use std::sync::Arc;

use aurora_storage::{ArtefactPart, FORMAT_VERSION, Snapshot, Workers};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::error::RemoteError;
use crate::locks::Lock;
use crate::manifest::{LAYOUT, MAX_SEQUENCE, PreviousManifest, RemoteManifest};
use crate::remote::{FORMAT, Listed, Remote, manifest_name, part_name};
use crate::signature::SigningKey;
use crate::store::{PARALLEL, Store};

/// Compression level of lists of parts, which consist mostly of hashes.
const LIST_LEVEL: i32 = 3;
/// Maximum number of attempts to write a manifest if other machines push at the same time.
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
    /// Called with the number of uploaded bytes after each part.
    pub progress: &'a (dyn Fn(u64) + Sync),
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
    pub uploaded_by_group: std::collections::BTreeMap<String, u64>,
    /// Whether a new manifest was written; `false` if the newest one already describes this index.
    pub written: bool,
}

impl Remote {
    /// Uploads the parts of an index that the remote does not have, and then a manifest. A push that was interrupted
    /// leaves only parts, which the next push uses.
    ///
    /// # Errors
    /// Fails if the index is damaged, if the store cannot be written or does not support conditional writes, or if a
    /// prune is in progress.
    pub fn push(&self, snapshot: &Snapshot, context: PushContext<'_>) -> Result<Pushed, RemoteError> {
        // Reads the whole index, and fails before anything is uploaded if it is damaged.
        let digest = snapshot.digest_with(context.workers)?;
        self.runtime.block_on(self.prepare())?;
        let lock = self.runtime.block_on(Lock::push(&self.store))?;
        let pushed = self.push_locked(snapshot, digest, context);
        self.runtime.block_on(lock.release(&self.store));
        pushed
    }

    /// Creates the remote if it does not exist, and checks that the store refuses to overwrite objects.
    async fn prepare(&self) -> Result<(), RemoteError> {
        self.store.put_new("format", FORMAT.to_vec()).await?;
        if self.store.put_new("format", FORMAT.to_vec()).await? {
            return Err(RemoteError::NoConditionalWrites);
        }
        self.check_format().await
    }

    fn push_locked(
        &self,
        snapshot: &Snapshot,
        digest: String,
        context: PushContext<'_>,
    ) -> Result<Pushed, RemoteError> {
        let listed = self.runtime.block_on(self.store.list("parts"))?;
        let known = listed.into_iter().map(|entry| (entry.name, entry.bytes)).collect();
        let mut uploads = Uploads::new(self, known, context.progress);
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
        let (uploaded_parts, by_group) = uploads.finish()?;
        let manifest = RemoteManifest {
            layout: LAYOUT,
            sequence: 0,
            commit: list.head_commit.clone(),
            generation: snapshot.manifest().generation,
            time: context.now,
            program: context.program.to_owned(),
            index_format: FORMAT_VERSION,
            digest,
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
        let (manifest, written) = self.runtime.block_on(self.write_manifest(manifest, context.key))?;
        Ok(Pushed {
            manifest,
            uploaded_parts,
            uploaded_bytes: by_group.values().sum(),
            uploaded_by_group: by_group,
            written,
        })
    }

    /// Writes the manifest under the number after the highest one. Returns the existing manifest if the newest one
    /// already describes this index.
    async fn write_manifest(
        &self,
        mut manifest: RemoteManifest,
        key: Option<&SigningKey>,
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
            if self.store.put_new(&manifest_name(manifest.sequence), bytes.clone()).await? {
                // The writer accepts its own manifest even if it does not trust its own key.
                self.seen.check(&self.url, Some((manifest.sequence, &bytes)), |_| None)?;
                return Ok((manifest, true));
            }
        }
        Err(RemoteError::Busy(format!("other machines pushed during {MAX_ATTEMPTS} attempts; push again")))
    }

    /// Whether a manifest describes the index of a new manifest, and is signed if the new one is.
    fn is_same(&self, newest: &Listed, new: &RemoteManifest, key: Option<&SigningKey>) -> bool {
        let RemoteManifest { commit, digest, list, .. } = &newest.manifest;
        let is_signed = self.accept(newest).is_ok() || key.is_none();
        (commit, digest, list) == (&new.commit, &new.digest, &new.list) && is_signed
    }
}

/// Uploads that run at the same time.
struct Uploads<'r> {
    remote: &'r Remote,
    /// Sizes of the parts in the remote.
    known: HashMap<String, u64>,
    progress: &'r (dyn Fn(u64) + Sync),
    slots: Arc<Semaphore>,
    running: JoinSet<Result<(), RemoteError>>,
    parts: u64,
    by_group: std::collections::BTreeMap<String, u64>,
}

impl<'r> Uploads<'r> {
    fn new(remote: &'r Remote, known: HashMap<String, u64>, progress: &'r (dyn Fn(u64) + Sync)) -> Self {
        let slots = Arc::new(Semaphore::new(PARALLEL));
        Self { remote, known, progress, slots, running: JoinSet::new(), parts: 0, by_group: Default::default() }
    }

    /// Uploads a part, unless the remote has it. Waits while too many uploads are running.
    fn add(&mut self, part: &ArtefactPart, bytes: Vec<u8>) -> Result<(), RemoteError> {
        while let Some(finished) = self.running.try_join_next() {
            joined(finished)?;
        }
        let known = self.known.insert(part.blake3.clone(), part.compressed);
        *self.by_group.entry(part.name.clone()).or_default() +=
            if known == Some(part.compressed) { 0 } else { part.compressed };
        if known == Some(part.compressed) {
            return Ok(());
        }
        let (store, name) = (self.remote.store.clone(), part_name(&part.blake3));
        let slot = self.remote.runtime.block_on(Arc::clone(&self.slots).acquire_owned());
        let upload = async move {
            let _slot = slot;
            upload(&store, &name, bytes, known.is_some()).await
        };
        self.running.spawn_on(upload, self.remote.runtime.handle());
        self.parts += 1;
        (self.progress)(self.by_group.values().sum());
        Ok(())
    }

    /// Waits for all uploads. Returns the number of uploaded parts, and the uploaded bytes by group.
    fn finish(mut self) -> Result<(u64, std::collections::BTreeMap<String, u64>), RemoteError> {
        while let Some(finished) = self.remote.runtime.block_on(self.running.join_next()) {
            joined(finished)?;
        }
        Ok((self.parts, self.by_group))
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
