//! Pulls an index from a remote.

use std::collections::BTreeMap;
use std::path::Path;

use aurora_storage::{Environment, FORMAT_VERSION, ImportContext, Manifest, StorageError, Terms};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::cache::PartCache;
use crate::error::RemoteError;
use crate::list::{LIST, ListReader};
use crate::remote::{Listed, Remote};
use crate::signature::Signature;
use crate::store::PARALLEL;

/// Context of a pull.
#[derive(Clone, Copy)]
pub struct PullContext<'a> {
    /// The `.aurora` directory of the project.
    pub directory: &'a Path,
    /// Name and version of the program.
    pub program: &'a str,
    /// Context of the import.
    pub import: ImportContext<'a>,
    /// Computes the terms of a chunk.
    pub terms: Terms<'a>,
    /// Called with the number of downloaded bytes and the number of bytes to download, before the first part, after
    /// each part, and at the end with equal numbers.
    pub progress: &'a dyn Fn(u64, u64),
}

/// The result of a pull.
#[derive(Debug, Clone, Serialize)]
pub struct Pulled {
    /// Number of objects with parts of the index that were downloaded.
    pub downloaded_parts: u64,
    /// Size of all downloaded objects in bytes.
    pub downloaded_bytes: u64,
    /// Downloaded bytes for each group of parts, and for the list of parts.
    pub downloaded_by_group: BTreeMap<String, u64>,
    /// The manifest of the new index.
    #[serde(skip)]
    pub index: Manifest,
}

impl Remote {
    /// Downloads the missing parts of an index, and replaces the index of a project. Downloaded parts stay in a cache
    /// in the `.aurora` directory, so that an interrupted pull continues, and the next pull downloads only the
    /// differences.
    ///
    /// # Errors
    /// Fails if the manifest is not accepted or has another format, if a part is missing or damaged, or if the index
    /// cannot be written. On an error, the existing index is unchanged.
    ///
    /// Without the signature of a trusted key, or if another version of the program pushed the index, also fails if the
    /// new index is not valid, or does not have the digest in the manifest.
    pub fn pull(&self, listed: &Listed, context: PullContext<'_>) -> Result<Pulled, RemoteError> {
        self.accept(listed)?;
        let manifest = &listed.manifest;
        if manifest.index_format != FORMAT_VERSION {
            return Err(RemoteError::Version {
                sequence: manifest.sequence,
                found: manifest.index_format,
                expected: FORMAT_VERSION,
                program: manifest.program.clone(),
            });
        }
        let cache = PartCache::open(context.directory)?;
        let (list, list_bytes) = self.runtime.block_on(ListReader::new(self, Some(&cache)).read(manifest))?;
        let (wanted, cached) = (list.objects(), cache.names());
        let missing: Vec<_> = wanted.iter().filter(|stored| !cached.contains(&stored.object())).collect();
        let mut pulled = Pulled {
            downloaded_parts: 0,
            downloaded_bytes: list_bytes,
            downloaded_by_group: BTreeMap::from([(LIST.to_owned(), list_bytes)]),
            index: Manifest::default(),
        };
        let total = list_bytes + missing.iter().map(|stored| stored.part.compressed).sum::<u64>();
        (context.progress)(list_bytes, total);
        self.runtime.block_on(async {
            let download = async |stored| Ok::<_, RemoteError>((self.download(stored, &cache).await?, &stored.group));
            let mut downloads = stream::iter(missing).map(download).buffer_unordered(PARALLEL);
            while let Some((bytes, group)) = downloads.try_next().await? {
                pulled.count(bytes, group.clone());
                (context.progress)(pulled.downloaded_bytes, total);
            }
            Ok::<_, RemoteError>(())
        })?;
        (context.progress)(total, total);
        let mut failure = None;
        let mut parts = list.parts.iter().map(|stored| {
            self.store.check_running().map_err(|error| StorageError::Refused(error.to_string()))?;
            // Downloads objects of the cache again that are damaged.
            match self.runtime.block_on(self.read_part(stored, Some(&cache))) {
                Ok((rows, bytes)) => {
                    pulled.count(bytes, stored.group.clone());
                    Ok((stored.group.clone(), rows))
                }
                Err(error) => Err(StorageError::Refused(failure.insert(error).to_string())),
            }
        });
        let PullContext { directory, import, terms, program, .. } = context;
        // A push reads the whole index, and the signature covers the hashes of all parts.
        let is_known = matches!(listed.signature, Signature::Trusted(_)) && manifest.program == program;
        let digest = (!is_known).then_some(manifest.digest.as_str());
        let imported = Environment::import_divided(directory, &list.index, digest, &mut parts, terms, import);
        pulled.index = match (imported, failure) {
            (Err(_), Some(error)) => return Err(error),
            (imported, _) => imported.or_else(|error| self.store.check_running().and(Err(error.into())))?,
        };
        cache.retain(&wanted);
        Ok(pulled)
    }
}

impl Pulled {
    /// Counts downloaded bytes of a part.
    fn count(&mut self, bytes: u64, group: String) {
        self.downloaded_parts += u64::from(bytes > 0);
        self.downloaded_bytes += bytes;
        *self.downloaded_by_group.entry(group).or_default() += bytes;
    }
}
