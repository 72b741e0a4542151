//! The bounds of the work that one request causes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Maximum memory of the compiled patterns of one request, in bytes, added up over all of its searches.
const MAX_PATTERN_BYTES: usize = 64 << 20;

/// The work that one request may still cause: it ends when the request is cancelled, and compiles a limited amount of patterns.
/// Clones share the bounds, so that several searches of one request are bounded together.
#[derive(Debug, Clone)]
pub struct WorkBudget {
    cancelled: Arc<AtomicBool>,
    pattern_bytes_left: Arc<AtomicUsize>,
}

/// The request was cancelled, and nobody waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request was cancelled")]
pub struct Cancelled;

impl WorkBudget {
    /// Cancels the request: its work ends soon, with [`Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Ends the work of a cancelled request. Loops over chunks, terms or definitions call this for every item.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Number of bytes that further patterns may take.
    pub(crate) fn pattern_bytes_left(&self) -> usize {
        self.pattern_bytes_left.load(Ordering::Relaxed)
    }

    /// Accounts for a compiled pattern, or for one that was given up after it had taken so many bytes.
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
