//! The memory budget: one limit in bytes for all batches in flight.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a waiting source looks whether the run is to stop.
const POLL: Duration = Duration::from_millis(20);

/// Bytes held by batches in flight. Admission waits; growth of an admitted batch does not, so the oldest batch can
/// always move on and the budget cannot deadlock.
pub(crate) struct Budget {
    limit: u64,
    usage: Mutex<Usage>,
    freed: Condvar,
}

#[derive(Default)]
struct Usage {
    held: u64,
    peak: u64,
    batches: usize,
    /// Numbers of the batches in flight.
    numbers: BTreeSet<u64>,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, usage: Mutex::default(), freed: Condvar::new() }
    }

    /// Admits a batch as soon as it fits, or is the only one. `None` when `stop` says so first. The duration is
    /// the time waited.
    pub(crate) fn admit(&self, bytes: u64, stop: impl Fn() -> bool) -> (Option<Ticket<'_>>, Duration) {
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
        (Some(Ticket { budget: self, bytes, number: None }), waiting.map_or(Duration::ZERO, |since| since.elapsed()))
    }

    /// Whether a batch may be given further rows now: the limit is kept, or no older batch is in flight. The oldest
    /// always may, or nothing would ever be given back.
    pub(crate) fn may_grow(&self, number: u64) -> bool {
        let usage = self.lock();
        usage.held <= self.limit || usage.numbers.first().is_none_or(|oldest| *oldest >= number)
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

/// A batch's share of the budget, given back when dropped.
pub(crate) struct Ticket<'a> {
    budget: &'a Budget,
    bytes: u64,
    number: Option<u64>,
}

impl Ticket<'_> {
    /// Says which batch it is of.
    pub(crate) fn assign(&mut self, number: u64) {
        self.number = Some(number);
        self.budget.lock().numbers.insert(number);
    }

    /// Follows the batch as it grows or shrinks.
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

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut usage = self.budget.lock();
        usage.held -= self.bytes;
        usage.batches -= 1;
        if let Some(number) = self.number {
            usage.numbers.remove(&number);
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
        let budget = Budget::new(10);
        let (large, _) = budget.admit(50, || false);
        assert!(large.is_some());
        let (second, _) = budget.admit(1, || true);
        assert!(second.is_none(), "the limit is used up");
        drop(large);
        assert!(budget.admit(1, || true).0.is_some());
        assert_eq!((budget.held(), budget.peak()), (0, 50));
    }

    #[test]
    fn issue_15_beyond_the_limit_only_the_oldest_batch_grows() {
        let budget = Budget::new(10);
        let admitted = |number: u64| {
            let mut ticket = budget.admit(1, || true).0.expect("fits");
            ticket.assign(number);
            ticket
        };
        let (first, mut second, _third) = (admitted(4), admitted(5), admitted(6));
        second.resize(8);
        assert!((4..=6).all(|number| budget.may_grow(number)), "the limit is kept");
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
        let budget = Budget::new(10);
        let mut first = budget.admit(4, || false).0.expect("fits");
        let second = budget.admit(6, || true).0.expect("fits exactly");
        first.resize(100);
        assert_eq!(budget.held(), 106);
        drop(second);
        first.resize(3);
        assert_eq!(budget.held(), 3);
        drop(first);
        assert_eq!((budget.held(), budget.peak()), (0, 106));
    }
}
