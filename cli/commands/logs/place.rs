//! Where the logs are, and what the user has configured about them.

use aurora_logs::{LogDirectory, LogError, Settings};
use aurora_project::user;

use crate::context::failure::{Failure, Outcome};
use crate::context::findings;
use crate::context::program::Program;

/// `[logs]` of the user's configuration.
pub(super) fn settings(program: &Program) -> Outcome<Settings> {
    let settings = user::logs().map_err(|error| findings::project(error, &program.terminal))?;
    settings.ok_or_else(|| {
        Failure::new("no home directory is known")
            .with_help("set HOME, or AURORA_HOME to the directory for logs and settings")
    })
}

/// The directory of the logs; `None` where there is none yet.
pub(super) fn logs(program: &Program) -> Outcome<Option<LogDirectory>> {
    LogDirectory::open(&settings(program)?.path).map_err(failure)
}

/// What a library's error means.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(super) fn failure(error: LogError) -> Failure {
    Failure::from_error(&error)
}

/// A log that cannot be read.
pub(super) fn unread(file: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot read {file}: {error}"))
}
