//! Prunes and verifies a remote.

use std::collections::{HashMap, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::error::RemoteError;
use crate::list::ListReader;
use crate::locks::Lock;
use crate::part::StoredPart;
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
    /// Number of different objects of parts and lists.
    pub parts: u64,
    /// Size of these objects in bytes.
    pub bytes: u64,
    /// Number of objects that no manifest needs.
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

    /// Returns the names of the objects of manifests below `parts`.
    async fn needed_parts(&self, sequences: &[u64]) -> Result<HashSet<String>, RemoteError> {
        let reader = &ListReader::new(self, None);
        let read = |sequence: u64| async move {
            let listed = self.read_manifest(sequence, 0).await?;
            let listed = listed.ok_or_else(|| RemoteError::damaged(manifest_name(sequence), "it is missing"))?;
            Ok::<_, RemoteError>(reader.read(&listed.manifest).await?.0.objects())
        };
        let mut needed = HashSet::new();
        let mut lists = stream::iter(sequences.iter().copied()).map(read).buffer_unordered(MAX_LISTS);
        while let Some(objects) = lists.try_next().await? {
            needed.extend(objects.iter().map(StoredPart::object));
        }
        drop(lists);
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
            let mut parts: HashMap<String, StoredPart> = HashMap::new();
            verified.manifests = manifests.len() as u64;
            let reader = ListReader::new(self, None);
            for listed in &manifests {
                self.verify_manifest(listed, &reader, &mut parts, &mut verified).await?;
            }
            verified.parts = parts.len() as u64;
            verified.bytes = parts.values().map(|stored| stored.part.compressed).sum();
            verified.unused = stored.keys().filter(|name| !parts.contains_key(*name)).count() as u64;
            let mut checked = Vec::new();
            for (object, part) in parts {
                match stored.get(&object) {
                    None => verified.problems.push(format!("{} is missing", part_name(&object))),
                    // Another version of zstd may have written an object of another size.
                    Some(bytes) if reads || *bytes != part.part.compressed => checked.push(part),
                    Some(_) => {}
                }
            }
            let read = |part: StoredPart| async move {
                match self.read_part(&part, None).await {
                    Ok(_) => Ok(None),
                    Err(error @ RemoteError::Damaged { .. }) => Ok(Some(error.to_string())),
                    Err(error) => Err(error),
                }
            };
            let mut problems = stream::iter(checked).map(read).buffer_unordered(PARALLEL);
            while let Some(problem) = problems.try_next().await? {
                verified.problems.extend(problem);
            }
            drop(problems);
            verified.problems.sort_unstable();
            verified.problems.dedup();
            Ok(verified)
        })
    }

    /// Checks one manifest, and collects its parts.
    async fn verify_manifest(
        &self,
        listed: &Listed,
        reader: &ListReader<'_>,
        parts: &mut HashMap<String, StoredPart>,
        verified: &mut Verified,
    ) -> Result<(), RemoteError> {
        if let Err(error) = self.accept(listed) {
            verified.problems.push(error.to_string());
        }
        let manifest = &listed.manifest;
        match reader.read(manifest).await {
            Ok((list, _)) => parts.extend(list.objects().into_iter().map(|object| (object.object(), object))),
            Err(error @ (RemoteError::Damaged { .. } | RemoteError::TooLarge(_))) => {
                verified.problems.push(format!("manifest {}: {error}", manifest.sequence));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
