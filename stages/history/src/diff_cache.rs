//! What comparing old versions has found, kept between runs, so that nothing below a new HEAD is read again.
//!
//! A comparison is a pure function of what is compared: the hunks between two versions one of their contents, the file that
//! an added one came from one of the commit, its parent and the path. So what is found once is true whatever HEAD does.
//!
//! The file is one as [`aurora_cachefile`] describes. The content of its segments is records: [`RecordKey`] (16 bytes) · bytes of the
//! value (varint) · value, as [`diff_cache_codec`](crate::diff_cache_codec) writes it. They are looked up where they lie.

use std::ops::Range;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use gix::ObjectId;
use gix::hashtable::hash_table::HashTable;

use crate::diff_cache_codec::{get_hunks, get_source, put_hunks, put_source, put_varint, varint};
use crate::events::EventIndex;
use crate::line_diff::Hunk;
use crate::rename::{RenameSource, RenameTarget};
use aurora_cachefile::{CacheFile, Format};

const MAGIC: &[u8; 8] = b"AURCOMP\n";
/// Raised when the layout changes, or what a comparison finds.
const VERSION: u32 = 1;

/// Beyond these bytes nothing is added, in the file and in memory: some three million comparisons, about what a history of a
/// million commits takes.
const MAX_BYTES: usize = 128 << 20;

/// What is asked, hashed with BLAKE3 and cut. Two questions with one name are no easier to make than two contents with one
/// SHA-1, which beginnings of ids would not give; the ids as they are would take more than twice as much, and most answers are
/// shorter than a name.
type RecordKey = [u8; 16];

/// The comparisons of earlier runs and of this one, for the threads of one repository. The file is read when something is
/// first asked for.
pub(crate) struct DiffCache {
    file: CacheFile,
    head: Format,
    table: OnceLock<RwLock<DiffRecords>>,
}

impl DiffCache {
    /// Those that `file` keeps under `key`.
    pub(crate) fn in_file(file: CacheFile, key: &[u8]) -> Self {
        Self { file, head: Format::new(MAGIC, VERSION, key), table: OnceLock::new() }
    }

    /// The changes from the content `old` to the content `new`, if they are known.
    pub(crate) fn hunks(&self, old: &ObjectId, new: &ObjectId) -> Option<Vec<Hunk>> {
        get_hunks(self.read().find(&name_of_hunks(old, new))?)
    }

    /// Keeps the changes from the content `old` to the content `new`.
    pub(crate) fn keep_hunks(&self, old: &ObjectId, new: &ObjectId, hunks: &[Hunk]) {
        self.write().add(name_of_hunks(old, new), |out| put_hunks(out, hunks));
    }

    /// The file that became `target`, or that there is none, if it is known.
    pub(crate) fn source(&self, index: &EventIndex, target: RenameTarget) -> Option<Option<RenameSource>> {
        let table = self.read();
        let Some((path, blob)) = get_source(table.find(&name_of_source(index, target))?, target.blob.kind())? else {
            return Some(None);
        };
        Some(Some(RenameSource { path: index.path_id(path)?, blob }))
    }

    /// Keeps the file that became `target`, or that there is none.
    pub(crate) fn keep_source(&self, index: &EventIndex, target: RenameTarget, source: Option<RenameSource>) {
        let source = source.map(|source| (index.path(source.path), source.blob));
        self.write().add(name_of_source(index, target), |out| put_source(out, source));
    }

    /// Adds to the file what it lacks. One that cannot be written costs the next run time, nothing else.
    pub(crate) fn store(&self) {
        let Some(table) = self.table.get() else { return };
        let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
        if table.stored < table.records.len()
            && let Ok(end) = self.file.append(&self.head, table.end, &table.records[table.stored..])
        {
            (table.end, table.stored) = (Some(end), table.records.len());
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, DiffRecords> {
        self.table().read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, DiffRecords> {
        self.table().write().unwrap_or_else(PoisonError::into_inner)
    }

    fn table(&self) -> &RwLock<DiffRecords> {
        self.table.get_or_init(|| RwLock::new(DiffRecords::read(&self.file, &self.head).unwrap_or_default()))
    }
}

fn name_of_hunks(old: &ObjectId, new: &ObjectId) -> RecordKey {
    name(&[b"h", old.as_slice(), new.as_slice()])
}

fn name_of_source(index: &EventIndex, RenameTarget { commit, parent, path, blob }: RenameTarget) -> RecordKey {
    let (commit, parent) = (index.graph.id(commit), (parent as u64).to_le_bytes());
    name(&[b"s", commit.as_slice(), &parent, blob.as_slice(), index.path(path)])
}

/// All parts but the last are as long for every question of a kind, so that they cannot run into each other.
fn name(parts: &[&[u8]]) -> RecordKey {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let mut name = RecordKey::default();
    name.copy_from_slice(&hasher.finalize().as_bytes()[..size_of::<RecordKey>()]);
    name
}

/// Records, and where they are: no allocation for each, as there are many.
#[derive(Default)]
struct DiffRecords {
    /// What was read from the file, then what is new.
    records: Vec<u8>,
    /// The first bytes of records.
    places: HashTable<u32>,
    /// How much of `records` needs not be stored.
    stored: usize,
    /// Where the last segment of the file ends.
    end: Option<usize>,
}

impl DiffRecords {
    /// The table in a file; `None` if there is none that can be used.
    fn read(file: &CacheFile, head: &Format) -> Option<Self> {
        let mut bytes = file.read(head)?;
        let mut segments = file.segments(&bytes, head);
        let mut places = HashTable::new();
        for segment in &mut segments {
            let mut start = segment.start;
            while start < segment.end {
                places.insert_unique(hash_at(&bytes, start), u32::try_from(start).ok()?, hasher(&bytes));
                start = value_at(&bytes[..segment.end], start)?.end;
            }
        }
        let end = segments.end();
        bytes.truncate(end);
        Some(Self { records: bytes, places, stored: end, end: Some(end) })
    }

    /// The value under a name.
    fn find(&self, name: &RecordKey) -> Option<&[u8]> {
        let is_name = |&place: &u32| self.records[place as usize..].starts_with(name);
        let &place = self.places.find(hash_at(name, 0), is_name)?;
        self.records.get(value_at(&self.records, place as usize)?)
    }

    /// Adds a value, unless there is one or no room.
    fn add(&mut self, name: RecordKey, put: impl FnOnce(&mut Vec<u8>)) {
        if self.find(&name).is_some() {
            return;
        }
        let mut value = Vec::new();
        put(&mut value);
        let place = self.records.len();
        if place + size_of::<RecordKey>() + value.len() > MAX_BYTES {
            return;
        }
        self.records.extend_from_slice(&name);
        put_varint(&mut self.records, value.len() as u64);
        self.records.extend_from_slice(&value);
        self.places.insert_unique(hash_at(&name, 0), place as u32, hasher(&self.records));
    }
}

/// Where the value of the record is that starts at `start`; `None` if it is not within `records`.
fn value_at(records: &[u8], start: usize) -> Option<Range<usize>> {
    let mut rest = records.get(start + size_of::<RecordKey>()..)?;
    let len = usize::try_from(varint(&mut rest)?).ok()?;
    let value = records.len() - rest.len();
    (len <= rest.len()).then_some(value..value + len)
}

fn hasher(records: &[u8]) -> impl Fn(&u32) -> u64 {
    |&place| hash_at(records, place as usize)
}

/// The start of a name, which is a hash itself.
fn hash_at(records: &[u8], start: usize) -> u64 {
    records[start..].first_chunk().copied().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use aurora_confined::Directory;

    use super::{CacheFile, DiffRecords, Format, MAGIC, MAX_BYTES, RecordKey, VERSION, put_varint};

    const KEYS: [RecordKey; 4] = [[1; 16], [2; 16], [3; 16], [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]];

    fn head() -> Format {
        Format::new(MAGIC, VERSION, &[7; 20])
    }

    #[test]
    fn names_that_begin_alike_are_told_apart_and_the_first_value_stays() {
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
    fn nothing_is_added_beyond_the_bound() {
        let mut table = DiffRecords::default();
        table.add(KEYS[0], |out| out.resize(MAX_BYTES - 100, 0));
        table.add(KEYS[1], |out| out.resize(100, 0));
        table.add(KEYS[2], |out| out.push(1));
        let lengths = KEYS[..3].iter().map(|name| table.find(name).map(<[u8]>::len));
        assert_eq!(lengths.collect::<Vec<_>>(), [Some(MAX_BYTES - 100), None, Some(1)]);
    }

    #[test]
    fn a_record_that_is_longer_than_its_segment_is_no_record() {
        let directory = tempfile::tempdir().unwrap();
        let directory = Directory::open_root(directory.path()).unwrap();
        let file = CacheFile::new(directory, "comparisons", b"secret", 1 << 10);
        for cut in [0, 5, 16, 17, 20] {
            let mut record = KEYS[0].to_vec();
            put_varint(&mut record, 4);
            record.extend(*b"text");
            file.append(&head(), None, &record).unwrap();
            assert_eq!(DiffRecords::read(&file, &head()).unwrap().find(&KEYS[0]), Some(b"text".as_slice()));
            file.append(&head(), None, &record[..cut]).unwrap();
            assert_eq!(DiffRecords::read(&file, &head()).is_some(), cut == 0, "{cut} bytes");
        }
        let other = Format::new(MAGIC, VERSION, &[8; 20]);
        assert!(DiffRecords::read(&file, &other).is_none());
    }
}
