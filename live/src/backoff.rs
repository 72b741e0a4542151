//! Pauses between the background runs that retry failed rows. A row fails if a pipeline stage cannot process it.

use std::time::{Duration, Instant};

/// Pause after the first run that leaves failed rows.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
/// Maximum pause between two retries.
const MAX_PAUSE: Duration = Duration::from_secs(3_600);

/// The time of the next retry. Each retry that leaves failed rows doubles the pause before the next one.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// Earliest time of the next retry; `None` if the next run may retry.
    next: Option<Instant>,
    pause: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: None, pause: FIRST_PAUSE }
    }
}

impl Backoff {
    /// Whether failed rows may be retried now.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    /// Records the result of a run that retried failed rows.
    pub(crate) fn record(&mut self, has_failures: bool, now: Instant) {
        if has_failures {
            self.next = Some(now + self.pause);
            self.pause = (2 * self.pause).min(MAX_PAUSE);
        } else {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_a_retry_succeeds() {
        let (mut backoff, start) = (Backoff::default(), Instant::now());
        assert!(backoff.is_due(start));
        backoff.record(true, start);
        assert!(!backoff.is_due(start) && backoff.is_due(start + FIRST_PAUSE));
        backoff.record(true, start);
        assert!(!backoff.is_due(start + FIRST_PAUSE) && backoff.is_due(start + 2 * FIRST_PAUSE));
        (0..9).for_each(|_| backoff.record(true, start));
        assert!(backoff.is_due(start + MAX_PAUSE));
        backoff.record(false, start);
        assert!(backoff.is_due(start));
    }
}
