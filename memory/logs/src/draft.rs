//! A file that is being written under a name of its own, until it is complete and durable.
//!
//! It is called `.log.0123456789abcdef.tmp` and locked, so that maintenance can tell one that a process is writing from one
//! that a process has left behind when it was killed.

use std::fs::File;
use std::io;

use aurora_confined::Directory;

use crate::directory::{make_private, remove_file};

const BEGINNING: &str = ".log.";
const ENDING: &str = ".tmp";
const RANDOM_DIGITS: usize = 16;
/// How often a name is tried, while maintenance removes what nobody has locked yet.
const ATTEMPTS: usize = 16;

/// An unfinished file of a month. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Draft {
    month: Directory,
    name: String,
    file: File,
    is_kept: bool,
}

impl Draft {
    /// Creates an unfinished file. Only the user may read it.
    pub(crate) fn create(month: &Directory) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let mut random = [0; RANDOM_DIGITS / 2];
            getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
            let name = format!("{BEGINNING}{:016x}{ENDING}", u64::from_le_bytes(random));
            let file = match month.create_new(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            make_private(&file)?;
            // Without locks, nobody can tell that the file is left behind, and nobody removes it.
            let _ = file.lock();
            if month.contains(&name)? {
                return Ok(Self { month: month.clone(), name, file, is_kept: false });
            }
        }
        Err(io::Error::other("an unfinished file is removed by somebody else each time it is made"))
    }

    /// The file, for writing.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Makes its content durable.
    pub(crate) fn synchronise(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives the file a name that nothing else has, in one step, and makes the name durable. False if the name is taken. The
    /// caller has the lock on the names.
    pub(crate) fn publish(&mut self, name: &str) -> io::Result<bool> {
        if self.month.contains(name)? {
            return Ok(false);
        }
        match self.link(name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            // Some file systems have no links. The lock on the names keeps others from taking this one meanwhile.
            Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) => {
                self.month.rename(&self.name, name)?;
                self.is_kept = true;
            }
            Err(error) => return Err(error),
        }
        self.remove();
        self.month.synchronise()?;
        Ok(true)
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "both names are in the user's own directory, and a new name is no link"
    )]
    fn link(&self, name: &str) -> io::Result<()> {
        std::fs::hard_link(self.month.path().join(&self.name), self.month.path().join(name))
    }

    /// Puts the file into the place of another one, in one step, and makes that durable.
    pub(crate) fn replace(mut self, name: &str) -> io::Result<()> {
        self.month.rename(&self.name, name)?;
        self.is_kept = true;
        self.month.synchronise()
    }

    fn remove(&mut self) {
        if !self.is_kept {
            self.is_kept = true;
            // What stays is removed by maintenance.
            let _ = remove_file(&self.month, &self.name);
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Whether a file is called like an unfinished one.
pub(crate) fn is_draft(name: &str) -> bool {
    let random = name.strip_prefix(BEGINNING).and_then(|rest| rest.strip_suffix(ENDING));
    random.is_some_and(|random| random.len() == RANDOM_DIGITS && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Removes an unfinished file if no process writes it any more. Returns whether it did, or would with `is_rehearsal`.
pub(crate) fn remove_left_behind(month: &Directory, name: &str, is_rehearsal: bool) -> io::Result<bool> {
    let file = month.open_file(name)?;
    if file.try_lock().is_err() {
        return Ok(false);
    }
    if !is_rehearsal {
        remove_file(month, name)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_draft_is_seen_when_it_is_published() {
        let place = tempfile::tempdir().unwrap();
        let month = Directory::open_root(place.path()).unwrap();
        let names = || {
            let mut names: Vec<_> = month.entries().unwrap().into_iter().map(|(name, _)| name).collect();
            names.sort();
            names
        };
        let mut draft = Draft::create(&month).unwrap();
        draft.file().write_all(b"text").unwrap();
        let name = names()[0].to_str().unwrap().to_owned();
        assert!(is_draft(&name), "{name}");
        assert!(!remove_left_behind(&month, &name, false).unwrap());
        assert!(draft.publish("a.md").unwrap());
        assert_eq!(names(), ["a.md"]);
        let mut other = Draft::create(&month).unwrap();
        assert!(!other.publish("a.md").unwrap());
        assert!(other.publish("b.md").unwrap());
        drop(other);
        assert_eq!(names(), ["a.md", "b.md"]);
        std::fs::write(place.path().join(".log.0123456789abcdef.tmp"), "half").unwrap();
        assert!(remove_left_behind(&month, ".log.0123456789abcdef.tmp", true).unwrap());
        assert!(remove_left_behind(&month, ".log.0123456789abcdef.tmp", false).unwrap());
        assert_eq!(names(), ["a.md", "b.md"]);
        drop(Draft::create(&month).unwrap());
        assert_eq!(names(), ["a.md", "b.md"]);
    }

    #[test]
    fn names_of_drafts() {
        for name in
            ["a.md", ".a.md.tmp", ".a.md.0123.tmp", ".lock", ".log.0123456789abcdeg.tmp", "log.0123456789abcdef.tmp"]
        {
            assert!(!is_draft(name), "{name}");
        }
    }
}
