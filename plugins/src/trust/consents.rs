//! The user's records of allowed programs: one file per repository, in a directory of the user.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use serde::{Deserialize, Serialize};

use super::identity::ProgramIdentity;

/// Most bytes of the records of one repository.
const MOST_BYTES: u64 = 4 << 20;
/// Most records of one repository: the oldest are forgotten first.
const MOST_RECORDS: usize = 1_000;

/// The user's records of allowed programs.
#[derive(Clone, Debug)]
pub struct Consents {
    directory: Option<PathBuf>,
    allows_all: bool,
}

/// A program that the user has allowed in one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// Name of the stage when the program was allowed.
    pub stage: String,
    /// The command, for people.
    pub command: Vec<String>,
    /// [`ProgramIdentity::digest`] in hexadecimal.
    pub digest: String,
    /// When it was allowed, in Unix seconds.
    pub granted: i64,
}

/// Why a consent was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// There is no directory for records.
    #[error("there is no place to record it; set AURORA_HOME to an absolute path")]
    NoPlace,
    /// The records cannot be written.
    #[error("cannot write {path}: {source}")]
    Io {
        /// The directory of the records.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The file of one repository.
#[derive(Default, Serialize, Deserialize)]
struct RepositoryRecords {
    /// The repository, without symbolic links.
    root: PathBuf,
    consents: Vec<Consent>,
}

impl Consents {
    /// Records in a directory, which need not exist. It must not be part of a repository.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), allows_all: false }
    }

    /// No records: nothing is allowed.
    pub fn none() -> Self {
        Self { directory: None, allows_all: false }
    }

    /// Every program is allowed: for commands that the user has typed.
    pub fn everything() -> Self {
        Self { directory: None, allows_all: true }
    }

    /// Whether the user has allowed a program in the repository at `root`.
    pub fn allow(&self, root: &Path, program: &ProgramIdentity) -> bool {
        let digest = program.hex();
        self.allows_all || self.of(root).iter().any(|consent| consent.digest == digest)
    }

    /// What the user has allowed in a repository, oldest first. Unreadable records allow nothing.
    pub fn of(&self, root: &Path) -> Vec<Consent> {
        let read = || {
            let root = root.canonicalize().ok()?;
            let directory = Directory::open_root(self.directory.as_deref()?).ok()?;
            let bytes = directory.read(file_name(&root), MOST_BYTES).ok()?;
            let records: RepositoryRecords = serde_json::from_slice(&bytes).ok()?;
            (records.root == root).then_some(records.consents)
        };
        read().unwrap_or_default()
    }

    /// Records that the user allows a program.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn grant(&self, root: &Path, consent: Consent) -> Result<(), ConsentError> {
        self.change(root, |consents| {
            consents.retain(|known| known.digest != consent.digest);
            consents.push(consent);
            let excess = consents.len().saturating_sub(MOST_RECORDS);
            consents.drain(..excess);
        })
    }

    /// Forgets the consents that were given for a stage. Returns how many there were.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn revoke(&self, root: &Path, stage: &str) -> Result<usize, ConsentError> {
        let given = self.of(root).iter().filter(|consent| consent.stage == stage).count();
        if given > 0 {
            self.change(root, |consents| consents.retain(|consent| consent.stage != stage))?;
        }
        Ok(given)
    }

    fn change(&self, root: &Path, change: impl FnOnce(&mut Vec<Consent>)) -> Result<(), ConsentError> {
        let directory = self.directory.as_deref().filter(|path| path.is_absolute()).ok_or(ConsentError::NoPlace)?;
        let io = |source| ConsentError::Io { path: directory.to_owned(), source };
        let mut records = RepositoryRecords { root: root.canonicalize().map_err(io)?, consents: self.of(root) };
        change(&mut records.consents);
        #[allow(clippy::disallowed_methods, reason = "the user's own directory")]
        std::fs::create_dir_all(directory).map_err(io)?;
        let json = serde_json::to_vec_pretty(&records).map_err(|error| io(io::Error::other(error)))?;
        let opened = Directory::open_root(directory).map_err(io)?;
        opened.replace(file_name(&records.root), |file| file.write_all(&json)).map_err(io)
    }
}

fn file_name(root: &Path) -> String {
    format!("{}.json", blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consent(stage: &str, program: &ProgramIdentity) -> Consent {
        Consent { stage: stage.to_owned(), command: vec!["run".to_owned()], digest: program.hex(), granted: 7 }
    }

    #[test]
    fn a_consent_is_for_one_repository_and_one_program() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (here, there) = (directory.path().join("here"), directory.path().join("there"));
        [&here, &there].into_iter().for_each(|root| std::fs::create_dir(root).expect("made"));
        let program = |byte| ProgramIdentity { digest: [byte; 32], files: Vec::new() };
        let consents = Consents::at(directory.path().join("user/consents"));
        assert!(!consents.allow(&here, &program(1)));
        consents.grant(&here, consent("owner", &program(1))).expect("recorded");
        consents.grant(&here, consent("owner", &program(1))).expect("recorded again");
        assert!(consents.allow(&here, &program(1)));
        assert!(!consents.allow(&here, &program(2)) && !consents.allow(&there, &program(1)));
        assert_eq!(consents.of(&here).len(), 1);
        assert_eq!(consents.revoke(&here, "other").expect("nothing to do"), 0);
        assert_eq!(consents.revoke(&here, "owner").expect("written"), 1);
        assert!(!consents.allow(&here, &program(1)));
    }

    #[test]
    fn without_a_place_nothing_is_allowed() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let program = ProgramIdentity { digest: [1; 32], files: Vec::new() };
        for consents in [Consents::none(), Consents::at("relative")] {
            assert!(matches!(consents.grant(root.path(), consent("a", &program)), Err(ConsentError::NoPlace)));
            assert!(!consents.allow(root.path(), &program));
        }
    }
}
