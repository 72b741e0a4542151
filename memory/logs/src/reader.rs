//! Reads plain and compressed logs line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use aurora_confined::Directory;
use flate2::bufread::MultiGzDecoder;

use crate::layout::{PACKED, PLAIN};

/// Maximum length of a line in bytes. Longer lines are truncated.
pub const MAX_LINE_BYTES: usize = 1 << 20;
const BUFFER_BYTES: usize = 64 << 10;
/// The first bytes of a file that gzip has compressed.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Maximum number of attempts to open the compressed or the plain file of a log.
const MAX_ATTEMPTS: usize = 16;
/// Constant part of the maximum size of a decompressed log, in bytes.
const MAX_UNPACKED_BYTES: u64 = 64 << 20;
/// Number of decompressed bytes that are additionally allowed per compressed byte. Logs compress to about a tenth of
/// their size, but a decompression bomb compresses to about a thousandth.
const MAX_UNPACKED_BYTES_PER_BYTE: u64 = 20;
/// Constant part of the maximum number of lines of a decompressed log.
const MAX_UNPACKED_LINES: u64 = 1 << 16;
/// Number of lines that are additionally allowed per compressed byte. Lines are limited too, because the duration of a
/// search grows with the number of lines. A short line of a decompression bomb takes less than a hundredth of a byte.
const MAX_UNPACKED_LINES_PER_BYTE: u64 = 1;

/// Size of a text as the number of bytes and the number of line breaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TextSize {
    bytes: u64,
    lines: u64,
}

impl TextSize {
    pub(crate) const UNBOUNDED: Self = Self { bytes: u64::MAX, lines: u64::MAX };

    /// Returns the maximum size of the decompressed text of a log with `packed` compressed bytes.
    pub(crate) fn max_unpacked(packed: u64) -> Self {
        let limit = |base: u64, factor: u64| base.saturating_add(packed.saturating_mul(factor));
        Self {
            bytes: limit(MAX_UNPACKED_BYTES, MAX_UNPACKED_BYTES_PER_BYTE),
            lines: limit(MAX_UNPACKED_LINES, MAX_UNPACKED_LINES_PER_BYTE),
        }
    }

    /// Checks that the size does not exceed `max`.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidData`] if the text has more bytes or more line breaks.
    pub(crate) fn check(self, max: Self) -> io::Result<()> {
        let (limit, unit) = match (self.bytes > max.bytes, self.lines > max.lines) {
            (true, _) => (max.bytes, "bytes"),
            (false, true) => (max.lines, "lines"),
            (false, false) => return Ok(()),
        };
        Err(io::Error::new(io::ErrorKind::InvalidData, format!("it unpacks to more than {limit} {unit}")))
    }
}

/// A reader for the text of a log. It decompresses a compressed log while reading.
#[derive(Debug)]
pub struct LogReader(Form);

#[derive(Debug)]
enum Form {
    Plain(BufReader<File>),
    Packed(Box<BufReader<Bounded<MultiGzDecoder<BufReader<File>>>>>),
}

impl LogReader {
    /// Creates a reader for a log file of any name, whose first bytes show whether it is compressed. The number of lines
    /// is not limited.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn new(file: File) -> io::Result<Self> {
        let max = TextSize { lines: u64::MAX, ..TextSize::max_unpacked(file.metadata()?.len()) };
        let mut bytes = BufReader::with_capacity(BUFFER_BYTES, file);
        let is_packed = bytes.fill_buf()?.starts_with(&GZIP_MAGIC);
        Ok(if is_packed { Self::packed(bytes, max) } else { Self(Form::Plain(bytes)) })
    }

    /// Opens the log `name`: the plain file if it exists, and otherwise the compressed file.
    ///
    /// Appending replaces the compressed file with a plain file, and maintenance replaces the plain file with a
    /// compressed file. If another process replaces the file between the attempts to open both files, both attempts
    /// fail and are repeated.
    pub(crate) fn open(month: &Directory, name: &str) -> io::Result<Self> {
        let is_gone =
            |opened: &io::Result<Self>| matches!(opened, Err(error) if error.kind() == io::ErrorKind::NotFound);
        let mut opened = Self::open_plain(month, name);
        for _ in 0..MAX_ATTEMPTS {
            if !is_gone(&opened) {
                break;
            }
            opened = Self::open_packed(month, name);
            if is_gone(&opened) {
                opened = Self::open_plain(month, name);
            }
        }
        opened
    }

    pub(crate) fn open_plain(month: &Directory, name: &str) -> io::Result<Self> {
        let file = month.open_file(format!("{name}{PLAIN}"))?;
        Ok(Self(Form::Plain(BufReader::with_capacity(BUFFER_BYTES, file))))
    }

    pub(crate) fn open_packed(month: &Directory, name: &str) -> io::Result<Self> {
        let file = month.open_file(format!("{name}{PACKED}"))?;
        let max = TextSize::max_unpacked(file.metadata()?.len());
        Ok(Self::packed(BufReader::with_capacity(BUFFER_BYTES, file), max))
    }

    fn packed(bytes: BufReader<File>, max: TextSize) -> Self {
        let text = Bounded::new(MultiGzDecoder::new(bytes), max);
        Self(Form::Packed(Box::new(BufReader::with_capacity(BUFFER_BYTES, text))))
    }

    /// Returns whether the log is compressed.
    pub fn is_packed(&self) -> bool {
        matches!(self.0, Form::Packed(_))
    }

    /// Returns a reader for the lines of the log.
    pub fn lines(self) -> Lines<Self> {
        Lines::new(self)
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

/// A reader that fails if the text exceeds a maximum number of bytes or lines.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    text: R,
    max: TextSize,
    read: TextSize,
}

impl<R> Bounded<R> {
    pub(crate) fn new(text: R, max: TextSize) -> Self {
        Self { text, max, read: TextSize::default() }
    }

    /// Returns the size of the text that has been read so far.
    pub(crate) fn size(&self) -> TextSize {
        self.read
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        self.read.bytes += read as u64;
        self.read.lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
        self.read.check(self.max)?;
        Ok(read)
    }
}

/// A reader for the lines of a text.
#[derive(Debug)]
pub struct Lines<R> {
    text: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Creates a reader for the lines of a text.
    pub(crate) fn new(text: R) -> Self {
        Self { text, line: Vec::new(), number: 0 }
    }

    /// Reads the next line. Returns the line number, from 1, and the text without the line break, truncated to
    /// [`MAX_LINE_BYTES`] bytes. Returns `None` at the end of the text.
    ///
    /// # Errors
    /// Fails if the log cannot be read or is damaged.
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
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
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
        let mut lines = Lines::new(BufReader::with_capacity(7, text));
        let mut found = Vec::new();
        while let Some((number, line)) = lines.read().unwrap() {
            found.push((number, line.len()));
        }
        found
    }

    #[test]
    fn a_text_that_exceeds_its_limit_is_an_error() {
        let read = |bytes, lines| io::read_to_string(Bounded::new(&b"a\nb\n"[..], TextSize { bytes, lines }));
        assert_eq!(read(4, 2).expect("within the bound"), "a\nb\n");
        for (bytes, lines) in [(3, 2), (4, 1)] {
            assert_eq!(read(bytes, lines).expect_err("beyond the bound").kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn lines_are_truncated_and_counted() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(1, 0)]);
        assert_eq!(lines(b"ab\r\n\nlonger than a buffer\nend"), [(1, 2), (2, 0), (3, 20), (4, 3)]);
        let long = [vec![b'x'; 3 * MAX_LINE_BYTES], b"\ny".to_vec()].concat();
        assert_eq!(lines(&long), [(1, MAX_LINE_BYTES), (2, 1)]);
    }
}
