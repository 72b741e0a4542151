//! Checks file rows and the data stored for each file.

use roaring::RoaringBitmap;

use super::report::VerifyReport;
use crate::error::StorageError;
use crate::read::{ChunkId, CompressedBlock, Frame, RepresentationBuilder, Snapshot, SourceRecord};
use crate::tables::{Table, parse_chunk_key};
use crate::workers::Workers;

/// Number of files whose representations a thread checks at a time.
const FILES: usize = 32;

impl Snapshot {
    pub(super) fn verify_files(&self, workers: Workers, report: &mut VerifyReport) -> Result<(), StorageError> {
        let (mut owned, mut firsts) = (RoaringBitmap::new(), RoaringBitmap::new());
        for record in self.files() {
            let record = record?;
            report.files += 1;
            firsts.extend(record.chunks.first().map(|id| id.0));
            for id in record.chunks {
                report.expect(self.live().contains(id.0), || {
                    format!("{} refers to chunk {id}, which does not exist", record.path)
                });
                report.expect(owned.insert(id.0), || {
                    format!("{} refers to chunk {id}, which also belongs to another file", record.path)
                });
            }
        }
        for id in self.live() - &owned {
            report.problem(format!("chunk {id} belongs to no file"));
        }
        self.verify_sources(report, &firsts)?;
        self.verify_representations(workers, report, &firsts)?;
        self.verify_blames(workers, report, &firsts)?;
        let (count, seen) = (self.manifest().file_count, report.files);
        report.expect(count == seen, || format!("the manifest counts {count} files, but there are {seen}"));
        Ok(())
    }

    /// Checks the source record of every file. `firsts` contains the first chunk of each file.
    fn verify_sources(&self, report: &mut VerifyReport, firsts: &RoaringBitmap) -> Result<(), StorageError> {
        for row in self.rows(Table::Sources, &[]) {
            let (key, value) = row?;
            match parse_chunk_key(key) {
                // The remaining rows belong to a writer that has not published them yet, or never will.
                Some(id) if id >= self.manifest().next_chunk_id => break,
                Some(id) if firsts.contains(id) => {
                    let is_valid = SourceRecord::decode(value).is_some();
                    report.expect(is_valid, || format!("the source record of chunk {id} is invalid"));
                }
                _ => report.problem(format!("the source record of {} belongs to no file", key.escape_ascii())),
            }
        }
        Ok(())
    }

    /// Checks that every file has a representation that matches its chunks. `firsts` contains the first chunk of each
    /// file.
    fn verify_representations(
        &self,
        workers: Workers,
        report: &mut VerifyReport,
        firsts: &RoaringBitmap,
    ) -> Result<(), StorageError> {
        let visit = |snapshot: &Self, (report, seen): &mut (VerifyReport, u64), key: &[u8], _: &[u8]| {
            match parse_chunk_key(key) {
                Some(id) if firsts.contains(id) => {
                    *seen += 1;
                    let stored = snapshot.encoded_representation(ChunkId(id))?;
                    let is_valid = stored == snapshot.representation_of_chunks(id)?;
                    report.expect(is_valid, || format!("the representation of the file of chunk {id} is wrong"));
                }
                _ => report.problem(format!("the representation of {} belongs to no file", key.escape_ascii())),
            }
            Ok(())
        };
        let mut all = 0;
        let add = |(found, seen)| {
            report.append(found);
            all += seen;
        };
        self.verify_rows(workers, Table::Representations, FILES, |key| self.is_unpublished(key), visit, add)?;
        report.expect(all == firsts.len(), || format!("{all} of {} files have a representation", firsts.len()));
        Ok(())
    }

    /// Computes the representation of a file from its chunks, given the id of its first chunk.
    fn representation_of_chunks(&self, first: u32) -> Result<Vec<u8>, StorageError> {
        let mut builder = RepresentationBuilder::default();
        let file = self.file_range(ChunkId(first))?;
        for id in self.live().range(file).map(ChunkId) {
            if let Some(record) = self.chunk(id)? {
                builder.add_tokens(record.doc_tokens());
            }
            if let Some((scale, row)) = self.row(id)? {
                builder.add_vector(scale, &row.iter().map(|&value| value as i8).collect::<Vec<_>>());
            }
        }
        Ok(builder.encode())
    }

    /// Checks the blame of every file. `firsts` contains the first chunk of each file.
    fn verify_blames(
        &self,
        workers: Workers,
        report: &mut VerifyReport,
        firsts: &RoaringBitmap,
    ) -> Result<(), StorageError> {
        let visit = |snapshot: &Self, report: &mut VerifyReport, key: &[u8], value: &[u8]| {
            match parse_chunk_key(key).and_then(|first| CompressedBlock::decode(first, value)?.read::<1>()) {
                Some(frames) => {
                    for id in frames.iter().flat_map(Frame::ids).filter(|id| self.live().contains(*id)) {
                        report.expect(firsts.contains(id), || format!("the blame of chunk {id} belongs to no file"));
                        if let Err(error) = snapshot.blame(ChunkId(id)) {
                            report.problem(error.to_string());
                        }
                    }
                }
                None => report.problem("a block of blames is invalid".to_owned()),
            }
            Ok(())
        };
        let add = |found| report.append(found);
        self.verify_rows(workers, Table::Blames, 1, |key| self.is_unpublished(key), visit, add)
    }
}
