//! Putting another index into the place of the one that is there, while readers go on reading.
//!
//! The new index is written to a directory of its own beside the old one. Then the old one is moved away, the new one
//! moved in, and the old one removed; who has the old one open goes on reading it. A process that dies between the two
//! moves leaves a project without an index but with the old one beside its place: whoever opens it next moves it back.
//! All of it happens under the writer's lock.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aurora_confined::{Directory, Kind};
use heed::EnvFlags;

use crate::commit::Committer;
use crate::env::OpenMode;
use crate::error::StorageError;
use crate::fault;
use crate::lock::WriterLock;
use crate::manifest::Manifest;
use crate::project::ProjectDirectory;
use crate::snapshot::Snapshot;
use crate::store::{DATA, Store};
use crate::tables::{Operation, Table, meta_key};
use crate::trust::KnownIndexes;

const INDEX: &str = ProjectDirectory::INDEX;
const NEW: &str = ProjectDirectory::NEW_INDEX;
const OLD: &str = ProjectDirectory::OLD_INDEX;
/// Bytes of keys and values in one transaction.
const BATCH: usize = 32 << 20;
/// How often, and after what pause, is looked again for an index that is just being replaced.
const LOOKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// A new index on its way. Dropped before [`Replacement::finish`], it leaves nothing.
pub(crate) struct Replacement {
    home: Directory,
    /// To which the id of the new index is announced.
    known: KnownIndexes,
    /// Nothing else is open in `index.new`; dropped before the directory moves.
    parts: Option<(Snapshot, Committer)>,
    /// Released last.
    _lock: WriterLock,
}

impl Replacement {
    /// Becomes the writer of the index in `home`, the `.aurora` directory, and starts an empty one beside it.
    pub(crate) fn begin(home: &Directory, known: &KnownIndexes) -> Result<Self, StorageError> {
        let lock = WriterLock::acquire(home)?;
        move_back(home)?;
        fault::point();
        clear(home)?;
        fault::point();
        let mut replacement = Self { home: home.clone(), known: known.clone(), parts: None, _lock: lock };
        let store = Store::open(NEW, home, OpenMode::Create, EnvFlags::empty())?;
        let base = Snapshot::open(&store)?;
        let committer = Committer::new(&base, BATCH);
        replacement.parts = Some((base, committer));
        Ok(replacement)
    }

    /// Writes a row of the new index.
    pub(crate) fn push(&mut self, operation: Operation) -> Result<(), StorageError> {
        match &mut self.parts {
            Some((_, committer)) => committer.push(operation),
            None => Ok(()),
        }
    }

    /// Writes the manifest, and all chunks below its next id as live, and returns what can be read then.
    pub(crate) fn complete(&mut self, manifest: &Manifest) -> Result<Snapshot, StorageError> {
        let mut live = roaring::RoaringBitmap::new();
        live.insert_range(..manifest.next_chunk_id);
        live.optimize();
        let mut bytes = Vec::with_capacity(live.serialized_size());
        live.serialize_into(&mut bytes).map_err(|error| StorageError::encode("bitmap", &error))?;
        self.push(Operation::put(Table::Meta, meta_key::LIVE, bytes))?;
        let json = serde_json::to_vec(manifest).map_err(|error| StorageError::encode("manifest", &error))?;
        self.push(Operation::put(Table::Meta, meta_key::MANIFEST, json))?;
        let store = Arc::clone(match &mut self.parts {
            Some((base, committer)) => {
                committer.finish()?;
                base.store()
            }
            None => return Err(StorageError::Refused("the new index is complete already".to_owned())),
        });
        self.parts = None;
        let snapshot = Snapshot::open(&store)?;
        if let Some(id) = snapshot.id() {
            self.known.announce(self.home.path(), &id);
        }
        Ok(snapshot)
    }

    /// Moves the new index into its place. Whatever was opened of it must have been dropped.
    ///
    /// # Errors
    /// Leaves the old index where it was.
    pub(crate) fn finish(mut self) -> Result<(), StorageError> {
        self.parts = None;
        synchronise(&self.home, Some(NEW))?;
        fault::point();
        if exists(&self.home, INDEX) {
            rename(&self.home, INDEX, OLD)?;
        }
        fault::point();
        if let Err(error) = rename(&self.home, NEW, INDEX) {
            move_back(&self.home)?;
            return Err(error);
        }
        fault::point();
        synchronise(&self.home, None)?;
        // The new index is in its place: what cannot be removed now is removed by the next writer.
        let _ = self.home.remove(OLD);
        fault::point();
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        self.parts = None;
        // Nothing can be done here; the next writer clears the directory.
        let _ = self.home.remove(NEW);
    }
}

/// Whether a project has an index, given its `.aurora` directory.
pub(crate) fn is_present(home: &Directory) -> bool {
    let is_file = |name: &&str| home.metadata(Path::new(name).join(DATA)).is_ok_and(|found| found.kind == Kind::File);
    [INDEX, OLD].iter().any(is_file)
}

/// Removes what replacements that were killed have left. The caller holds the writer's lock.
pub(crate) fn clear(home: &Directory) -> Result<(), StorageError> {
    forget_old(home)?;
    remove(home, NEW)
}

/// Removes the index that another one has replaced.
pub(crate) fn forget_old(home: &Directory) -> Result<(), StorageError> {
    remove(home, OLD)
}

/// Waits until nobody replaces or makes the index of a project that has none, and keeps others from it.
pub(crate) fn reserve(home: &Directory) -> Result<WriterLock, StorageError> {
    let mut looks = 0;
    loop {
        match WriterLock::acquire_briefly(home) {
            Err(StorageError::Locked { .. }) if looks < LOOKS => std::thread::sleep(PAUSE),
            result => return result,
        }
        looks += 1;
    }
}

/// Waits for an index that is just being replaced, and moves the old one back if whoever replaced it has died.
pub(crate) fn settle(home: &Directory) -> Result<(), StorageError> {
    if exists(home, INDEX) || !exists(home, OLD) {
        return Ok(());
    }
    match reserve(home) {
        Ok(_lock) => move_back(home),
        // Who may not write cannot move it back.
        Err(StorageError::ReadOnly { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Moves the old index back if there is none in its place. The caller holds the writer's lock.
fn move_back(home: &Directory) -> Result<(), StorageError> {
    if exists(home, OLD) && !exists(home, INDEX) { rename(home, OLD, INDEX) } else { Ok(()) }
}

fn exists(home: &Directory, name: &str) -> bool {
    home.metadata(name).is_ok()
}

fn remove(home: &Directory, name: &str) -> Result<(), StorageError> {
    home.remove(name).map_err(|error| StorageError::io(&home.path().join(name), error))
}

fn rename(home: &Directory, from: &str, to: &str) -> Result<(), StorageError> {
    home.rename(from, to).map_err(|error| StorageError::io(&home.path().join(from), error))
}

/// Makes sure that the entries of `home`, or of a directory in it, are on disk.
fn synchronise(home: &Directory, name: Option<&str>) -> Result<(), StorageError> {
    let directory = name.map_or_else(|| Ok(home.clone()), |name| home.open_directory(name));
    let synchronised: io::Result<()> = directory.and_then(|directory| directory.synchronise());
    synchronised.map_err(|error| StorageError::io(home.path(), error))
}
