//! The inversion of what one writer adds: in memory, and spilled to sorted files when it grows too
//! large.
//!
//! A run file is, for every term in order: length of the term · term · number of postings · length of
//! the postings · postings as in a dictionary entry. It lives only as long as its writer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::block::has_frequencies;
use crate::codec::put_varint;
use crate::field::FIELDS;
use crate::postings::encode_frequencies;

/// About what a term costs beside its bytes: the map's slot, two allocations.
const TERM_OVERHEAD: usize = 112;

/// The postings of one term, encoded as they come.
#[derive(Debug, Default)]
pub(crate) struct TermList {
    pub(super) count: u32,
    pub(super) bytes: Vec<u8>,
    last: u32,
}

/// Collects postings by term.
#[derive(Debug, Default)]
pub(crate) struct Inverter {
    terms: FxHashMap<Box<[u8]>, TermList>,
    bytes: usize,
}

impl Inverter {
    /// Adds a posting. For one term, chunks must be added in ascending order.
    pub(crate) fn add(&mut self, term: &[u8], chunk: u32, frequencies: &[u16; FIELDS]) {
        let list = match self.terms.get_mut(term) {
            Some(list) => list,
            None => {
                self.bytes += TERM_OVERHEAD + term.len();
                self.terms.entry(term.into()).or_default()
            }
        };
        let room = list.bytes.capacity();
        put_varint(&mut list.bytes, u64::from(chunk - list.last));
        if has_frequencies(term) {
            encode_frequencies(&mut list.bytes, frequencies);
        }
        list.last = chunk;
        list.count += 1;
        self.bytes += list.bytes.capacity() - room;
    }

    /// About the bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.bytes
    }

    /// The lists in the order of their terms.
    pub(super) fn into_sorted(self) -> Vec<(Box<[u8]>, TermList)> {
        let mut lists: Vec<_> = self.terms.into_iter().collect();
        lists.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        lists
    }

    /// Writes the lists to a file and leaves the inverter empty.
    pub(crate) fn spill(&mut self, path: PathBuf) -> io::Result<RunFile> {
        let lists = std::mem::take(self).into_sorted();
        let run = RunFile { path };
        let mut file = BufWriter::with_capacity(1 << 18, File::create(&run.path)?);
        let mut head = Vec::new();
        for (term, list) in &lists {
            head.clear();
            put_varint(&mut head, term.len() as u64);
            head.extend_from_slice(term);
            put_varint(&mut head, u64::from(list.count));
            put_varint(&mut head, list.bytes.len() as u64);
            file.write_all(&head)?;
            file.write_all(&list.bytes)?;
        }
        file.flush()?;
        Ok(run)
    }
}

/// A spilled inversion; the file is removed with the value.
#[derive(Debug)]
pub(crate) struct RunFile {
    path: PathBuf,
}

impl RunFile {
    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the lists in order.
    pub(super) fn read(&self) -> io::Result<RunReader> {
        let mut reader = RunReader {
            file: BufReader::with_capacity(1 << 17, File::open(&self.path)?),
            path: self.path.clone(),
            term: Vec::new(),
            count: 0,
            postings: Vec::new(),
            ended: false,
        };
        reader.advance()?;
        Ok(reader)
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // Nothing can be done here; the next writer clears the directory.
        drop(std::fs::remove_file(&self.path));
    }
}

/// Reads a run file list by list.
#[derive(Debug)]
pub(crate) struct RunReader {
    file: BufReader<File>,
    pub(super) path: PathBuf,
    pub(super) term: Vec<u8>,
    pub(super) count: u32,
    pub(super) postings: Vec<u8>,
    pub(super) ended: bool,
}

impl RunReader {
    /// Moves to the next list, or to the end.
    pub(super) fn advance(&mut self) -> io::Result<()> {
        if self.file.fill_buf()?.is_empty() {
            self.ended = true;
            return Ok(());
        }
        let length = self.varint()?;
        self.term.resize(length, 0);
        self.file.read_exact(&mut self.term)?;
        self.count = self.varint()? as u32;
        let length = self.varint()?;
        self.postings.resize(length, 0);
        self.file.read_exact(&mut self.postings)
    }

    fn varint(&mut self) -> io::Result<usize> {
        let mut value = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let mut byte = [0];
            self.file.read_exact(&mut byte)?;
            value |= usize::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "a number is too long"))
    }
}
