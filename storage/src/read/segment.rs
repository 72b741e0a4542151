//! Segments of the inverted index as rows of LMDB tables.
//!
//! A dictionary block is a row of the dictionary table. Its key is the segment's number followed by the block's first
//! term. A value with posting lists is a row of the postings table. Its key is the segment's number followed by the
//! value's number.

use aurora_inverted::{BlockCursor, KeyedBlock, SegmentReader, SegmentSink, SegmentSource, SegmentTotals, TermRange};
use aurora_lmdb_pages::{Cursor, Damage, Pages, Tree};

use crate::error::StorageError;
use crate::manifest::SegmentInfo;
use crate::tables::{Operation, Table};

/// Number of bytes of the segment's number, which is the prefix of every key.
const PREFIX_BYTES: usize = 4;

/// A reader of a segment of one generation.
pub(crate) type StoredSegment<'a> = SegmentReader<'a, SegmentPages<'a>>;

/// Access to the rows of one segment.
#[derive(Clone, Copy)]
pub(crate) struct SegmentPages<'a> {
    /// The mapped file.
    pub(crate) pages: Pages<'a>,
    /// Root of the dictionary table.
    pub(crate) dictionary: Tree,
    /// Root of the postings table.
    pub(crate) postings: Tree,
    /// Number of the segment.
    pub(crate) id: u32,
}

impl<'a> SegmentSource<'a> for SegmentPages<'a> {
    type Error = Damage;
    type Blocks = BlockRows<'a>;

    fn block(self, term: &[u8]) -> Result<Option<KeyedBlock<'a>>, Damage> {
        let key = dictionary_key(self.id, term);
        let found = Cursor::floor(self.pages, self.dictionary, &key)?;
        Ok(found.and_then(|(found, bytes)| Some((found.strip_prefix(&key[..PREFIX_BYTES])?, bytes))))
    }

    fn blocks(self, key: &[u8]) -> Result<BlockRows<'a>, Damage> {
        let rows = Cursor::seek(self.pages, self.dictionary, &dictionary_key(self.id, key))?;
        Ok(BlockRows { rows, prefix: self.id.to_be_bytes() })
    }

    fn value(self, number: u32) -> Result<Option<&'a [u8]>, Damage> {
        Cursor::get(self.pages, self.postings, &postings_key(self.id, number))
    }

    fn damaged(self, structure: &str) -> Damage {
        Damage(format!("segment {} has a damaged {structure}", self.id))
    }
}

/// A position among the dictionary blocks of a segment.
#[derive(Clone)]
pub(crate) struct BlockRows<'a> {
    rows: Cursor<'a>,
    prefix: [u8; PREFIX_BYTES],
}

impl<'a> BlockCursor<'a> for BlockRows<'a> {
    type Error = Damage;

    fn key(&self) -> Result<Option<&'a [u8]>, Damage> {
        let key = self.rows.key()?;
        Ok(key.and_then(|key| key.strip_prefix(&self.prefix)))
    }

    fn bytes(&self) -> Result<Option<&'a [u8]>, Damage> {
        let row = self.rows.entry()?;
        Ok(row.filter(|(key, _)| key.starts_with(&self.prefix)).map(|(_, bytes)| bytes))
    }

    fn advance(&mut self) -> Result<(), Damage> {
        self.rows.advance()
    }
}

/// Converts the bytes of a new segment into operations.
pub(crate) struct SegmentRows<F> {
    /// Number of the segment.
    pub(crate) id: u32,
    /// Receives the operations.
    pub(crate) emit: F,
}

impl<F: FnMut(Operation) -> Result<(), StorageError>> SegmentSink for SegmentRows<F> {
    type Error = StorageError;

    fn put_block(&mut self, key: &[u8], bytes: Vec<u8>) -> Result<(), StorageError> {
        (self.emit)(Operation::put(Table::Dictionary, dictionary_key(self.id, key), bytes))
    }

    fn put_value(&mut self, number: u32, bytes: Vec<u8>) -> Result<(), StorageError> {
        (self.emit)(Operation::put(Table::Postings, postings_key(self.id, number), bytes))
    }
}

/// Returns the ranges that begin at `bounds`. The last range ends at the end of the dictionary.
pub(crate) fn ranges(bounds: &[Vec<u8>]) -> impl Iterator<Item = TermRange<'_>> {
    let ends = bounds.iter().skip(1).map(Vec::as_slice).chain([&[][..]]);
    bounds.iter().zip(ends).map(|(from, to)| TermRange { from, to })
}

/// Adds the totals that a writer has counted to a description of a segment.
pub(crate) fn with_totals(info: SegmentInfo, totals: SegmentTotals) -> SegmentInfo {
    SegmentInfo { terms: totals.terms, postings: totals.postings, bytes: totals.bytes, ..info }
}

/// Returns the key of a value with posting lists.
fn postings_key(segment: u32, number: u32) -> [u8; 8] {
    (u64::from(segment) << 32 | u64::from(number)).to_be_bytes()
}

/// Returns the key of the dictionary block that starts at `term`.
fn dictionary_key(segment: u32, term: &[u8]) -> Vec<u8> {
    [&segment.to_be_bytes()[..], term].concat()
}
