//! Sorted runs, as in an external merge sort: the posting lists of some chunks, encoded in the order of their terms, in
//! memory or in a file.
//!
//! Layout of a run, for every term in byte order: length of the term · term · number of postings · last chunk · length
//! of the encoded postings · postings, encoded as in a dictionary entry.

use std::io::{self, Write};

use aurora_codec::{ByteReader, put, put_sized, put_varint};
use serde::Deserialize;

use super::block::{decode_inline, encode_inline, has_frequencies};
use crate::postings::Posting;

/// Minimum number of bytes of a run between two terms of [`RunIndex`].
const INDEX_STEP_BYTES: usize = 16 << 10;

/// A run in memory.
#[derive(Debug, Default)]
pub struct Run {
    /// The encoded lists.
    pub bytes: Vec<u8>,
    /// Offsets of some of the lists.
    pub index: RunIndex,
}

/// A sparse index of a run: some of its terms with the offsets where their lists begin.
#[derive(Debug, Default)]
pub struct RunIndex(Vec<(Box<[u8]>, usize)>);

impl RunIndex {
    /// Returns an offset at or before the list of `term`. A reader that begins at this offset reads the lists of `term`
    /// and of all higher terms.
    pub fn start_of(&self, term: &[u8]) -> usize {
        let after = self.0.partition_point(|(known, _)| **known <= *term);
        after.checked_sub(1).map_or(0, |at| self.0[at].1)
    }

    /// Returns an offset by which the lists of all terms below `term` have ended; `None` for the end of the run.
    pub fn end_before(&self, term: &[u8]) -> Option<usize> {
        let after = self.0.partition_point(|(known, _)| **known < *term);
        self.0.get(after).map(|(_, offset)| *offset)
    }

    /// Returns the indexed terms, about one for every 16 KiB of the run.
    pub fn terms(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|(term, _)| &**term)
    }
}

/// Writes the lists of a run in the order of their terms.
pub struct RunWriter<W> {
    out: W,
    written: usize,
    index: RunIndex,
    head: Vec<u8>,
}

impl<W: Write> RunWriter<W> {
    /// Creates a writer of a run.
    pub fn new(out: W) -> Self {
        Self { out, written: 0, index: RunIndex::default(), head: Vec::new() }
    }

    /// Adds a list.
    ///
    /// # Errors
    /// Fails if the run cannot be written.
    pub(super) fn push(&mut self, list: RunList<'_>) -> io::Result<()> {
        let RunList { term, count, last, postings } = list;
        if self.index.0.last().map_or(INDEX_STEP_BYTES, |(_, offset)| self.written - offset) >= INDEX_STEP_BYTES {
            self.index.0.push((term.into(), self.written));
        }
        self.head.clear();
        put_sized(&mut self.head, term);
        put(&mut self.head, &(count, last, postings.len()));
        self.out.write_all(&self.head)?;
        self.out.write_all(postings)?;
        self.written += self.head.len() + postings.len();
        Ok(())
    }

    /// Completes the run.
    ///
    /// # Errors
    /// Fails if buffered bytes cannot be written.
    pub fn finish(mut self) -> io::Result<(W, RunIndex)> {
        self.out.flush()?;
        Ok((self.out, self.index))
    }
}

/// A list of a run.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct RunList<'r> {
    pub(super) term: &'r [u8],
    pub(super) count: u32,
    pub(super) last: u32,
    pub(super) postings: &'r [u8],
}

impl<'r> RunList<'r> {
    /// Returns the id of the first chunk of the list, and the bytes after this id.
    pub(super) fn first(&self) -> Option<(u32, &'r [u8])> {
        let mut reader = ByteReader::new(self.postings);
        let first = reader.varint32()?;
        Some((first, reader.rest()))
    }

    /// Appends the postings of the list to `postings`; `None` if they are damaged.
    pub(super) fn decode(&self, postings: &mut Vec<Posting>) -> Option<()> {
        decode_inline(self.postings, self.count, has_frequencies(self.term), |posting| postings.push(posting))
    }
}

/// Encodes the postings of a term for a transfer between indexes. The ids of chunks must ascend.
pub fn encode_list(term: &[u8], postings: &[Posting]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_inline(&mut bytes, postings, has_frequencies(term));
    bytes
}

impl RunWriter<Vec<u8>> {
    /// Adds the postings of a term that [`encode_list`] encoded, with `first` added to the id of every chunk. Terms
    /// must ascend. Returns `None` if the bytes are invalid, or `is_valid` returns false for an id in the bytes.
    pub fn push_list(&mut self, term: &[u8], bytes: &[u8], first: u32, is_valid: impl Fn(u32) -> bool) -> Option<()> {
        let mut reader = ByteReader::new(bytes);
        let (count, start) = (reader.varint32()?, reader.rest());
        let (mut ends, mut are_valid) = (None, count > 0);
        decode_inline(start, count, has_frequencies(term), |Posting { chunk, .. }| {
            ends = Some((ends.map_or(chunk, |(lowest, _)| lowest), chunk));
            are_valid &= is_valid(chunk);
        })?;
        let (lowest, last) = ends.filter(|_| are_valid)?;
        let mut rest = ByteReader::new(start);
        rest.varint32()?;
        let (mut postings, last) = (Vec::with_capacity(bytes.len() + 5), last.checked_add(first)?);
        put_varint(&mut postings, u64::from(lowest + first));
        postings.extend_from_slice(rest.rest());
        self.push(RunList { term, count, last, postings: &postings }).ok()
    }
}

/// Reads a run, or a part of it, list by list.
#[derive(Debug)]
pub struct RunReader<'r> {
    rest: &'r [u8],
    list: Option<RunList<'r>>,
}

/// Error for bytes that are not a valid run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedRun;

impl<'r> RunReader<'r> {
    /// Creates a reader at the first list of `bytes`.
    ///
    /// # Errors
    /// Fails if `bytes` do not begin with a list.
    pub fn new(bytes: &'r [u8]) -> Result<Self, DamagedRun> {
        let mut reader = Self { rest: bytes, list: None };
        reader.advance()?;
        Ok(reader)
    }

    /// Returns the current list; `None` at the end.
    pub(super) fn list(&self) -> Option<RunList<'r>> {
        self.list
    }

    /// Moves to the next list, or to the end.
    pub(super) fn advance(&mut self) -> Result<(), DamagedRun> {
        self.list = None;
        if self.rest.is_empty() {
            return Ok(());
        }
        let mut reader = ByteReader::new(self.rest);
        self.list = Some(reader.read().ok_or(DamagedRun)?);
        self.rest = reader.rest();
        Ok(())
    }
}
