//! Which windows a part has postings in, and where they begin.

use super::window::WINDOW;

/// Bytes of an entry of the directory.
pub(super) const ENTRY: usize = 12;

/// The windows of a long part, in place.
#[derive(Debug)]
pub(crate) struct Directory<'a> {
    /// The window of the first posting.
    pub(super) first: u32,
    pub(super) entries: &'a [[u8; ENTRY]],
    pub(super) corners: &'a [u8],
    /// Number of postings.
    pub(super) count: u32,
}

/// An entry of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) window: u32,
    /// Index of the first posting, and the number of postings.
    pub(super) start: u32,
    pub(super) count: u32,
    /// Where their rows beyond the palette begin, and where their corners.
    pub(super) escaped: u32,
    pub(super) corners: u32,
    /// Whether there may be such rows.
    pub(super) has_rare: bool,
}

impl Directory<'_> {
    /// An entry; `None` behind the last.
    pub(super) fn get(&self, at: usize) -> Option<Entry> {
        let &[a, b, c, start_low, start_high, d, e, f, escaped @ ..] = self.entries.get(at)?;
        let start = u32::from(u16::from_le_bytes([start_low, start_high]));
        let next = self.entries.get(at + 1);
        let end = next.map_or(self.count, |next| u32::from(u16::from_le_bytes([next[3], next[4]])));
        let has_rare = next.is_none_or(|next| next[8..] != escaped);
        Some(Entry {
            window: self.first.saturating_add(u32::from_le_bytes([a, b, c, 0])),
            start,
            count: end.saturating_sub(start).min(WINDOW),
            escaped: u32::from_le_bytes(escaped),
            has_rare,
            corners: u32::from_le_bytes([d, e, f, 0]),
        })
    }

    /// Where the entry of a window is.
    pub(super) fn find(&self, window: u32) -> Option<usize> {
        let offset = window.checked_sub(self.first)?;
        self.entries.binary_search_by_key(&offset, |entry| u32::from_le_bytes([entry[0], entry[1], entry[2], 0])).ok()
    }

    /// The entries with their places.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, Entry)> + '_ {
        (0..self.entries.len()).map_while(|at| Some((at, self.get(at)?)))
    }
}
