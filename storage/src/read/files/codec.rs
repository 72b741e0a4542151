//! Encoding of file rows as keys and values of the `files` table.
//!
//! Layout: path, if the key is not the path · size · modification time · inode change time minus modification time ·
//! inode · content digest · object id · language · reason for skipping the file, if it was skipped · history key ·
//! lines · unfinished rows · chunks (for each run of consecutive ids, the gap before the run and its length) ·
//! warnings.
//!
//! Layout of an unfinished row: stage · 0 for the file, 1 for all chunks, or the index of a chunk plus 2 · reason, if
//! the stage failed. An optional field is a list with at most one item. Numbers are variable-length integers. Each text
//! follows its length.

use aurora_codec::{ByteReader, put, put_list};

use super::record::{FileOutcome, FileRecord, FileStamp};
use crate::read::chunk::ChunkId;
use crate::unfinished::{RowExtent, UnfinishedRow};

/// Maximum number of chunks of one file. The limit keeps invalid runs of ids from exhausting the memory.
const MAX_CHUNKS: usize = 1 << 24;

/// Maximum length of a path in a key, in bytes. LMDB allows keys of 511 bytes, and a digest may follow.
pub(super) const PREFIX_BYTES: usize = 440;

/// Returns the key of a path: the path itself, or for a long path its prefix and a digest of the whole path.
pub fn key(path: &str) -> Vec<u8> {
    let bytes = path.as_bytes();
    if bytes.len() <= PREFIX_BYTES {
        return bytes.to_vec();
    }
    let mut key = bytes[..PREFIX_BYTES].to_vec();
    key.extend_from_slice(blake3::hash(bytes).as_bytes());
    key
}

/// Serialises a file record.
pub(crate) fn encode(record: &FileRecord) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let long_path = (record.path.len() > PREFIX_BYTES).then_some(&record.path);
    let FileStamp { modified, changed, inode } = record.stamp;
    put(&mut out, &(long_path, record.size, modified, changed.wrapping_sub(modified), inode, record.hash));
    let skipped = match &record.outcome {
        FileOutcome::Indexed => None,
        FileOutcome::Skipped(reason) => Some(reason),
    };
    put(&mut out, &(&record.blob, &record.language, skipped, &record.history_key, record.lines));
    put_list(&mut out, &record.unfinished, |out, row| put(out, &(&row.stage, extent_code(row.extent), &row.reason)));
    put(&mut out, &(runs(&record.chunks), &record.warnings));
    out
}

/// Returns the number that encodes an extent.
fn extent_code(extent: RowExtent) -> u64 {
    match extent {
        RowExtent::File => 0,
        RowExtent::Chunks => 1,
        RowExtent::Chunk(position) => u64::from(position) + 2,
    }
}

/// Encodes ascending ids as runs of consecutive ids. Returns the number of ids skipped before each run, and the length
/// of the run.
fn runs(chunks: &[ChunkId]) -> Vec<(u32, u32)> {
    let (mut runs, mut next) = (Vec::new(), 0u32);
    for &ChunkId(id) in chunks {
        match runs.last_mut() {
            Some((_, length)) if id == next => *length += 1,
            _ => runs.push((id.wrapping_sub(next), 1)),
        }
        next = id.wrapping_add(1);
    }
    runs
}

/// A file row that is read in place.
#[derive(Clone, Copy)]
pub struct FileRow<'a> {
    /// Path relative to the indexed root, with `/` as the separator.
    pub path: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// See [`FileRecord::stamp`].
    pub stamp: FileStamp,
    /// Digest of the content.
    pub hash: &'a [u8; 32],
    /// See [`FileRecord::blob`].
    pub blob: &'a [u8],
    language: &'a str,
    /// The reason for skipping the file, if it was skipped.
    pub skipped: Option<&'a str>,
    /// See [`FileRecord::history_key`].
    pub history_key: &'a [u8],
    lines: u32,
    /// Unfinished rows, chunks and warnings.
    rest: ByteReader<'a>,
}

impl<'a> FileRow<'a> {
    /// Reads a row without its unfinished rows, chunks and warnings. Returns `None` if the bytes are invalid.
    pub(crate) fn new(key: &'a [u8], value: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(value);
        let (path, size, modified, changed, inode): (_, _, i64, _, _) = reader.read()?;
        let path = match path {
            Some(path) => path,
            None => std::str::from_utf8(key).ok()?,
        };
        let stamp = FileStamp { modified, changed: modified.wrapping_add(changed), inode };
        let hash = reader.take(32)?.first_chunk()?;
        let (blob, language, skipped, history_key, lines) = reader.read()?;
        Some(Self { path, size, stamp, hash, blob, language, skipped, history_key, lines, rest: reader })
    }

    /// Whether a stage has no result for the file or one of its chunks.
    pub fn is_unfinished(&self) -> bool {
        let mut rest = self.rest;
        rest.varint() != Some(0)
    }

    /// Reads the whole record. Returns `None` if the data that [`FileRow::new`] does not read is invalid.
    pub(crate) fn record(&self) -> Option<FileRecord> {
        let mut reader = self.rest;
        let unfinished = reader.list(unfinished_row)?;
        let chunks = chunks(&mut reader)?;
        let warnings = reader.read()?;
        let record = FileRecord {
            path: self.path.to_owned(),
            size: self.size,
            stamp: self.stamp,
            blob: self.blob.to_vec(),
            hash: *self.hash,
            language: self.language.to_owned(),
            outcome: self.skipped.map_or(FileOutcome::Indexed, |reason| FileOutcome::Skipped(reason.to_owned())),
            history_key: self.history_key.to_vec(),
            chunks,
            lines: self.lines,
            warnings,
            unfinished,
        };
        reader.is_empty().then_some(record)
    }
}

/// Reads a record. Returns `None` if the bytes are invalid.
pub(crate) fn decode(key: &[u8], value: &[u8]) -> Option<FileRecord> {
    FileRow::new(key, value)?.record()
}

fn unfinished_row(reader: &mut ByteReader<'_>) -> Option<UnfinishedRow> {
    let (stage, extent, reason) = reader.read()?;
    let extent = match extent {
        0 => RowExtent::File,
        1 => RowExtent::Chunks,
        code => RowExtent::Chunk(code - 2),
    };
    Some(UnfinishedRow { stage, extent, reason })
}

/// Reads ids encoded by [`runs`].
fn chunks(reader: &mut ByteReader<'_>) -> Option<Vec<ChunkId>> {
    let runs: Vec<(u32, u32)> = reader.read()?;
    let count: u64 = runs.iter().map(|(_, length)| u64::from(*length)).sum();
    let mut chunks = Vec::with_capacity(usize::try_from(count).ok().filter(|count| *count <= MAX_CHUNKS)?);
    let mut next = 0u32;
    for (gap, length) in runs {
        let first = next.checked_add(gap)?;
        next = first.checked_add(length)?;
        chunks.extend((first..next).map(ChunkId));
    }
    Some(chunks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn extent() -> impl Strategy<Value = RowExtent> {
        prop_oneof![Just(RowExtent::File), Just(RowExtent::Chunks), (0..9u32).prop_map(RowExtent::Chunk)]
    }

    prop_compose! {
        fn record()(
            path in "[a-z/]{1,12}|[a-z]{440,460}",
            (size, lines) in any::<(u64, u32)>(),
            (modified, changed, inode) in any::<(i64, i64, u64)>(),
            hash in any::<[u8; 32]>(),
            (blob, history_key) in any::<(Vec<u8>, Vec<u8>)>(),
            language in "[a-z]{0,5}",
            skipped in prop::option::of("[a-z ]{0,9}"),
            chunks in prop::collection::btree_set(0..40u32, 0..20),
            warnings in prop::collection::vec("[a-z ]{0,9}", 0..3),
            unfinished in prop::collection::vec(("[a-z]{0,5}", extent(), prop::option::of("[a-z ]{0,9}")), 0..3),
        ) -> FileRecord {
            FileRecord {
                path, size, blob, hash, language, history_key, lines, warnings,
                stamp: FileStamp { modified, changed, inode },
                unfinished: unfinished
                    .into_iter()
                    .map(|(stage, extent, reason)| UnfinishedRow { stage, extent, reason })
                    .collect(),
                outcome: skipped.map_or(FileOutcome::Indexed, FileOutcome::Skipped),
                chunks: chunks.into_iter().map(ChunkId).collect(),
            }
        }
    }

    proptest! {
        #[test]
        fn records_round_trip(record in record()) {
            prop_assert_eq!(decode(&key(&record.path), &encode(&record)), Some(record));
        }

        #[test]
        fn damaged_records_are_read_or_refused(record in record(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
            let (key, mut bytes) = (key(&record.path), encode(&record));
            let at = at.index(bytes.len());
            prop_assert_eq!(decode(&key, &bytes[..at]), None);
            bytes[at] ^= 1 << bit;
            if let Some(read) = decode(&key, &bytes) {
                prop_assert_eq!(decode(&key, &encode(&read)).map(|again| again.chunks), Some(read.chunks));
            }
        }
    }
}
