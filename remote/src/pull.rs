//! Pulls an index from a remote.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use aurora_confined::Directory;
use aurora_storage::{
    ArtefactPart, Environment, FORMAT_VERSION, ImportContext, Manifest, ProjectDirectory, StorageError, Terms,
};
use futures_util::{StreamExt, stream};
use serde::Serialize;

use crate::error::RemoteError;
use crate::remote::{Listed, Remote, part_name};
use crate::store::PARALLEL;

/// Context of a pull.
#[derive(Clone, Copy)]
pub struct PullContext<'a> {
    /// The `.aurora` directory of the project.
    pub directory: &'a Path,
    /// Context of the import.
    pub import: ImportContext<'a>,
    /// Computes the terms of a chunk.
    pub terms: Terms<'a>,
    /// Called with the number of downloaded bytes, and the number of bytes to download, first with 0 and then after each
    /// part.
    pub progress: &'a dyn Fn(u64, u64),
}

/// The result of a pull.
#[derive(Debug, Clone, Serialize)]
pub struct Pulled {
    /// Number of parts that were downloaded.
    pub downloaded_parts: u64,
    /// Size of the downloaded parts in bytes.
    pub downloaded_bytes: u64,
    /// Downloaded bytes for each group of parts.
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
        let list = self.runtime.block_on(self.read_list(manifest))?;
        let cache = PartCache::open(context.directory)?;
        let mut wanted = HashSet::new();
        let mut missing = Vec::new();
        for part in &list.parts {
            if wanted.insert(part.blake3.as_str()) && cache.read(part).is_err() {
                missing.push(part);
            }
        }
        let mut pulled = Pulled {
            downloaded_parts: 0,
            downloaded_bytes: 0,
            downloaded_by_group: BTreeMap::new(),
            index: Manifest::default(),
        };
        let total = missing.iter().map(|part| part.compressed).sum();
        (context.progress)(0, total);
        self.runtime.block_on(async {
            let download = |part: &'_ ArtefactPart| {
                let part = part.clone();
                async move {
                    let bytes = self.store.get(&part_name(&part.blake3), part.compressed).await?;
                    Ok::<_, RemoteError>((part, bytes))
                }
            };
            let mut downloads = stream::iter(missing).map(download).buffer_unordered(PARALLEL);
            while let Some(downloaded) = downloads.next().await {
                let (part, bytes) = downloaded?;
                let name = part_name(&part.blake3);
                let bytes = bytes.ok_or_else(|| RemoteError::damaged(&name, "it is missing"))?;
                check(&part, &bytes).map_err(|what| RemoteError::damaged(&name, what))?;
                cache.write(&part, &bytes)?;
                pulled.downloaded_parts += 1;
                pulled.downloaded_bytes += part.compressed;
                *pulled.downloaded_by_group.entry(part.name).or_default() += part.compressed;
                (context.progress)(pulled.downloaded_bytes, total);
            }
            Ok::<_, RemoteError>(())
        })?;
        let mut read = |part: &ArtefactPart| {
            if self.store.stopper.is_stopped() {
                return Err(cache.storage_error(io::ErrorKind::Interrupted.into()));
            }
            cache.read(part).map_err(|source| cache.storage_error(source))
        };
        let PullContext { directory, import, terms, .. } = context;
        let index = Environment::import_divided(directory, &list, &manifest.digest, &mut read, terms, import);
        pulled.index = index.or_else(|error| self.store.check_running().and(Err(error.into())))?;
        cache.retain(&wanted);
        Ok(pulled)
    }
}

/// Downloaded parts in the `.aurora` directory. Every read checks the hash.
struct PartCache {
    directory: Directory,
}

impl PartCache {
    fn open(project: &Path) -> Result<Self, RemoteError> {
        let io = |source| RemoteError::Io { path: project.join(ProjectDirectory::PARTS), source };
        let home = ProjectDirectory::at(project).create().map_err(io)?;
        Ok(Self { directory: home.create_directory(ProjectDirectory::PARTS).map_err(io)? })
    }

    fn read(&self, part: &ArtefactPart) -> io::Result<Vec<u8>> {
        let bytes = self.directory.read(&part.blake3, part.compressed)?;
        check(part, &bytes).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))?;
        Ok(bytes)
    }

    fn write(&self, part: &ArtefactPart, bytes: &[u8]) -> Result<(), RemoteError> {
        let written = self.directory.replace(&part.blake3, |file| file.write_all(bytes));
        written.map_err(|error| self.storage_error(error).into())
    }

    /// Removes all other parts. Parts that cannot be removed stay until the next pull.
    fn retain(&self, wanted: &HashSet<&str>) {
        for (name, _) in self.directory.entries().unwrap_or_default() {
            if !name.to_str().is_some_and(|name| wanted.contains(name)) {
                drop(self.directory.remove(&name));
            }
        }
    }

    fn storage_error(&self, source: io::Error) -> StorageError {
        StorageError::from_io(self.directory.path(), source)
    }
}

/// Checks the bytes of a part.
pub(crate) fn check(part: &ArtefactPart, bytes: &[u8]) -> Result<(), &'static str> {
    if bytes.len() as u64 != part.compressed {
        return Err("it has the wrong length");
    }
    if blake3::hash(bytes).to_hex().as_str() != part.blake3 {
        return Err("its checksum is wrong");
    }
    Ok(())
}
