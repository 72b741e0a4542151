//! A memory limit for the syntax trees of all workers together.

use std::sync::{Condvar, Mutex, PoisonError};

/// Upper bound on the size of a tree per byte of text, in bytes. The bound was measured on the densest possible
/// sources, with a token at every other byte.
const TREE_BYTES_PER_BYTE: u64 = 192;
/// Maximum total size of all trees, in bytes. A single tree may be larger, but must wait until no other tree exists.
const MAX_BYTES: u64 = 256 << 20;

/// A budget for the memory of syntax trees. Workers that parse large files wait for each other, so that memory does not
/// grow with the number of workers. Most files have only some kilobytes and rarely wait.
#[derive(Default)]
pub(super) struct TreeMemory {
    reserved: Mutex<u64>,
    released: Condvar,
}

impl TreeMemory {
    /// Waits until the tree of a text with `text_bytes` bytes fits into the budget, or until no other tree exists.
    pub(super) fn reserve(&self, text_bytes: usize) -> TreeReservation<'_> {
        let bytes = text_bytes as u64 * TREE_BYTES_PER_BYTE;
        let reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |reserved: &mut u64| *reserved > 0 && *reserved + bytes > MAX_BYTES;
        let mut reserved = self.released.wait_while(reserved, is_full).unwrap_or_else(PoisonError::into_inner);
        *reserved += bytes;
        TreeReservation { memory: self, bytes }
    }
}

/// The reserved memory of one tree. Dropping the value releases the memory.
pub(super) struct TreeReservation<'a> {
    memory: &'a TreeMemory,
    bytes: u64,
}

impl Drop for TreeReservation<'_> {
    fn drop(&mut self) {
        *self.memory.reserved.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.memory.released.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn trees_of_many_workers_stay_within_the_limit() {
        let memory = TreeMemory::default();
        let peak = AtomicU64::new(0);
        let size = (MAX_BYTES / TREE_BYTES_PER_BYTE / 3) as usize;
        thread::scope(|scope| {
            for worker in 0..16 {
                let (memory, peak) = (&memory, &peak);
                scope.spawn(move || {
                    for _ in 0..20 {
                        // One tree in eight is larger than the limit.
                        let reservation = memory.reserve(if worker % 8 == 0 { 8 * size } else { size });
                        let bytes = *memory.reserved.lock().unwrap();
                        assert!(bytes <= MAX_BYTES || bytes == reservation.bytes, "{bytes}");
                        peak.fetch_max(bytes, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(*memory.reserved.lock().unwrap(), 0);
        assert!(peak.into_inner() > 0);
    }
}
