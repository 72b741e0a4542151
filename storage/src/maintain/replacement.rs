//! Replaces an index with a new one while readers keep reading the old one.
//!
//! The new index is written to a directory next to the old one. Then the old directory is renamed, the new one is
//! renamed to the index's path, and the old one is removed. A reader that has opened the old index can still read it.
//! If a process is killed between the two renames, the project has no index. The next process that opens the index
//! renames the old one back ([`crate::interrupted`]). All steps happen under the writer's lock.

use std::io;

use aurora_confined::Directory;
use heed::EnvFlags;
use roaring::RoaringBitmap;

use crate::error::StorageError;
use crate::fault;
use crate::interrupted::{clear, exists, move_back, rename};
use crate::lock::FileLock;
use crate::manifest::Manifest;
use crate::opening::OpenMode;
use crate::project::ProjectDirectory;
use crate::read::Snapshot;
use crate::store::IndexStore;

use crate::trust::KnownIndexes;
use crate::write::{Committer, generation_rows};

const INDEX: &str = ProjectDirectory::INDEX;
const NEW: &str = ProjectDirectory::NEW_INDEX;
const OLD: &str = ProjectDirectory::OLD_INDEX;
/// Maximum size of one transaction in bytes of keys and values.
const BATCH_BYTES: usize = 32 << 20;

/// A new index that is being written. If the value is dropped before [`Replacement::finish`], the new index is removed.
pub(crate) struct Replacement {
    home: Directory,
    /// Records the id of the new index before it is published.
    known: KnownIndexes,
    /// All open handles in `index.new`; dropped before the directory is renamed.
    parts: Option<(Snapshot, Committer)>,
    /// Released last.
    _lock: FileLock,
}

impl Replacement {
    /// Takes the writer's lock in `home`, the `.aurora` directory, and creates an empty new index.
    pub(crate) fn begin(home: &Directory, known: &KnownIndexes) -> Result<Self, StorageError> {
        Self::begin_within(home, known, BATCH_BYTES)
    }

    /// Like [`Self::begin`], with transactions of at most `batch_bytes` bytes.
    pub(crate) fn begin_within(
        home: &Directory,
        known: &KnownIndexes,
        batch_bytes: usize,
    ) -> Result<Self, StorageError> {
        let lock = FileLock::writer(home)?;
        move_back(home)?;
        fault::point();
        clear(home)?;
        fault::point();
        let mut replacement = Self { home: home.clone(), known: known.clone(), parts: None, _lock: lock };
        // The new index contains the same texts as the old one, so it must be private too.
        if home.open_directory(INDEX).and_then(|index| index.is_private()).unwrap_or(false) {
            home.create_private_directory(NEW).map_err(|error| StorageError::io(&home.path().join(NEW), error))?;
        }
        let store = IndexStore::open(NEW, home, OpenMode::Create, EnvFlags::empty())?;
        let base = Snapshot::open(&store)?;
        let committer = Committer::new(&base, batch_bytes.min(BATCH_BYTES));
        replacement.parts = Some((base, committer));
        Ok(replacement)
    }

    /// Returns a snapshot of the empty new index. It must be dropped before [`Self::complete`].
    pub(crate) fn base(&self) -> Snapshot {
        let (base, _) = self.parts.as_ref().expect("rows are written before the manifest");
        base.clone()
    }

    /// Returns the writer of the new index's rows.
    pub(crate) fn committer(&mut self) -> &mut Committer {
        let (_, committer) = self.parts.as_mut().expect("rows are written before the manifest");
        committer
    }

    /// Writes the manifest and the set of live chunks, and returns a snapshot of the new index.
    pub(crate) fn complete(&mut self, manifest: &Manifest, live: RoaringBitmap) -> Result<Snapshot, StorageError> {
        generation_rows(manifest, live)?.into_iter().try_for_each(|row| self.committer().push(row))?;
        self.committer().finish()?;
        let (base, _) = self.parts.take().expect("the manifest is written once");
        let snapshot = Snapshot::open(base.store())?;
        drop(base);
        if let Some(id) = snapshot.id() {
            self.known.announce(self.home.path(), &id);
        }
        Ok(snapshot)
    }

    /// Moves the new index to the index's path. All of its snapshots must have been dropped.
    ///
    /// # Errors
    /// Fails if a rename or a sync fails. After a failed rename, the old index stays at its path.
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
        // If the old index cannot be removed now, the next writer removes it.
        let _ = self.home.remove(OLD);
        fault::point();
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        self.parts = None;
        // If the new index cannot be removed now, the next writer removes it.
        let _ = self.home.remove(NEW);
    }
}

/// Syncs the entries of `home`, or of a directory in it, to disk.
fn synchronise(home: &Directory, name: Option<&str>) -> Result<(), StorageError> {
    let directory = name.map_or_else(|| Ok(home.clone()), |name| home.open_directory(name));
    let synchronised: io::Result<()> = directory.and_then(|directory| directory.synchronise());
    synchronised.map_err(|error| StorageError::io(home.path(), error))
}
