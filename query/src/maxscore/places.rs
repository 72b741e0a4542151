//! A set of places in a window.

use aurora_storage::{Snapshot, WINDOW};
use roaring::RoaringBitmap;

/// 64-bit words of a set.
const WORDS: usize = WINDOW as usize / 64;

/// Places in a window.
pub(super) struct Places {
    words: [u64; WORDS],
}

impl Places {
    /// Where chunks may be found: live ones, in `filter` if there is one; `None` where all may.
    pub(super) fn allowed(snapshot: &Snapshot, filter: Option<&RoaringBitmap>, window: u32) -> Option<Self> {
        let Some(filter) = filter else {
            let dead = snapshot.dead_words(window);
            return (!dead.is_empty()).then(|| {
                let mut words = [u64::MAX; WORDS];
                words.iter_mut().zip(dead).for_each(|(word, dead)| *word = !dead);
                Self { words }
            });
        };
        let mut words = [0; WORDS];
        for chunk in filter.range(window * WINDOW..=window * WINDOW + (WINDOW - 1)) {
            let place = chunk % WINDOW;
            words[place as usize / 64] |= 1 << (place % 64);
        }
        Some(Self { words })
    }

    /// Number of places.
    pub(super) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether a place is in the set.
    #[inline]
    pub(super) fn contains(&self, place: u16) -> bool {
        self.words[usize::from(place) / 64 % WORDS] >> (place % 64) & 1 != 0
    }

    /// The places, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..WINDOW as u16).filter(|place| self.contains(*place))
    }
}
