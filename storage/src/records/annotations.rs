//! Tags and lifespans that users assign to code chunks. They are stored by chunk key, so they survive a rebuild of the
//! index.

use std::path::Path;

use crate::error::StorageError;
use crate::opening::OpenMode;
use crate::project::ProjectDirectory;
use crate::read::Governance;
use crate::records::{RecordStore, RecordTable};
use crate::trust::KnownIndexes;

const NAME: &str = ProjectDirectory::ANNOTATIONS;
/// Version of the values.
const FORMAT: u32 = 1;
const GOVERNANCE: usize = 0;
const TABLES: &[RecordTable] =
    &[RecordTable { name: "governance", mark: 0x58, is_optional: false }, RecordStore::IDENTITY];

/// Tags and lifespans of a project's chunks. A change is on disk when the call returns.
pub struct Annotations(RecordStore);

impl Annotations {
    /// Opens the annotations of a project, given its `.aurora` directory. `known` contains the stores that this user
    /// has created or accepted.
    ///
    /// # Errors
    /// Returns [`StorageError::NoIndex`] if `mode` is [`OpenMode::Existing`] and the project has no annotations;
    /// [`StorageError::ForeignRecords`] if the user has neither created nor accepted them; another error if they cannot
    /// be opened.
    pub fn open(directory: &Path, mode: OpenMode, known: KnownIndexes) -> Result<Self, StorageError> {
        Ok(Self(open_unchecked(directory, mode, known)?.checked()?))
    }

    /// Checks all annotations of a project, and records that the user has accepted them. Returns the number of
    /// annotations.
    ///
    /// # Errors
    /// Fails if the project has no annotations, if they are damaged, or if the record cannot be written.
    pub fn accept(directory: &Path, known: KnownIndexes) -> Result<usize, StorageError> {
        let annotations = Self(open_unchecked(directory, OpenMode::Existing, known)?);
        annotations.0.accept()?;
        Ok(annotations.all()?.len())
    }

    /// Returns the annotations of the chunks with these keys, in the order of `keys`.
    ///
    /// # Errors
    /// Fails if the annotations are damaged or cannot be read.
    pub fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Governance>>, StorageError> {
        let reader = self.0.read()?;
        keys.iter()
            .map(|key| reader.get(GOVERNANCE, &row_key(key))?.map(|bytes| self.decode(bytes)).transpose())
            .collect()
    }

    /// Checks all annotations.
    ///
    /// # Errors
    /// Returns [`StorageError::DamagedRecords`] with the first problem.
    pub fn check(&self) -> Result<(), StorageError> {
        self.0.read()?.check()?;
        self.all().map(drop)
    }

    /// Returns all annotations with the keys of their chunks.
    ///
    /// # Errors
    /// Returns the errors of [`Self::get_many`].
    pub fn all(&self) -> Result<Vec<(String, Governance)>, StorageError> {
        let reader = self.0.read()?;
        reader.from(GOVERNANCE, &[])?.map(|record| self.decode_row(record?.1)).collect()
    }

    /// Changes the annotation of a chunk, and returns the new annotation.
    ///
    /// # Errors
    /// Fails if the annotation cannot be written.
    pub fn change(&self, key: &str, change: impl FnOnce(&mut Governance)) -> Result<Governance, StorageError> {
        self.0.write(|writer| {
            let row = row_key(key);
            let before = writer.get(GOVERNANCE, &row)?;
            let mut governance = before.map(|bytes| self.decode(&bytes)).transpose()?.unwrap_or_default();
            change(&mut governance);
            if governance == Governance::default() {
                writer.delete(GOVERNANCE, &row)?;
            } else {
                writer.put(GOVERNANCE, &row, &encode(key, &governance)?)?;
            }
            Ok(governance)
        })
    }

    /// Moves the annotations of chunks whose keys have changed, given as pairs of the old and the new key. If there
    /// already is an annotation under the new key, the two are merged: the result has all tags, and the lifespan under
    /// the new key takes precedence.
    ///
    /// # Errors
    /// Fails if the annotations cannot be read or written.
    pub fn rename(&self, moved: &[(String, String)]) -> Result<(), StorageError> {
        let old: Vec<&str> = moved.iter().map(|(from, _)| from.as_str()).collect();
        if self.get_many(&old)?.iter().all(Option::is_none) {
            return Ok(());
        }
        self.0.write(|writer| {
            for (from, to) in moved {
                let Some(bytes) = writer.get(GOVERNANCE, &row_key(from))? else { continue };
                let mut governance = self.decode(&bytes)?;
                if let Some(known) = writer.get(GOVERNANCE, &row_key(to))? {
                    let known = self.decode(&known)?;
                    governance.tags.extend(known.tags);
                    governance.tags.sort_unstable();
                    governance.tags.dedup();
                    governance.lifespan = known.lifespan.or(governance.lifespan);
                }
                writer.put(GOVERNANCE, &row_key(to), &encode(to, &governance)?)?;
                writer.delete(GOVERNANCE, &row_key(from))?;
            }
            Ok(())
        })
    }

    fn decode(&self, bytes: &[u8]) -> Result<Governance, StorageError> {
        self.decode_row(bytes).map(|(_, governance)| governance)
    }

    fn decode_row(&self, bytes: &[u8]) -> Result<(String, Governance), StorageError> {
        serde_json::from_slice(bytes).map_err(|error| self.0.damaged(error.to_string()))
    }
}

fn open_unchecked(directory: &Path, mode: OpenMode, known: KnownIndexes) -> Result<RecordStore, StorageError> {
    let home = ProjectDirectory::at(directory);
    let home = match mode {
        OpenMode::Create => home.create(),
        OpenMode::Existing => home.open(),
    };
    let home = home.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => StorageError::NoIndex { path: directory.to_owned() },
        _ => StorageError::io(directory, error),
    })?;
    RecordStore::open_unchecked(&home, NAME, (FORMAT, TABLES), mode, known)
}

/// Returns the key of a row. This is a digest, because the key of a chunk may be longer than LMDB allows.
fn row_key(key: &str) -> [u8; 32] {
    *blake3::hash(key.as_bytes()).as_bytes()
}

fn encode(key: &str, governance: &Governance) -> Result<Vec<u8>, StorageError> {
    serde_json::to_vec(&(key, governance)).map_err(|error| StorageError::encode("annotation", &error))
}
