//! The keyword index, made anew from the stored chunks beside whatever is left of the old one.

use std::path::Path;

use aurora_inverted::{
    FIELDS, HashedTerm, SegmentWriter, TermVector, Tombstones, WINDOW, encode_lengths, length_code, length_of, merge,
};

use crate::canonical::{Canonical, Evidence};
use crate::chunk::{Chunk, NewChunk};
use crate::column::ColumnDeclaration;
use crate::env::Environment;
use crate::error::StorageError;
use crate::inversion::Inversion;
use crate::label::Labels;
use crate::manifest::Manifest;
use crate::opening::OpenMode;
use crate::replace::Replacement;
use crate::segment::{SegmentRows, merge_error, with_totals};
use crate::snapshot::Snapshot;
use crate::tables::{Operation, Table, block_key};
use crate::trust::KnownIndexes;
use crate::writer_options::WriterOptions;

/// The tables of the keyword index: all that is in them follows from the chunks' records.
pub(crate) const KEYWORDS: [Table; 3] = [Table::Dictionary, Table::Postings, Table::Lengths];

impl Snapshot {
    /// Reads every row of dictionary, postings and field lengths, and compares it with its checksum: what a run that
    /// changes little would not come upon.
    ///
    /// # Errors
    /// With the first damage that is found.
    pub fn check_keywords(&self) -> Result<(), StorageError> {
        for table in KEYWORDS {
            let mut left = self.tree(table).entries;
            let mut cursor = self.cursor(table, &[])?;
            while cursor.entry().map_err(|damage| self.wrap(damage))?.is_some() {
                left = left.wrapping_sub(1);
                cursor.next().map_err(|damage| self.wrap(damage))?;
            }
            if left != 0 {
                return Err(self.damaged(format!("rows of the table `{}` are missing", table.name())));
            }
        }
        Ok(())
    }
}

impl Environment {
    /// Builds dictionary, postings and field lengths anew from the stored chunks, given a project's `.aurora` directory.
    /// What is there of them is not looked at, so that it may be damaged. `terms` gives the terms of a chunk under the index's
    /// custom columns; chunks get new ids, and all else stays as it is. The columns of `options` are not used. Readers go on reading what they have opened. The id of the new index is
    /// announced to `known`.
    ///
    /// # Errors
    /// When there is no index, another writer has it, or anything but the keyword index is damaged; then it stays as it is.
    pub fn rebuild_keywords(
        directory: &Path,
        known: &KnownIndexes,
        options: WriterOptions,
        terms: &mut dyn FnMut(&Chunk, &[ColumnDeclaration]) -> TermVector,
    ) -> Result<Manifest, StorageError> {
        let current = Self::open(directory, OpenMode::Existing)?;
        let mut replacement = Replacement::begin(&current.store.home, known)?;
        current.store.check_current()?;
        let snapshot = current.snapshot()?;
        let old = snapshot.manifest();
        let canonical = Canonical::new(&snapshot)?;
        let mut emit = |operation| replacement.push(operation);
        canonical.content(Evidence::Kept, &mut emit)?;
        canonical.vectors(|block, vectors| vectors.operations(block).try_for_each(&mut emit))?;
        let mut inversion = Inversion::begin(&current.store.home, options.memory / 2)?;
        let mut rows = Vec::with_capacity(canonical.len() as usize);
        for (id, chunk) in canonical.whole_chunks() {
            let chunk = chunk?;
            let labels = Labels::new(&NewChunk::from(&chunk), &old.columns);
            inversion.add(id, labels.iter().map(|label| (HashedTerm::new(label), [0; FIELDS])));
            let vector = terms(&chunk, &old.columns);
            inversion.add(id, vector.hashed());
            inversion.spill_if_large()?;
            rows.push(vector.lengths().map(length_code));
        }
        let segment = match canonical.segment_info() {
            Some(info) => {
                let length = |id: u32| rows[id as usize];
                let sink = SegmentRows { id: info.id, emit: &mut emit };
                let (sources, runs) = (inversion.sources()?, inversion.runs_path());
                let merged = merge(sources, &Tombstones::default(), true, SegmentWriter::new(sink, &length));
                let totals = merged.map_err(|error| merge_error(snapshot.path(), &runs, error))?;
                Some(with_totals(info, totals))
            }
            None => None,
        };
        let mut field_totals = [0u64; FIELDS];
        for (window, rows) in (0u32..).zip(rows.chunks(WINDOW as usize)) {
            for row in rows {
                field_totals.iter_mut().zip(row).for_each(|(total, &length)| *total += u64::from(length_of(length)));
            }
            emit(Operation::put(Table::Lengths, block_key(window), encode_lengths(rows)))?;
        }
        let manifest = Manifest {
            generation: old.generation + 1,
            field_totals,
            next_segment: segment.iter().map(|segment| segment.id + 1).sum(),
            segments: segment.into_iter().collect(),
            next_chunk_id: canonical.len(),
            ..old.clone()
        };
        drop(replacement.complete(&manifest)?);
        replacement.finish()?;
        Ok(manifest)
    }
}
