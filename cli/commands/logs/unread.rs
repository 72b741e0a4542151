//! Reports logs that could not be read. The command then ends with exit code 2.

use aurora_logs::UnreadLog;

use crate::context::{Failure, Outcome, Terminal};
use crate::output::units;

/// Warns about a log that could not be read.
pub(super) fn warn(problem: &UnreadLog, terminal: &Terminal) {
    terminal.warn(&format!("cannot read {}: {}", problem.file, problem.cause));
}

/// Returns the outcome of a command that found `found` logs and could not read `unread` logs.
pub(super) fn outcome(unread: u64, found: u64, nothing: impl FnOnce() -> String) -> Outcome {
    if unread > 0 {
        return Err(Failure::new(format!("{} could not be read", units::counted(unread, "log"))));
    }
    if found > 0 { Ok(()) } else { Err(Failure::Short(nothing())) }
}
