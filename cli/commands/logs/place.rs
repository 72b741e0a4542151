//! Opens the log directory of the user, finds the log with a given name or id, and reports logs that cannot be read.

use std::io;

use aurora_logs::{Candidate, Found, LogDirectory, LogFile, Settings, UnreadLog};
use aurora_project::user;

use crate::context::{Failure, Outcome, Terminal};
use crate::output::units;

/// Returns the table `[logs]` of the user's configuration.
pub(super) fn settings() -> Outcome<Settings> {
    user::logs()?.ok_or_else(|| {
        Failure::new("the home directory is unknown")
            .with_help("set HOME, or set AURORA_HOME to the directory for logs and settings")
    })
}

/// Opens the log directory; `None` if it does not exist yet.
pub(super) fn logs() -> Outcome<Option<LogDirectory>> {
    Ok(LogDirectory::open(&settings()?.path)?)
}

/// Returns the failure for a log that cannot be read.
pub(super) fn unread_failure(file: &str, error: &io::Error) -> Failure {
    Failure::new(format!("cannot read {file}: {error}"))
}

/// Finds the log with the name or id `given`. Fails with exit code 1 if no log matches. Fails with exit code 2 if
/// several logs match, or if none matches but some could not be read.
pub(super) fn find(given: &str, terminal: &Terminal) -> Outcome<(LogDirectory, LogFile)> {
    let nothing = || Failure::Short(format!("no log has the name or id `{given}`"));
    let logs = logs()?.ok_or_else(nothing)?;
    let mut problems = Vec::new();
    let found = logs.find(given, &mut |problem| problems.push(problem))?;
    match found {
        Found::One(log) => Ok((logs, log)),
        Found::Several(count, first) => Err(ambiguous_name(given, count, &first)),
        Found::Nothing if problems.is_empty() => Err(nothing()),
        // The requested log may be among the logs that could not be read.
        Found::Nothing => {
            for problem in &problems {
                warn_unread(problem, terminal);
            }
            let logs = units::counted(problems.len() as u64, "log");
            Err(Failure::new(format!("no log has the name or id `{given}`, and {logs} could not be read")))
        }
    }
}

fn ambiguous_name(given: &str, count: usize, first: &[Candidate]) -> Failure {
    let mut message = format!("`{given}` matches {}:", units::counted(count as u64, "log"));
    for Candidate { log, id } in first {
        let id = id.as_deref().map(|id| format!("  {id}")).unwrap_or_default();
        message.push_str(&format!("\n  {}{id}", log.path()));
    }
    if count > first.len() {
        message.push_str(&format!("\n  and {} more", units::count((count - first.len()) as u64)));
    }
    Failure::new(message).with_help("give a longer part of the name or id")
}

/// Warns about a log that could not be read.
pub(super) fn warn_unread(problem: &UnreadLog, terminal: &Terminal) {
    terminal.warn(&format!("cannot read {}: {}", problem.file, problem.cause));
}

/// Returns the outcome of a command that found `found` logs and could not read `unread` logs. `nothing` returns the
/// message for the case that no log was found.
pub(super) fn outcome(unread: u64, found: u64, nothing: impl FnOnce() -> String) -> Outcome {
    if unread > 0 {
        return Err(Failure::new(format!("{} could not be read", units::counted(unread, "log"))));
    }
    if found > 0 { Ok(()) } else { Err(Failure::Short(nothing())) }
}
