//! The number of restarts that the workers of a stage may still make, and the reason for the last failure.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// For each restart that the configuration allows, this number of additional restarts is allowed to find the row that
/// makes the program fail.
const ISOLATING: u32 = 16;

/// The reason why a process must be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The process failed in normal operation, did not start, or did not answer in time.
    Fault,
    /// The process failed without a time-out while the row that makes it fail was being isolated.
    Isolation,
}

/// The remaining restarts, shared by all workers of a stage.
pub(super) struct Restarts {
    after_faults: AtomicU32,
    isolating: AtomicU32,
    are_forbidden: AtomicBool,
    last_failure: Mutex<String>,
}

impl Restarts {
    pub(super) fn new(most: u32) -> Self {
        Self {
            after_faults: AtomicU32::new(most),
            isolating: AtomicU32::new(most.saturating_mul(ISOLATING)),
            are_forbidden: AtomicBool::new(false),
            last_failure: Mutex::new("it was never started".to_owned()),
        }
    }

    /// Uses up one restart. Returns whether a restart was available.
    pub(super) fn take(&self, cause: Cause) -> bool {
        let is_isolating = cause == Cause::Isolation && take_one(&self.isolating);
        if is_isolating || take_one(&self.after_faults) {
            return true;
        }
        self.forbid();
        false
    }

    /// Prevents all workers from starting the program again.
    pub(super) fn forbid(&self) {
        self.are_forbidden.store(true, Ordering::Relaxed);
    }

    /// Whether no worker may start the program again.
    pub(super) fn are_forbidden(&self) -> bool {
        self.are_forbidden.load(Ordering::Relaxed)
    }

    /// Records the reason for a failure.
    pub(super) fn note(&self, reason: &str) {
        reason.clone_into(&mut self.last_failure.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the reason for the last failure.
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
        assert!(restarts.take(Cause::Fault) && !restarts.are_forbidden());
        assert!(!restarts.take(Cause::Isolation) && restarts.are_forbidden());
        assert!(!Restarts::new(0).take(Cause::Isolation));
    }
}
