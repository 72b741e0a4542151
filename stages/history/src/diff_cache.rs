//! A cache of line diffs and rename sources. Because of the cache, no old version of a file is read again after a new
//! commit.
//!
//! A diff depends only on two file contents. A rename source depends only on a commit, one of its parents and a path. A
//! record is therefore valid for any HEAD.
//!
//! The file is an [`aurora_cachefile`]. A segment contains records: [`RecordKey`] (16 bytes) · length of the value in
//! bytes (varint) · value, as [`diff_cache_codec`](crate::diff_cache_codec) encodes it. Records are looked up in the
//! bytes of the file.

use std::ops::Range;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use gix::ObjectId;
use gix::hashtable::hash_table::HashTable;

use crate::diff_cache_codec::{get_hunks, get_source, put_hunks, put_source};
use crate::events::EventIndex;
use crate::line_diff::Hunk;
use crate::rename::{RenameSource, RenameTarget};
use aurora_cachefile::{CacheFile, Format};
use aurora_codec::{ByteReader, put_varint};

const MAGIC: &[u8; 8] = b"AURCOMP\n";
/// Incremented when the layout, the diffs or the rename sources change.
const VERSION: u32 = 1;

/// Maximum size of the cache in bytes, in the file and in memory. About three million records fit, enough for a history
/// of a million commits.
const MAX_BYTES: usize = 128 << 20;

/// A BLAKE3 hash, truncated to 128 bits, of the input of a diff or of a rename search. A collision is as hard to
/// construct as a SHA-1 collision. Object ids as keys would need twice the space, and most values are shorter than a
/// key.
type RecordKey = [u8; 16];

/// The records of earlier runs and of this run, shared by all threads. The file is read at the first lookup.
pub(crate) struct DiffCache {
    file: CacheFile,
    format: Format,
    records: OnceLock<RwLock<DiffRecords>>,
}

impl DiffCache {
    /// Creates a cache that is stored in `file`. Records that were stored under another `key` are ignored.
    pub(crate) fn in_file(file: CacheFile, key: &[u8]) -> Self {
        Self { file, format: Format::new(MAGIC, VERSION, key), records: OnceLock::new() }
    }

    /// Returns the cached hunks from the content `old` to the content `new`, or `None` if they are not cached.
    pub(crate) fn hunks(&self, old: &ObjectId, new: &ObjectId) -> Option<Vec<Hunk>> {
        get_hunks(self.read().find(&key_of_hunks(old, new))?)
    }

    /// Adds the hunks from the content `old` to the content `new`.
    pub(crate) fn add_hunks(&self, old: &ObjectId, new: &ObjectId, hunks: &[Hunk]) {
        self.write().add(key_of_hunks(old, new), |out| put_hunks(out, hunks));
    }

    /// Returns the cached rename source of `target`. Returns `Some(None)` if no file was renamed to `target`, and
    /// `None` if the source is not cached.
    pub(crate) fn source(&self, index: &EventIndex, target: RenameTarget) -> Option<Option<RenameSource>> {
        let records = self.read();
        let Some((path, blob)) = get_source(records.find(&key_of_source(index, target))?, target.blob.kind())? else {
            return Some(None);
        };
        Some(Some(RenameSource { path: index.path_id(path)?, blob }))
    }

    /// Adds the file that was renamed to `target`. The source `None` means that there is no such file.
    pub(crate) fn add_source(&self, index: &EventIndex, target: RenameTarget, source: Option<RenameSource>) {
        let source = source.map(|source| (index.path(source.path), source.blob));
        self.write().add(key_of_source(index, target), |out| put_source(out, source));
    }

    /// Appends the new records to the file. If writing fails, the next run computes the records again.
    pub(crate) fn save(&self) {
        let Some(records) = self.records.get() else { return };
        let mut records = records.write().unwrap_or_else(PoisonError::into_inner);
        if records.stored < records.bytes.len()
            && let Ok(end) = self.file.append(&self.format, records.end, &records.bytes[records.stored..])
        {
            (records.end, records.stored) = (Some(end), records.bytes.len());
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, DiffRecords> {
        self.records().read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, DiffRecords> {
        self.records().write().unwrap_or_else(PoisonError::into_inner)
    }

    fn records(&self) -> &RwLock<DiffRecords> {
        self.records.get_or_init(|| RwLock::new(DiffRecords::read(&self.file, &self.format).unwrap_or_default()))
    }
}

fn key_of_hunks(old: &ObjectId, new: &ObjectId) -> RecordKey {
    key(&[b"h", old.as_slice(), new.as_slice()])
}

fn key_of_source(index: &EventIndex, RenameTarget { commit, parent, path, blob }: RenameTarget) -> RecordKey {
    let (commit, parent) = (index.graph.id(commit), (parent as u64).to_le_bytes());
    key(&[b"s", commit.as_slice(), &parent, blob.as_slice(), index.path(path)])
}

/// Hashes `parts`. For each kind of record, all parts except the last have a fixed length, so the concatenation is
/// unambiguous.
fn key(parts: &[&[u8]]) -> RecordKey {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let mut key = RecordKey::default();
    key.copy_from_slice(&hasher.finalize().as_bytes()[..size_of::<RecordKey>()]);
    key
}

/// Encoded records and their index. All records share one allocation.
#[derive(Default)]
struct DiffRecords {
    /// The bytes of the file, followed by the records of this run.
    bytes: Vec<u8>,
    /// The offsets of the records in `bytes`, as a hash table by key.
    offsets: HashTable<u32>,
    /// The number of bytes at the start of `bytes` that are in the file.
    stored: usize,
    /// The end offset of the last segment of the file.
    end: Option<usize>,
}

impl DiffRecords {
    /// Reads the records of a file. Returns `None` if the file has no usable records.
    fn read(file: &CacheFile, format: &Format) -> Option<Self> {
        let mut bytes = file.read(format)?;
        let mut segments = file.segments(&bytes, format);
        let mut offsets = HashTable::new();
        for segment in &mut segments {
            let mut start = segment.start;
            while start < segment.end {
                offsets.insert_unique(hash_at(&bytes, start), u32::try_from(start).ok()?, hasher(&bytes));
                start = value_at(&bytes[..segment.end], start)?.end;
            }
        }
        let end = segments.end();
        bytes.truncate(end);
        Some(Self { bytes, offsets, stored: end, end: Some(end) })
    }

    /// Returns the value of a key.
    fn find(&self, key: &RecordKey) -> Option<&[u8]> {
        let is_key = |&offset: &u32| self.bytes[offset as usize..].starts_with(key);
        let &offset = self.offsets.find(hash_at(key, 0), is_key)?;
        self.bytes.get(value_at(&self.bytes, offset as usize)?)
    }

    /// Adds a value, unless the key already has a value or the cache is full.
    fn add(&mut self, key: RecordKey, put: impl FnOnce(&mut Vec<u8>)) {
        if self.find(&key).is_some() {
            return;
        }
        let mut value = Vec::new();
        put(&mut value);
        let offset = self.bytes.len();
        if offset + size_of::<RecordKey>() + value.len() > MAX_BYTES {
            return;
        }
        self.bytes.extend_from_slice(&key);
        put_varint(&mut self.bytes, value.len() as u64);
        self.bytes.extend_from_slice(&value);
        self.offsets.insert_unique(hash_at(&key, 0), offset as u32, hasher(&self.bytes));
    }
}

/// Returns the byte range of the value of the record at `start`, or `None` if the range exceeds `records`.
fn value_at(records: &[u8], start: usize) -> Option<Range<usize>> {
    let mut rest = ByteReader::new(records.get(start + size_of::<RecordKey>()..)?);
    let len = rest.length()?;
    let value = records.len() - rest.rest().len();
    (len <= rest.rest().len()).then_some(value..value + len)
}

fn hasher(records: &[u8]) -> impl Fn(&u32) -> u64 {
    |&offset| hash_at(records, offset as usize)
}

/// Returns the hash of the record at `start`, which is the first bytes of its key. The key is already a hash.
fn hash_at(records: &[u8], start: usize) -> u64 {
    records[start..].first_chunk().copied().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use aurora_confined::Directory;

    use super::{CacheFile, DiffRecords, Format, MAGIC, MAX_BYTES, RecordKey, VERSION, put_varint};

    const KEYS: [RecordKey; 4] = [[1; 16], [2; 16], [3; 16], [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]];

    fn format() -> Format {
        Format::new(MAGIC, VERSION, &[7; 20])
    }

    #[test]
    fn keys_with_a_common_prefix_are_distinguished_and_values_are_not_replaced() {
        let mut table = DiffRecords::default();
        for value in 0..200 {
            for (name, tag) in KEYS.into_iter().zip(0_u8..) {
                table.add(name, |out| out.extend([tag].repeat(usize::from(tag) * 100 + value)));
            }
        }
        for (name, tag) in KEYS.iter().zip(0_u8..) {
            assert_eq!(table.find(name), Some([tag].repeat(usize::from(tag) * 100).as_slice()));
        }
        assert_eq!(table.find(&[9; 16]), None);
    }

    #[test]
    fn nothing_is_added_beyond_the_size_limit() {
        let mut table = DiffRecords::default();
        table.add(KEYS[0], |out| out.resize(MAX_BYTES - 100, 0));
        table.add(KEYS[1], |out| out.resize(100, 0));
        table.add(KEYS[2], |out| out.push(1));
        let lengths = KEYS[..3].iter().map(|name| table.find(name).map(<[u8]>::len));
        assert_eq!(lengths.collect::<Vec<_>>(), [Some(MAX_BYTES - 100), None, Some(1)]);
    }

    #[test]
    fn a_record_that_exceeds_its_segment_is_rejected() {
        let directory = tempfile::tempdir().unwrap();
        let directory = Directory::open_root(directory.path()).unwrap();
        let file = CacheFile::new(directory, "comparisons", b"secret", 1 << 10);
        for cut in [0, 5, 16, 17, 20] {
            let mut record = KEYS[0].to_vec();
            put_varint(&mut record, 4);
            record.extend(*b"text");
            file.append(&format(), None, &record).unwrap();
            assert_eq!(DiffRecords::read(&file, &format()).unwrap().find(&KEYS[0]), Some(b"text".as_slice()));
            file.append(&format(), None, &record[..cut]).unwrap();
            assert_eq!(DiffRecords::read(&file, &format()).is_some(), cut == 0, "{cut} bytes");
        }
        let other = Format::new(MAGIC, VERSION, &[8; 20]);
        assert!(DiffRecords::read(&file, &other).is_none());
    }
}
