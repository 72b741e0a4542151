//! What the rows of an artefact must be before they are written to an index.
//!
//! Here each row is looked at by itself; whether they fit each other is seen when the new index is verified.

use std::sync::Arc;

use aurora_inverted::{LengthColumns, WINDOW};

use super::vectors;
use crate::blame;
use crate::canonical::SEGMENT;
use crate::chunk::NewChunk;
use crate::chunk_rows::ChunkRows;
use crate::column::ColumnDeclaration;
use crate::content::decode_whole;
use crate::error::StorageError;
use crate::files::{self, FileStamp};
use crate::representation::FileRepresentation;
use crate::tables::{Operation, Table, block_key, chunk_key};
use crate::unfinished::Unfinished;
use crate::values::ValueRows;
use crate::vectors::BLOCK_IDS;

/// Looks at the rows of one table after another.
pub(super) struct Checker {
    chunks: u32,
    dimensions: Option<usize>,
    chunk_rows: ChunkRows,
    values: ValueRows,
    /// Rows of the table at hand.
    rows: u32,
    last: Vec<u8>,
    /// Vectors that were seen.
    pub(super) vectors: u64,
    /// File rows that were seen.
    pub(super) files: u64,
    /// The unfinished rows of these files.
    pub(super) unfinished: Unfinished,
    /// Bytes of dictionary and postings that were seen.
    pub(super) segment_bytes: u64,
}

impl Checker {
    /// For an artefact with so many chunks, whose model has so many dimensions, with custom columns.
    pub(super) fn new(
        chunks: u32,
        dimensions: Option<usize>,
        columns: &[ColumnDeclaration],
    ) -> Result<Self, StorageError> {
        let columns: Arc<[ColumnDeclaration]> = columns.into();
        Ok(Self {
            chunks,
            dimensions,
            chunk_rows: ChunkRows::new(Arc::clone(&columns)),
            values: ValueRows::new(columns, None),
            rows: 0,
            last: Vec::new(),
            vectors: 0,
            files: 0,
            unfinished: Unfinished::default(),
            segment_bytes: 0,
        })
    }

    /// Takes the next row of a table, and returns what is to be written.
    pub(super) fn row(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<Vec<Operation>, String> {
        if key.is_empty() || self.rows > 0 && self.last.as_slice() >= key {
            return Err("its rows are out of order".to_owned());
        }
        let as_it_is = |()| vec![Operation::put(table, key, value.to_vec())];
        let operations = match table {
            Table::Chunks => self.chunk(key, value),
            Table::Files => self.file(key, value).map(as_it_is),
            Table::Representations => self.representation(key, value).map(as_it_is),
            Table::Blames => self.blame(key, value),
            Table::Lengths => self.lengths(key, value).map(as_it_is),
            Table::Dictionary | Table::Postings => self.segment(key, value).map(as_it_is),
            Table::Vectors => self.vectors(key, value),
            Table::Meta | Table::Sources | Table::Content | Table::Codes | Table::Values => {
                Err("it cannot be part of an artefact".to_owned())
            }
        }?;
        self.rows = self.rows.checked_add(1).ok_or("it has too many rows")?;
        self.last.clear();
        self.last.extend_from_slice(key);
        Ok(operations)
    }

    /// Makes sure that a table whose rows can be counted has all of them, and returns what is still to be written.
    pub(super) fn end(&mut self, table: Table) -> Result<Vec<Operation>, String> {
        let expected = match table {
            Table::Chunks => self.chunks,
            Table::Lengths => self.chunks.div_ceil(WINDOW),
            _ => self.rows,
        };
        match std::mem::take(&mut self.rows) {
            rows if rows == expected => {}
            rows => return Err(format!("it has {rows} rows, not {expected}")),
        }
        let mut operations = Vec::new();
        let mut emit = |operation| {
            operations.push(operation);
            Ok(())
        };
        let finished = self.values.finish(&mut emit).and_then(|()| self.chunk_rows.finish(&mut emit));
        finished.map(|()| operations).map_err(|error| error.to_string())
    }

    fn chunk(&mut self, key: &[u8], value: &[u8]) -> Result<Vec<Operation>, String> {
        let chunk = decode_whole(value).ok_or_else(|| format!("chunk {} has no valid record", self.rows))?;
        if key != chunk_key(self.rows) || self.rows >= self.chunks {
            return Err(format!("chunk {} has another number", self.rows));
        }
        check_path(&chunk.path)?;
        let mut operations = Vec::new();
        let mut emit = |operation| {
            operations.push(operation);
            Ok(())
        };
        let pushed = self
            .values
            .push(self.rows, &chunk.metadata, &mut emit)
            .and_then(|()| self.chunk_rows.push(self.rows, &NewChunk::from(&chunk), &mut emit));
        pushed.map(|()| operations).map_err(|error| error.to_string())
    }

    fn file(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let record =
            files::decode(key, value).ok_or_else(|| format!("the row of {} is invalid", key.escape_ascii()))?;
        check_path(&record.path)?;
        if files::key(&record.path) != key {
            return Err(format!("the row of {} stands in another place", record.path.escape_debug()));
        }
        if record.stamp != FileStamp::default() || !record.blob.is_empty() {
            return Err(format!("the row of {} vouches for a file of this machine", record.path.escape_debug()));
        }
        self.unfinished.add(&record.unfinished, record.chunks.len());
        self.files += 1;
        Ok(())
    }

    fn representation(&self, key: &[u8], value: &[u8]) -> Result<(), String> {
        self.first_chunk(key)?;
        let valid = FileRepresentation::decode(value);
        valid.map(drop).ok_or_else(|| format!("the row of chunk {} is invalid", key.escape_ascii()))
    }

    /// The chunk that a key of a table with a row for each file names.
    fn first_chunk(&self, key: &[u8]) -> Result<u32, String> {
        let first = key.try_into().map(u64::from_be_bytes).ok().and_then(|first| u32::try_from(first).ok());
        let first = first.filter(|first| *first < self.chunks);
        first.ok_or_else(|| format!("the row of chunk {} is invalid", key.escape_ascii()))
    }

    fn blame(&mut self, key: &[u8], value: &[u8]) -> Result<Vec<Operation>, String> {
        let first = self.first_chunk(key)?;
        if blame::decode(value).is_none() {
            return Err(format!("the row of chunk {first} is invalid"));
        }
        let mut operations = Vec::new();
        let pushed = self.chunk_rows.push_blame(first, value, &mut |operation| {
            operations.push(operation);
            Ok(())
        });
        pushed.map(|()| operations).map_err(|error| error.to_string())
    }

    fn lengths(&self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let expected = self.rows < self.chunks.div_ceil(WINDOW) && key == block_key(self.rows);
        if expected && LengthColumns::decode(value).is_some() {
            Ok(())
        } else {
            Err(format!("block {} is invalid", self.rows))
        }
    }

    fn vectors(&mut self, key: &[u8], value: &[u8]) -> Result<Vec<Operation>, String> {
        let invalid = || "a block is invalid".to_owned();
        let block = key.try_into().map(u32::from_be_bytes).map_err(|_| invalid())?;
        let dimensions = self.dimensions.ok_or("there is no model for it")?;
        if block >= self.chunks.div_ceil(BLOCK_IDS) {
            return Err(invalid());
        }
        let (vectors, count) = vectors::restore(value, dimensions).ok_or_else(invalid)?;
        self.vectors += count;
        Ok(vectors.operations(block).collect())
    }

    fn segment(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        self.segment_bytes += value.len() as u64;
        if key.starts_with(&SEGMENT.to_be_bytes()) && self.chunks > 0 {
            Ok(())
        } else {
            Err("a row belongs to another segment".to_owned())
        }
    }
}

/// Makes sure that a path stays below the root.
fn check_path(path: &str) -> Result<(), String> {
    let odd = |part: &str| matches!(part, "" | "." | "..") || cfg!(windows) && part.contains(['\\', ':']);
    if path.split('/').any(odd) || path.contains('\0') {
        Err(format!("the path {} does not stay below the root", path.escape_debug()))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::ChunkId;
    use crate::files::{FileOutcome, FileRecord};

    fn file(path: &str) -> FileRecord {
        FileRecord {
            path: path.to_owned(),
            size: 1,
            stamp: FileStamp::default(),
            blob: Vec::new(),
            hash: [0; 32],
            language: String::new(),
            outcome: FileOutcome::Indexed,
            history_key: Vec::new(),
            chunks: vec![ChunkId(0)],
            lines: 1,
            warnings: Vec::new(),
            unfinished: Vec::new(),
        }
    }

    fn taken(record: &FileRecord) -> bool {
        let value = files::encode(record);
        Checker::new(1, None, &[]).expect("starts").row(Table::Files, &files::key(&record.path), &value).is_ok()
    }

    #[test]
    fn paths_stay_below_the_root() {
        for path in ["a.py", "a/b.py", ".hidden/..a", "a b/ü.py"] {
            assert!(taken(&file(path)), "{path}");
        }
        for path in ["/etc/passwd", "..", "../a.py", "a/../../b", "a//b", "./a", "a/", "a\0b"] {
            assert!(!taken(&file(path)), "{path}");
        }
    }

    #[test]
    fn nothing_vouches_for_files_of_this_machine() {
        for stamp in [
            FileStamp { modified: 1, ..FileStamp::default() },
            FileStamp { changed: 1, ..FileStamp::default() },
            FileStamp { inode: 1, ..FileStamp::default() },
        ] {
            assert!(!taken(&FileRecord { stamp, ..file("a") }), "{stamp:?}");
        }
        assert!(!taken(&FileRecord { blob: vec![1], ..file("a") }));
    }

    #[test]
    fn rows_are_in_order_and_complete() {
        let mut checker = Checker::new(WINDOW + 1, None, &[]).expect("starts");
        let block = aurora_inverted::encode_lengths(&[[1; aurora_inverted::FIELDS]]);
        assert!(checker.row(Table::Lengths, &block_key(0), &block).is_ok());
        assert!(checker.row(Table::Lengths, &block_key(0), &block).is_err());
        assert!(checker.row(Table::Lengths, &block_key(1), &block[1..]).is_err());
        assert!(checker.row(Table::Lengths, &block_key(1), &block).is_ok());
        assert!(checker.row(Table::Lengths, &block_key(2), &block).is_err());
        assert!(checker.end(Table::Lengths).is_ok());
        assert!(checker.end(Table::Chunks).is_err());
        assert!(checker.row(Table::Vectors, &block_key(0), &[0; 20]).is_err());
        assert!(checker.row(Table::Dictionary, &[0, 0, 0, 1, b'a'], b"").is_err());
        assert!(checker.row(Table::Meta, b"format", b"").is_err());
    }
}
