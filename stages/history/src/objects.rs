//! The object database. Each thread has a reader with caches that are bounded in bytes.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use gix::ObjectId;
use gix::hashtable::HashMap;
use gix::objs::Find as _;

use crate::packs::{PackLookup, PackReader, Packs};

/// Maximum size in bytes of the delta bases that each reader caches.
const PACK_CACHE_BYTES: usize = 48 << 20;
/// The number of entries in gix's pack cache.
const PACK_CACHE_ENTRIES: usize = 64;

/// The object database of a repository, shared by the readers of all threads.
pub(crate) struct ObjectStore {
    pub(crate) repository: gix::ThreadSafeRepository,
    loose: Arc<LooseObjects>,
    packs: OnceLock<Arc<Packs>>,
}

/// The object directories and replace refs, which are needed to check loose objects.
struct LooseObjects {
    directories: Vec<PathBuf>,
    replacements: HashMap<ObjectId, ObjectId>,
}

impl ObjectStore {
    /// Opens the objects of `repository` in `directories`. Packs are opened at the first read.
    pub(crate) fn new(repository: gix::ThreadSafeRepository, directories: Vec<PathBuf>) -> Self {
        let replacements = repository.objects.replacements().collect();
        Self { repository, loose: Arc::new(LooseObjects { directories, replacements }), packs: OnceLock::new() }
    }

    /// Fails if a file of the loose object is not a regular file.
    pub(crate) fn check(&self, id: &ObjectId) -> Result<(), String> {
        if self.loose.is_file(id) { Ok(()) } else { Err(format!("the object {id} is not a regular file")) }
    }

    fn packs(&self) -> Arc<Packs> {
        Arc::clone(self.packs.get_or_init(|| Arc::new(Packs::open(&self.repository.objects))))
    }
}

impl LooseObjects {
    /// Whether all existing files of the loose object `id` are regular files. The check is necessary because gix would
    /// block on a named pipe.
    fn is_file(&self, id: &ObjectId) -> bool {
        let id = self.replacements.get(id).unwrap_or(id).to_hex().to_string();
        let (directory, name) = id.split_at(2);
        self.directories.iter().all(|objects| {
            let found = objects.join(directory).join(name).metadata();
            found.map_or(true, |found| found.is_file())
        })
    }
}

/// Reads objects. Follows alternates and replace refs.
///
/// A reader is `Send` but not `Sync`, so each thread needs its own reader.
pub(crate) struct ObjectReader {
    repository: gix::Repository,
    /// In a `RefCell` because callers hold shared references to the reader.
    packs: RefCell<PackReader>,
    loose: Arc<LooseObjects>,
}

impl ObjectReader {
    /// Creates a reader for the calling thread.
    pub(crate) fn new(shared: &ObjectStore) -> Self {
        let mut repository = shared.repository.to_thread_local();
        repository.objects.refresh_never();
        repository.objects.unset_object_cache();
        repository.objects.set_pack_cache(|| {
            Box::new(gix::odb::pack::cache::lru::StaticLinkedList::<PACK_CACHE_ENTRIES>::new(PACK_CACHE_BYTES))
        });
        let packs = RefCell::new(PackReader::new(shared.packs(), PACK_CACHE_BYTES));
        Self { repository, packs, loose: Arc::clone(&shared.loose) }
    }

    /// Replaces the content of `buffer` with the bytes of the object `id`. Returns `None` if the object is missing or
    /// cannot be decoded.
    pub(crate) fn read(&self, id: &ObjectId, buffer: &mut Vec<u8>) -> Option<gix::objs::Kind> {
        match self.packs.borrow_mut().read(id, buffer) {
            PackLookup::Found(kind) => return Some(kind),
            PackLookup::LimitExceeded => return None,
            PackLookup::NotFound => self.loose.is_file(id).then_some(())?,
        }
        let (kind, start, len) = {
            let found = self.repository.objects.try_find(id, buffer).ok()??;
            (found.kind, found.data.as_ptr() as usize, found.data.len())
        };
        let offset = start.wrapping_sub(buffer.as_ptr() as usize);
        if len > 0 && offset > 0 {
            // The bytes of the object are in the buffer, after a header.
            buffer.get(offset..offset.checked_add(len)?)?;
            buffer.drain(..offset);
        }
        buffer.truncate(len);
        Some(kind)
    }

    /// Returns the tree of the commit `id`, or `None` if the commit is missing.
    pub(crate) fn tree_of(&self, id: &ObjectId) -> Option<ObjectId> {
        let mut buffer = Vec::new();
        self.read(id, &mut buffer).filter(|&kind| kind == gix::objs::Kind::Commit)?;
        gix::objs::CommitRefIter::from_bytes(&buffer, self.hash_kind()).tree_id().ok()
    }

    /// Returns the size of the object `id` in bytes, read from the object header. Returns `None` if the object is
    /// missing.
    pub(crate) fn size(&self, id: &ObjectId) -> Option<u64> {
        self.loose.is_file(id).then_some(())?;
        Some(self.repository.try_find_header(*id).ok()??.size())
    }

    /// Returns the hash function of object ids.
    pub(crate) fn hash_kind(&self) -> gix::hash::Kind {
        self.repository.object_hash()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use gix::ObjectId;

    use crate::tests::fixture::Repo;
    use crate::{History, Options, Unattributed};

    /// Writes a loose object with any content.
    fn write(repo: &Repo, id: &str, content: &[u8]) {
        let path = repo.root.join(".git/objects").join(&id[..2]).join(&id[2..]);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&path);
        let mut out =
            flate2::write::ZlibEncoder::new(std::fs::File::create(path).unwrap(), flate2::Compression::fast());
        out.write_all(content).unwrap();
        out.finish().unwrap();
    }

    #[test]
    fn an_object_is_not_inflated_beyond_the_limit_or_its_declared_size() {
        let repo = Repo::new();
        repo.commit_file("file", "text\n");
        let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
        let zeros = vec![0; 64 << 20];
        for header in ["tree 10737418240\0", "tree 40\0"] {
            write(&repo, tree.trim(), &[header.as_bytes(), &zeros].concat());
            let history = History::open(&repo.root, Options::default()).unwrap().unwrap();
            assert!(matches!(history.has_file("file"), Err(Unattributed::Unavailable { .. })), "{header}");
        }
        let id = ObjectId::from_hex(tree.trim().as_bytes()).unwrap();
        let history = History::open(&repo.root, Options::default()).unwrap().unwrap();
        assert!(history.reader().read(&id, &mut Vec::new()).is_none());
    }
}
