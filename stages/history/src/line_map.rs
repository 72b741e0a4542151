//! Which lines of a file in the working tree are lines of the committed file.

use std::borrow::Cow;

use crate::line_diff::{LineDiffer, LineInterner, MAX_FILE_BYTES, RegionKind};

/// Maps the lines of a file in the working tree to lines of the committed file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LineMap {
    /// Runs of lines, which cover the file in the working tree in order; none is empty.
    pub runs: Vec<MappedLines>,
}

/// Consecutive lines that are consecutive in the committed file too, or that are not committed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MappedLines {
    /// The number of lines, at least 1.
    pub len: u32,
    /// The first of them in the committed file, counted from 0; `None` if they are not committed.
    pub committed: Option<u32>,
}

impl LineMap {
    /// The map of an unmodified file.
    pub fn identity(lines: u32) -> Self {
        let run = MappedLines { len: lines, committed: Some(0) };
        Self { runs: Vec::from_iter((lines > 0).then_some(run)) }
    }

    /// Whether the file has all of the `lines` committed lines and no others.
    pub fn is_identity(&self, lines: u32) -> bool {
        *self == Self::identity(lines)
    }

    /// Compares the text in the working tree, `copy`, with the committed text.
    ///
    /// If only the copy has CRLF line ends, as after a checkout with `core.autocrlf`, a carriage return before a newline is
    /// not a change. In a text above 64 MiB no line counts as committed.
    pub(crate) fn between(committed: &[u8], copy: &[u8], differ: &mut LineDiffer) -> Self {
        if committed == copy {
            return Self::identity(line_count(copy));
        }
        if copy.len() > MAX_FILE_BYTES {
            return Self { runs: vec![MappedLines { len: line_count(copy), committed: None }] };
        }
        let copy = without_checkout_crlf(committed, copy).into_owned();
        let mut table = LineInterner::default();
        let old = table.version(committed.to_vec(), None);
        let new = table.version(copy, Some(&old));
        let regions = differ.compare(&table, &old, &new);
        let ends = regions.iter().skip(1).map(|next| next.start).chain([new.len()]);
        let runs = regions.iter().zip(ends).map(|(region, end)| MappedLines {
            len: end - region.start,
            committed: match region.kind {
                RegionKind::Unchanged(line) => Some(line),
                RegionKind::Changed(_) => None,
            },
        });
        Self { runs: runs.collect() }
    }
}

/// The number of lines; a last line without a newline counts.
fn line_count(text: &[u8]) -> u32 {
    let last = !text.is_empty() && text.last() != Some(&b'\n');
    memchr::memchr_iter(b'\n', text).count() as u32 + u32::from(last)
}

/// `copy` without carriage returns before newlines, if `committed` has none: a checkout with `core.autocrlf` adds them.
pub(crate) fn without_checkout_crlf<'t>(committed: &[u8], copy: &'t [u8]) -> Cow<'t, [u8]> {
    let has_crlf = |text: &[u8]| memchr::memmem::find(text, b"\r\n").is_some();
    if has_crlf(committed) || !has_crlf(copy) {
        return Cow::Borrowed(copy);
    }
    let is_kept = |at: &usize| copy[*at] != b'\r' || copy.get(at + 1) != Some(&b'\n');
    Cow::Owned((0..copy.len()).filter(is_kept).map(|at| copy[at]).collect())
}
