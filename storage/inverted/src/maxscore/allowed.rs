//! The chunks of a window that may be results.

use roaring::RoaringBitmap;

use crate::chunk_id::WINDOW;
use crate::postings::Tombstones;

/// Number of 64-bit words of an [`AllowedOffsets`] set.
const WORDS: usize = WINDOW as usize / 64;

/// A set of offsets in a window.
pub(super) struct AllowedOffsets {
    words: [u64; WORDS],
}

impl AllowedOffsets {
    /// Creates the set of the chunks in the filter, which must all be live, or of all live chunks if there is no
    /// filter. Returns `None` if there is no filter and all chunks of the window are live.
    pub(super) fn new(tombstones: &Tombstones, filter: Option<&RoaringBitmap>, window: u32) -> Option<Self> {
        let Some(filter) = filter else {
            let deleted = tombstones.words(window * WINDOW, WINDOW as usize);
            return deleted.iter().any(|word| *word != 0).then(|| {
                let mut words = [u64::MAX; WORDS];
                words.iter_mut().zip(deleted).for_each(|(word, deleted)| *word = !deleted);
                Self { words }
            });
        };
        let mut words = [0; WORDS];
        for chunk in filter.range(window * WINDOW..=window * WINDOW + (WINDOW - 1)) {
            let offset = chunk % WINDOW;
            words[offset as usize / 64] |= 1 << (offset % 64);
        }
        Some(Self { words })
    }

    /// Number of offsets.
    pub(super) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether an offset is in the set.
    #[inline]
    pub(super) fn contains(&self, offset: u16) -> bool {
        self.words[usize::from(offset) / 64 % WORDS] >> (offset % 64) & 1 != 0
    }

    /// The offsets, in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..WINDOW as u16).filter(|offset| self.contains(*offset))
    }
}
