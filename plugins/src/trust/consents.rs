//! The user's records of allowed programs. Each record is a file in a directory of the user, named after a digest.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_pipeline::ProgramSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::earlier_records;
use super::identity::ProgramIdentity;

/// Maximum size of a record in bytes.
const MAX_RECORD_BYTES: u64 = 4 << 20;
/// Maximum number of records. The oldest records are removed first.
const MAX_RECORDS: usize = 1_000;
/// Name of the subdirectory that contains the records.
const DIGESTS: &str = "digests";

/// The user's records of allowed programs.
#[derive(Clone, Debug)]
pub struct Consents {
    directory: Option<PathBuf>,
    allows_all: bool,
}

/// A program that the user has allowed, with everything that determines its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// Name of the stage at the time of the consent.
    pub stage: String,
    /// [`ProgramIdentity::digest`] in hexadecimal.
    pub digest: String,
    /// Time of the consent, in seconds since the Unix epoch.
    pub granted: i64,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Hashes of the program's files in the project, by path.
    pub files: BTreeMap<String, String>,
    /// Names of the environment variables.
    pub environment: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// The configuration.
    pub config: Map<String, Value>,
    /// BLAKE3 hashes of the paths of the projects in which the user allowed the program.
    #[serde(default)]
    places: Vec<String>,
}

/// The reason why a consent could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// There is no directory for the records.
    #[error("there is no place to record it; set AURORA_HOME to an absolute path")]
    NoPlace,
    /// The records cannot be written.
    #[error("cannot write {path}: {source}")]
    Io {
        /// The directory of the records.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Consent {
    /// Creates a consent for a program whose files have just been read.
    pub fn new(stage: &str, spec: &ProgramSpec, identity: &ProgramIdentity, granted: i64) -> Self {
        Self {
            stage: stage.to_owned(),
            digest: identity.hex(),
            granted,
            command: spec.command.clone(),
            files: identity.covered().map(|file| (file.path.clone(), file.hex())).collect(),
            environment: spec.environment.clone(),
            inputs: spec.inputs.clone(),
            config: spec.config.clone(),
            places: Vec::new(),
        }
    }
}

impl Consents {
    /// Stores the records in a directory, which need not exist yet. The directory must not be part of a repository.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), allows_all: false }
    }

    /// Stores no records, so no program is allowed.
    pub fn none() -> Self {
        Self { directory: None, allows_all: false }
    }

    /// Allows every program, for commands that the user has typed.
    pub fn everything() -> Self {
        Self { directory: None, allows_all: true }
    }

    /// Whether the user has allowed a program for the project at `root`.
    ///
    /// If a program has files in the project, it is allowed in every project in which it has the same digest. The
    /// digest of a program without such files, for example `make owners`, does not cover what the program does. Such a
    /// program is only allowed in the projects in which the user has allowed it.
    pub fn allow(&self, root: &Path, program: &ProgramIdentity) -> bool {
        self.allows_all || self.has_record(root, program) || self.has_earlier_record(root, program)
    }

    /// Whether a record in the current format allows a program for the project at `root`.
    pub fn has_record(&self, root: &Path, program: &ProgramIdentity) -> bool {
        let digest = program.hex();
        let record = self.opened().and_then(|directory| record(&directory, &file_name(&digest)));
        record.is_some_and(|record| {
            let is_here = || place_of(root).is_some_and(|place| record.places.contains(&place));
            record.digest == digest && (program.has_files() || is_here())
        })
    }

    /// Whether a record in the format of earlier versions, which is found by path, allows a program for the project at
    /// `root`.
    fn has_earlier_record(&self, root: &Path, program: &ProgramIdentity) -> bool {
        let digest = blake3::Hash::from_bytes(program.program).to_hex().to_string();
        let directory = self.directory.as_deref();
        directory.is_some_and(|directory| {
            earlier_records::for_project(directory, root).any(|consent| consent.digest == digest)
        })
    }

    /// Records that the user allows a program in the project at `root`. See [`Consents::allow`] for other projects.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    pub fn grant(&self, root: &Path, mut consent: Consent) -> Result<(), ConsentError> {
        let parent = self.directory.as_deref().filter(|path| path.is_absolute()).ok_or(ConsentError::NoPlace)?;
        let path = parent.join(DIGESTS);
        let io = |source| ConsentError::Io { path: path.clone(), source };
        #[allow(clippy::disallowed_methods, reason = "the user's own directory")]
        std::fs::create_dir_all(&path).map_err(io)?;
        let directory = Directory::open_root(&path).map_err(io)?;
        let name = file_name(&consent.digest);
        consent.places = record(&directory, &name).map(|known| known.places).unwrap_or_default();
        consent.places.extend(place_of(root));
        consent.places.sort_unstable();
        consent.places.dedup();
        let json = serde_json::to_vec_pretty(&consent).map_err(|error| io(io::Error::other(error)))?;
        directory.replace(&name, |file| file.write_all(&json)).map_err(io)?;
        forget_oldest(&directory).map_err(io)
    }

    /// Removes all consents for a stage in the project at `root`. Also removes the consent for the program `current`,
    /// in whichever project it was given. Returns the number of removed consents.
    ///
    /// # Errors
    /// Returns an error if the records cannot be changed.
    pub fn revoke(&self, root: &Path, stage: &str, current: Option<&ProgramIdentity>) -> Result<usize, ConsentError> {
        let Some(parent) = self.directory.as_deref() else { return Ok(0) };
        let io = |source| ConsentError::Io { path: parent.to_owned(), source };
        let place = place_of(root);
        let mut forgotten = earlier_records::revoke(parent, root, stage).map_err(io)?;
        let Some(directory) = self.opened() else { return Ok(forgotten) };
        for (name, record) in records(&directory) {
            let is_of_stage =
                record.stage == stage && place.as_ref().is_some_and(|place| record.places.contains(place));
            if is_of_stage || current.is_some_and(|current| current.hex() == record.digest) {
                directory.remove(&name).map_err(io)?;
                forgotten += 1;
            }
        }
        Ok(forgotten)
    }

    /// Returns the newest consent for an earlier version of a program. Such a consent has the same stage name and
    /// another digest. In addition, it was given in this project, has the same command, or covers a file with the same
    /// path as a file of the program. Consents that were given in this project take precedence.
    pub fn earlier(&self, root: &Path, stage: &str, spec: &ProgramSpec, program: &ProgramIdentity) -> Option<Consent> {
        let (directory, place, digest) = (self.opened()?, place_of(root), program.hex());
        let similar = records(&directory).into_iter().map(|(_, record)| record).filter_map(|record| {
            let is_here = place.as_ref().is_some_and(|place| record.places.contains(place));
            let shares =
                record.command == spec.command || program.covered().any(|file| record.files.contains_key(&file.path));
            (record.stage == stage && record.digest != digest && (is_here || shares)).then_some((is_here, record))
        });
        similar.max_by_key(|(is_here, record)| (*is_here, record.granted)).map(|(_, record)| record)
    }

    /// Returns the directories of the records, which need not exist. The modification time of a directory changes when
    /// a record in it is created, replaced or removed.
    pub fn directories(&self) -> Vec<PathBuf> {
        self.directory.iter().flat_map(|directory| [directory.clone(), directory.join(DIGESTS)]).collect()
    }

    fn opened(&self) -> Option<Directory> {
        Directory::open_root(&self.directory.as_deref()?.join(DIGESTS)).ok()
    }
}

/// Reads all records with their file names. Unreadable records are ignored, because they allow nothing.
fn records(directory: &Directory) -> Vec<(String, Consent)> {
    let entries = directory.entries().unwrap_or_default();
    let names = entries.into_iter().filter_map(|(name, _)| name.into_string().ok());
    names.filter_map(|name| Some((record(directory, &name)?, name))).map(|(record, name)| (name, record)).collect()
}

fn record(directory: &Directory, name: &str) -> Option<Consent> {
    serde_json::from_slice(&directory.read(name, MAX_RECORD_BYTES).ok()?).ok()
}

fn forget_oldest(directory: &Directory) -> io::Result<()> {
    if directory.entries()?.len() <= MAX_RECORDS {
        return Ok(());
    }
    let mut all = records(directory);
    all.sort_by_key(|(_, record)| record.granted);
    let excess = all.len().saturating_sub(MAX_RECORDS);
    all.iter().take(excess).try_for_each(|(name, _)| directory.remove(name))
}

fn file_name(digest: &str) -> String {
    format!("{digest}.json")
}

/// Returns the BLAKE3 hash of the path of a project, with symbolic links resolved.
fn place_of(root: &Path) -> Option<String> {
    let root = root.canonicalize().ok()?;
    Some(blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::trust::ProgramFile;

    fn program(byte: u8) -> ProgramIdentity {
        let files = vec![ProgramFile { path: "tools/owner.py".to_owned(), hash: [byte; 32] }];
        let digest = [byte; 32];
        ProgramIdentity { digest, program: digest, files, modules: Vec::new(), uncovered: Default::default() }
    }

    fn spec() -> ProgramSpec {
        ProgramSpec { command: vec!["run".to_owned()], ..ProgramSpec::default() }
    }

    fn consent(stage: &str, program: &ProgramIdentity) -> Consent {
        Consent::new(stage, &spec(), program, 7)
    }

    /// Creates two projects and the records of a user.
    fn places() -> (tempfile::TempDir, PathBuf, PathBuf, Consents) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (here, there) = (directory.path().join("here"), directory.path().join("there"));
        [&here, &there].into_iter().for_each(|root| fs::create_dir(root).expect("the directory is created"));
        let consents = Consents::at(directory.path().join("user/consents"));
        (directory, here, there, consents)
    }

    #[test]
    fn a_program_with_the_same_digest_is_allowed_in_every_project() {
        let (_directory, here, there, consents) = places();
        assert!(!consents.allow(&here, &program(1)));
        consents.grant(&here, consent("owner", &program(1))).expect("recorded");
        consents.grant(&here, consent("owner", &program(1))).expect("recorded again");
        assert!(consents.allow(&here, &program(1)) && consents.allow(&there, &program(1)));
        assert!(!consents.allow(&here, &program(2)));
        assert_eq!(consents.revoke(&here, "other", None).expect("nothing to do"), 0);
        assert_eq!(consents.revoke(&there, "owner", None).expect("nothing to do"), 0, "allowed elsewhere");
        assert_eq!(consents.revoke(&there, "owner", Some(&program(1))).expect("written"), 1);
        assert!(!consents.allow(&here, &program(1)));
    }

    #[test]
    fn a_program_without_files_is_allowed_only_where_the_user_has_allowed_it() {
        let (_directory, here, there, consents) = places();
        let bare = ProgramIdentity { files: Vec::new(), ..program(1) };
        consents.grant(&here, consent("owner", &bare)).expect("recorded");
        assert!(consents.allow(&here, &bare) && !consents.allow(&there, &bare));
        consents.grant(&there, consent("owner", &bare)).expect("recorded");
        assert!(consents.allow(&here, &bare) && consents.allow(&there, &bare));
    }

    #[test]
    fn earlier_consents_of_this_project_are_preferred() {
        let (_directory, here, there, consents) = places();
        consents.grant(&here, consent("owner", &program(1))).expect("recorded");
        consents.grant(&there, Consent { granted: 9, ..consent("owner", &program(2)) }).expect("recorded");
        let earlier = |root: &Path, stage: &str| {
            consents.earlier(root, stage, &spec(), &program(3)).map(|consent| consent.digest)
        };
        assert_eq!(earlier(&here, "owner"), Some(program(1).hex()));
        assert_eq!(earlier(&there, "owner"), Some(program(2).hex()));
        assert_eq!(earlier(&here, "other"), None);
    }

    #[test]
    fn a_record_in_the_earlier_format_is_accepted_in_its_project() {
        let (_directory, here, there, consents) = places();
        let parent = consents.directory.clone().expect("a directory");
        fs::create_dir_all(&parent).expect("the directory is created");
        let root = here.canonicalize().expect("a path");
        let old = program(5);
        let record = serde_json::json!({"root": root, "consents": [
            {"stage": "owner", "command": ["run"], "digest": blake3::Hash::from_bytes(old.program).to_hex().as_str(), "granted": 1},
        ]});
        let name = format!("{}.json", place_of(&here).expect("a place"));
        fs::write(parent.join(name), record.to_string()).expect("written");
        let now = ProgramIdentity { digest: [6; 32], ..old };
        assert!(consents.allow(&here, &now) && !consents.allow(&there, &now));
        assert!(!consents.has_record(&here, &now));
        assert_eq!(consents.revoke(&here, "owner", None).expect("written"), 1);
        assert!(!consents.allow(&here, &now));
    }

    #[test]
    fn without_a_directory_nothing_is_allowed() {
        let root = tempfile::tempdir().expect("a temporary directory");
        for consents in [Consents::none(), Consents::at("relative")] {
            let granted = consents.grant(root.path(), consent("a", &program(1)));
            assert!(matches!(granted, Err(ConsentError::NoPlace)));
            assert!(!consents.allow(root.path(), &program(1)));
        }
    }
}
