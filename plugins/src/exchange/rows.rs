//! Sets of rows of a batch. Each set is sent in one message.

use aurora_pipeline::BatchView;

use crate::declaration::RowUnit;

/// A set of rows of a batch: files, and chunks of these files. Both are in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSet {
    /// File rows.
    pub files: Vec<u32>,
    /// Chunk rows. The file of each chunk is in `files`.
    pub chunks: Vec<u32>,
}

impl RowSet {
    /// Returns the rows that are units of the stage.
    pub fn units(&self, unit: RowUnit) -> &[u32] {
        match unit {
            RowUnit::File => &self.files,
            RowUnit::Chunk => &self.chunks,
        }
    }

    /// Divides the set into at most `most` sets with about the same number of units. Returns `None` if there are fewer
    /// than two units.
    pub fn pieces(&self, unit: RowUnit, most: usize, chunk_files: &[u32]) -> Option<Vec<Self>> {
        let units = self.units(unit);
        if units.len() < 2 {
            return None;
        }
        let pieces = units.chunks(units.len().div_ceil(most.max(2)));
        Some(pieces.map(|units| Self::from_units(units, unit, &self.chunks, chunk_files)).collect())
    }

    /// Creates the set of the given units. If the units are files, adds those rows of `chunks` that belong to the
    /// files.
    pub(super) fn from_units(units: &[u32], unit: RowUnit, chunks: &[u32], chunk_files: &[u32]) -> Self {
        match unit {
            RowUnit::Chunk => {
                let mut files: Vec<u32> = units.iter().map(|chunk| chunk_files[*chunk as usize]).collect();
                files.sort_unstable();
                files.dedup();
                Self { files, chunks: units.to_vec() }
            }
            RowUnit::File => {
                let is_included = |chunk: &&u32| units.binary_search(&chunk_files[**chunk as usize]).is_ok();
                Self { files: units.to_vec(), chunks: chunks.iter().filter(is_included).copied().collect() }
            }
        }
    }
}

/// Selects the units of a batch for which `wanted` returns true, and divides them into sets of at most `most` units.
pub fn row_sets(batch: &BatchView<'_>, unit: RowUnit, most: usize, wanted: impl Fn(usize) -> bool) -> Vec<RowSet> {
    let rows = match unit {
        RowUnit::File => batch.files(),
        RowUnit::Chunk => batch.chunks(),
    };
    let units: Vec<u32> = (0..rows).filter(|row| wanted(*row)).map(|row| row as u32).collect();
    let chunks: Vec<u32> = match unit {
        RowUnit::File => (0..batch.chunks() as u32).collect(),
        RowUnit::Chunk => Vec::new(),
    };
    units.chunks(most.max(1)).map(|units| RowSet::from_units(units, unit, &chunks, batch.chunk_files())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_files_and_chunks_together() {
        let chunk_files = [0, 0, 1, 3, 3];
        let whole = RowSet { files: vec![0, 1, 3], chunks: vec![0, 1, 2, 3, 4] };
        let pieces = |unit, most| {
            let pieces = whole.pieces(unit, most, &chunk_files).expect("several units");
            pieces.into_iter().map(|rows| (rows.files, rows.chunks)).collect::<Vec<_>>()
        };
        assert_eq!(pieces(RowUnit::Chunk, 2), [(vec![0, 1], vec![0, 1, 2]), (vec![3], vec![3, 4])]);
        assert_eq!(pieces(RowUnit::File, 2), [(vec![0, 1], vec![0, 1, 2]), (vec![3], vec![3, 4])]);
        assert_eq!(pieces(RowUnit::File, 16), [(vec![0], vec![0, 1]), (vec![1], vec![2]), (vec![3], vec![3, 4])]);
        assert_eq!(RowSet { files: vec![2], chunks: vec![] }.pieces(RowUnit::File, 2, &chunk_files), None);
    }
}
