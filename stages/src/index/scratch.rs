//! A directory for the temporary files of a run that stores nothing.

use aurora_pipeline::StageError;
use tempfile::{Builder, TempDir};

/// Creates a directory in the system's directory for temporary files. Only this user can access the directory. Dropping
/// the value removes the directory.
pub(super) fn scratch() -> Result<TempDir, StageError> {
    let mut builder = Builder::new();
    builder.prefix("aurora-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir().map_err(|error| {
        StageError::new(format!("cannot create a directory in {}: {error}", std::env::temp_dir().display()))
    })
}
