//! Limits the number of concurrent index runs of sessions, because each run needs threads and memory.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use aurora_pipeline::CancelToken;

use crate::error::ArticleError;

/// Maximum number of concurrent index runs.
const MAX_RUNS: usize = 4;
/// Interval at which a waiting request checks whether it was cancelled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A semaphore for index runs.
pub(crate) struct RunSlots {
    free: Mutex<usize>,
    returned: Condvar,
}

/// A permit for one index run. Dropping it returns the permit.
pub(crate) struct RunSlot<'s>(&'s RunSlots);

impl RunSlots {
    /// Waits until a slot is free, and takes it.
    ///
    /// # Errors
    /// Returns [`ArticleError::Cancelled`] if the request is cancelled while it waits.
    pub(crate) fn take(&self, cancel: &CancelToken) -> Result<RunSlot<'_>, ArticleError> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            if cancel.is_cancelled() {
                return Err(ArticleError::Cancelled);
            }
            (free, _) = self.returned.wait_timeout(free, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Ok(RunSlot(self))
    }
}

impl Default for RunSlots {
    fn default() -> Self {
        Self { free: Mutex::new(MAX_RUNS), returned: Condvar::new() }
    }
}

impl Drop for RunSlot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.returned.notify_one();
    }
}
