//! Checks of the rows of an artefact before they are written to an index.
//!
//! Worker threads check the rows of each frame. [`Checker`] checks that consecutive frames fit together. The
//! verification of the new index checks that rows of different tables fit together.

use std::sync::Arc;

use aurora_inverted::{LengthColumns, WINDOW};

use super::part::{Frame, RowReader};
use crate::column::ColumnDeclaration;
use crate::maintain::canonical::SEGMENT;
use crate::read::{
    BLOCK_IDS, Chunk, FileRecord, FileRepresentation, FileStamp, VectorBlockWriter, blame, decode_whole, files,
};
use crate::tables::{Operation, Table, collect};
use crate::unfinished::{Unfinished, UnfinishedRow};
use crate::write::{ChunkBatch, ChunkBatches, ChunkRows};

/// Numbers from the manifest of an artefact, against which the rows are checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Number of chunks.
    pub(super) chunks: u32,
    /// Dimensions of the model, if there is one.
    pub(super) dimensions: Option<usize>,
}

/// The checked rows of one frame.
#[derive(Default)]
pub(super) struct CheckedFrame {
    first: Vec<u8>,
    last: Vec<u8>,
    rows: u32,
    chunks: Vec<Chunk>,
    /// The blames, each with the id of the first chunk of its file.
    blames: Vec<(u32, Vec<u8>)>,
    /// Rows that are ready to be written.
    operations: Vec<Operation>,
    vectors: u64,
    files: u64,
    /// For each file, its unfinished rows and its number of chunks.
    unfinished: Vec<(Vec<UnfinishedRow>, usize)>,
    segment_bytes: u64,
    /// Size of the rows in bytes.
    pub(super) size: usize,
}

impl Limits {
    /// Decompresses the rows of a frame and checks them.
    pub(super) fn check(self, table: Table, frame: &Frame) -> Result<CheckedFrame, String> {
        self.check_rows(table, &frame.rows()?)
    }

    /// Checks the rows of a frame.
    pub(super) fn check_rows(self, table: Table, rows: &[u8]) -> Result<CheckedFrame, String> {
        let mut checked = CheckedFrame { size: rows.len(), ..CheckedFrame::default() };
        let mut rows = RowReader::new(rows);
        let mut last: &[u8] = &[];
        while let Some((key, value)) = rows.next()? {
            // No key is empty, so the first key is always greater than the empty `last`.
            if last >= key {
                return Err("its rows are out of order".to_owned());
            }
            let follows = last.is_empty()
                || number(last).zip(number(key)).is_some_and(|(last, next)| last.checked_add(1) == Some(next));
            if !follows && is_numbered(table) {
                return Err(format!("row {} has the wrong number", key.escape_ascii()));
            }
            self.row(&mut checked, table, key, value)?;
            if checked.rows == 0 {
                checked.first = key.to_owned();
            }
            checked.rows += 1;
            last = key;
        }
        checked.last = last.to_owned();
        Ok(checked)
    }

    fn row(self, checked: &mut CheckedFrame, table: Table, key: &[u8], value: &[u8]) -> Result<(), String> {
        match table {
            Table::Chunks => {
                let id = self.chunk_id(key)?;
                let chunk = decode_whole(value).ok_or_else(|| format!("chunk {id} has no valid record"))?;
                check_path(&chunk.path)?;
                checked.chunks.push(chunk);
                return Ok(());
            }
            Table::Blames => {
                let first = self.chunk_id(key)?;
                blame::decode(value).ok_or_else(|| format!("the row of chunk {first} is invalid"))?;
                checked.blames.push((first, value.to_owned()));
                return Ok(());
            }
            Table::Vectors => {
                let (block, restored, count) = self.vectors(key, value).ok_or("a block is invalid")?;
                checked.vectors += count;
                checked.operations.extend(restored.operations(block));
                return Ok(());
            }
            Table::Files => checked.file(key, value)?,
            Table::Representations => {
                let first = self.chunk_id(key)?;
                FileRepresentation::decode(value).ok_or_else(|| format!("the row of chunk {first} is invalid"))?;
            }
            Table::Lengths => {
                let is_valid = key.len() == 4 && LengthColumns::decode(value).is_some();
                is_valid.then_some(()).ok_or_else(|| format!("block {} is invalid", key.escape_ascii()))?;
            }
            Table::Dictionary | Table::Postings => {
                checked.segment_bytes += value.len() as u64;
                if !key.starts_with(&SEGMENT.to_be_bytes()) || self.chunks == 0 {
                    return Err("a row belongs to another segment".to_owned());
                }
            }
            Table::Meta | Table::Sources | Table::Content | Table::Codes | Table::Values => {
                return Err("it cannot be part of an artefact".to_owned());
            }
        }
        checked.operations.push(Operation::put(table, key, value.to_vec()));
        Ok(())
    }

    /// Returns the chunk id in a key of a table that has one row for each chunk or file.
    fn chunk_id(self, key: &[u8]) -> Result<u32, String> {
        let id = number(key).filter(|id| key.len() == 8 && *id < u64::from(self.chunks));
        id.map(|id| id as u32).ok_or_else(|| format!("the row of chunk {} is invalid", key.escape_ascii()))
    }

    /// Decodes a block of vectors. Returns its number, the block, and the number of vectors.
    fn vectors(self, key: &[u8], value: &[u8]) -> Option<(u32, VectorBlockWriter, u64)> {
        let block = key.try_into().map(u32::from_be_bytes).ok()?;
        let (vectors, count) = VectorBlockWriter::from_bare(value, self.dimensions?)?;
        (block < self.chunks.div_ceil(BLOCK_IDS)).then_some((block, vectors, count))
    }
}

impl CheckedFrame {
    /// Returns the chunks and their numbers.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (u32, &Chunk)> {
        let first = number(&self.first).unwrap_or_default() as u32;
        (first..).zip(&self.chunks)
    }

    /// Checks and counts the row of a file.
    fn file(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let record = decode_file(key, value)?;
        self.unfinished.push((record.unfinished, record.chunks.len()));
        self.files += 1;
        Ok(())
    }
}

/// Decodes and checks the row of a file.
pub(super) fn decode_file(key: &[u8], value: &[u8]) -> Result<FileRecord, String> {
    let record = files::decode(key, value).ok_or_else(|| format!("the row of {} is invalid", key.escape_ascii()))?;
    check_path(&record.path)?;
    if files::key(&record.path) != key {
        return Err(format!("the row of {} has the wrong key", record.path.escape_debug()));
    }
    if record.stamp != FileStamp::default() || !record.blob.is_empty() {
        return Err(format!("the row of {} has the stat data or blob of a local file", record.path.escape_debug()));
    }
    Ok(record)
}

/// Whether the keys of a table are consecutive numbers starting at 0.
fn is_numbered(table: Table) -> bool {
    matches!(table, Table::Chunks | Table::Lengths)
}

/// Returns the number in a key of four or eight bytes.
fn number(key: &[u8]) -> Option<u64> {
    let word = key.try_into().map(u64::from_be_bytes);
    word.ok().or_else(|| key.try_into().map(u32::from_be_bytes).ok().map(u64::from))
}

/// Checks the frames of all tables in order.
pub(super) struct Checker {
    limits: Limits,
    chunks: ChunkBatches,
    blames: ChunkRows,
    /// Number of rows of the current table.
    rows: u32,
    /// Key of the last row of the current table.
    last: Vec<u8>,
    /// Number of vectors.
    pub(super) vectors: u64,
    /// Number of file rows.
    pub(super) files: u64,
    /// The unfinished rows of all files.
    pub(super) unfinished: Unfinished,
    /// Size of the dictionary and the postings in bytes.
    pub(super) segment_bytes: u64,
}

impl Checker {
    /// Creates a checker for an artefact.
    pub(super) fn new(limits: Limits, columns: &Arc<[ColumnDeclaration]>) -> Self {
        let (chunks, blames) = (ChunkBatches::new(columns), ChunkRows::new(Arc::clone(columns)));
        Self {
            limits,
            chunks,
            blames,
            rows: 0,
            last: Vec::new(),
            vectors: 0,
            files: 0,
            unfinished: Unfinished::default(),
            segment_bytes: 0,
        }
    }

    /// Adds the next frame of a table, and returns the batch to write.
    pub(super) fn push(&mut self, table: Table, frame: CheckedFrame) -> Result<ChunkBatch, String> {
        if self.last >= frame.first {
            return Err("its rows are out of order".to_owned());
        }
        if is_numbered(table) && number(&frame.first) != Some(u64::from(self.rows)) {
            return Err(format!("row {} has the wrong number", frame.first.escape_ascii()));
        }
        self.rows = self.rows.checked_add(frame.rows).ok_or("it has too many rows")?;
        self.last = frame.last;
        self.vectors += frame.vectors;
        self.files += frame.files;
        frame.unfinished.iter().for_each(|(rows, chunks)| self.unfinished.add(rows, *chunks));
        self.segment_bytes += frame.segment_bytes;
        if table == Table::Chunks {
            return self.chunks.push(frame.chunks).map_err(|error| error.to_string());
        }
        let mut operations = frame.operations;
        for (first, blame) in frame.blames {
            let pushed = self.blames.push_blame(first, &blame, &mut collect(&mut operations));
            pushed.map_err(|error| error.to_string())?;
        }
        Ok(ChunkBatch::without_chunks(operations))
    }

    /// Ends a table, and returns the rows that have not been written yet. For chunks and lengths, also checks the
    /// number of rows.
    pub(super) fn end(&mut self, table: Table) -> Result<ChunkBatch, String> {
        self.last.clear();
        let expected = match table {
            Table::Chunks => self.limits.chunks,
            Table::Lengths => self.limits.chunks.div_ceil(WINDOW),
            _ => self.rows,
        };
        match std::mem::take(&mut self.rows) {
            rows if rows == expected => {}
            rows => return Err(format!("it has {rows} rows, not {expected}")),
        }
        let mut operations = Vec::new();
        let mut emit = collect(&mut operations);
        let finished = self.chunks.finish(&mut emit).and_then(|()| self.blames.finish(&mut emit));
        drop(emit);
        finished.map(|()| ChunkBatch::without_chunks(operations)).map_err(|error| error.to_string())
    }
}

/// Checks that a path stays below the root.
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
    use crate::maintain::artefact::part::{FrameBuilder, LEVEL};
    use crate::read::chunk::ChunkId;
    use crate::read::files::FileOutcome;
    use crate::tables::block_key;

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

    /// Checks a frame with some rows, and adds it to the checker.
    fn push_rows(checker: &mut Checker, table: Table, rows: &[(&[u8], &[u8])]) -> Result<(), String> {
        let mut builder = FrameBuilder::new("rows");
        rows.iter().for_each(|(key, value)| _ = builder.push(key, value).expect("the row is short"));
        let frame = Frame::new(&builder.take().expect("rows were added"), LEVEL).expect("the rows can be compressed");
        checker.push(table, checker.limits.check(table, &frame)?).map(drop)
    }

    fn checker(chunks: u32) -> Checker {
        Checker::new(Limits { chunks, dimensions: None }, &Arc::from([]))
    }

    fn is_accepted(record: &FileRecord) -> bool {
        let value = files::encode(record);
        push_rows(&mut checker(1), Table::Files, &[(&files::key(&record.path), &value)]).is_ok()
    }

    #[test]
    fn paths_stay_below_the_root() {
        for path in ["a.py", "a/b.py", ".hidden/..a", "a b/ü.py"] {
            assert!(is_accepted(&file(path)), "{path}");
        }
        for path in ["/etc/passwd", "..", "../a.py", "a/../../b", "a//b", "./a", "a/", "a\0b"] {
            assert!(!is_accepted(&file(path)), "{path}");
        }
    }

    #[test]
    fn rows_with_stat_data_or_blobs_are_refused() {
        for stamp in [
            FileStamp { modified: 1, ..FileStamp::default() },
            FileStamp { changed: 1, ..FileStamp::default() },
            FileStamp { inode: 1, ..FileStamp::default() },
        ] {
            assert!(!is_accepted(&FileRecord { stamp, ..file("a") }), "{stamp:?}");
        }
        assert!(!is_accepted(&FileRecord { blob: vec![1], ..file("a") }));
    }

    #[test]
    fn rows_must_be_in_order_and_complete() {
        let block = aurora_inverted::encode_lengths(&[[1; aurora_inverted::FIELDS]]);
        let keys = [0, 1, 2].map(block_key);
        let rows = |numbers: &[usize]| numbers.iter().map(|&at| (&keys[at][..], &block[..])).collect::<Vec<_>>();
        for frames in [&[&[0, 1][..]][..], &[&[0], &[1]]] {
            let mut checker = checker(WINDOW + 1);
            frames
                .iter()
                .for_each(|frame| push_rows(&mut checker, Table::Lengths, &rows(frame)).expect("the rows are valid"));
            assert!(checker.end(Table::Lengths).is_ok());
            assert!(checker.end(Table::Chunks).is_err());
        }
        for frames in [&[&[1][..]][..], &[&[0, 0]], &[&[1, 0]], &[&[0, 2]], &[&[0], &[0]], &[&[0], &[2]]] {
            let mut checker = checker(3 * WINDOW);
            assert!(
                frames.iter().any(|frame| push_rows(&mut checker, Table::Lengths, &rows(frame)).is_err()),
                "{frames:?}"
            );
        }
        for numbers in [&[0][..], &[0, 1, 2]] {
            let mut checker = checker(WINDOW + 1);
            push_rows(&mut checker, Table::Lengths, &rows(numbers)).expect("the rows are in order");
            assert!(checker.end(Table::Lengths).is_err());
        }
        let refused: [(Table, &[u8], &[u8]); 5] = [
            (Table::Lengths, &keys[0], &block[1..]),
            (Table::Lengths, &[], &block),
            (Table::Vectors, &keys[0], &[0; 20]),
            (Table::Dictionary, &[0, 0, 0, 1, b'a'], b""),
            (Table::Meta, b"format", b""),
        ];
        for (table, key, value) in refused {
            assert!(push_rows(&mut checker(WINDOW), table, &[(key, value)]).is_err(), "{table:?}");
        }
    }
}
