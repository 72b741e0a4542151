//! Export: a snapshot as an artefact.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use aurora_confined::Directory;

use super::manifest::{ArtefactManifest, ArtefactPart};
use super::part::PartWriter;
use super::{HEADER, MAGIC, PARTS, VERSION, name_of};
use crate::canonical::{Canonical, Evidence};
use crate::error::StorageError;
use crate::manifest::FORMAT_VERSION;
use crate::snapshot::Snapshot;
use crate::tables::{Operation, Table, block_key};
use crate::vectors::VectorBlockWriter;

/// A part that is ready: what the manifest says of it, and its bytes.
type Ready = (ArtefactPart, File);

impl Snapshot {
    /// Writes the generation to `target` as an artefact; `program` is the name and version of the program. A file that is
    /// there is replaced as a whole, in one step, once everything is on disk.
    ///
    /// # Errors
    /// When nothing has been published, the index is damaged, `target` is there and no file, or its directory cannot be
    /// written; then `target` is as it was.
    pub fn export(&self, target: &Path, program: &str) -> Result<ArtefactManifest, StorageError> {
        if target.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(StorageError::Refused(format!("{} is no file that can be replaced", target.display())));
        }
        // What a link leads to is replaced, not the link.
        let real = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let target = real.as_path();
        let io = |error| StorageError::io(target, error);
        let directory = match target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".aurora-export-");
        // As the user's mask has it for every other file, not for a secret.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(directory).map_err(io)?;
        let export = Export { snapshot: self, target, scratch: Some(directory) };
        let manifest = export.write(file.as_file_mut(), program)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(target).map_err(|error| io(error.error))?;
        if cfg!(unix) {
            Directory::open_root(directory).and_then(|directory| directory.synchronise()).map_err(io)?;
        }
        Ok(manifest)
    }

    /// Writes the generation to `out` as an artefact; `name` is what errors call it. Until all are ready, parts wait where
    /// the system has its temporary files.
    ///
    /// # Errors
    /// When nothing has been published, the index is damaged, or something cannot be written.
    pub fn export_to(&self, out: &mut dyn Write, name: &Path, program: &str) -> Result<ArtefactManifest, StorageError> {
        Export { snapshot: self, target: name, scratch: None }.write(out, program)
    }
}

/// Where the parts come from, and where they wait.
struct Export<'e> {
    snapshot: &'e Snapshot,
    target: &'e Path,
    scratch: Option<&'e Path>,
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

    /// Writes the parts to temporary files, in the order of [`PARTS`].
    fn parts(&self, program: &str) -> Result<(ArtefactManifest, Vec<File>), StorageError> {
        let known = self.snapshot.manifest();
        if known.generation == 0 {
            return Err(StorageError::Refused("nothing has been indexed yet".to_owned()));
        }
        let canonical = Canonical::new(self.snapshot)?;
        // The segment takes about as long as everything else.
        let (content, segment) = std::thread::scope(|scope| {
            let segment = || {
                let mut parts = [self.start(Table::Dictionary)?, self.start(Table::Postings)?];
                let info = canonical.segment(&mut |operation| {
                    self.push(&mut parts[usize::from(operation.table == Table::Postings)], operation)
                })?;
                Ok::<_, StorageError>((parts, info))
            };
            let thread = std::thread::Builder::new().name("aurora-export".to_owned()).spawn_scoped(scope, segment);
            let thread = thread.map_err(|error| self.io(error))?;
            let chunks = self.part(Table::Chunks, |emit| canonical.bare_chunks(emit))?.0;
            let files = self.part(Table::Files, |emit| canonical.files(Evidence::LeftOut, emit))?.0;
            let representations = self.part(Table::Representations, |emit| canonical.representations(emit))?.0;
            let blames = self.part(Table::Blames, |emit| canonical.bare_blames(emit))?.0;
            let lengths = self.part(Table::Lengths, |emit| canonical.lengths(emit))?.0;
            let (vectors, count) = self.part(Table::Vectors, |emit| {
                let bare = |vectors: VectorBlockWriter| Some(vectors.bare()).filter(|bare| !bare.is_empty());
                canonical.vectors(|block, vectors| match bare(vectors) {
                    Some(bare) => emit(Operation::put(Table::Vectors, block_key(block), bare)),
                    None => Ok(()),
                })
            })?;
            let segment = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok::<_, StorageError>((([chunks, files, representations, blames, lengths, vectors], count), segment))
        })?;
        let ((content, vectors), (segment, info)) = (content, segment);
        let segment: Vec<Ready> = segment.into_iter().map(|part| self.finish(part)).collect::<Result<_, _>>()?;
        let (parts, files): (Vec<_>, Vec<_>) = content.into_iter().chain(segment).unzip();
        debug_assert!(parts.iter().map(|part| part.name.as_str()).eq(PARTS.map(name_of)));
        let manifest = ArtefactManifest {
            index_format: FORMAT_VERSION,
            program: program.to_owned(),
            head_commit: known.head_commit.clone(),
            complete: self.snapshot.is_complete()?,
            model: known.model.clone(),
            fingerprints: known.fingerprints.clone(),
            columns: known.columns.clone(),
            unfinished: known.unfinished.clone(),
            files: known.file_count,
            chunks: canonical.len(),
            vectors,
            terms: info.as_ref().map_or(0, |info| info.terms),
            postings: info.as_ref().map_or(0, |info| info.postings),
            field_totals: known.field_totals,
            parts,
        };
        Ok((manifest, files))
    }

    /// Writes one part from beginning to end.
    fn part<T>(
        &self,
        table: Table,
        rows: impl FnOnce(&mut dyn FnMut(Operation) -> Result<(), StorageError>) -> Result<T, StorageError>,
    ) -> Result<(Ready, T), StorageError> {
        let mut part = self.start(table)?;
        let result = rows(&mut |operation| self.push(&mut part, operation))?;
        Ok((self.finish(part)?, result))
    }

    fn start(&self, table: Table) -> Result<PartWriter, StorageError> {
        let file = match self.scratch {
            Some(directory) => tempfile::tempfile_in(directory),
            // `TMPDIR` may name a directory that is not there.
            None => tempfile::tempfile().or_else(|error| match self.snapshot.path().parent() {
                Some(beside) => tempfile::tempfile_in(beside).map_err(|_| error),
                None => Err(error),
            }),
        };
        file.and_then(|file| PartWriter::new(name_of(table), file)).map_err(|error| self.io(error))
    }

    fn push(&self, part: &mut PartWriter, operation: Operation) -> Result<(), StorageError> {
        part.push(&operation.key, &operation.value.unwrap_or_default()).map_err(|error| self.io(error))
    }

    fn finish(&self, part: PartWriter) -> Result<Ready, StorageError> {
        part.finish().map_err(|error| self.io(error))
    }

    fn io(&self, error: io::Error) -> StorageError {
        StorageError::io(self.target, error)
    }
}
