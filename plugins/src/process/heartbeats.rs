//! The maximum rate of heartbeats. With a heartbeat, a program reports that it is still working.

use std::time::Instant;

/// Number of heartbeats that are allowed at any time between two answers.
const BURST: u32 = 1_000;
/// Additional number of heartbeats that are allowed for each second since the last answer.
const PER_SECOND: f64 = 100.0;

/// Counts the heartbeats since the last answer.
pub(super) struct Heartbeats {
    count: u32,
    /// Time of the last answer, or of the start of the process.
    since: Instant,
}

impl Heartbeats {
    /// Creates a counter that starts at zero. `start` is the time of the last answer, or of the start of the process.
    pub(super) fn since(start: Instant) -> Self {
        Self { count: 0, since: start }
    }

    /// Counts one heartbeat.
    ///
    /// # Errors
    /// Returns an error if there are too many heartbeats.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), String> {
        self.count = self.count.saturating_add(1);
        let seconds = now.saturating_duration_since(self.since).as_secs_f64();
        if f64::from(self.count) <= f64::from(BURST) + seconds * PER_SECOND {
            return Ok(());
        }
        Err(format!("too many heartbeats without an answer: {BURST} are allowed, and {PER_SECOND} for each second"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn regular_heartbeats_are_accepted_for_days_and_a_flood_is_rejected() {
        let start = Instant::now();
        let accepted = |interval: Duration, most: u32| {
            let mut heartbeats = Heartbeats::since(start);
            (1..=most).take_while(|count| heartbeats.take(start + interval * *count).is_ok()).count()
        };
        assert_eq!(accepted(Duration::from_secs(1), 500_000), 500_000);
        assert_eq!(accepted(Duration::from_millis(10), 500_000), 500_000);
        assert_eq!(accepted(Duration::from_millis(5), 500_000), 2_000);
        assert_eq!(accepted(Duration::ZERO, 500_000), 1_000);
    }
}
