//! A memory limit for the syntax trees of all workers together.

use std::sync::{Condvar, Mutex, PoisonError};

/// Upper bound on the size of a tree per byte of text, in bytes. It holds for the densest sources, with a token at
/// every other byte.
const TREE_BYTES_PER_BYTE: u64 = 192;
/// Maximum size of all trees, in bytes. A larger tree waits until no other tree exists.
const MAX_BYTES: u64 = 256 << 20;

/// Makes large files wait for each other, so that memory does not grow with the number of workers. Most files have only
/// some kilobytes and rarely wait.
#[derive(Default)]
pub(super) struct TreeMemory {
    reserved: Mutex<u64>,
    released: Condvar,
}

impl TreeMemory {
    /// Waits until the tree of a text with `text` bytes fits, or until no other tree exists.
    pub(super) fn reserve(&self, text: usize) -> TreeReservation<'_> {
        let bytes = text as u64 * TREE_BYTES_PER_BYTE;
        let reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |reserved: &mut u64| *reserved > 0 && *reserved + bytes > MAX_BYTES;
        let mut reserved = self.released.wait_while(reserved, is_full).unwrap_or_else(PoisonError::into_inner);
        *reserved += bytes;
        TreeReservation { memory: self, bytes }
    }
}

/// The memory of one tree, released on drop.
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
        let most = AtomicU64::new(0);
        let size = (MAX_BYTES / TREE_BYTES_PER_BYTE / 3) as usize;
        thread::scope(|scope| {
            for worker in 0..16 {
                let (memory, most) = (&memory, &most);
                scope.spawn(move || {
                    for _ in 0..20 {
                        // One tree in eight is larger than the limit.
                        let reservation = memory.reserve(if worker % 8 == 0 { 8 * size } else { size });
                        let bytes = *memory.reserved.lock().unwrap();
                        assert!(bytes <= MAX_BYTES || bytes == reservation.bytes, "{bytes}");
                        most.fetch_max(bytes, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(*memory.reserved.lock().unwrap(), 0);
        assert!(most.into_inner() > 0);
    }
}
