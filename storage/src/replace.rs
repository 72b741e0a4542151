//! Putting another index into the place of the one that is there, while readers go on reading.
//!
//! The new index is written to a directory of its own beside the old one. Then the old one is moved away, the new one
//! moved in, and the old one removed; who has the old one open goes on reading it. A process that dies between the two
//! moves leaves a project without an index but with the old one beside its place: whoever opens it next moves it back.
//! All of it happens under the writer's lock.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use heed::EnvFlags;

use crate::commit::Committer;
use crate::env::{DATA, INDEX, OpenMode, Store};
use crate::error::StorageError;
use crate::fault;
use crate::lock::WriterLock;
use crate::manifest::Manifest;
use crate::snapshot::Snapshot;
use crate::tables::{Operation, Table, meta_key};
use crate::writer::LOCK;

/// Where the new index is written, below `.aurora`.
const NEW: &str = "index.new";
/// Where the old one is until the new one stands in its place.
const OLD: &str = "index.old";
/// Bytes of keys and values in one transaction.
const BATCH: usize = 32 << 20;
/// How often, and after what pause, is looked again for an index that is just being replaced.
const LOOKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// A new index on its way. Dropped before [`Replacement::finish`], it leaves nothing.
pub(crate) struct Replacement {
    home: PathBuf,
    /// Nothing else is open in `index.new`; dropped before the directory moves.
    parts: Option<(Snapshot, Committer)>,
    /// Released last.
    _lock: WriterLock,
}

impl Replacement {
    /// Becomes the writer of the index in `home`, the `.aurora` directory, and starts an empty one beside it.
    pub(crate) fn begin(home: &Path) -> Result<Self, StorageError> {
        let lock = WriterLock::acquire(&home.join(LOCK))?;
        move_back(home)?;
        fault::point();
        clear(home)?;
        fault::point();
        let mut replacement = Self { home: home.to_owned(), parts: None, _lock: lock };
        let store = Store::open(&home.join(NEW), home, OpenMode::Create, EnvFlags::empty())?;
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
        Snapshot::open(&store)
    }

    /// Moves the new index into its place. Whatever was opened of it must have been dropped.
    ///
    /// # Errors
    /// Leaves the old index where it was.
    pub(crate) fn finish(mut self) -> Result<(), StorageError> {
        self.parts = None;
        let [index, new, old] = [INDEX, NEW, OLD].map(|name| self.home.join(name));
        synchronise(&new)?;
        fault::point();
        let had_one = index.exists();
        if had_one {
            fs::rename(&index, &old).map_err(|error| StorageError::io(&index, error))?;
        }
        fault::point();
        if let Err(error) = fs::rename(&new, &index) {
            move_back(&self.home)?;
            return Err(StorageError::io(&new, error));
        }
        fault::point();
        synchronise(&self.home)?;
        // The new index is in its place: what cannot be removed now is removed by the next writer.
        let _ = fs::remove_dir_all(&old);
        fault::point();
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        self.parts = None;
        // Nothing can be done here; the next writer clears the directory.
        let _ = fs::remove_dir_all(self.home.join(NEW));
    }
}

/// Whether a project has an index, given its `.aurora` directory.
pub(crate) fn is_present(home: &Path) -> bool {
    [INDEX, OLD].iter().any(|name| home.join(name).join(DATA).is_file())
}

/// Removes what replacements that were killed have left. The caller holds the writer's lock.
pub(crate) fn clear(home: &Path) -> Result<(), StorageError> {
    forget_old(home)?;
    remove(&home.join(NEW))
}

/// Removes the index that another one has replaced.
pub(crate) fn forget_old(home: &Path) -> Result<(), StorageError> {
    remove(&home.join(OLD))
}

fn remove(directory: &Path) -> Result<(), StorageError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StorageError::io(directory, error)),
        _ => Ok(()),
    }
}

/// Waits until nobody replaces or makes the index of a project that has none, and keeps others from it.
pub(crate) fn reserve(home: &Path) -> Result<WriterLock, StorageError> {
    let mut looks = 0;
    loop {
        match WriterLock::acquire_briefly(&home.join(LOCK)) {
            Err(StorageError::Locked { .. }) if looks < LOOKS => std::thread::sleep(PAUSE),
            result => return result,
        }
        looks += 1;
    }
}

/// Waits for an index that is just being replaced, and moves the old one back if whoever replaced it has died.
pub(crate) fn settle(home: &Path) -> Result<(), StorageError> {
    if home.join(INDEX).exists() || !home.join(OLD).exists() {
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
fn move_back(home: &Path) -> Result<(), StorageError> {
    let [index, old] = [INDEX, OLD].map(|name| home.join(name));
    match old.exists() && !index.exists() {
        true => fs::rename(&old, &index).map_err(|error| StorageError::io(&old, error)),
        false => Ok(()),
    }
}

/// Makes sure that the entries of a directory are on disk.
fn synchronise(directory: &Path) -> Result<(), StorageError> {
    if cfg!(unix) {
        let synchronised = File::open(directory).and_then(|directory| directory.sync_all());
        synchronised.map_err(|error| StorageError::io(directory, error))?;
    }
    Ok(())
}

/// What tells a file from another one that was put into its place.
pub(crate) type Identity = (u64, u64);

/// The identity of a file; `None` where there is none.
#[cfg(unix)]
pub(crate) fn identity(file: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The identity of a file; `None` where there is none.
#[cfg(not(unix))]
pub(crate) fn identity(file: &Path) -> Option<Identity> {
    let created = file.metadata().ok()?.created().ok()?;
    let since = created.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((since.as_secs(), u64::from(since.subsec_nanos())))
}
