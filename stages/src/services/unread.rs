//! Files and directories that a run could not read.
//!
//! The content of a file that cannot be read is unknown, but the file is not deleted, so the index keeps its data. A
//! file counts as deleted only if the system reports that nothing exists at its path, or that a component of the path
//! is not a directory.

use std::collections::BTreeSet;
use std::io;

/// Files and directories that exist but could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UnreadPaths {
    /// Paths relative to the root. The root itself is [`ROOT`].
    paths: BTreeSet<String>,
    /// Number of indexed files at or below the paths. Files are counted at the end of the run.
    known: u64,
    /// Number of indexed files that are below an unreadable directory.
    below: u64,
}

/// The path of the root itself.
pub(crate) const ROOT: &str = ".";

impl UnreadPaths {
    /// Adds a file or directory.
    pub(crate) fn add(&mut self, path: &str) {
        self.paths.insert(path.to_owned());
    }

    /// Whether an indexed file is at or below one of the paths. Counts the file if it is.
    pub(crate) fn covers(&mut self, file: &str) -> bool {
        let is_path = self.paths.contains(file);
        let is_below = || file.match_indices('/').any(|(at, _)| self.paths.contains(&file[..at]));
        let is_covered = is_path || self.paths.contains(ROOT) || is_below();
        self.known += u64::from(is_covered);
        self.below += u64::from(is_covered && !is_path);
        is_covered
    }

    /// Whether all files and directories could be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns the number of files and directories that could not be read.
    pub(crate) fn len(&self) -> u64 {
        self.paths.len() as u64
    }

    /// Returns the number of indexed files at or below the paths.
    pub(crate) fn known_files(&self) -> u64 {
        self.known
    }

    /// Returns the number of indexed files below an unreadable directory.
    pub(crate) fn below(&self) -> u64 {
        self.below
    }
}

/// Whether an error means that a path does not exist. After any other error, the path may exist.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::{ROOT, UnreadPaths};

    #[test]
    fn files_below_an_unreadable_directory_count_as_unreadable() {
        let mut unread = UnreadPaths::default();
        ["src/deep", "a.py"].into_iter().for_each(|path| unread.add(path));
        for (file, is_covered) in [
            ("a.py", true),
            ("src/deep/b.py", true),
            ("src/deep/er/c.py", true),
            ("src/deeper/d.py", false),
            ("src/e.py", false),
            ("b/a.py", false),
        ] {
            assert_eq!(unread.covers(file), is_covered, "{file}");
        }
        assert_eq!((unread.len(), unread.known_files(), unread.below()), (2, 3, 2));
        unread.add(ROOT);
        assert!(unread.covers("src/e.py"));
    }
}
