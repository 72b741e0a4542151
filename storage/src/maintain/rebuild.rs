//! Rebuilds the keyword index from the stored chunks, without reading the old keyword index.

use std::path::Path;

use aurora_confined::Directory;
use aurora_inverted::{FIELDS, Inverter, LengthCodes, Run, TermVector, Tombstones, length_code};

use crate::column::ColumnDeclaration;
use crate::environment::Environment;
use crate::error::StorageError;
use crate::maintain::canonical::{Canonical, Evidence, put_lengths, segment_info};
use crate::maintain::replacement::Replacement;
use crate::manifest::{Manifest, SegmentInfo};
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

/// A function that receives a chunk and the custom columns of the index, and returns the terms of the chunk.
pub type Terms<'t> = &'t (dyn Fn(&Chunk, &[ColumnDeclaration]) -> TermVector + Sync);

/// Computes the dictionary, postings and field lengths of a new index from its chunks.
pub(crate) struct KeywordBuilder {
    inversion: Inversion,
    lengths: Vec<LengthCodes>,
}

impl KeywordBuilder {
    /// Creates a builder for about `chunks` chunks. The caller must hold the writer's lock in `home`.
    pub(crate) fn begin(home: &Directory, options: &WriterOptions, chunks: u32) -> Result<Self, StorageError> {
        // The number of chunks may be forged.
        let lengths = Vec::with_capacity(chunks.min(1 << 20) as usize);
        Ok(Self { inversion: Inversion::begin(home, options.memory / 2)?, lengths })
    }

    /// Returns the postings and field lengths of some chunks.
    pub(crate) fn invert<'c>(
        chunks: impl Iterator<Item = (u32, &'c Chunk)>,
        columns: &[ColumnDeclaration],
        terms: Terms<'_>,
    ) -> (Run, Vec<LengthCodes>) {
        let (mut inverter, mut lengths) = (Inverter::default(), Vec::new());
        for (id, chunk) in chunks {
            inverter.add(id, Labels::new(&NewChunk::from(chunk), columns).postings());
            let vector = terms(chunk, columns);
            inverter.add(id, vector.hashed());
            lengths.push(vector.lengths().map(length_code));
        }
        (inverter.into_run(), lengths)
    }

    /// Adds the postings and field lengths of the next chunks.
    pub(crate) fn add(&mut self, run: Run, lengths: Vec<LengthCodes>) -> Result<(), StorageError> {
        self.lengths.extend(lengths);
        if let Some(spill) = self.inversion.add(run) {
            self.inversion.add_file(spill.write()?);
        }
        Ok(())
    }

    /// Writes all rows. Returns the description of the segment, if there are chunks, and the totals of the fields.
    /// `base` is any snapshot.
    pub(crate) fn write(
        self,
        base: &Snapshot,
        threads: usize,
        to: &mut Replacement,
    ) -> Result<(Option<SegmentInfo>, [u64; FIELDS]), StorageError> {
        let Self { inversion, lengths } = self;
        let segment = match segment_info(lengths.len() as u32) {
            Some(info) => {
                let input = SegmentInput {
                    info,
                    base,
                    segments: &[],
                    inversion: Some(&inversion),
                    length: &|id: u32| lengths[id as usize],
                    tombstones: &Tombstones::default(),
                    new_is_live: true,
                };
                Some(input.write(threads, |operations| to.committer().push_sealed(operations))?)
            }
            None => None,
        };
        let totals = put_lengths(&lengths, &mut |operation| to.committer().push(operation))?;
        Ok((segment, totals))
    }
}

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
        terms: Terms<'_>,
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
        let mut keywords = KeywordBuilder::begin(&current.store.home, &options, canonical.len())?;
        let columns = &old.columns;
        let invert = |first: u32| {
            let ids = first..canonical.len().min(first + BLOCK_CHUNKS as u32);
            let chunks = canonical.whole_chunks(ids).map(|(id, chunk)| chunk.map(|chunk| (id, chunk)));
            let chunks = chunks.collect::<Result<Vec<_>, StorageError>>()?;
            Ok::<_, StorageError>(KeywordBuilder::invert(chunks.iter().map(|(id, chunk)| (*id, chunk)), columns, terms))
        };
        workers.for_each((0..canonical.len()).step_by(BLOCK_CHUNKS), invert, |block| {
            let (run, lengths) = block?;
            keywords.add(run, lengths)
        })?;
        let (segment, field_totals) = keywords.write(&snapshot, options.threads, &mut replacement)?;
        let manifest = Manifest { field_totals, ..canonical.manifest(old.generation + 1, segment) };
        drop(replacement.complete(&manifest, (0..manifest.next_chunk_id).collect())?);
        replacement.finish()?;
        Ok(manifest)
    }
}
