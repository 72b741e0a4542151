//! Exports a snapshot as an artefact.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use aurora_confined::Directory;

use super::manifest::{ArtefactManifest, Shard};
use super::part::{Frame, FrameBuilder, LEVEL, PartWriter, SHARD_LEVEL};
use super::shard::{self, Counts};
use super::{HEADER, MAGIC, PARTS, SHARD_PARTS, UNFINISHED_PREFIX, VERSION};
use crate::error::StorageError;
use crate::maintain::canonical::{Canonical, Evidence};
use crate::manifest::FORMAT_VERSION;
use crate::read::{Snapshot, VectorBlockWriter};
use crate::tables::{Emit, Operation, Table, block_key};
use crate::workers::Workers;

impl Snapshot {
    /// Writes the generation to the file `target` as an artefact. `program` is the name and version of the program. An
    /// existing file is replaced in one step, after all data has been written to disk. The bytes do not depend on the
    /// number of `workers`.
    ///
    /// # Errors
    /// Fails if nothing has been published, if the index is damaged, if `target` exists and is not a file, or if the
    /// directory of `target` cannot be written. On an error, `target` is unchanged.
    pub fn export(&self, target: &Path, program: &str, workers: Workers) -> Result<ArtefactManifest, StorageError> {
        self.export_shard(target, program, None, workers)
    }

    /// Like [`Self::export`], for an index of one shard of a tree. With `None`, the index covers the whole tree. The
    /// index of a shard must have been written in one run, because its deleted chunks keep their ids.
    ///
    /// # Errors
    /// Returns the errors of [`Self::export`].
    pub fn export_shard(
        &self,
        target: &Path,
        program: &str,
        shard: Option<Shard>,
        workers: Workers,
    ) -> Result<ArtefactManifest, StorageError> {
        if target.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(StorageError::Refused(format!("{} exists and is not a file", target.display())));
        }
        // The target of a symbolic link is replaced, not the link.
        let real = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let target = real.as_path();
        let io = |error| StorageError::io(target, error);
        let directory = match target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED_PREFIX);
        // The file gets the permissions that the user's umask allows, and not those of a private temporary file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(directory).map_err(io)?;
        let export = Export { snapshot: self, target, shard, scratch: Some(directory), workers };
        let manifest = export.write(file.as_file_mut(), program)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(target).map_err(|error| io(error.error))?;
        if cfg!(unix) {
            Directory::open_root(directory).and_then(|directory| directory.synchronise()).map_err(io)?;
        }
        Ok(manifest)
    }

    /// Writes the generation to `out` as an artefact. `name` is the name of the output in errors. The parts are first
    /// written to temporary files in the system's temporary directory.
    ///
    /// # Errors
    /// Fails if nothing has been published, if the index is damaged, or if the output or a temporary file cannot be
    /// written.
    pub fn export_to(
        &self,
        out: &mut dyn Write,
        name: &Path,
        program: &str,
        workers: Workers,
    ) -> Result<ArtefactManifest, StorageError> {
        Export { snapshot: self, target: name, shard: None, scratch: None, workers }.write(out, program)
    }
}

/// The state of an export.
struct Export<'e> {
    snapshot: &'e Snapshot,
    target: &'e Path,
    shard: Option<Shard>,
    /// Directory of the temporary files of parts; `None` for the system's directory.
    scratch: Option<&'e Path>,
    workers: Workers,
}

impl Export<'_> {
    fn write(&self, out: &mut dyn Write, program: &str) -> Result<ArtefactManifest, StorageError> {
        let (manifest, files) = self.parts(program)?;
        let json = serde_json::to_vec(&manifest).map_err(|error| StorageError::encode("manifest", &error))?;
        let mut head = Vec::with_capacity(HEADER + json.len());
        head.extend_from_slice(MAGIC);
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&(json.len() as u32).to_le_bytes());
        head.extend_from_slice(blake3::hash(&json).as_bytes());
        head.extend_from_slice(&json);
        let written = out.write_all(&head).and_then(|()| {
            files.into_iter().try_for_each(|mut file| io::copy(&mut file, out).map(drop))?;
            out.flush()
        });
        written.map(|()| manifest).map_err(|error| self.io(error))
    }

    /// Writes the parts to temporary files, in their order in the manifest.
    fn parts(&self, program: &str) -> Result<(ArtefactManifest, Vec<File>), StorageError> {
        let known = self.snapshot.manifest();
        if known.generation == 0 {
            return Err(StorageError::Refused("nothing has been indexed yet".to_owned()));
        }
        let (tables, level) = match self.shard {
            Some(_) => (&SHARD_PARTS[..], SHARD_LEVEL),
            None => (&PARTS[..], LEVEL),
        };
        let mut parts = tables.iter().map(|(_, name)| self.start(name)).collect::<Result<Vec<_>, _>>()?;
        let compress = |(part, rows): (usize, Vec<u8>)| (part, Frame::new(&rows, level));
        let counts = self.workers.in_order(
            compress,
            |(part, frame)| frame.and_then(|frame| parts[part].push(&frame)).map_err(|error| self.io(error)),
            |frames| {
                let mut builders: Vec<_> = tables.iter().map(|(_, name)| FrameBuilder::new(name)).collect();
                let mut emit = |Operation { table, key, value }| {
                    let part = tables.iter().position(|(of_part, _)| *of_part == table);
                    let part = part.expect("every emitted row belongs to a part");
                    let rows = builders[part].push(&key, &value.unwrap_or_default()).map_err(|error| self.io(error))?;
                    rows.map_or(Ok(()), |rows| frames.push(rows.len(), (part, rows)))
                };
                let counts = match self.shard {
                    Some(_) => shard::rows(self.snapshot, self.workers, &mut emit)?,
                    None => self.canonical_rows(&mut emit)?,
                };
                for (part, builder) in builders.iter_mut().enumerate() {
                    builder.take().map_or(Ok(()), |rows| frames.push(rows.len(), (part, rows)))?;
                }
                Ok(counts)
            },
        )?;
        let finished = parts.into_iter().map(PartWriter::finish).collect::<io::Result<Vec<_>>>();
        let (parts, files): (Vec<_>, Vec<_>) = finished.map_err(|error| self.io(error))?.into_iter().unzip();
        let manifest = ArtefactManifest {
            index_format: FORMAT_VERSION,
            program: program.to_owned(),
            head_commit: known.head_commit.clone(),
            shard: self.shard.clone(),
            complete: self.snapshot.is_complete()?,
            model: known.model.clone(),
            fingerprints: known.fingerprints.clone(),
            columns: known.columns.clone(),
            unfinished: known.unfinished.clone(),
            files: known.file_count,
            chunks: self.snapshot.live().len() as u32,
            vectors: counts.vectors,
            terms: counts.terms,
            postings: counts.postings,
            field_totals: known.field_totals,
            parts,
        };
        manifest.check().map_err(StorageError::Refused)?;
        Ok((manifest, files))
    }

    /// Emits the rows of an index that was written in one run.
    fn canonical_rows(&self, emit: Emit<'_>) -> Result<Counts, StorageError> {
        let canonical = Canonical::new(self.snapshot, self.workers)?;
        canonical.bare_chunks(emit)?;
        canonical.files(Evidence::Omit, emit)?;
        canonical.representations(emit)?;
        canonical.bare_blames(emit)?;
        canonical.lengths(emit)?;
        let vectors = canonical.vectors(bare_block, emit)?;
        let segment = canonical.segment(emit)?;
        let (terms, postings) = segment.map_or((0, 0), |segment| (segment.terms, segment.postings));
        Ok(Counts { vectors, terms, postings })
    }

    fn start(&self, name: &'static str) -> Result<PartWriter, StorageError> {
        let file = match self.scratch {
            Some(directory) => tempfile::tempfile_in(directory),
            // `TMPDIR` may name a directory that does not exist.
            None => tempfile::tempfile().or_else(|error| match self.snapshot.path().parent() {
                Some(parent) => tempfile::tempfile_in(parent).map_err(|_| error),
                None => Err(error),
            }),
        };
        file.map(|file| PartWriter::new(name, file)).map_err(|error| self.io(error))
    }

    fn io(&self, error: io::Error) -> StorageError {
        StorageError::io(self.target, error)
    }
}

/// Returns the row of a block of vectors, if it has any vectors.
fn bare_block(vectors: VectorBlockWriter, block: u32) -> Vec<Operation> {
    let bare = Some(vectors.bare()).filter(|bare| !bare.is_empty());
    bare.into_iter().map(|bare| Operation::put(Table::Vectors, block_key(block), bare)).collect()
}
