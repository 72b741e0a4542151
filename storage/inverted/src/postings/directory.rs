//! The directory of a long part of a posting list: the windows that have postings, and the offsets of their data.

use crate::chunk_id::WINDOW;

/// Size of a directory entry in bytes.
pub(super) const ENTRY_BYTES: usize = 12;

/// The directory of a long part, read without copying.
#[derive(Debug)]
pub(super) struct WindowDirectory<'a> {
    /// Number of the first window.
    pub(super) first: u32,
    pub(super) entries: &'a [[u8; ENTRY_BYTES]],
    pub(super) impacts: &'a [u8],
    /// Number of postings of the part.
    pub(super) count: u32,
}

/// One window of the directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct DirectoryEntry {
    pub(super) window: u32,
    /// Index of the window's first posting in the part.
    pub(super) start: u32,
    /// Number of postings.
    pub(super) count: u32,
    /// Offset of the window's exceptional tf vectors.
    pub(super) exceptions: u32,
    /// Offset of the window's impact bounds.
    pub(super) impacts: u32,
    /// Whether the window may have exceptional tf vectors.
    pub(super) has_exceptions: bool,
}

impl WindowDirectory<'_> {
    /// Returns the entry at an index; `None` after the last entry.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<DirectoryEntry> {
        let &[a, b, c, start_low, start_high, d, e, f, exceptions @ ..] = self.entries.get(at)?;
        let start = u32::from(u16::from_le_bytes([start_low, start_high]));
        let next = self.entries.get(at + 1);
        let end = next.map_or(self.count, |next| u32::from(u16::from_le_bytes([next[3], next[4]])));
        let has_exceptions = next.is_none_or(|next| next[8..] != exceptions);
        Some(DirectoryEntry {
            window: self.first.saturating_add(u32::from_le_bytes([a, b, c, 0])),
            start,
            count: end.saturating_sub(start).min(WINDOW),
            exceptions: u32::from_le_bytes(exceptions),
            has_exceptions,
            impacts: u32::from_le_bytes([d, e, f, 0]),
        })
    }

    /// Returns the index of a window's entry.
    pub(super) fn find(&self, window: u32) -> Option<usize> {
        let offset = window.checked_sub(self.first)?;
        self.entries.binary_search_by_key(&offset, |entry| u32::from_le_bytes([entry[0], entry[1], entry[2], 0])).ok()
    }

    /// Returns the entries with their indexes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, DirectoryEntry)> + '_ {
        (0..self.entries.len()).map_while(|at| Some((at, self.get(at)?)))
    }
}
