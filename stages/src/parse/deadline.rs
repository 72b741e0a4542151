//! When to give a file up: it takes too long, or the run is to stop.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::parser::ParseFailure;

/// Looks between two questions to clock and run; what lies between two looks takes microseconds.
const LOOKS_PER_QUESTION: u32 = 256;

/// Watches over the work on one file.
pub(crate) struct Deadline<'a> {
    began: Instant,
    longest: Duration,
    is_stopped: &'a dyn Fn() -> bool,
    looks: Cell<u32>,
}

impl<'a> Deadline<'a> {
    pub(crate) fn new(longest: Duration, is_stopped: &'a dyn Fn() -> bool) -> Self {
        Self { began: Instant::now(), longest, is_stopped, looks: Cell::new(0) }
    }

    /// Counts a step of the work, and asks now and then.
    ///
    /// # Errors
    /// [`ParseFailure::Stopped`] and [`ParseFailure::TooSlow`].
    pub(crate) fn tick(&self) -> Result<(), ParseFailure> {
        let looks = self.looks.get() + 1;
        self.looks.set(looks % LOOKS_PER_QUESTION);
        if looks < LOOKS_PER_QUESTION { Ok(()) } else { self.check() }
    }

    /// Asks whether to go on.
    ///
    /// # Errors
    /// See [`Self::check`].
    pub(crate) fn check(&self) -> Result<(), ParseFailure> {
        if (self.is_stopped)() {
            Err(ParseFailure::Stopped)
        } else if self.began.elapsed() > self.longest {
            Err(ParseFailure::TooSlow)
        } else {
            Ok(())
        }
    }
}
