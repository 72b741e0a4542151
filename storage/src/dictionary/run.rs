//! Inversions that were spilled to files, because memory was short.
//!
//! A run file is, for every term in order: length of the term · term · number of postings · length of
//! the postings · postings as in a dictionary entry. It lives only as long as its writer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use aurora_confined::Directory;

use super::inverter::Inverter;
use crate::codec::put_varint;

/// A spilled inversion; the file is removed with the value.
#[derive(Debug)]
pub(crate) struct RunFile {
    directory: Directory,
    name: String,
}

impl RunFile {
    /// Writes an inversion to a new file in a directory.
    pub(crate) fn write(directory: Directory, name: String, inverter: Inverter) -> io::Result<Self> {
        let file = directory.create_new(&name)?;
        let run = Self { directory, name };
        let mut file = BufWriter::with_capacity(1 << 18, file);
        let mut lists = inverter.invert();
        let mut head = Vec::new();
        while let Some((term, count, postings)) = lists.current() {
            head.clear();
            put_varint(&mut head, term.len() as u64);
            head.extend_from_slice(term);
            put_varint(&mut head, u64::from(count));
            put_varint(&mut head, postings.len() as u64);
            file.write_all(&head)?;
            file.write_all(postings)?;
            lists.advance();
        }
        file.flush()?;
        Ok(run)
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    /// Reads the lists in order.
    pub(super) fn read(&self) -> io::Result<RunReader> {
        let mut reader = RunReader {
            file: BufReader::with_capacity(1 << 17, self.directory.open_file(&self.name)?),
            path: self.path(),
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
        drop(self.directory.remove(&self.name));
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
