//! How often the workers of a stage may start their program again, and what they report when it has failed too often.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Starts that serve to find the row that makes the program fail, for each start that the configuration allows.
const ISOLATING: u32 = 16;

/// Why a process is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It failed while it worked as usual, or did not start, or did not answer in time.
    Fault,
    /// It failed while the row that makes it fail was looked for, without a time-out.
    Isolation,
}

/// The starts that all workers of a stage have left.
pub(super) struct Restarts {
    after_faults: AtomicU32,
    isolating: AtomicU32,
    is_given_up: AtomicBool,
    last_failure: Mutex<String>,
}

impl Restarts {
    pub(super) fn new(most: u32) -> Self {
        Self {
            after_faults: AtomicU32::new(most),
            isolating: AtomicU32::new(most.saturating_mul(ISOLATING)),
            is_given_up: AtomicBool::new(false),
            last_failure: Mutex::new("it was never started".to_owned()),
        }
    }

    /// Whether a process may be replaced; the start counts from now on.
    pub(super) fn take(&self, cause: Cause) -> bool {
        let is_isolating = cause == Cause::Isolation && take_one(&self.isolating);
        if is_isolating || take_one(&self.after_faults) {
            return true;
        }
        self.give_up();
        false
    }

    /// From now on no worker starts the program.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    /// Remembers why the program failed last.
    pub(super) fn note(&self, reason: &str) {
        reason.clone_into(&mut self.last_failure.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Why the program failed last.
    pub(super) fn last_failure(&self) -> String {
        self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn take_one(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_for_a_row_does_not_use_up_the_restarts() {
        let restarts = Restarts::new(1);
        assert!((0..ISOLATING).all(|_| restarts.take(Cause::Isolation)));
        assert!(restarts.take(Cause::Fault) && !restarts.is_given_up());
        assert!(!restarts.take(Cause::Isolation) && restarts.is_given_up());
        assert!(!Restarts::new(0).take(Cause::Isolation));
    }
}
