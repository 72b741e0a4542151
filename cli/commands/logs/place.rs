//! The log directory and the log settings of the user.

use aurora_logs::{LogDirectory, LogError, Settings};
use aurora_project::user;

use crate::context::failure::{Failure, Outcome};
use crate::context::findings;
use crate::context::program::Program;

/// Returns the table `[logs]` of the user's configuration.
pub(super) fn settings(program: &Program) -> Outcome<Settings> {
    let settings = user::logs().map_err(|error| findings::project(error, &program.terminal))?;
    settings.ok_or_else(|| {
        Failure::new("the home directory is unknown")
            .with_help("set HOME, or set AURORA_HOME to the directory for logs and settings")
    })
}

/// Opens the log directory; `None` if it does not exist yet.
pub(super) fn logs(program: &Program) -> Outcome<Option<LogDirectory>> {
    LogDirectory::open(&settings(program)?.path).map_err(failure)
}

/// Converts a library error to a failure of the command.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(super) fn failure(error: LogError) -> Failure {
    Failure::from_error(&error)
}

/// The failure for a log that cannot be read.
pub(super) fn unread(file: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot read {file}: {error}"))
}
