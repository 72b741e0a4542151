//! How much memory the syntax trees of all workers may take together.

use std::sync::{Condvar, Mutex, PoisonError};

/// Bytes that a tree takes for each byte of its text at most: sources of the densest kind, a token every other byte.
const TREE_BYTES_PER_BYTE: u64 = 192;
/// Bytes of all trees, unless there is only one.
const MOST: u64 = 256 << 20;

/// Has large files wait for each other, so that trees take as much as one of them at most, however many workers there
/// are. Files of some kilobytes, which most are, hardly ever wait.
#[derive(Default)]
pub(super) struct TreeMemory {
    held: Mutex<u64>,
    freed: Condvar,
}

impl TreeMemory {
    /// Waits until the tree of a text of this many bytes fits, or no other is held.
    pub(super) fn hold(&self, text: usize) -> Held<'_> {
        let bytes = text as u64 * TREE_BYTES_PER_BYTE;
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |held: &mut u64| *held > 0 && *held + bytes > MOST;
        let mut held = self.freed.wait_while(held, is_full).unwrap_or_else(PoisonError::into_inner);
        *held += bytes;
        Held { memory: self, bytes }
    }
}

/// The share of one tree.
pub(super) struct Held<'a> {
    memory: &'a TreeMemory,
    bytes: u64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.memory.held.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.memory.freed.notify_all();
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
        let size = (MOST / TREE_BYTES_PER_BYTE / 3) as usize;
        thread::scope(|scope| {
            for worker in 0..16 {
                let (memory, most) = (&memory, &most);
                scope.spawn(move || {
                    for _ in 0..20 {
                        // One in eight is larger than all that may be held.
                        let held = memory.hold(if worker % 8 == 0 { 8 * size } else { size });
                        let bytes = *memory.held.lock().unwrap();
                        assert!(bytes <= MOST || bytes == held.bytes, "{bytes}");
                        most.fetch_max(bytes, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(*memory.held.lock().unwrap(), 0);
        assert!(most.into_inner() > 0);
    }
}
