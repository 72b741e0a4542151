//! The log that a name or an id stands for.

use aurora_logs::{Candidate, Found, LogDirectory, LogFile};

use crate::commands::logs::{place, unread};
use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::output::units;

/// Finds the log. None is exit code 1, several are named.
pub(super) fn find(given: &str, program: &Program) -> Outcome<(LogDirectory, LogFile)> {
    let nothing = || Failure::Short(format!("no log is called `{given}` or has this id"));
    let logs = place::logs(program)?.ok_or_else(nothing)?;
    let mut problems = Vec::new();
    let found = logs.find(given, &mut |problem| problems.push(problem)).map_err(place::failure)?;
    match found {
        Found::One(log) => Ok((logs, log)),
        Found::Several(count, first) => Err(several(given, count, &first)),
        Found::Nothing if problems.is_empty() => Err(nothing()),
        // It may be one of those.
        Found::Nothing => {
            for problem in &problems {
                unread::warn(problem, &program.terminal);
            }
            let logs = units::counted(problems.len() as u64, "log");
            Err(Failure::new(format!("no log is called `{given}` or has this id, and {logs} could not be read")))
        }
    }
}

fn several(given: &str, count: usize, first: &[Candidate]) -> Failure {
    let mut message = format!("`{given}` stands for {}:", units::counted(count as u64, "log"));
    for Candidate { log, id } in first {
        let id = id.as_deref().map(|id| format!("  {id}")).unwrap_or_default();
        message.push_str(&format!("\n  {}{id}", log.path()));
    }
    if count > first.len() {
        message.push_str(&format!("\n  and {} more", units::count((count - first.len()) as u64)));
    }
    Failure::new(message).with_help("give more of the name or of the id")
}
