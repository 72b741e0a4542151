//! The cache of a walk over the history. With the cache, only new commits are compared after a change of HEAD.
//!
//! The file is an [`aurora_cachefile`] whose key is `BlameConfig::walk_key`. A segment contains, for each table, the
//! number of rows (u32) that one walk added, followed by these rows. All numbers are little-endian.

use std::io;
use std::sync::Arc;

use gix::ObjectId;

use crate::change_table::{Change, ChangeTable, NOT_COMPARED, PackedState, PathId};
use crate::commit_table::{Author, CommitHeader, CommitTable};
use aurora_cachefile::{CacheFile, Format, Segments};
use aurora_codec::ByteReader;

const MAGIC: &[u8; 8] = b"AURWALK\n";
/// Incremented when the layout of the file or the result of a walk changes.
const VERSION: u32 = 4;

/// A cached walk.
#[derive(Default)]
pub(crate) struct CachedWalk {
    pub(crate) commits: CommitTable,
    pub(crate) changes: ChangeTable,
    end: CacheEnd,
}

/// The end of a cached walk: its offset in the file, and the number of rows in each table.
#[derive(Default, Clone, Copy)]
pub(crate) struct CacheEnd {
    offset: Option<usize>,
    rows: RowCounts,
}

/// The number of rows of each table, in the order in which the tables are encoded.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct RowCounts([usize; 8]);

impl RowCounts {
    fn new(commits: &CommitTable, changes: &ChangeTable) -> Self {
        Self([
            commits.authors.len(),
            commits.parents.len(),
            commits.headers.len(),
            changes.ranges.len(),
            changes.paths.len(),
            changes.blobs.len(),
            changes.other_parents.len(),
            changes.changes.len(),
        ])
    }
}

/// Reads the walk that is cached in `file` under `key`. Returns an empty walk if the file has no usable walk.
pub(crate) fn read(file: &CacheFile, key: &[u8], hash: gix::hash::Kind) -> CachedWalk {
    let format = Format::new(MAGIC, VERSION, key);
    let walk = file.read(&format).and_then(|bytes| read_segments(&bytes, file.segments(&bytes, &format), hash));
    walk.unwrap_or_default()
}

fn read_segments(bytes: &[u8], mut segments: Segments<'_>, hash: gix::hash::Kind) -> Option<CachedWalk> {
    let mut tables = DecodedTables::default();
    for segment in &mut segments {
        RowDecoder { reader: ByteReader::new(&bytes[segment]), id_len: hash.len_in_bytes() }.tables(&mut tables)?;
    }
    tables.is_valid().then(|| tables.into_walk(segments.end()))
}

/// Appends the rows that were added to the tables after `end` to `file`. Replaces the file if nothing was cached.
pub(crate) fn append(
    file: &CacheFile,
    key: &[u8],
    end: CacheEnd,
    commits: &CommitTable,
    changes: &ChangeTable,
) -> io::Result<()> {
    let segment = segment(end.rows, commits, changes);
    file.append(&Format::new(MAGIC, VERSION, key), end.offset, &segment).map(drop)
}

/// Encodes the rows after the first `before` rows of each table.
fn segment(RowCounts(before): RowCounts, commits: &CommitTable, changes: &ChangeTable) -> Vec<u8> {
    let [authors, parents, headers, ranges, paths, blobs, others, rows] = before;
    let mut out = Vec::new();
    put_rows(&mut out, &commits.authors[authors..], |out, author| {
        put_text(out, &author.name);
        put_text(out, &author.email);
    });
    put_rows(&mut out, &commits.parents[parents..], put_id);
    put_rows(&mut out, &commits.headers[headers..], put_header);
    put_rows(&mut out, &changes.ranges[ranges..], |out, range| put_numbers(out, [range.0, range.1]));
    put_rows(&mut out, &changes.paths[paths..], |out, path| put_text(out, path));
    put_rows(&mut out, &changes.blobs[blobs..], put_id);
    put_rows(&mut out, &changes.other_parents[others..], |out, state| put_number(out, state.0));
    put_rows(&mut out, &changes.changes[rows..], |out, change| {
        put_numbers(out, [change.path.0, change.new.0, change.first_parent.0, change.others]);
    });
    out
}

/// The decoded rows of all segments.
#[derive(Default)]
struct DecodedTables {
    authors: Vec<Author>,
    parents: Vec<ObjectId>,
    headers: Vec<CommitHeader>,
    ranges: Vec<(u32, u32)>,
    paths: Vec<Arc<[u8]>>,
    blobs: Vec<ObjectId>,
    others: Vec<PackedState>,
    changes: Vec<Change>,
}

impl DecodedTables {
    /// Whether all references between rows point to existing rows.
    fn is_valid(&self) -> bool {
        let is_range = |&(start, end): &(u32, u32), len: usize| start <= end && end as usize <= len;
        let is_header = |header: &CommitHeader| {
            is_range(&header.parents, self.parents.len()) && (header.author as usize) < self.authors.len()
        };
        let is_state = |state: &PackedState| {
            [PackedState::ABSENT, PackedState::OTHER].contains(state) || (state.0 as usize) < self.blobs.len()
        };
        let is_change = |change: &Change| {
            (change.path.0 as usize) < self.paths.len() && is_state(&change.new) && is_state(&change.first_parent)
        };
        self.headers.iter().all(is_header)
            && self.ranges.len() <= self.headers.len()
            && self.ranges.iter().all(|range| *range == NOT_COMPARED || is_range(range, self.changes.len()))
            && self.others.iter().all(is_state)
            && self.changes.iter().all(is_change)
    }

    fn into_walk(self, offset: usize) -> CachedWalk {
        let commits = CommitTable::new(self.headers, self.parents, self.authors);
        let changes = ChangeTable::new(self.paths, self.blobs, self.changes, self.others, self.ranges);
        let rows = RowCounts::new(&commits, &changes);
        CachedWalk { commits, changes, end: CacheEnd { offset: Some(offset), rows } }
    }
}

impl CachedWalk {
    /// Returns the end of the cached walk.
    pub(crate) fn end(&self) -> CacheEnd {
        self.end
    }
}

fn put_number(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_numbers<const N: usize>(out: &mut Vec<u8>, numbers: [u32; N]) {
    numbers.into_iter().for_each(|number| put_number(out, number));
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, text.len() as u32);
    out.extend_from_slice(text);
}

fn put_id(out: &mut Vec<u8>, id: &ObjectId) {
    out.extend_from_slice(id.as_slice());
}

fn put_header(out: &mut Vec<u8>, header: &CommitHeader) {
    put_id(out, &header.id);
    put_id(out, &header.tree);
    put_numbers(out, [header.parents.0, header.parents.1, header.author]);
    out.extend_from_slice(&header.author_time.to_le_bytes());
    out.extend_from_slice(&header.committer_time.to_le_bytes());
}

fn put_rows<T>(out: &mut Vec<u8>, rows: &[T], put: impl Fn(&mut Vec<u8>, &T)) {
    put_number(out, rows.len() as u32);
    rows.iter().for_each(|row| put(out, row));
}

/// A decoder for the rows of a segment.
struct RowDecoder<'a> {
    reader: ByteReader<'a>,
    /// The length of an object id.
    id_len: usize,
}

impl<'a> RowDecoder<'a> {
    fn number(&mut self) -> Option<u32> {
        self.reader.u32()
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        self.reader.take(len as usize)
    }

    fn id(&mut self) -> Option<ObjectId> {
        ObjectId::try_from(self.reader.take(self.id_len)?).ok()
    }

    fn header(&mut self) -> Option<CommitHeader> {
        Some(CommitHeader {
            id: self.id()?,
            tree: self.id()?,
            parents: (self.number()?, self.number()?),
            author: self.number()?,
            author_time: self.reader.i64()?,
            committer_time: self.reader.i64()?,
        })
    }

    fn change(&mut self) -> Option<Change> {
        let (path, new) = (PathId(self.number()?), PackedState(self.number()?));
        Some(Change { path, new, first_parent: PackedState(self.number()?), others: self.number()? })
    }

    /// Appends the rows of a segment to the tables.
    fn tables(&mut self, to: &mut DecodedTables) -> Option<()> {
        self.rows(&mut to.authors, |rows| Some(Author { name: rows.text()?.into(), email: rows.text()?.into() }))?;
        self.rows(&mut to.parents, Self::id)?;
        self.rows(&mut to.headers, Self::header)?;
        self.rows(&mut to.ranges, |rows| Some((rows.number()?, rows.number()?)))?;
        self.rows(&mut to.paths, |rows| rows.text().map(Arc::from))?;
        self.rows(&mut to.blobs, Self::id)?;
        self.rows(&mut to.others, |rows| rows.number().map(PackedState))?;
        self.rows(&mut to.changes, Self::change)?;
        self.reader.is_empty().then_some(())
    }

    fn rows<T>(&mut self, to: &mut Vec<T>, row: impl Fn(&mut Self) -> Option<T>) -> Option<()> {
        let count = self.number()? as usize;
        to.reserve(count.min(self.reader.rest().len()));
        for _ in 0..count {
            to.push(row(self)?);
        }
        Some(())
    }
}
