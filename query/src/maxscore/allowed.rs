//! A set of offsets in a window.

use aurora_storage::{Snapshot, WINDOW};
use roaring::RoaringBitmap;

/// 64-bit words of a set.
const WORDS: usize = WINDOW as usize / 64;

/// AllowedOffsets in a window.
pub(super) struct AllowedOffsets {
    words: [u64; WORDS],
}

impl AllowedOffsets {
    /// Where chunks may be found: live ones, in `filter` if there is one; `None` where all may.
    pub(super) fn allowed(snapshot: &Snapshot, filter: Option<&RoaringBitmap>, window: u32) -> Option<Self> {
        let Some(filter) = filter else {
            let dead = snapshot.tombstone_words(window);
            return (!dead.is_empty()).then(|| {
                let mut words = [u64::MAX; WORDS];
                words.iter_mut().zip(dead).for_each(|(word, dead)| *word = !dead);
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

    /// The offsets, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..WINDOW as u16).filter(|offset| self.contains(*offset))
    }
}
