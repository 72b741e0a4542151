//! The size of the rows in a message.

use std::ops::Range;

use aurora_pipeline::{AccessError, BatchView, ColumnValues, Entity, ValueRef};

use super::rows::RowSet;
use crate::declaration::RowUnit;

/// Number of bytes counted for a value of fixed size, and for the overhead of other values.
const SHORT_VALUE: usize = 8;

/// Divides each set whose values have more than `most` bytes in total. A unit is never divided, so a unit with more
/// bytes gets its own set. Counts the values in the columns `reads` as they are before encoding.
///
/// # Errors
/// Returns an error if a column is not declared.
pub(crate) fn within_bytes(
    sets: Vec<RowSet>,
    unit: RowUnit,
    most: usize,
    batch: &BatchView<'_>,
    reads: &[String],
) -> Result<Vec<RowSet>, AccessError> {
    let payload = Payload::new(batch, reads)?;
    let chunk_files = batch.chunk_files();
    Ok(sets.into_iter().flat_map(|set| divided(set, unit, most, &payload, chunk_files)).collect())
}

/// The columns that are sent in messages.
struct Payload<'b> {
    files: Vec<ColumnValues<'b>>,
    chunks: Vec<ColumnValues<'b>>,
}

impl<'b> Payload<'b> {
    fn new(batch: &'b BatchView<'_>, reads: &[String]) -> Result<Self, AccessError> {
        let (mut files, mut chunks) = (Vec::new(), Vec::new());
        for name in reads {
            let columns = if Entity::from_column(name) == Some(Entity::File) { &mut files } else { &mut chunks };
            columns.push(batch.values(name)?);
        }
        Ok(Self { files, chunks })
    }

    fn file_bytes(&self, row: u32) -> usize {
        self.files.iter().map(|values| bytes(values.get(row as usize))).sum()
    }

    fn chunk_bytes(&self, row: u32) -> usize {
        self.chunks.iter().map(|values| bytes(values.get(row as usize))).sum()
    }
}

fn divided(set: RowSet, unit: RowUnit, most: usize, payload: &Payload<'_>, chunk_files: &[u32]) -> Vec<RowSet> {
    let pieces = pieces(&sizes(&set, unit, payload, chunk_files), most);
    if pieces.len() == 1 {
        return vec![set];
    }
    let units = set.units(unit);
    pieces.into_iter().map(|piece| RowSet::from_units(&units[piece], unit, &set.chunks, chunk_files)).collect()
}

/// Divides units into consecutive ranges. Each range has at most `most` bytes or a single unit, and is as long as
/// possible.
fn pieces(sizes: &[usize], most: usize) -> Vec<Range<usize>> {
    let (mut pieces, mut start, mut held) = (Vec::new(), 0, 0);
    for (at, size) in sizes.iter().enumerate() {
        if held + size > most && at > start {
            pieces.push(start..at);
            (start, held) = (at, 0);
        }
        held += size;
    }
    pieces.push(start..sizes.len());
    pieces
}

/// Returns the size of each unit in bytes. If the units are chunks, the values of a file are counted only for the first
/// chunk of the file. If they were counted for every chunk, each chunk of a large file would get its own set.
fn sizes(set: &RowSet, unit: RowUnit, payload: &Payload<'_>, chunk_files: &[u32]) -> Vec<usize> {
    let file_of = |chunk: u32| chunk_files[chunk as usize];
    match unit {
        RowUnit::Chunk => {
            let mut last = None;
            let size = |chunk: &u32| {
                let file = file_of(*chunk);
                let is_first = last.replace(file) != Some(file);
                payload.chunk_bytes(*chunk) + if is_first { payload.file_bytes(file) } else { 0 }
            };
            set.chunks.iter().map(size).collect()
        }
        RowUnit::File => {
            let mut sizes: Vec<usize> = set.files.iter().map(|file| payload.file_bytes(*file)).collect();
            for chunk in &set.chunks {
                if let Ok(at) = set.files.binary_search(&file_of(*chunk)) {
                    sizes[at] += payload.chunk_bytes(*chunk);
                }
            }
            sizes
        }
    }
}

fn bytes(value: Option<ValueRef<'_>>) -> usize {
    match value {
        None | Some(ValueRef::Bool(_) | ValueRef::Integer(_) | ValueRef::Float(_)) => SHORT_VALUE,
        Some(ValueRef::String(text)) => SHORT_VALUE + text.len(),
        Some(ValueRef::Strings(texts)) => texts.iter().map(|text| SHORT_VALUE + text.len()).sum(),
        Some(ValueRef::Vector(numbers)) => SHORT_VALUE * numbers.len(),
        Some(ValueRef::Json(value)) => bytes_of_json(&value),
    }
}

/// Number of bytes of a JSON value in a built-in column. Such values are not deeply nested, so the recursion is
/// limited.
fn bytes_of_json(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::String(text) => SHORT_VALUE + text.len(),
        serde_json::Value::Array(items) => items.iter().map(bytes_of_json).sum(),
        serde_json::Value::Object(entries) => {
            entries.iter().map(|(key, value)| SHORT_VALUE + key.len() + bytes_of_json(value)).sum()
        }
        _ => SHORT_VALUE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_complete_and_as_long_as_possible() {
        const MOST: usize = 5;
        for case in 0..4usize.pow(6) {
            let sizes: Vec<usize> = (0..6).map(|digit| [0, 1, 3, 7][case / 4usize.pow(digit) % 4]).collect();
            let pieces = pieces(&sizes, MOST);
            let bytes = |range: Range<usize>| sizes[range].iter().sum::<usize>();
            assert_eq!(pieces.iter().cloned().flatten().collect::<Vec<_>>(), (0..6).collect::<Vec<_>>(), "{sizes:?}");
            assert!(pieces.iter().all(|piece| piece.len() == 1 || bytes(piece.clone()) <= MOST), "{sizes:?}");
            let is_full = |piece: &Range<usize>| piece.end == 6 || bytes(piece.start..piece.end + 1) > MOST;
            assert!(pieces.iter().all(is_full), "{sizes:?}");
        }
        assert_eq!(pieces(&[], MOST).len(), 1);
    }
}
