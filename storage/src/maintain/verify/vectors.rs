//! Checks blocks of vectors.

use super::report::VerifyReport;
use crate::error::StorageError;
use crate::read::{BLOCK_IDS, Snapshot, VectorBlock};
use crate::tables::{Table, block_key};
use crate::workers::Workers;

impl Snapshot {
    pub(super) fn verify_vectors(&self, workers: Workers, report: &mut VerifyReport) -> Result<(), StorageError> {
        let dimensions = self.manifest().model.as_ref().map(|model| model.dimensions);
        let visit = |_: &Self, report: &mut VerifyReport, key: &[u8], codes: &[u8]| {
            let block = key.try_into().map(u32::from_be_bytes).ok().filter(|&block| block <= u32::MAX / BLOCK_IDS);
            let rows = block.map(|block| self.get(Table::Vectors, &block_key(block))).transpose()?.flatten();
            match (block, rows.and_then(|rows| VectorBlock::decode(codes, rows))) {
                (Some(block), Some(vectors)) => self.verify_block(report, block, &vectors, dimensions)?,
                _ => report.problem("a block of vectors is invalid".to_owned()),
            }
            Ok(())
        };
        self.verify_rows(workers, Table::Codes, 1, |_| false, visit, |found| report.append(found))?;
        let (codes, rows) = (self.tree(Table::Codes).entries, self.tree(Table::Vectors).entries);
        report.expect(codes == rows, || format!("{codes} blocks of vectors have codes, {rows} have rows"));
        Ok(())
    }

    fn verify_block(
        &self,
        report: &mut VerifyReport,
        block: u32,
        vectors: &VectorBlock<'_>,
        dimensions: Option<usize>,
    ) -> Result<(), StorageError> {
        let mut live = 0;
        for row in vectors.iter() {
            let (index, _) = self.check(row)?;
            live += u64::from(self.live().contains(block * BLOCK_IDS + index as u32));
        }
        report.vectors += live;
        report.expect(live == 0 || Some(vectors.dimensions) == dimensions, || {
            format!("{live} vectors of block {block} are of another model")
        });
        Ok(())
    }
}
