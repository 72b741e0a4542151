//! The log directory and the log settings of the user.

use aurora_logs::{LogDirectory, Settings};
use aurora_project::user;

use crate::context::{Failure, Outcome};

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

/// The failure for a log that cannot be read.
pub(super) fn unread(file: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot read {file}: {error}"))
}
