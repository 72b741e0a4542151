//! Ends the work on one text at a time limit, or when the caller cancels it.

use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

use crate::failure::ParseFailure;

/// Number of steps between two checks of the clock and of the cancellation. A step takes at most a few microseconds.
const STEPS_PER_CHECK: u32 = 256;

/// The time limit and the cancellation of the work on one text.
pub(crate) struct Deadline<'a> {
    started: Instant,
    limit: Duration,
    is_cancelled: &'a dyn Fn() -> bool,
    steps: Cell<u32>,
    /// Reason why the work has ended.
    failure: OnceCell<ParseFailure>,
}

impl<'a> Deadline<'a> {
    pub(crate) fn new(limit: Duration, is_cancelled: &'a dyn Fn() -> bool) -> Self {
        Self { started: Instant::now(), limit, is_cancelled, steps: Cell::new(0), failure: OnceCell::new() }
    }

    /// Counts one step. Calls [`Self::check`] every [`STEPS_PER_CHECK`] steps, and on every call after an error.
    ///
    /// # Errors
    /// See [`Self::check`].
    pub(crate) fn tick(&self) -> Result<(), ParseFailure> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps % STEPS_PER_CHECK);
        if steps < STEPS_PER_CHECK && self.failure.get().is_none() { Ok(()) } else { self.check() }
    }

    /// Checks cancellation and the clock. After the first error, every call returns the same error.
    ///
    /// # Errors
    /// Returns [`ParseFailure::Cancelled`] or [`ParseFailure::TooSlow`].
    pub(crate) fn check(&self) -> Result<(), ParseFailure> {
        let failure = match self.failure.get() {
            Some(failure) => failure.clone(),
            None if (self.is_cancelled)() => ParseFailure::Cancelled,
            None if self.started.elapsed() > self.limit => ParseFailure::TooSlow,
            None => return Ok(()),
        };
        Err(self.failure.get_or_init(|| failure).clone())
    }
}
