//! Import: an artefact as the index of a project. Nothing in it is trusted.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::check::{Checker, Limits};
use super::manifest::ArtefactManifest;
use super::part::{Frame, PartError, PartReader};
use super::{HEADER, MAGIC, MAX_MANIFEST, PARTS, VERSION};
use crate::canonical::SEGMENT;
use crate::chunk_rows::ChunkBatch;
use crate::env::Environment;
use crate::error::StorageError;
use crate::manifest::{FORMAT_VERSION, Manifest, SegmentInfo};
use crate::opening::OpenMode;
use crate::project::{ProjectDirectory, keep_out_of_git};
use crate::replace::Replacement;
use crate::trust::KnownIndexes;
use crate::workers::Workers;

/// Where and when an artefact arrives.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The file, or what errors call it.
    pub name: &'a Path,
    /// See [`Manifest::root`].
    pub root: &'a str,
    /// Unix seconds of now.
    pub now: i64,
    /// To which the id of the new index is announced.
    pub known: &'a KnownIndexes,
    /// Threads that check the artefact and make the rows of the new index.
    pub workers: Workers,
}

impl Environment {
    /// Makes an artefact the index of a project, given its `.aurora` directory. The index that was there is replaced in one
    /// step once the new one has been written and verified as a whole; readers go on reading what they have opened. The
    /// history of accesses stays.
    ///
    /// # Errors
    /// Says what the input is if it is no sound artefact of this version, or why the index cannot be written. The old
    /// index stays then.
    pub fn import(
        directory: &Path,
        artefact: &mut dyn Read,
        arrival: Arrival<'_>,
    ) -> Result<ArtefactManifest, StorageError> {
        let mut input = Input { inner: artefact, name: arrival.name };
        let announced = input.manifest()?;
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        keep_out_of_git(&home)?;
        let mut replacement = Replacement::begin(&home, arrival.known)?;
        let generation = generation_before(directory)? + 1;
        let manifest = input.rows(&announced, &mut replacement, arrival.workers)?;
        let manifest = Manifest {
            generation,
            imported: true,
            root: arrival.root.to_owned(),
            created: arrival.now,
            updated: arrival.now,
            ..manifest
        };
        let snapshot = replacement.complete(&manifest)?;
        let report = snapshot.verify_with(arrival.workers);
        if let Some(problem) = report.problems.into_iter().next() {
            return Err(input.damaged("content", problem));
        }
        if report.vectors != announced.vectors {
            return Err(input.damaged("vectors", format!("{} of them belong to no chunk", announced.vectors)));
        }
        drop(snapshot);
        replacement.finish()?;
        Ok(announced)
    }
}

/// The generation that is there; 0 without a usable index. The caller holds the writer's lock.
fn generation_before(directory: &Path) -> Result<u64, StorageError> {
    match Environment::open(directory, OpenMode::Existing).and_then(|environment| environment.snapshot()) {
        Ok(snapshot) => Ok(snapshot.manifest().generation),
        Err(StorageError::NoIndex { .. }) => Ok(0),
        Err(error) if error.unusable_index().is_some() => Ok(0),
        Err(error) => Err(error),
    }
}

/// An artefact being read.
struct Input<'r> {
    inner: &'r mut dyn Read,
    name: &'r Path,
}

impl Input<'_> {
    /// Reads and checks all that stands before the parts.
    fn manifest(&mut self) -> Result<ArtefactManifest, StorageError> {
        let mut head = [0; HEADER];
        let read = self.read_up_to(&mut head)?;
        let Some(rest) = head[..read].strip_prefix(MAGIC) else {
            let reason = if read == 0 { "it is empty" } else { "it begins otherwise" };
            return Err(StorageError::NotArtefact { path: self.name.to_owned(), reason });
        };
        let (Some((version, rest)), HEADER) = (rest.split_first_chunk(), read) else {
            return Err(self.damaged("header", "it ends too early".to_owned()));
        };
        self.check_version("artefact version", u32::from_le_bytes(*version), VERSION)?;
        let Some((length, hash)) = rest.split_first_chunk() else {
            return Err(self.damaged("header", "it ends too early".to_owned()));
        };
        let length = u32::from_le_bytes(*length);
        if length > MAX_MANIFEST {
            return Err(self.damaged("header", format!("a manifest of {length} bytes is too long")));
        }
        let mut json = Vec::new();
        let io = |error| StorageError::io(self.name, error);
        (&mut *self.inner).take(u64::from(length)).read_to_end(&mut json).map_err(io)?;
        if json.len() != length as usize {
            return Err(self.damaged("manifest", "it ends too early".to_owned()));
        }
        if blake3::hash(&json).as_bytes() != hash {
            return Err(self.damaged("manifest", "its checksum is another one".to_owned()));
        }
        // Another format may have another manifest: the version is looked at first.
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

    /// Writes the rows of all parts, and returns the manifest of the index as far as they tell.
    fn rows(
        &mut self,
        announced: &ArtefactManifest,
        to: &mut Replacement,
        workers: Workers,
    ) -> Result<Manifest, StorageError> {
        let dimensions = announced.model.as_ref().map(|model| model.dimensions);
        let limits = Limits { chunks: announced.chunks, dimensions };
        let columns: Arc<[_]> = announced.columns.clone().into();
        let mut checker = Checker::new(limits, &columns);
        let name = self.name;
        workers.in_order(
            |(part, batch): (&str, ChunkBatch)| {
                batch.rows(&columns).map_err(|error| damaged(name, part, error.to_string()))
            },
            |rows: Result<Vec<_>, _>| rows?.into_iter().try_for_each(|operation| to.push(operation)),
            |batches| {
                for (table, part) in PARTS.into_iter().zip(&announced.parts) {
                    let damaged = |what| damaged(name, &part.name, what);
                    let unread = |error| match error {
                        PartError::Damaged(what) => damaged(what),
                        PartError::Unreadable(error) => StorageError::io(name, error),
                    };
                    let mut reader = PartReader::new(part, &mut *self.inner);
                    workers.in_order(
                        |frame: Frame| limits.check(table, &frame),
                        |frame| {
                            let frame = frame.map_err(damaged)?;
                            let size = frame.size;
                            batches.push(size, (&part.name, checker.push(table, frame).map_err(damaged)?))
                        },
                        |frames| {
                            while let Some(frame) = reader.next().map_err(unread)? {
                                frames.push(frame.size(), frame)?;
                            }
                            Ok(())
                        },
                    )?;
                    reader.finish().map_err(unread)?;
                    batches.push(0, (&part.name, checker.end(table).map_err(damaged)?))?;
                }
                Ok(())
            },
        )?;
        if self.read_up_to(&mut [0])? != 0 {
            return Err(self.damaged("end", "something follows the last part".to_owned()));
        }
        if (checker.files, checker.vectors) != (announced.files, announced.vectors) {
            return Err(self.damaged("manifest", "it counts other files or vectors than there are".to_owned()));
        }
        if checker.unfinished.rows != announced.unfinished.rows {
            return Err(self.damaged("manifest", "it counts other unfinished rows than there are".to_owned()));
        }
        let segment = SegmentInfo {
            id: SEGMENT,
            first_chunk: 0,
            end_chunk: announced.chunks,
            chunks: u64::from(announced.chunks),
            terms: announced.terms,
            postings: announced.postings,
            bytes: checker.segment_bytes,
        };
        let segments: Vec<_> = (announced.chunks > 0).then_some(segment).into_iter().collect();
        Ok(Manifest {
            model: announced.model.clone(),
            head_commit: announced.head_commit.clone(),
            fingerprints: announced.fingerprints.clone(),
            columns: announced.columns.clone(),
            unfinished: announced.unfinished.clone(),
            complete: announced.complete,
            chunk_count: u64::from(announced.chunks),
            file_count: announced.files,
            field_totals: announced.field_totals,
            next_segment: segments.len() as u32,
            segments,
            next_chunk_id: announced.chunks,
            ..Manifest::empty()
        })
    }

    /// Fills a buffer as far as the input goes.
    fn read_up_to(&mut self, buffer: &mut [u8]) -> Result<usize, StorageError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.inner.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StorageError::io(self.name, error)),
            }
        }
        Ok(filled)
    }

    fn check_version(&self, what: &'static str, found: u32, expected: u32) -> Result<(), StorageError> {
        if found == expected {
            Ok(())
        } else {
            Err(StorageError::ArtefactVersion { path: self.name.to_owned(), what, found, expected })
        }
    }

    fn damaged(&self, part: &str, what: String) -> StorageError {
        damaged(self.name, part, what)
    }
}

fn damaged(name: &Path, part: &str, what: String) -> StorageError {
    StorageError::ArtefactDamaged { path: name.to_owned(), part: part.to_owned(), what }
}
