//! A file in the working tree, and its comparison with the committed file.

use std::borrow::Cow;
use std::ops::Range;

use crate::line_diff::{LineDiffer, LineInterner, MAX_FILE_BYTES, RegionKind};
use crate::line_map::{LineMap, MappedLines};

/// A file in the working tree. Git compares the bytes of the file, while callers count lines of the decoded text.
#[derive(Clone, Copy, Debug)]
pub struct WorkingCopy<'a> {
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// The decoded text in UTF-8. Git commits this text if the file has the attribute `working-tree-encoding`.
    pub text: &'a str,
    /// The bytes of a line feed in the encoding of the file. A line feed is one code unit, which has several bytes in
    /// UTF-16 and UTF-32.
    pub newline: &'a [u8],
}

impl<'a> WorkingCopy<'a> {
    /// Creates a working copy of a file in UTF-8.
    pub fn utf_8(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), text, newline: b"\n" }
    }

    /// Maps lines of the text to lines of the committed file. In a file larger than 64 MiB, no line counts as
    /// committed.
    pub(crate) fn line_map(&self, committed: &[u8], differ: &mut LineDiffer) -> LineMap {
        let compared = self.compared_with(committed);
        if compared.bytes == committed {
            return compared.map_of_text(LineMap::identity(line_count(committed)));
        }
        if compared.bytes.len() > MAX_FILE_BYTES {
            return LineMap { runs: vec![MappedLines { len: line_count(self.text.as_bytes()), committed: None }] };
        }
        let mut table = LineInterner::default();
        let old = table.version(committed.to_vec(), None);
        let new = table.version(compared.bytes.to_vec(), Some(&old));
        let regions = differ.compare(&table, &old, &new);
        let ends = regions.iter().skip(1).map(|next| next.start).chain([new.len()]);
        let runs = regions.iter().zip(ends).map(|(region, end)| MappedLines {
            len: end - region.start,
            committed: match region.kind {
                RegionKind::Unchanged(line) => Some(line),
                RegionKind::Changed(_) => None,
            },
        });
        compared.map_of_text(LineMap { runs: runs.collect() })
    }

    /// Returns the bytes that git would compare with the committed bytes. The conversion is guessed from the committed
    /// bytes. If only the committed bytes are UTF-8, git re-encodes the file. If only the file in the working tree has
    /// CRLF line endings, git converts them.
    pub(crate) fn compared_with(&self, committed: &[u8]) -> ComparedCopy<'a> {
        let is_same = self.bytes == committed;
        if !is_same && !is_utf_8(self.bytes) && is_utf_8(committed) {
            return ComparedCopy { bytes: without_checkout_crlf(committed, self.text.as_bytes()), starts: None };
        }
        if self.newline.len() > 1 {
            return ComparedCopy { bytes: Cow::Borrowed(self.bytes), starts: Some(self.line_starts()) };
        }
        let bytes = if is_same { Cow::Borrowed(self.bytes) } else { without_checkout_crlf(committed, self.bytes) };
        ComparedCopy { bytes, starts: None }
    }

    /// Returns the number of line feed bytes before each line of the text, followed by the number of lines that git
    /// counts in the bytes. In UTF-16, other characters may contain a line feed byte, and the line feed byte of a line
    /// may be followed by another byte.
    fn line_starts(&self) -> Vec<u32> {
        let (mut starts, mut feeds, mut is_ended) = (vec![0], 0, true);
        for unit in self.bytes.chunks(self.newline.len()) {
            feeds += memchr::memchr_iter(b'\n', unit).count() as u32;
            is_ended = unit == self.newline;
            if is_ended {
                starts.push(feeds);
            }
        }
        if !is_ended {
            starts.push(feeds + 1);
        }
        starts
    }
}

/// The bytes of a working copy that git would compare with the committed bytes.
pub(crate) struct ComparedCopy<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// For each line of the text, the corresponding first line of the bytes, followed by the end of the last line.
    /// `None` if the text and the bytes have the same lines.
    starts: Option<Vec<u32>>,
}

impl ComparedCopy<'_> {
    /// Converts a range of lines of the text to the corresponding lines of the bytes.
    pub(crate) fn lines_of(&self, text_lines: &Range<u32>) -> Range<u32> {
        let Some(starts) = &self.starts else { return text_lines.clone() };
        let last = starts.last().copied().unwrap_or_default();
        let start = |line: u32| starts.get(line as usize).copied().unwrap_or(last);
        start(text_lines.start)..start(text_lines.end)
    }

    /// Converts a map of the lines of the bytes to a map of the lines of the text. A line of the text is committed if
    /// all corresponding lines of the bytes are committed.
    pub(crate) fn map_of_text(&self, of_bytes: LineMap) -> LineMap {
        let Some(starts) = &self.starts else { return of_bytes };
        let committed: Vec<Option<u32>> = of_bytes
            .runs
            .iter()
            .flat_map(|run| (0..run.len).map(|line| run.committed.map(|first| first + line)))
            .collect();
        let mut runs: Vec<MappedLines> = Vec::new();
        for ends in starts.windows(2) {
            let lines = committed.get(ends[0] as usize..ends[1] as usize).unwrap_or_default();
            let first = lines.first().copied().flatten().filter(|_| lines.iter().all(Option::is_some));
            match runs.last_mut() {
                Some(run) if run.committed.map(|line| line + run.len) == first => run.len += 1,
                _ => runs.push(MappedLines { len: 1, committed: first }),
            }
        }
        LineMap { runs }
    }
}

/// Returns the number of lines, including a last line without a newline.
fn line_count(text: &[u8]) -> u32 {
    let last = !text.is_empty() && text.last() != Some(&b'\n');
    memchr::memchr_iter(b'\n', text).count() as u32 + u32::from(last)
}

/// Whether git would treat the bytes as UTF-8 text.
fn is_utf_8(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok()
}

/// Removes carriage returns before newlines from `copy`, because a checkout with `core.autocrlf` adds them. Does not
/// remove them if `committed` contains CRLF line endings.
fn without_checkout_crlf<'t>(committed: &[u8], copy: &'t [u8]) -> Cow<'t, [u8]> {
    let has_crlf = |text: &[u8]| memchr::memmem::find(text, b"\r\n").is_some();
    if has_crlf(committed) || !has_crlf(copy) {
        return Cow::Borrowed(copy);
    }
    let is_kept = |at: &usize| copy[*at] != b'\r' || copy.get(at + 1) != Some(&b'\n');
    Cow::Owned((0..copy.len()).filter(is_kept).map(|at| copy[at]).collect())
}
