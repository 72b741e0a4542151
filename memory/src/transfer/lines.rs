//! A line reader that limits the length of lines.

use std::io::{self, BufRead, Read as _};

use aurora_memory_schema::limit::DOCUMENT_BYTES;

/// Maximum length of a line in bytes. A line contains a document and the fields around the document.
const MAX_LINE_BYTES: u64 = 2 * DOCUMENT_BYTES as u64;
/// Maximum number of bytes to skip in a line after [`MAX_LINE_BYTES`]. A longer line is an error.
const MAX_SKIPPED_BYTES: u64 = 256 << 20;

/// A line of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The text of the line, without the line break.
    Text(String),
    /// The line is not UTF-8.
    NotText,
    /// The line is longer than the limit.
    TooLong,
}

/// A reader of lines, which tracks line numbers and byte offsets.
pub(super) struct Lines<R> {
    reader: R,
    /// The number of the line that was read last, from 1.
    pub(super) number: usize,
    /// The byte offset of the line that was read last.
    pub(super) start: usize,
    next_start: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0, start: 0, next_start: 0 }
    }

    /// Reads the next line. Returns `None` at the end of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        let mut length = (&mut self.reader).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes)?;
        if length == 0 {
            return Ok(None);
        }
        let is_whole = bytes.pop_if(|byte| *byte == b'\n').is_some();
        let is_too_long = !is_whole && length as u64 > MAX_LINE_BYTES;
        if is_too_long {
            length += self.skip_rest()?;
        }
        self.number += 1;
        self.start = self.next_start;
        self.next_start += length;
        Ok(Some(match String::from_utf8(bytes) {
            _ if is_too_long => Line::TooLong,
            Ok(text) => Line::Text(text),
            Err(_) => Line::NotText,
        }))
    }

    /// Skips the rest of a line, including the line break. Returns the number of skipped bytes.
    fn skip_rest(&mut self) -> io::Result<usize> {
        let mut rest = (&mut self.reader).take(MAX_SKIPPED_BYTES);
        let skipped = rest.skip_until(b'\n')?;
        if rest.limit() == 0 {
            let reason = format!("line {} does not end within {MAX_SKIPPED_BYTES} bytes", self.number + 1);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(skipped)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, repeat};

    use super::*;

    fn lines(text: &[u8]) -> Vec<(usize, usize, Line)> {
        let mut lines = Lines::new(Cursor::new(text));
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("reading from a slice does not fail") {
            found.push((lines.number, lines.start, line));
        }
        found
    }

    fn text(line: &str) -> Line {
        Line::Text(line.to_owned())
    }

    #[test]
    fn lines_have_numbers_and_offsets() {
        assert_eq!(lines(b""), []);
        assert_eq!(
            lines(b"a\n\n\xff\nb"),
            [(1, 0, text("a")), (2, 2, text("")), (3, 3, Line::NotText), (4, 5, text("b"))]
        );
        assert_eq!(lines("ü\r\n".as_bytes()), [(1, 0, text("ü\r"))]);
    }

    #[test]
    fn an_endless_line_is_an_error() {
        let mut lines = Lines::new(BufReader::new(repeat(0)));
        assert_eq!(lines.next().expect_err("the line has no end").kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn the_line_after_a_line_that_is_too_long_is_read() {
        let longest = "x".repeat(MAX_LINE_BYTES as usize);
        assert_eq!(lines(format!("{longest}\nb").as_bytes())[1], (2, longest.len() + 1, text("b")));
        let longer = format!("{longest}yz\nb\n{longest}y");
        let found: Vec<_> = lines(longer.as_bytes()).into_iter().map(|(number, _, line)| (number, line)).collect();
        assert_eq!(found, [(1, Line::TooLong), (2, text("b")), (3, Line::TooLong)]);
    }
}
