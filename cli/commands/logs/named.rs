//! Finds the log with a given name or id.

use aurora_logs::{Candidate, Found, LogDirectory, LogFile};

use crate::commands::logs::{place, unread};
use crate::context::{Failure, Outcome, Program};
use crate::output::units;

/// Finds the log. Without a match the exit code is 1; if several logs match, it is 2.
pub(super) fn find(given: &str, program: &Program) -> Outcome<(LogDirectory, LogFile)> {
    let nothing = || Failure::Short(format!("no log has the name or id `{given}`"));
    let logs = place::logs()?.ok_or_else(nothing)?;
    let mut problems = Vec::new();
    let found = logs.find(given, &mut |problem| problems.push(problem))?;
    match found {
        Found::One(log) => Ok((logs, log)),
        Found::Several(count, first) => Err(ambiguous_name(given, count, &first)),
        Found::Nothing if problems.is_empty() => Err(nothing()),
        // The log may be one of the unreadable ones.
        Found::Nothing => {
            for problem in &problems {
                unread::warn(problem, &program.terminal);
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
