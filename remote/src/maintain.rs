//! Prunes and verifies a remote.

use std::collections::{HashMap, HashSet};

use aurora_storage::ArtefactPart;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::error::RemoteError;
use crate::locks::Lock;
use crate::pull::check;
use crate::remote::{Listed, Remote, manifest_name, part_name};
use crate::store::{Entry, PARALLEL};

/// Age in seconds, by the clock of the store, below which no manifest and no part is deleted. Parts of a push that was
/// interrupted stay as long, so that the push can be repeated.
const MIN_AGE: i64 = 24 * 3600;
/// Maximum number of lists of parts that are read at the same time. A list can be large.
const MAX_LISTS: usize = 4;

/// The manifests that a prune keeps.
#[derive(Debug, Clone, Copy)]
pub struct PruneOptions {
    /// Number of newest manifests to keep; at least one is kept.
    pub keep: usize,
    /// Age in seconds up to which manifests are kept as well.
    pub older_than: i64,
    /// Whether only the counts are computed.
    pub dry_run: bool,
}

/// The result of a prune.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Number of manifests that were deleted.
    pub manifests: u64,
    /// Number of manifests that were kept.
    pub kept: u64,
    /// Number of parts that were deleted.
    pub parts: u64,
    /// Size of the deleted parts in bytes.
    pub bytes: u64,
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Number of manifests.
    pub manifests: u64,
    /// Number of different parts that the manifests list.
    pub parts: u64,
    /// Size of these parts in bytes.
    pub bytes: u64,
    /// Number of parts that no manifest lists.
    pub unused: u64,
    /// Descriptions of all problems.
    pub problems: Vec<String>,
}

impl Remote {
    /// Deletes old manifests, and parts that no manifest lists. No part is deleted that any remaining manifest lists,
    /// or that is younger than a day by the clock of the store. A push in progress uploads the deleted parts that it
    /// needs again.
    ///
    /// # Errors
    /// Fails if another prune is in progress. If a manifest or its list of parts cannot be read, no part is deleted.
    pub fn prune(&self, options: PruneOptions) -> Result<Pruned, RemoteError> {
        self.runtime.block_on(async {
            self.check_format().await?;
            let lock = Lock::prune(&self.store, options.dry_run).await?;
            let pruned = self.prune_locked(options, &lock).await;
            lock.release(&self.store).await;
            pruned
        })
    }

    async fn prune_locked(&self, options: PruneOptions, lock: &Lock) -> Result<Pruned, RemoteError> {
        let mut pruned = Pruned::default();
        let manifests = self.list_manifests().await?;
        let min_age = options.older_than.max(MIN_AGE);
        let is_old = |index: usize, entry: &Entry| {
            index >= options.keep.max(1) && lock.time.saturating_sub(entry.modified) > min_age
        };
        let (mut old, mut kept) = (Vec::new(), Vec::new());
        for (index, (sequence, entry)) in manifests.into_iter().enumerate() {
            if is_old(index, &entry) { old.push(sequence) } else { kept.push(sequence) }
        }
        (pruned.manifests, pruned.kept) = (old.len() as u64, kept.len() as u64);
        let needed = self.needed_parts(&kept).await?;
        if !options.dry_run {
            self.delete_all(old.into_iter().map(manifest_name), lock).await?;
        }
        let parts = self.store.list("parts").await?;
        let is_unused =
            |entry: &&Entry| !needed.contains(&entry.name) && lock.time.saturating_sub(entry.modified) > MIN_AGE;
        let unused: Vec<&Entry> = parts.iter().filter(is_unused).collect();
        (pruned.parts, pruned.bytes) = (unused.len() as u64, unused.iter().map(|entry| entry.bytes).sum());
        if !options.dry_run {
            self.delete_all(unused.into_iter().map(|entry| part_name(&entry.name)), lock).await?;
        }
        Ok(pruned)
    }

    /// Returns the names of all parts of manifests, including the lists.
    async fn needed_parts(&self, sequences: &[u64]) -> Result<HashSet<String>, RemoteError> {
        let read = |sequence: u64| async move {
            let name = manifest_name(sequence);
            let raw = self.store.get(&name, crate::manifest::MAX_MANIFEST_BYTES).await?;
            let raw = raw.ok_or_else(|| RemoteError::damaged(&name, "it is missing"))?;
            let (manifest, _) = crate::manifest::RemoteManifest::decode(&raw, sequence, &self.trust.keys)?;
            let list = self.read_list(&manifest).await?;
            Ok::<_, RemoteError>((manifest.list, list.parts))
        };
        let mut needed = HashSet::new();
        let mut lists = stream::iter(sequences.iter().copied()).map(read).buffer_unordered(MAX_LISTS);
        while let Some((list, parts)) = lists.try_next().await? {
            needed.insert(list);
            needed.extend(parts.into_iter().map(|part| part.blake3));
        }
        Ok(needed)
    }

    async fn delete_all(&self, names: impl Iterator<Item = String>, lock: &Lock) -> Result<(), RemoteError> {
        let delete = |name: String| async move {
            lock.check_time()?;
            self.store.delete(&name).await
        };
        stream::iter(names).map(delete).buffer_unordered(PARALLEL).try_collect().await
    }

    /// Checks the signatures of all manifests, and that all of their parts exist with the right size. With `reads`,
    /// also downloads every part and checks its hash.
    ///
    /// # Errors
    /// Fails if there is no remote, or the store cannot be read. Damage is part of the result.
    pub fn verify(&self, reads: bool) -> Result<Verified, RemoteError> {
        self.runtime.block_on(async {
            let mut verified = Verified::default();
            let manifests = self.read_manifests().await?;
            let stored = self.store.list("parts").await?;
            let stored: HashMap<String, u64> = stored.into_iter().map(|entry| (entry.name, entry.bytes)).collect();
            let mut parts: HashMap<String, ArtefactPart> = HashMap::new();
            verified.manifests = manifests.len() as u64;
            for listed in &manifests {
                self.verify_manifest(listed, &mut parts, &mut verified).await?;
            }
            verified.parts = parts.len() as u64;
            verified.bytes = parts.values().map(|part| part.compressed).sum();
            verified.unused = stored.keys().filter(|name| !parts.contains_key(*name)).count() as u64;
            let mut present = Vec::new();
            for part in parts.into_values() {
                let name = part_name(&part.blake3);
                match stored.get(&part.blake3) {
                    None => verified.problems.push(format!("{name} is missing")),
                    Some(bytes) if *bytes != part.compressed => {
                        verified.problems.push(format!("{name} has {bytes} bytes, not {}", part.compressed));
                    }
                    Some(_) => present.push(part),
                }
            }
            if reads {
                let read = |part: ArtefactPart| async move {
                    let name = part_name(&part.blake3);
                    let problem = match self.store.get(&name, part.compressed).await? {
                        None => Some("is missing".to_owned()),
                        Some(bytes) => check(&part, &bytes).err().map(|what| format!("is damaged: {what}")),
                    };
                    Ok::<_, RemoteError>(problem.map(|problem| format!("{name} {problem}")))
                };
                let problems: Vec<Option<String>> =
                    stream::iter(present).map(read).buffer_unordered(PARALLEL).try_collect().await?;
                verified.problems.extend(problems.into_iter().flatten());
            }
            verified.problems.sort_unstable();
            Ok(verified)
        })
    }

    /// Checks one manifest, and collects its parts.
    async fn verify_manifest(
        &self,
        listed: &Listed,
        parts: &mut HashMap<String, ArtefactPart>,
        verified: &mut Verified,
    ) -> Result<(), RemoteError> {
        if let Err(error) = self.accept(listed) {
            verified.problems.push(error.to_string());
        }
        let manifest = &listed.manifest;
        match self.read_list(manifest).await {
            Ok(list) => parts.extend(list.parts.into_iter().map(|part| (part.blake3.clone(), part))),
            Err(error @ (RemoteError::Damaged { .. } | RemoteError::TooLarge(_))) => {
                verified.problems.push(format!("manifest {}: {error}", manifest.sequence));
            }
            Err(error) => return Err(error),
        }
        let list = ArtefactPart {
            name: "list".to_owned(),
            length: manifest.list_length,
            compressed: manifest.list_bytes,
            blake3: manifest.list.clone(),
        };
        parts.insert(manifest.list.clone(), list);
        Ok(())
    }
}
