//! Reading a log, compressed or not, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use aurora_confined::Directory;
use flate2::bufread::MultiGzDecoder;

use crate::layout::{PACKED, PLAIN};

/// Longer lines are cut after this many bytes.
pub const LONGEST_LINE: usize = 1 << 20;
const BUFFER: usize = 64 << 10;

/// The text of a log. A compressed one is unpacked on the way.
#[derive(Debug)]
pub struct LogReader(Form);

#[derive(Debug)]
enum Form {
    Plain(BufReader<File>),
    Packed(Box<BufReader<MultiGzDecoder<BufReader<File>>>>),
}

impl LogReader {
    /// Opens a log by its name without the ending: the file that is not compressed, else the compressed one.
    pub(crate) fn open(month: &Directory, name: &str) -> io::Result<Self> {
        match Self::open_plain(month, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::open_packed(month, name),
            opened => opened,
        }
    }

    pub(crate) fn open_plain(month: &Directory, name: &str) -> io::Result<Self> {
        let file = month.open_file(format!("{name}{PLAIN}"))?;
        Ok(Self(Form::Plain(BufReader::with_capacity(BUFFER, file))))
    }

    pub(crate) fn open_packed(month: &Directory, name: &str) -> io::Result<Self> {
        let packed = BufReader::with_capacity(BUFFER, month.open_file(format!("{name}{PACKED}"))?);
        Ok(Self(Form::Packed(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(packed))))))
    }

    /// Its lines.
    pub fn lines(self) -> Lines<Self> {
        Lines::of(self)
    }
}

impl Read for LogReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Form::Plain(text) => text.read(buffer),
            Form::Packed(text) => text.read(buffer),
        }
    }
}

impl BufRead for LogReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.0 {
            Form::Plain(text) => text.fill_buf(),
            Form::Packed(text) => text.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match &mut self.0 {
            Form::Plain(text) => text.consume(amount),
            Form::Packed(text) => text.consume(amount),
        }
    }
}

/// The lines of a text, one at a time.
#[derive(Debug)]
pub struct Lines<R> {
    text: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines of a text.
    pub(crate) fn of(text: R) -> Self {
        Self { text, line: Vec::new(), number: 0 }
    }

    /// Reads the next line: its number, from 1, and its text without the line end, cut after [`LONGEST_LINE`] bytes. `None` at
    /// the end.
    ///
    /// # Errors
    /// The log cannot be read, or is damaged.
    pub fn read(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        self.line.clear();
        let mut is_line = false;
        loop {
            let buffer = match self.text.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                filled => filled?,
            };
            if buffer.is_empty() {
                break;
            }
            is_line = true;
            let end = memchr::memchr(b'\n', buffer);
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let room = LONGEST_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.text.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !is_line {
            return Ok(None);
        }
        self.number += 1;
        if self.line.ends_with(b"\r") {
            self.line.pop();
        }
        Ok(Some((self.number, &self.line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, usize)> {
        let mut lines = Lines::of(BufReader::with_capacity(7, text));
        let mut found = Vec::new();
        while let Some((number, line)) = lines.read().unwrap() {
            found.push((number, line.len()));
        }
        found
    }

    #[test]
    fn lines_are_cut_and_counted() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(1, 0)]);
        assert_eq!(lines(b"ab\r\n\nlonger than a buffer\nend"), [(1, 2), (2, 0), (3, 20), (4, 3)]);
        let long = [vec![b'x'; 3 * LONGEST_LINE], b"\ny".to_vec()].concat();
        assert_eq!(lines(&long), [(1, LONGEST_LINE), (2, 1)]);
    }
}
