//! Limits on the work of one request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Maximum memory of the compiled patterns of one request, in bytes, summed over all of its searches.
const MAX_PATTERN_BYTES: usize = 64 << 20;

/// Limits on the work of one request: whether the request was cancelled, and the memory that is left for compiled
/// patterns. Clones share their state, so that the limits apply to all searches of the request together.
#[derive(Debug, Clone)]
pub struct WorkBudget {
    cancelled: Arc<AtomicBool>,
    pattern_bytes_left: Arc<AtomicUsize>,
}

/// The request was cancelled, so its answer is no longer needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request was cancelled")]
pub struct Cancelled;

impl WorkBudget {
    /// Cancels the request. Its searches soon return [`Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns an error if the request was cancelled. Loops over chunks, terms or definitions call this for every item.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the request was cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Number of bytes that the remaining patterns of the request may use.
    pub(crate) fn pattern_bytes_left(&self) -> usize {
        self.pattern_bytes_left.load(Ordering::Relaxed)
    }

    /// Accounts for a compiled pattern, or for a pattern whose compilation was abandoned after `bytes` bytes.
    pub(crate) fn take_pattern_bytes(&self, bytes: usize) {
        let take = |left: usize| Some(left.saturating_sub(bytes));
        let _ = self.pattern_bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    }
}

impl Default for WorkBudget {
    /// The budget of a new request.
    fn default() -> Self {
        Self { cancelled: Arc::default(), pattern_bytes_left: Arc::new(AtomicUsize::new(MAX_PATTERN_BYTES)) }
    }
}
