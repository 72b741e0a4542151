//! Time limit and cancellation of the work on one text.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::failure::ParseFailure;

/// Steps between two checks of clock and cancellation. A step takes microseconds at most.
const STEPS_PER_CHECK: u32 = 256;

/// Ends the work on one text when its time is over or the caller cancels.
pub(crate) struct Deadline<'a> {
    started: Instant,
    limit: Duration,
    is_cancelled: &'a dyn Fn() -> bool,
    steps: Cell<u32>,
}

impl<'a> Deadline<'a> {
    pub(crate) fn new(limit: Duration, is_cancelled: &'a dyn Fn() -> bool) -> Self {
        Self { started: Instant::now(), limit, is_cancelled, steps: Cell::new(0) }
    }

    /// Counts one step of the work; every [`STEPS_PER_CHECK`] steps it calls [`Self::check`].
    ///
    /// # Errors
    /// See [`Self::check`].
    pub(crate) fn tick(&self) -> Result<(), ParseFailure> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps % STEPS_PER_CHECK);
        if steps < STEPS_PER_CHECK { Ok(()) } else { self.check() }
    }

    /// Checks cancellation and clock.
    ///
    /// # Errors
    /// [`ParseFailure::Cancelled`] and [`ParseFailure::TooSlow`].
    pub(crate) fn check(&self) -> Result<(), ParseFailure> {
        if (self.is_cancelled)() {
            Err(ParseFailure::Cancelled)
        } else if self.started.elapsed() > self.limit {
            Err(ParseFailure::TooSlow)
        } else {
            Ok(())
        }
    }
}
