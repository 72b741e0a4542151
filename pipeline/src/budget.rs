//! The memory budget: one limit in bytes for all batches in flight.
//!
//! Admission of a new batch blocks until there is room. Growth of an admitted batch never blocks, even if it exceeds
//! the limit. The oldest batch in flight can therefore always proceed, and the budget cannot cause a deadlock.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a blocked source checks whether the run is stopping.
const POLL: Duration = Duration::from_millis(20);

/// The memory used by batches in flight, and its limit in bytes.
pub(crate) struct MemoryBudget {
    limit: u64,
    usage: Mutex<Usage>,
    freed: Condvar,
}

#[derive(Default)]
struct Usage {
    held: u64,
    peak: u64,
    batches: usize,
    /// Sequence numbers of the batches in flight.
    sequences: BTreeSet<u64>,
}

impl MemoryBudget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, usage: Mutex::default(), freed: Condvar::new() }
    }

    /// Blocks until a batch of this size fits into the limit, or no other batch is in flight. Returns `None` if `stop`
    /// returns true first. The returned duration is the time spent waiting.
    pub(crate) fn admit(&self, bytes: u64, stop: impl Fn() -> bool) -> (Option<Reservation<'_>>, Duration) {
        let mut usage = self.lock();
        let mut waiting: Option<Instant> = None;
        while usage.batches > 0 && usage.held.saturating_add(bytes) > self.limit {
            let since = *waiting.get_or_insert_with(Instant::now);
            if stop() {
                return (None, since.elapsed());
            }
            usage = self.freed.wait_timeout(usage, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
        usage.batches += 1;
        usage.grow(bytes);
        (
            Some(Reservation { budget: self, bytes, sequence: None }),
            waiting.map_or(Duration::ZERO, |since| since.elapsed()),
        )
    }

    /// Whether rows may be added to a batch now. Returns true if memory use is within the limit or no older batch is in
    /// flight. The oldest batch may always grow, because otherwise memory would never be released.
    pub(crate) fn may_grow(&self, sequence: u64) -> bool {
        let usage = self.lock();
        usage.held <= self.limit || usage.sequences.first().is_none_or(|oldest| *oldest >= sequence)
    }

    /// Waits until a batch releases memory, for at most [`POLL`].
    pub(crate) fn wait_for_release(&self) {
        drop(self.freed.wait_timeout(self.lock(), POLL).unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn held(&self) -> u64 {
        self.lock().held
    }

    pub(crate) fn peak(&self) -> u64 {
        self.lock().peak
    }

    fn lock(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Usage {
    fn grow(&mut self, bytes: u64) {
        self.held += bytes;
        self.peak = self.peak.max(self.held);
    }
}

/// A batch's share of the budget, which is released when the reservation is dropped.
pub(crate) struct Reservation<'a> {
    budget: &'a MemoryBudget,
    bytes: u64,
    sequence: Option<u64>,
}

impl Reservation<'_> {
    /// Sets the sequence number of the batch that the reservation belongs to.
    pub(crate) fn assign(&mut self, sequence: u64) {
        self.sequence = Some(sequence);
        self.budget.lock().sequences.insert(sequence);
    }

    /// Replaces the reserved size after the batch has grown or shrunk.
    pub(crate) fn resize(&mut self, bytes: u64) {
        let mut usage = self.budget.lock();
        usage.held -= self.bytes;
        usage.grow(bytes);
        let shrunk = bytes < self.bytes;
        self.bytes = bytes;
        drop(usage);
        if shrunk {
            self.budget.freed.notify_all();
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut usage = self.budget.lock();
        usage.held -= self.bytes;
        usage.batches -= 1;
        if let Some(sequence) = self.sequence {
            usage.sequences.remove(&sequence);
        }
        drop(usage);
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_is_too_large_is_admitted_alone() {
        let budget = MemoryBudget::new(10);
        let (large, _) = budget.admit(50, || false);
        assert!(large.is_some());
        let (second, _) = budget.admit(1, || true);
        assert!(second.is_none(), "the limit is used up");
        drop(large);
        assert!(budget.admit(1, || true).0.is_some());
        assert_eq!((budget.held(), budget.peak()), (0, 50));
    }

    #[test]
    fn only_the_oldest_batch_may_grow_while_the_limit_is_exceeded() {
        let budget = MemoryBudget::new(10);
        let admitted = |sequence: u64| {
            let mut reservation = budget.admit(1, || true).0.expect("the batch fits into the limit");
            reservation.assign(sequence);
            reservation
        };
        let (first, mut second, _third) = (admitted(4), admitted(5), admitted(6));
        second.resize(8);
        assert!((4..=6).all(|number| budget.may_grow(number)), "memory use is within the limit");
        second.resize(9);
        assert_eq!([4, 5, 6].map(|number| budget.may_grow(number)), [true, false, false]);
        drop(first);
        second.resize(20);
        assert_eq!([5, 6].map(|number| budget.may_grow(number)), [true, false]);
        drop(second);
        assert!(budget.may_grow(6));
    }

    #[test]
    fn growth_never_waits_and_is_counted() {
        let budget = MemoryBudget::new(10);
        let mut first = budget.admit(4, || false).0.expect("the batch fits into the limit");
        let second = budget.admit(6, || true).0.expect("the batch fills the limit exactly");
        first.resize(100);
        assert_eq!(budget.held(), 106);
        drop(second);
        first.resize(3);
        assert_eq!(budget.held(), 3);
        drop(first);
        assert_eq!((budget.held(), budget.peak()), (0, 106));
    }
}
