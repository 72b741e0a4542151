//! An unfinished file. It has a temporary name until its content is complete and durable.
//!
//! The file has a name such as `.log.0123456789abcdef.tmp`, and the writing process locks it. Maintenance removes an
//! unfinished file that is not locked, because the process that was writing it has ended.

use std::fs::File;
use std::io;

use aurora_confined::Directory;

use crate::directory::{make_private, remove_file};

const BEGINNING: &str = ".log.";
const ENDING: &str = ".tmp";
const RANDOM_DIGITS: usize = 16;
/// Maximum number of attempts to create a file. An attempt fails if maintenance removes the new file before the writing
/// process has locked it.
const MAX_ATTEMPTS: usize = 16;

/// An unfinished file in the directory of a month. Dropping the value removes the file.
#[derive(Debug)]
pub(crate) struct Draft {
    month: Directory,
    name: String,
    file: File,
    is_finished: bool,
}

impl Draft {
    /// Creates an unfinished file in the directory of a month. Only the user can read it.
    pub(crate) fn create(month: &Directory) -> io::Result<Self> {
        for _ in 0..MAX_ATTEMPTS {
            let mut random = [0; RANDOM_DIGITS / 2];
            getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
            let name = format!("{BEGINNING}{:016x}{ENDING}", u64::from_le_bytes(random));
            let file = match month.create_new(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            make_private(&file)?;
            // An error is ignored. On a file system without locks, maintenance cannot lock the file and does not remove
            // it.
            let _ = file.lock();
            if month.contains(&name)? {
                return Ok(Self { month: month.clone(), name, file, is_finished: false });
            }
        }
        Err(io::Error::other("another process removed every unfinished file before it could be locked"))
    }

    /// Returns the file for writing.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Makes the content of the file durable.
    pub(crate) fn synchronise(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives the file its final name atomically, and makes the name durable. Returns `false` if another file has the
    /// name. The caller must hold the lock on the names of logs.
    pub(crate) fn publish(&mut self, name: &str) -> io::Result<bool> {
        if self.month.contains(name)? {
            return Ok(false);
        }
        match self.link(name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            // The file system does not support hard links. The lock on the names prevents other processes from creating
            // a file with this name.
            Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) => {
                self.month.rename(&self.name, name)?;
                self.is_finished = true;
            }
            Err(error) => return Err(error),
        }
        self.remove();
        self.month.synchronise()?;
        Ok(true)
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "both names are in the user's own directory, and the new name is not a symbolic link"
    )]
    fn link(&self, name: &str) -> io::Result<()> {
        std::fs::hard_link(self.month.path().join(&self.name), self.month.path().join(name))
    }

    /// Replaces the file `name` atomically, and makes the replacement durable.
    pub(crate) fn replace(mut self, name: &str) -> io::Result<()> {
        self.month.rename(&self.name, name)?;
        self.is_finished = true;
        self.month.synchronise()
    }

    fn remove(&mut self) {
        if !self.is_finished {
            self.is_finished = true;
            // An error is ignored, because maintenance removes the file later.
            let _ = remove_file(&self.month, &self.name);
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Returns `true` if a file name is the name of an unfinished file.
pub(crate) fn is_draft(name: &str) -> bool {
    let random = name.strip_prefix(BEGINNING).and_then(|rest| rest.strip_suffix(ENDING));
    random.is_some_and(|random| random.len() == RANDOM_DIGITS && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Removes an unfinished file if no process has locked it. Returns whether the file was removed, or, in a dry run,
/// whether it would be removed.
pub(crate) fn remove_abandoned(month: &Directory, name: &str, is_dry_run: bool) -> io::Result<bool> {
    let file = month.open_file(name)?;
    if file.try_lock().is_err() {
        return Ok(false);
    }
    if !is_dry_run {
        remove_file(month, name)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_draft_is_visible_only_after_it_is_published() {
        let directory = tempfile::tempdir().unwrap();
        let month = Directory::open_root(directory.path()).unwrap();
        let names = || {
            let mut names: Vec<_> = month.entries().unwrap().into_iter().map(|(name, _)| name).collect();
            names.sort();
            names
        };
        let mut draft = Draft::create(&month).unwrap();
        draft.file().write_all(b"text").unwrap();
        let name = names()[0].to_str().unwrap().to_owned();
        assert!(is_draft(&name), "{name}");
        assert!(!remove_abandoned(&month, &name, false).unwrap());
        assert!(draft.publish("a.md").unwrap());
        assert_eq!(names(), ["a.md"]);
        let mut other = Draft::create(&month).unwrap();
        assert!(!other.publish("a.md").unwrap());
        assert!(other.publish("b.md").unwrap());
        drop(other);
        assert_eq!(names(), ["a.md", "b.md"]);
        std::fs::write(directory.path().join(".log.0123456789abcdef.tmp"), "half").unwrap();
        assert!(remove_abandoned(&month, ".log.0123456789abcdef.tmp", true).unwrap());
        assert!(remove_abandoned(&month, ".log.0123456789abcdef.tmp", false).unwrap());
        assert_eq!(names(), ["a.md", "b.md"]);
        drop(Draft::create(&month).unwrap());
        assert_eq!(names(), ["a.md", "b.md"]);
    }

    #[test]
    fn other_files_are_not_drafts() {
        for name in
            ["a.md", ".a.md.tmp", ".a.md.0123.tmp", ".lock", ".log.0123456789abcdeg.tmp", "log.0123456789abcdef.tmp"]
        {
            assert!(!is_draft(name), "{name}");
        }
    }
}
