//! Records of the indexes that runs of this user have created.
//!
//! A repository can contain an index that its author has forged to give certain answers. Every index therefore has a
//! random id. The user has a directory outside of any repository, with a record for each index that the user's runs
//! have created. A record contains the id and, for each copy of the index, a place: the project, and the stat data of
//! the data file after the last run in that project.
//!
//! A record can also contain digests of the data file. A digest identifies an index that was copied to another
//! directory. The id and the times are not sufficient for this, because a repository could contain a file with the same
//! id and times, but not another file with the same digest.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, Metadata};
use serde::{Deserialize, Serialize};

use crate::error::{Distrust, StorageError};
use crate::index_id::IndexId;
use crate::lock::FileLock;
use crate::project::{DATA, ProjectDirectory};
use crate::read::Snapshot;

/// Maximum size of a record in bytes. A record with [`MAX_PLACES`] places and the longest possible paths is smaller.
const MAX_RECORD_BYTES: u64 = 1 << 20;
/// Maximum number of places in a record. The oldest places are dropped.
const MAX_PLACES: usize = 32;
/// Maximum number of places in a record that belong to the same project. They differ in their generations.
const MAX_GENERATIONS: usize = 4;
/// Lock of the process that changes a record.
const LOCK: &str = "records.lock";
/// Number of bytes of a data file that are read at once.
const HASH_BUFFER_BYTES: usize = 1 << 23;
/// If there are at least this many records, adding a record removes the records of projects that no longer exist.
const CLEANUP_RECORDS: usize = 4_096;

/// The origin of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Created by this user's runs, and unchanged since the last run.
    Own,
    /// Created by this user's runs in this project, but the file was written or replaced since the last run. The cause
    /// can be a program that keeps no records, a restored backup, or git if git tracks the file.
    OwnButChanged,
    /// Created by someone else, or by a program that keeps no records.
    Unknown,
}

/// A function that returns whether git tracks a file, given a directory and the file's path relative to it.
pub type IsTracked = fn(&Path, &str) -> bool;

/// Stat data of an index's data file. The default value does not match any file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    device: u64,
    inode: u64,
    len: u64,
    modified: i64,
    changed: i64,
}

/// The record of one index: the latest place, and earlier places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TrustRecord {
    #[serde(flatten)]
    latest: Place,
    /// Places in other projects, and earlier generations with a digest, latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Place>,
}

impl TrustRecord {
    fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.latest).chain(&self.earlier)
    }

    fn with_stamp(&self, stamp: &Stamp) -> Option<&Place> {
        self.places().find(|place| place.stamp == *stamp)
    }

    fn at(&self, home: &Path) -> Option<&Place> {
        self.places().find(|place| place.home == home)
    }

    /// Adds a new latest place. Removes older places of the same project that have no digest or the same digest, and
    /// places beyond the maximum numbers.
    fn with_latest(self, latest: Place) -> Self {
        let mut earlier: Vec<Place> = Vec::new();
        for place in std::iter::once(self.latest).chain(self.earlier) {
            let for_project: Vec<&Place> =
                std::iter::once(&latest).chain(&earlier).filter(|other| other.home == place.home).collect();
            let is_replaced = match &place.content {
                Some(_) => for_project.iter().any(|other| other.content == place.content),
                None => !for_project.is_empty(),
            };
            if !is_replaced && for_project.len() < MAX_GENERATIONS && earlier.len() + 1 < MAX_PLACES {
                earlier.push(place);
            }
        }
        Self { latest, earlier }
    }
}

/// A project whose index has the id of the record, with the state of the data file in that project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// The `.aurora` directory, without symbolic links.
    home: PathBuf,
    stamp: Stamp,
    /// BLAKE3 hash of the data file with this stamp, in hexadecimal; `None` if it was not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// Whether somebody else created the index and the user has accepted it.
    #[serde(default)]
    accepted: bool,
}

/// A directory with the records of this user's indexes.
#[derive(Debug, Clone)]
pub struct KnownIndexes {
    directory: Option<PathBuf>,
    accepts_unknown: bool,
    is_tracked: Option<IsTracked>,
}

impl KnownIndexes {
    /// Uses the records in a directory, which may not exist yet.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), ..Self::none() }
    }

    /// Uses no records, so that every index has an unknown origin.
    pub fn none() -> Self {
        Self { directory: None, accepts_unknown: false, is_tracked: None }
    }

    /// Uses no records, and accepts every store of records.
    pub fn accepting_all() -> Self {
        Self::none().accepting_unknown(true)
    }

    /// Sets whether every store of records is accepted, regardless of its origin.
    #[must_use]
    pub fn accepting_unknown(self, accepts_unknown: bool) -> Self {
        Self { accepts_unknown, ..self }
    }

    /// Sets a function that asks git whether it tracks a file. A store that has changed since the user's last change is
    /// then accepted only if git does not track it.
    #[must_use]
    pub fn asking_git(self, is_tracked: IsTracked) -> Self {
        Self { is_tracked: Some(is_tracked), ..self }
    }

    /// Checks whether the store of records in the directory `name` of `home` may be used, given its origin.
    ///
    /// # Errors
    /// Returns the reason why the store may not be used.
    pub(crate) fn check(&self, origin: Origin, home: &Path, name: &str) -> Result<(), Distrust> {
        let is_tracked = || self.is_tracked.is_some_and(|is_tracked| is_tracked(home, name));
        match origin {
            _ if self.accepts_unknown => Ok(()),
            Origin::OwnButChanged if is_tracked() => Err(Distrust::Tracked),
            Origin::Own | Origin::OwnButChanged => Ok(()),
            Origin::Unknown => Err(Distrust::Unknown),
        }
    }

    /// Returns the origin of a snapshot's index, given the project's `.aurora` directory.
    pub fn origin(&self, home: &Path, snapshot: &Snapshot) -> Origin {
        snapshot.id().map_or(Origin::Unknown, |id| self.origin_of(&id, home, ProjectDirectory::INDEX))
    }

    /// Returns the origin of the store with the id `id` in the directory `name` of `home`. Records the directory if the
    /// content proves that the store is a copy.
    pub(crate) fn origin_of(&self, id: &IndexId, home: &Path, name: &str) -> Origin {
        let find = || {
            let known = self.record_of(id)?;
            let stamp = stamp(home, name).ok()?;
            if known.with_stamp(&stamp).is_some() {
                return Some(Origin::Own);
            }
            let found = home.canonicalize().ok()?;
            if known.at(&found).is_some() {
                return Some(Origin::OwnButChanged);
            }
            // Hashing reads the whole file, so cheap comparisons come first.
            let is_candidate = |place: &&Place| place.stamp.len == stamp.len && place.content.is_some();
            known.places().find(is_candidate)?;
            let content = content(home, name).ok();
            let original = known.places().filter(is_candidate).find(|place| place.content == content)?;
            // If this fails, the next call has to read the file again.
            if let Some(directory) = &self.directory {
                let _ = add(directory, id, Place { home: found, stamp, ..original.clone() });
            }
            Some(Origin::Own)
        };
        find().unwrap_or(Origin::Unknown)
    }

    /// Records that this user's run has written the index of a snapshot, with the current stat data of the data file.
    ///
    /// # Errors
    /// Fails if the record cannot be written.
    pub fn record(&self, home: &Path, snapshot: &Snapshot) -> Result<(), StorageError> {
        self.write(home, snapshot, false)
    }

    /// Records that the user has accepted an index that somebody else created.
    ///
    /// # Errors
    /// Fails if the record cannot be written.
    pub fn accept(&self, home: &Path, snapshot: &Snapshot) -> Result<(), StorageError> {
        self.write(home, snapshot, true)
    }

    /// Adds the digest of the data file to the record of an index, so that a copy in another directory is recognised,
    /// even after later runs. Reads the whole data file unless its digest is already recorded.
    ///
    /// # Errors
    /// Fails if the data file cannot be read, or the record cannot be written.
    pub fn record_content(&self, home: &Path, snapshot: &Snapshot) -> Result<(), StorageError> {
        let (Some(id), Some(directory)) = (snapshot.id(), &self.directory) else { return Ok(()) };
        let io = |error| StorageError::io(home, error);
        let Ok(before) = stamp(home, ProjectDirectory::INDEX) else { return Ok(()) };
        let known = self.record_of(&id).and_then(|record| record.with_stamp(&before).cloned());
        let Some(place) = known.filter(|place| place.content.is_none()) else { return Ok(()) };
        let content = Some(content(home, ProjectDirectory::INDEX).map_err(io)?);
        // Another process may have written the file in the meantime.
        let is_current = stamp(home, ProjectDirectory::INDEX).is_ok_and(|now| now == before);
        if is_current { add(directory, &id, Place { content, ..place }) } else { Ok(()) }
    }

    /// Whether the user has accepted the index of a snapshot, and no run has changed it since. `home` is the project's
    /// `.aurora` directory.
    pub fn is_accepted(&self, home: &Path, snapshot: &Snapshot) -> bool {
        let find = || {
            let record = self.record_of(&snapshot.id()?)?;
            let stamp = stamp(home, ProjectDirectory::INDEX).ok();
            let by_stamp = stamp.and_then(|stamp| record.with_stamp(&stamp));
            Some(by_stamp.or_else(|| record.at(&home.canonicalize().ok()?))?.accepted)
        };
        find().unwrap_or(false)
    }

    /// Whether a run of this user has written an index in the project with this `.aurora` directory, according to the
    /// records of all indexes. For an index whose id cannot be read.
    pub fn has_written_in(&self, home: &Path) -> bool {
        let find = || {
            let home = home.canonicalize().ok()?;
            let records = Directory::open_root(self.directory.as_deref()?).ok()?;
            let is_written = |record: TrustRecord| record.at(&home).is_some_and(|place| !place.accepted);
            Some(records.entries().ok()?.iter().filter_map(|(name, _)| read(&records, name)).any(is_written))
        };
        find().unwrap_or(false)
    }

    /// Returns the `.aurora` directories of all recorded indexes that still exist, sorted.
    pub fn homes(&self) -> Vec<PathBuf> {
        let Some(records) = self.directory.as_deref().and_then(|path| Directory::open_root(path).ok()) else {
            return Vec::new();
        };
        let names = records.entries().unwrap_or_default();
        let found = names.iter().filter_map(|(name, _)| read(&records, name));
        let mut homes: Vec<PathBuf> =
            found.flat_map(|record| record.places().map(|place| place.home.clone()).collect::<Vec<_>>()).collect();
        homes.sort_unstable();
        homes.dedup();
        homes.retain(|home| stamp(home, ProjectDirectory::INDEX).is_ok());
        homes
    }

    /// Removes the `.aurora` directories without a store of records from the records, and the records without a
    /// directory. Returns the removed directories, sorted. If `is_rehearsal` is true, removes nothing.
    ///
    /// A directory that cannot be examined is not removed.
    ///
    /// # Errors
    /// Fails if the records cannot be listed, locked or changed.
    pub fn prune(&self, is_rehearsal: bool) -> Result<Vec<PathBuf>, StorageError> {
        let Some(path) = &self.directory else { return Ok(Vec::new()) };
        let io = |error| StorageError::io(path, error);
        let records = match Directory::open_private_root(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened.map_err(io)?,
        };
        let _lock = FileLock::wait(&records, LOCK).map_err(io)?;
        let mut removed = Vec::new();
        for (name, _) in records.entries().map_err(io)? {
            let Some(record) = read(&records, &name) else { continue };
            let (gone, mut kept): (Vec<Place>, Vec<Place>) =
                std::iter::once(record.latest).chain(record.earlier).partition(|place| is_gone(&place.home));
            if gone.is_empty() {
                continue;
            }
            removed.extend(gone.into_iter().map(|place| place.home));
            if is_rehearsal {
                continue;
            }
            if kept.is_empty() {
                records.remove(&name).map_err(io)?;
            } else {
                let record = TrustRecord { latest: kept.remove(0), earlier: kept };
                let json = serde_json::to_vec(&record).map_err(|error| StorageError::encode("record", &error))?;
                records.replace(&name, |file| file.write_all(&json)).map_err(io)?;
            }
        }
        removed.sort_unstable();
        removed.dedup();
        Ok(removed)
    }

    fn write(&self, home: &Path, snapshot: &Snapshot, accepted: bool) -> Result<(), StorageError> {
        let (Some(id), Some(directory)) = (snapshot.id(), &self.directory) else {
            let path = home.join(ProjectDirectory::INDEX);
            return Err(StorageError::Io {
                path,
                source: io::Error::other("its id cannot be recorded; set AURORA_HOME to an absolute path"),
            });
        };
        self.set(directory, &id, (home, ProjectDirectory::INDEX), accepted)
    }

    /// Records that this user has written the store with the id `id` in the directory `name` of `home`, with the
    /// current stat data of its data file.
    pub(crate) fn remember(&self, id: &IndexId, home: &Path, name: &str) -> Result<(), StorageError> {
        self.directory.as_ref().map_or(Ok(()), |directory| self.set(directory, id, (home, name), false))
    }

    fn set(
        &self,
        directory: &Path,
        id: &IndexId,
        (home, name): (&Path, &str),
        accepted: bool,
    ) -> Result<(), StorageError> {
        let io = |error| StorageError::io(directory, error);
        let home_path = home.canonicalize().map_err(io)?;
        let stamp = stamp(home, name).map_err(io)?;
        let before = self.record_of(id);
        let content =
            before.as_ref().and_then(|record| record.with_stamp(&stamp)).and_then(|place| place.content.clone());
        let place = Place { home: home_path, stamp, content, accepted };
        if before.is_some_and(|record| record.latest == place) { Ok(()) } else { add(directory, id, place) }
    }

    /// Records the id of an index that is about to be published in a project, given the project's `.aurora` directory.
    /// If the process is killed before it calls [`KnownIndexes::record`], the origin of the index is
    /// [`Origin::OwnButChanged`]. Errors are ignored here, because [`KnownIndexes::record`] reports them.
    pub fn announce(&self, home: &Path, id: &IndexId) {
        if let (Some(directory), Ok(home)) = (&self.directory, home.canonicalize())
            && self.record_of(id).is_none_or(|record| record.at(&home).is_none())
        {
            let _ = add(directory, id, Place { home, stamp: Stamp::default(), content: None, accepted: false });
        }
    }

    fn record_of(&self, id: &IndexId) -> Option<TrustRecord> {
        let records = Directory::open_root(self.directory.as_deref()?).ok()?;
        read(&records, file_name(id))
    }
}

/// Adds a place to the record of an index as the latest place. Creates the record if it does not exist.
fn add(directory: &Path, id: &IndexId, place: Place) -> Result<(), StorageError> {
    let io = |error| StorageError::io(directory, error);
    let records = Directory::create_private_root(directory).map_err(io)?;
    // Processes in other projects may change the same record, because a copy of an index has the same id.
    let _lock = FileLock::wait(&records, LOCK).map_err(io)?;
    let record = match read(&records, file_name(id)) {
        Some(record) => record.with_latest(place),
        None => {
            remove_stale_records(&records).map_err(io)?;
            TrustRecord { latest: place, earlier: Vec::new() }
        }
    };
    let json = serde_json::to_vec(&record).map_err(|error| StorageError::encode("record", &error))?;
    records.replace(file_name(id), |file| file.write_all(&json)).map_err(io)
}

fn file_name(id: &IndexId) -> String {
    format!("{id}.json")
}

fn read(records: &Directory, name: impl AsRef<Path>) -> Option<TrustRecord> {
    serde_json::from_slice(&records.read(name, MAX_RECORD_BYTES).ok()?).ok()
}

/// Removes the records of projects that no longer exist, if there are many records.
fn remove_stale_records(records: &Directory) -> io::Result<()> {
    let names = records.entries()?;
    if names.len() < CLEANUP_RECORDS {
        return Ok(());
    }
    for (name, _) in names {
        let is_gone = |record: TrustRecord| {
            record
                .places()
                .all(|place| place.home.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound))
        };
        if read(records, &name).is_some_and(is_gone) {
            records.remove(name)?;
        }
    }
    Ok(())
}

/// Whether a `.aurora` directory does not exist, or none of its directories has a data file.
fn is_gone(home: &Path) -> bool {
    let is_missing = |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    match ProjectDirectory::at(home).open() {
        Err(error) => is_missing(&error),
        Ok(directory) => directory.entries().is_ok_and(|entries| {
            let has_none = |(name, _): &(std::ffi::OsString, _)| {
                directory.metadata(Path::new(name).join(DATA)).is_err_and(|error| is_missing(&error))
            };
            entries.iter().all(has_none)
        }),
    }
}

/// Returns the BLAKE3 hash of the data file in the directory `name` of `home`, in hexadecimal.
fn content(home: &Path, name: &str) -> io::Result<String> {
    let file = ProjectDirectory::at(home).open()?.open_file(Path::new(name).join(DATA))?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = Vec::with_capacity(HASH_BUFFER_BYTES);
    while (&file).take(HASH_BUFFER_BYTES as u64).read_to_end(&mut buffer)? > 0 {
        hasher.update_rayon(&buffer);
        buffer.clear();
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn stamp(home: &Path, name: &str) -> io::Result<Stamp> {
    let found = ProjectDirectory::at(home).open()?.metadata(Path::new(name).join(DATA))?;
    let Metadata { device, inode, len, modified, changed, .. } = found;
    Ok(Stamp { device, inode, len, modified, changed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(home: &str, generation: usize, content: Option<&str>) -> Place {
        let stamp = Stamp { inode: generation as u64, ..Stamp::default() };
        Place { home: PathBuf::from(home), stamp, content: content.map(str::to_owned), accepted: false }
    }

    #[test]
    fn many_generations_of_a_copy_do_not_displace_other_places() {
        let mut record = TrustRecord { latest: place("/original", 0, None), earlier: Vec::new() };
        for generation in 0..3 * MAX_PLACES {
            record = record.with_latest(place("/copy", generation, None));
            record = record.with_latest(place("/copy", generation, Some(&generation.to_string())));
        }
        assert!(record.at(Path::new("/original")).is_some());
        assert_eq!(record.places().count(), MAX_GENERATIONS + 1);
        for copy in 0..3 * MAX_PLACES {
            record = record.with_latest(place(&format!("/{copy}"), copy, Some("the same")));
        }
        assert_eq!(record.places().count(), MAX_PLACES);
        let json = serde_json::to_string(&record).expect("the record can be serialised");
        assert_eq!(serde_json::from_str::<TrustRecord>(&json).expect("the record is valid JSON"), record);
    }

    #[test]
    fn a_record_with_only_one_place_can_be_read() {
        let json = r#"{"home":"/a","stamp":{"device":1,"inode":2,"len":3,"modified":-4,"changed":5},"accepted":true}"#;
        let record: TrustRecord = serde_json::from_str(json).expect("the record is valid JSON");
        assert_eq!((record.latest.stamp.modified, record.latest.accepted, record.earlier.len()), (-4, true, 0));
    }
}
