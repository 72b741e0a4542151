//! Pauses between the retries of failed rows by runs in the background.

use std::time::{Duration, Instant};

/// Time until the first retry.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
/// Maximum time between two retries.
const MAX_PAUSE: Duration = Duration::from_secs(3_600);

/// The time of the next retry. Each one that leaves failed rows doubles the time until the next.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// Time of the next retry; `None` if the next run may retry.
    next: Option<Instant>,
    pause: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: None, pause: FIRST_PAUSE }
    }
}

impl Backoff {
    /// Whether failed rows may be tried again.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    /// Takes note of a run that has tried failed rows again, and of whether there are still some.
    pub(crate) fn note(&mut self, has_failures: bool, now: Instant) {
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
    fn pauses_grow_until_nothing_fails() {
        let (mut backoff, start) = (Backoff::default(), Instant::now());
        assert!(backoff.is_due(start));
        backoff.note(true, start);
        assert!(!backoff.is_due(start) && backoff.is_due(start + FIRST_PAUSE));
        backoff.note(true, start);
        assert!(!backoff.is_due(start + FIRST_PAUSE) && backoff.is_due(start + 2 * FIRST_PAUSE));
        (0..9).for_each(|_| backoff.note(true, start));
        assert!(backoff.is_due(start + MAX_PAUSE));
        backoff.note(false, start);
        assert!(backoff.is_due(start));
    }
}
