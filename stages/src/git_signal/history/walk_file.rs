//! The file that keeps a walk between runs, so that a new HEAD costs the commits that are new.
//!
//! Layout, all numbers little-endian: [`MAGIC`] · version (u32) · key (20 bytes, see `Settings::walk_key`) · bytes of an
//! object id (u32) · the tables, each with the number of its rows (u32) in front · BLAKE3 of everything before. A file that
//! is damaged, of another version or another key is as good as none.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use gix::ObjectId;

use super::change_table::{Change, ChangeTable, PackedState, PathId, UNKNOWN};
use super::commit_table::{Author, CommitTable, Header};

const MAGIC: &[u8; 8] = b"AURWALK\n";
/// Raised when the layout changes, or what a walk finds.
const VERSION: u32 = 1;

/// What decides whether a walk may be used: a hash of all that changes what commits and their parents are.
pub(super) type Key = [u8; 20];

/// The walk that `file` keeps under `key`; `None` if there is none that can be used.
pub(super) fn read(file: &Path, key: &Key) -> Option<(CommitTable, ChangeTable)> {
    let bytes = fs::read(file).ok()?;
    let (content, digest) = bytes.split_at_checked(bytes.len().checked_sub(blake3::OUT_LEN)?)?;
    let mut reader = Reader { bytes: content, id_len: 0 };
    let is_usable = reader.take(MAGIC.len())? == MAGIC
        && reader.number()? == VERSION
        && reader.take(key.len())? == key
        && blake3::hash(content).as_bytes() == digest;
    if !is_usable {
        return None;
    }
    reader.id_len = reader.number()? as usize;
    let authors = reader.rows(|reader| Some(Author { name: reader.text()?.into(), email: reader.text()?.into() }))?;
    let parents = reader.rows(Reader::id)?;
    let headers = reader.rows(Reader::header)?;
    let ranges = reader.rows(|reader| Some((reader.number()?, reader.number()?)))?;
    let paths: Vec<Arc<[u8]>> = reader.rows(|reader| reader.text().map(Arc::from))?;
    let blobs = reader.rows(Reader::id)?;
    let others = reader.rows(|reader| reader.number().map(PackedState))?;
    let changes = reader.rows(Reader::change)?;
    let is_sound = reader.bytes.is_empty()
        && headers.iter().all(|header| {
            let (start, end) = header.parents;
            start <= end && end as usize <= parents.len() && (header.author as usize) < authors.len()
        })
        && ranges.len() <= headers.len()
        && ranges.iter().all(|&range| range == UNKNOWN || range.0 <= range.1 && range.1 as usize <= changes.len())
        && others.iter().all(|&state| is_known(state, &blobs))
        && changes.iter().all(|change| {
            (change.path.0 as usize) < paths.len()
                && [change.new, change.first_parent].iter().all(|&state| is_known(state, &blobs))
        });
    let tables =
        || (CommitTable::new(headers, parents, authors), ChangeTable::new(paths, blobs, changes, others, ranges));
    is_sound.then(tables)
}

/// Puts a walk into the place of the one that `file` keeps.
pub(super) fn write(file: &Path, key: &Key, commits: &CommitTable, changes: &ChangeTable) -> io::Result<()> {
    let mut out = Vec::with_capacity(80 * commits.len() + 16 * changes.changes.len() + 24 * changes.blobs.len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(key);
    let id_len = commits.headers.first().map_or(0, |header| header.id.as_slice().len());
    put_number(&mut out, id_len as u32);
    put_rows(&mut out, &commits.authors, |out, author| {
        put_text(out, &author.name);
        put_text(out, &author.email);
    });
    put_rows(&mut out, &commits.parents, put_id);
    put_rows(&mut out, &commits.headers, put_header);
    put_rows(&mut out, &changes.ranges, |out, range| {
        put_numbers(out, [range.0, range.1]);
    });
    put_rows(&mut out, &changes.paths, |out, path| put_text(out, path));
    put_rows(&mut out, &changes.blobs, put_id);
    put_rows(&mut out, &changes.other_parents, |out, state| put_number(out, state.0));
    put_rows(&mut out, &changes.changes, |out, change| {
        put_numbers(out, [change.path.0, change.new.0, change.first_parent.0, change.others]);
    });
    let digest = blake3::hash(&out);
    out.extend_from_slice(digest.as_bytes());
    let new = file.with_extension("new");
    let written = fs::File::create(&new).and_then(|mut to| to.write_all(&out)).and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        // Nothing can be done about it here; the next walk writes over it.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Whether a state refers to a blob that is there, or to none.
fn is_known(state: PackedState, blobs: &[ObjectId]) -> bool {
    state == PackedState::ABSENT || state == PackedState::OTHER || (state.0 as usize) < blobs.len()
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

fn put_header(out: &mut Vec<u8>, header: &Header) {
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

/// Reads from a slice; every read fails softly at its end.
struct Reader<'a> {
    bytes: &'a [u8],
    id_len: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn time(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        self.take(len as usize)
    }

    fn id(&mut self) -> Option<ObjectId> {
        ObjectId::try_from(self.take(self.id_len)?).ok()
    }

    fn header(&mut self) -> Option<Header> {
        Some(Header {
            id: self.id()?,
            tree: self.id()?,
            parents: (self.number()?, self.number()?),
            author: self.number()?,
            author_time: self.time()?,
            committer_time: self.time()?,
        })
    }

    fn change(&mut self) -> Option<Change> {
        let (path, new) = (PathId(self.number()?), PackedState(self.number()?));
        Some(Change { path, new, first_parent: PackedState(self.number()?), others: self.number()? })
    }

    fn rows<T>(&mut self, row: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()? as usize;
        let mut rows = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            rows.push(row(self)?);
        }
        Some(rows)
    }
}
