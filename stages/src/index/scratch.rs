//! A directory for the temporary files of a run that stores nothing.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use aurora_pipeline::StageError;

/// Maximum number of names that are tried.
const ATTEMPTS: u32 = 16;

/// Distinguishes the directories of one process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A new directory in the system's directory for temporary files. Dropping the value removes it.
pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates the directory. Only this user can access it.
    pub(super) fn new() -> Result<Self, StageError> {
        let refused = |error| format!("cannot create a directory in {}: {error}", std::env::temp_dir().display());
        Self::make().map_err(|error| StageError::new(refused(error)))
    }

    fn make() -> io::Result<Self> {
        let mut refused = None;
        for _ in 0..ATTEMPTS {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("aurora-{}-{number}-{now:08x}", std::process::id()));
            match private().create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(refused.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }

    /// Path of the directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        #[allow(clippy::disallowed_methods, reason = "this value has made the directory, which nobody else may enter")]
        // If the directory cannot be removed, it is left to the system.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(unix)]
fn private() -> DirBuilder {
    use std::os::unix::fs::DirBuilderExt as _;

    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn private() -> DirBuilder {
    DirBuilder::new()
}

#[cfg(test)]
mod tests {
    use super::Scratch;

    #[test]
    fn a_directory_is_new_and_is_removed() {
        let (one, other) = (Scratch::new().expect("made"), Scratch::new().expect("made"));
        assert_ne!(one.path(), other.path());
        let path = one.path().to_owned();
        std::fs::write(path.join("file"), "").expect("written");
        drop(one);
        assert!(!path.exists() && other.path().is_dir());
    }
}
