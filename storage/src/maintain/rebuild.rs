//! Rebuilds the keyword index from the stored chunks, without reading the old keyword index.

use std::path::Path;

use aurora_inverted::{Inverter, LengthCodes, TermVector, Tombstones, length_code};

use crate::column::ColumnDeclaration;
use crate::environment::Environment;
use crate::error::StorageError;
use crate::maintain::canonical::{Canonical, Evidence, put_lengths};
use crate::maintain::replacement::Replacement;
use crate::manifest::Manifest;
use crate::opening::OpenMode;
use crate::read::{Chunk, Labels, NewChunk, Snapshot, VectorBlockWriter};
use crate::tables::Table;
use crate::trust::KnownIndexes;
use crate::workers::Workers;
use crate::write::{Inversion, SegmentInput, WriterOptions};

/// The tables of the keyword index. All of their rows can be derived from the chunks' records.
pub(crate) const KEYWORDS: [Table; 3] = [Table::Dictionary, Table::Postings, Table::Lengths];

/// Number of chunks that are inverted at a time.
const BLOCK_CHUNKS: usize = 2048;

impl Snapshot {
    /// Reads every row of the dictionary, the postings and the field lengths, and verifies its checksum. A run that
    /// changes little reads few of these rows, and would not find damage in the other rows.
    ///
    /// # Errors
    /// Returns the first damaged page or row.
    pub fn check_keywords(&self) -> Result<(), StorageError> {
        for table in KEYWORDS {
            let found = self.rows(table, &[]).try_fold(0, |found, row| row.map(|_| found + 1))?;
            if found != self.tree(table).entries {
                return Err(self.damaged(format!("rows of the table `{}` are missing", table.name())));
            }
        }
        Ok(())
    }
}

impl Environment {
    /// Rebuilds the dictionary, postings and field lengths from the stored chunks, given a project's `.aurora`
    /// directory. The old rows are not read, and may be damaged. `terms` receives a chunk and the index's custom
    /// columns, and returns the terms of the chunk. The columns of `options` are not used.
    ///
    /// Chunks get new ids, and all other data stays the same. Readers keep reading the index that they have opened. The
    /// id of the new index is recorded in `known`.
    ///
    /// # Errors
    /// Fails if there is no index, if another writer has it open, or if data outside the keyword index is damaged. On
    /// an error, the index is unchanged.
    pub fn rebuild_keywords(
        directory: &Path,
        known: &KnownIndexes,
        options: WriterOptions,
        terms: &(dyn Fn(&Chunk, &[ColumnDeclaration]) -> TermVector + Sync),
    ) -> Result<Manifest, StorageError> {
        let current = Self::open(directory, OpenMode::Existing)?;
        let mut replacement = Replacement::begin(&current.store.home, known)?;
        current.store.check_current()?;
        let snapshot = current.snapshot()?;
        let old = snapshot.manifest();
        let workers = Workers::new(options.threads);
        let canonical = Canonical::new(&snapshot, workers)?;
        let mut emit = |operation| replacement.committer().push(operation);
        canonical.content(Evidence::Keep, &mut emit)?;
        canonical.vectors(VectorBlockWriter::operations, &mut emit)?;
        let mut inversion = Inversion::begin(&current.store.home, options.memory / 2)?;
        let mut rows: Vec<LengthCodes> = Vec::with_capacity(canonical.len() as usize);
        let invert = |first: u32| {
            let (mut inverter, mut rows) = (Inverter::default(), Vec::with_capacity(BLOCK_CHUNKS));
            for (id, chunk) in canonical.whole_chunks(first..canonical.len().min(first + BLOCK_CHUNKS as u32)) {
                let chunk = chunk?;
                inverter.add(id, Labels::new(&NewChunk::from(&chunk), &old.columns).postings());
                let vector = terms(&chunk, &old.columns);
                inverter.add(id, vector.hashed());
                rows.push(vector.lengths().map(length_code));
            }
            Ok::<_, StorageError>((inverter.into_run(), rows))
        };
        workers.for_each((0..canonical.len()).step_by(BLOCK_CHUNKS), invert, |block| {
            let (run, mut codes) = block?;
            rows.append(&mut codes);
            if let Some(spill) = inversion.add(run) {
                inversion.add_file(spill.write()?);
            }
            Ok::<_, StorageError>(())
        })?;
        let segment = match canonical.segment_info() {
            Some(info) => {
                let input = SegmentInput {
                    info,
                    base: &snapshot,
                    segments: &[],
                    inversion: Some(&inversion),
                    length: &|id: u32| rows[id as usize],
                    tombstones: &Tombstones::default(),
                    new_is_live: true,
                };
                Some(input.write(options.threads, |operations| replacement.committer().push_sealed(operations))?)
            }
            None => None,
        };
        let mut emit = |operation| replacement.committer().push(operation);
        let field_totals = put_lengths(&rows, &mut emit)?;
        let manifest = Manifest { field_totals, ..canonical.manifest(old.generation + 1, segment) };
        drop(replacement.complete(&manifest)?);
        replacement.finish()?;
        Ok(manifest)
    }
}
