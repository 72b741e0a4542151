//! Sorted runs: the inversion of some chunks as bytes, in memory or in a file.
//!
//! A run is for every term, in byte order: length of the term · term · number of postings · the last chunk · length of the
//! postings · postings as in a dictionary entry.

use std::io::{self, Write};

use aurora_codec::{ByteReader, put_varint};

use super::block::{decode_inline, has_frequencies};
use crate::postings::Posting;

/// Bytes of a run between two terms that [`RunIndex`] knows.
const INDEX_STEP: usize = 16 << 10;

/// A run in memory.
#[derive(Debug, Default)]
pub struct Run {
    /// The lists.
    pub bytes: Vec<u8>,
    /// Places of some of the lists.
    pub index: RunIndex,
}

/// Some terms of a run with the places where their lists begin.
#[derive(Debug, Default)]
pub struct RunIndex(Vec<(Box<[u8]>, usize)>);

impl RunIndex {
    /// Where to begin to read the lists of `term` and of those after it.
    pub fn place_of(&self, term: &[u8]) -> usize {
        let after = self.0.partition_point(|(known, _)| **known <= *term);
        after.checked_sub(1).map_or(0, |at| self.0[at].1)
    }

    /// Where the lists before `term` have ended; `None` if that is not known to be before the end of the run.
    pub fn end_of(&self, term: &[u8]) -> Option<usize> {
        let after = self.0.partition_point(|(known, _)| **known < *term);
        self.0.get(after).map(|(_, place)| *place)
    }

    /// The terms: one for about every 16 KiB of the run.
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
    /// Begins a run.
    pub fn new(out: W) -> Self {
        Self { out, written: 0, index: RunIndex::default(), head: Vec::new() }
    }

    /// Adds a list, given the last chunk in it.
    ///
    /// # Errors
    /// When the run cannot be written.
    pub(super) fn push(&mut self, list: RunList<'_>) -> io::Result<()> {
        let RunList { term, count, last, postings } = list;
        if self.index.0.last().map_or(INDEX_STEP, |(_, place)| self.written - place) >= INDEX_STEP {
            self.index.0.push((term.into(), self.written));
        }
        self.head.clear();
        put_varint(&mut self.head, term.len() as u64);
        self.head.extend_from_slice(term);
        for number in [u64::from(count), u64::from(last), postings.len() as u64] {
            put_varint(&mut self.head, number);
        }
        self.out.write_all(&self.head)?;
        self.out.write_all(postings)?;
        self.written += self.head.len() + postings.len();
        Ok(())
    }

    /// Ends the run.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn finish(mut self) -> io::Result<(W, RunIndex)> {
        self.out.flush()?;
        Ok((self.out, self.index))
    }
}

/// A list of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunList<'r> {
    pub(super) term: &'r [u8],
    pub(super) count: u32,
    pub(super) last: u32,
    pub(super) postings: &'r [u8],
}

impl<'r> RunList<'r> {
    /// The first chunk of the list, and the bytes of the postings after its number.
    pub(super) fn first(&self) -> Option<(u32, &'r [u8])> {
        let mut reader = ByteReader::new(self.postings);
        let first = reader.varint32()?;
        Some((first, reader.rest()))
    }

    /// Adds the postings of the list; `None` if they are damaged.
    pub(super) fn decode(&self, postings: &mut Vec<Posting>) -> Option<()> {
        decode_inline(self.postings, self.count, has_frequencies(self.term), |posting| postings.push(posting))
    }
}

/// Reads a run, or a part of it, list by list.
#[derive(Debug)]
pub struct RunReader<'r> {
    rest: &'r [u8],
    list: Option<RunList<'r>>,
}

/// The bytes are no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedRun;

impl<'r> RunReader<'r> {
    /// Reads the first list.
    ///
    /// # Errors
    /// When `bytes` do not begin with a list.
    pub fn new(bytes: &'r [u8]) -> Result<Self, DamagedRun> {
        let mut reader = Self { rest: bytes, list: None };
        reader.advance()?;
        Ok(reader)
    }

    /// The current list; `None` at the end.
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
        let mut read = || {
            let length = reader.length()?;
            let term = reader.take(length)?;
            let (count, last) = (reader.varint32()?, reader.varint32()?);
            let length = reader.length()?;
            let postings = reader.take(length)?;
            Some(RunList { term, count, last, postings })
        };
        let list = read().ok_or(DamagedRun)?;
        self.list = Some(list);
        self.rest = reader.rest();
        Ok(())
    }
}
