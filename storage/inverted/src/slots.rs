//! A hash table of numbers whose keys are stored elsewhere.

/// Minimum number of slots of a table that is not empty.
const MIN_SLOTS: usize = 256;

/// A number and the hash of its key, or [`Slot::FREE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) hash: u32,
    pub(crate) number: u32,
}

impl Slot {
    const FREE: Self = Self { hash: 0, number: u32::MAX };
}

/// An open-addressing hash table. Its length is a power of two, and it is at most half full. The table uses hashes
/// without mixing their bits again. A caller can read the first slots of many keys before it compares any key, so that
/// cache misses overlap.
#[derive(Debug, Default)]
pub(crate) struct SlotTable {
    slots: Vec<Slot>,
    /// Indexes of the slots in use. Only these are cleared.
    used: Vec<u32>,
}

impl SlotTable {
    /// Returns the first slot of a hash.
    #[inline]
    pub(crate) fn first(&self, hash: u32) -> Slot {
        let last = self.slots.len().wrapping_sub(1);
        self.slots.get(hash as usize & last).copied().unwrap_or(Slot::FREE)
    }

    /// Returns the result of `compare` for the number of the key. If the table does not contain the key, adds `new` and
    /// returns `None`. `compare` must return `None` for the number of any other key.
    #[inline]
    pub(crate) fn find_or_insert<T>(&mut self, new: Slot, compare: impl Fn(u32) -> Option<T>) -> Option<T> {
        if 2 * self.used.len() >= self.slots.len() {
            self.grow();
        }
        let mut at = new.hash as usize & (self.slots.len() - 1);
        while self.slots[at] != Slot::FREE {
            let Slot { hash, number } = self.slots[at];
            if hash == new.hash
                && let Some(found) = compare(number)
            {
                return Some(found);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = new;
        self.used.push(at as u32);
        None
    }

    /// Removes all numbers. The table keeps its size.
    pub(crate) fn clear(&mut self) {
        self.used.drain(..).for_each(|at| self.slots[at as usize] = Slot::FREE);
    }

    /// Doubles the size of the table.
    fn grow(&mut self) {
        let length = (2 * self.slots.len()).max(MIN_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![Slot::FREE; length]);
        for used in &mut self.used {
            let slot = old[*used as usize];
            let mut at = slot.hash as usize & (length - 1);
            while self.slots[at] != Slot::FREE {
                at = (at + 1) & (length - 1);
            }
            self.slots[at] = slot;
            *used = at as u32;
        }
    }
}
