//! Sorted runs on disk: an inversion that no longer fits in memory.
//!
//! A run is for every term, in byte order: length of the term · term · number of postings · length of the postings ·
//! postings as in a dictionary entry.

use std::io::{self, BufRead, Write};

use super::inverter::Inverter;
use aurora_codec::put_varint;

impl Inverter {
    /// Sorts the postings by term, and writes them as a run.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_run(self, mut out: impl Write) -> io::Result<()> {
        let mut lists = self.invert();
        let mut head = Vec::new();
        while let Some((term, count, postings)) = lists.current() {
            head.clear();
            put_varint(&mut head, term.len() as u64);
            head.extend_from_slice(term);
            put_varint(&mut head, u64::from(count));
            put_varint(&mut head, postings.len() as u64);
            out.write_all(&head)?;
            out.write_all(postings)?;
            lists.advance();
        }
        out.flush()
    }
}

/// Reads a run list by list.
#[derive(Debug)]
pub struct RunReader<R> {
    bytes: R,
    pub(super) term: Vec<u8>,
    pub(super) count: u32,
    pub(super) postings: Vec<u8>,
    pub(super) ended: bool,
}

impl<R: BufRead> RunReader<R> {
    /// Reads the first list.
    ///
    /// # Errors
    /// When `bytes` cannot be read, or are not a run.
    pub fn new(bytes: R) -> io::Result<Self> {
        let mut reader = Self { bytes, term: Vec::new(), count: 0, postings: Vec::new(), ended: false };
        reader.advance()?;
        Ok(reader)
    }

    /// Moves to the next list, or to the end.
    pub(super) fn advance(&mut self) -> io::Result<()> {
        if self.bytes.fill_buf()?.is_empty() {
            self.ended = true;
            return Ok(());
        }
        let length = self.varint()?;
        self.term.resize(length, 0);
        self.bytes.read_exact(&mut self.term)?;
        self.count = self.varint()? as u32;
        let length = self.varint()?;
        self.postings.resize(length, 0);
        self.bytes.read_exact(&mut self.postings)
    }

    fn varint(&mut self) -> io::Result<usize> {
        let mut value = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let mut byte = [0];
            self.bytes.read_exact(&mut byte)?;
            value |= usize::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "a number is too long"))
    }
}
