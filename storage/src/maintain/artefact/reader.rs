//! Imports an artefact as the index of a project. Nothing in the artefact is trusted.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::check::{Checker, Limits};
use super::manifest::{ArtefactManifest, ArtefactPart, Shard};
use super::part::{Frame, PartReader};
use super::{HEADER, MAGIC, MAX_MANIFEST_BYTES, PARTS, VERSION};
use crate::environment::Environment;
use crate::error::StorageError;
use crate::maintain::canonical::segment_info;
use crate::maintain::replacement::Replacement;
use crate::manifest::{FORMAT_VERSION, Manifest, SegmentInfo};
use crate::opening::OpenMode;
use crate::project::{ProjectDirectory, keep_out_of_git};
use crate::read::Snapshot;
use crate::trust::KnownIndexes;
use crate::workers::Workers;
use crate::write::ChunkBatch;

/// Context of an import.
#[derive(Debug, Clone, Copy)]
pub struct ImportContext<'a> {
    /// The path of the artefact, or another name for it in errors.
    pub name: &'a Path,
    /// See [`Manifest::root`].
    pub root: &'a str,
    /// The current time in Unix seconds.
    pub now: i64,
    /// The store that records the id of the new index.
    pub known: &'a KnownIndexes,
    /// Threads that check the artefact and build the rows of the new index.
    pub workers: Workers,
}

impl Environment {
    /// Imports an artefact as the index of a project, given its `.aurora` directory. The existing index is replaced in
    /// one step, after the whole new index has been written and verified. Readers keep reading the index that they have
    /// opened. The access history does not change.
    ///
    /// # Errors
    /// Fails if the input is not a valid artefact of this version, or if the index cannot be written. On an error, the
    /// existing index is unchanged.
    pub fn import(
        directory: &Path,
        artefact: &mut dyn Read,
        context: ImportContext<'_>,
    ) -> Result<ArtefactManifest, StorageError> {
        let mut input = Input { inner: artefact, name: context.name };
        let announced = input.manifest()?;
        if let Some(Shard { number, count, .. }) = &announced.shard {
            let what = format!("{} is only shard {number} of {count} of an index", context.name.display());
            return Err(StorageError::Shards(what));
        }
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        keep_out_of_git(&home)?;
        let mut replacement = Replacement::begin(&home, context.known)?;
        let bytes = input.write_rows(&announced, &mut replacement, context.workers)?;
        let counted = |info| SegmentInfo { terms: announced.terms, postings: announced.postings, bytes, ..info };
        let segment = segment_info(announced.chunks).map(counted);
        let live = (0..announced.chunks).collect();
        let check = |snapshot: &Snapshot| verify(snapshot, &announced, context);
        conclude(directory, replacement, &announced, segment, live, context, check)?;
        Ok(announced)
    }
}

/// Publishes the rows of an imported artefact as the index of the project if `check` accepts them. `live` contains the
/// ids of all chunks. Returns the manifest of the index.
pub(super) fn conclude(
    directory: &Path,
    mut replacement: Replacement,
    announced: &ArtefactManifest,
    segment: Option<SegmentInfo>,
    live: RoaringBitmap,
    context: ImportContext<'_>,
    check: impl FnOnce(&Snapshot) -> Result<(), StorageError>,
) -> Result<Manifest, StorageError> {
    let manifest = Manifest {
        generation: generation_before(directory)? + 1,
        model: announced.model.clone(),
        head_commit: announced.head_commit.clone(),
        root: context.root.to_owned(),
        fingerprints: announced.fingerprints.clone(),
        columns: announced.columns.clone(),
        unfinished: announced.unfinished.clone(),
        created: context.now,
        updated: context.now,
        complete: announced.complete,
        imported: true,
        chunk_count: u64::from(announced.chunks),
        file_count: announced.files,
        field_totals: announced.field_totals,
        next_segment: segment.iter().map(|segment| segment.id + 1).sum(),
        next_chunk_id: segment.as_ref().map_or(0, |segment| segment.end_chunk),
        segments: segment.into_iter().collect(),
        ..Manifest::empty()
    };
    let snapshot = replacement.complete(&manifest, live)?;
    check(&snapshot)?;
    drop(snapshot);
    replacement.finish()?;
    Ok(manifest)
}

/// Verifies the whole index with the rows of an artefact.
pub(super) fn verify(
    snapshot: &Snapshot,
    announced: &ArtefactManifest,
    context: ImportContext<'_>,
) -> Result<(), StorageError> {
    let report = snapshot.verify_with(context.workers);
    if let Some(problem) = report.problems.into_iter().next() {
        return Err(damaged(context.name, "content", problem));
    }
    if report.vectors != announced.vectors {
        let what = format!("it announces {} vectors, some of which belong to no chunk", announced.vectors);
        return Err(damaged(context.name, "vectors", what));
    }
    Ok(())
}

/// Returns the generation of the current index; 0 if there is no usable index. The caller holds the writer's lock.
fn generation_before(directory: &Path) -> Result<u64, StorageError> {
    match Environment::open(directory, OpenMode::Existing).and_then(|environment| environment.snapshot()) {
        Ok(snapshot) => Ok(snapshot.manifest().generation),
        Err(StorageError::NoIndex { .. }) => Ok(0),
        Err(error) if error.unusable_index().is_some() => Ok(0),
        Err(error) => Err(error),
    }
}

/// An artefact being read.
pub(super) struct Input<'r> {
    pub(super) inner: &'r mut dyn Read,
    pub(super) name: &'r Path,
}

impl Input<'_> {
    /// Reads and checks the header and the manifest.
    pub(super) fn manifest(&mut self) -> Result<ArtefactManifest, StorageError> {
        let head = self.read_up_to(HEADER as u64)?;
        let Some(rest) = head.strip_prefix(MAGIC) else {
            let reason = if head.is_empty() { "it is empty" } else { "it does not start with an artefact header" };
            return Err(StorageError::NotArtefact { path: self.name.to_owned(), reason });
        };
        let (Some((version, rest)), HEADER) = (rest.split_first_chunk(), head.len()) else {
            return Err(self.damaged("header", "it ends too early".to_owned()));
        };
        self.check_version("artefact version", u32::from_le_bytes(*version), VERSION)?;
        let Some((length, hash)) = rest.split_first_chunk() else {
            return Err(self.damaged("header", "it ends too early".to_owned()));
        };
        let length = u32::from_le_bytes(*length);
        if length > MAX_MANIFEST_BYTES {
            return Err(self.damaged("header", format!("a manifest of {length} bytes is too long")));
        }
        let json = self.read_up_to(u64::from(length))?;
        if json.len() != length as usize {
            return Err(self.damaged("manifest", "it ends too early".to_owned()));
        }
        if blake3::hash(&json).as_bytes() != hash {
            return Err(self.damaged("manifest", "its checksum is wrong".to_owned()));
        }
        // The manifest of another format may have other fields, so the version is checked first.
        let loose: Result<serde_json::Value, _> = serde_json::from_slice(&json);
        let format = loose.ok().and_then(|manifest| manifest.get("index_format")?.as_u64()?.try_into().ok());
        if let Some(format) = format {
            self.check_version("index format", format, FORMAT_VERSION)?;
        }
        let manifest: ArtefactManifest =
            serde_json::from_slice(&json).map_err(|error| self.damaged("manifest", error.to_string()))?;
        manifest.check().map_err(|what| self.damaged("manifest", what))?;
        Ok(manifest)
    }

    /// Writes the rows of all parts. Returns the size of the dictionary and the postings in bytes.
    fn write_rows(
        &mut self,
        announced: &ArtefactManifest,
        to: &mut Replacement,
        workers: Workers,
    ) -> Result<u64, StorageError> {
        let dimensions = announced.model.as_ref().map(|model| model.dimensions);
        let limits = Limits { chunks: announced.chunks, dimensions };
        let columns: Arc<[_]> = announced.columns.clone().into();
        let mut checker = Checker::new(limits, &columns);
        let name = self.name;
        workers.in_order(
            |(part, batch): (&str, ChunkBatch)| {
                batch.rows(&columns).map_err(|error| damaged(name, part, error.to_string()))
            },
            |rows: Result<Vec<_>, _>| rows?.into_iter().try_for_each(|operation| to.committer().push(operation)),
            |batches| {
                for ((table, _), part) in PARTS.into_iter().zip(&announced.parts) {
                    let damaged = |what| damaged(name, &part.name, what);
                    self.read_part(
                        part,
                        workers,
                        |frame| limits.check(table, &frame),
                        |frame| {
                            let frame = frame.map_err(damaged)?;
                            let size = frame.size;
                            batches.push(size, (&part.name, checker.push(table, frame).map_err(damaged)?))
                        },
                    )?;
                    batches.push(0, (&part.name, checker.end(table).map_err(damaged)?))?;
                }
                Ok(())
            },
        )?;
        self.end()?;
        if (checker.files, checker.vectors) != (announced.files, announced.vectors) {
            return Err(self.damaged("manifest", "its number of files or vectors is wrong".to_owned()));
        }
        if checker.unfinished.rows != announced.unfinished.rows {
            return Err(self.damaged("manifest", "its numbers of unfinished rows are wrong".to_owned()));
        }
        Ok(checker.segment_bytes)
    }

    /// Reads the next part. The threads of `workers` call `check` for every frame, and `each` receives the results in
    /// order.
    pub(super) fn read_part<T: Send>(
        &mut self,
        part: &ArtefactPart,
        workers: Workers,
        check: impl Fn(Frame) -> T + Sync,
        each: impl FnMut(T) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let name = self.name;
        let read_error = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData => damaged(name, &part.name, error.to_string()),
            _ => StorageError::io(name, error),
        };
        let mut reader = PartReader::new(part, &mut *self.inner);
        workers.in_order(check, each, |frames| {
            while let Some(frame) = reader.next().map_err(read_error)? {
                frames.push(frame.size(), frame)?;
            }
            Ok(())
        })?;
        reader.finish().map_err(read_error)
    }

    /// Checks that the artefact ends after its last part.
    pub(super) fn end(&mut self) -> Result<(), StorageError> {
        match self.read_up_to(1)?.is_empty() {
            true => Ok(()),
            false => Err(self.damaged("end", "it continues after the last part".to_owned())),
        }
    }

    /// Reads `length` bytes, or as many as the input has.
    fn read_up_to(&mut self, length: u64) -> Result<Vec<u8>, StorageError> {
        let mut bytes = Vec::new();
        let read = (&mut *self.inner).take(length).read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| StorageError::io(self.name, error))
    }

    fn check_version(&self, what: &'static str, found: u32, expected: u32) -> Result<(), StorageError> {
        if found == expected {
            Ok(())
        } else {
            Err(StorageError::ArtefactVersion { path: self.name.to_owned(), what, found, expected })
        }
    }

    pub(super) fn damaged(&self, part: &str, what: String) -> StorageError {
        damaged(self.name, part, what)
    }
}

/// Creates the error for a damaged artefact.
pub(super) fn damaged(name: &Path, part: &str, what: String) -> StorageError {
    StorageError::ArtefactDamaged { path: name.to_owned(), part: part.to_owned(), what }
}
