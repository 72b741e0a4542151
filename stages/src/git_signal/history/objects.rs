//! Reading git objects: one reader per thread, with a pack cache bounded in bytes.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use gix::ObjectId;
use gix::objs::Find as _;

use super::packs::{PackReader, Packs};

/// Bytes that the delta bases of one reader may take.
const PACK_CACHE_BYTES: usize = 48 << 20;
/// How many delta bases the pack cache looks through at most.
const PACK_CACHE_ENTRIES: usize = 64;

/// A repository and its packs, for the readers of all threads.
pub(super) struct SharedObjects {
    pub(super) repository: gix::ThreadSafeRepository,
    packs: OnceLock<Arc<Packs>>,
}

impl SharedObjects {
    /// The objects of `repository`, whose packs are opened when something is read.
    pub(super) fn new(repository: gix::ThreadSafeRepository) -> Self {
        Self { repository, packs: OnceLock::new() }
    }

    fn packs(&self) -> Arc<Packs> {
        Arc::clone(self.packs.get_or_init(|| Arc::new(Packs::open(&self.repository.objects))))
    }
}

/// Reads objects from the object database of one repository; alternates and replace refs are followed.
///
/// A reader is `Send` but not `Sync`: each thread takes its own.
pub(super) struct ObjectReader {
    repository: gix::Repository,
    /// Readers are handed on by shared reference; each belongs to one thread at a time.
    packs: RefCell<PackReader>,
}

impl ObjectReader {
    /// Makes a reader for the calling thread.
    pub(super) fn new(shared: &SharedObjects) -> Self {
        let mut repository = shared.repository.to_thread_local();
        repository.objects.refresh_never();
        repository.objects.unset_object_cache();
        repository.objects.set_pack_cache(|| {
            Box::new(gix::odb::pack::cache::lru::StaticLinkedList::<PACK_CACHE_ENTRIES>::new(PACK_CACHE_BYTES))
        });
        let packs = RefCell::new(PackReader::new(shared.packs(), PACK_CACHE_BYTES));
        Self { repository, packs }
    }

    /// Replaces `buffer` by the bytes of the object `id`; `None` if it is missing or cannot be decoded.
    pub(super) fn read(&self, id: &ObjectId, buffer: &mut Vec<u8>) -> Option<gix::objs::Kind> {
        if let Some(kind) = self.packs.borrow_mut().read(id, buffer) {
            return Some(kind);
        }
        let (kind, start, len) = {
            let found = self.repository.objects.try_find(id, buffer).ok()??;
            (found.kind, found.data.as_ptr() as usize, found.data.len())
        };
        let offset = start.wrapping_sub(buffer.as_ptr() as usize);
        if len > 0 && offset > 0 {
            // The bytes lie within the buffer, behind a header.
            buffer.get(offset..offset.checked_add(len)?)?;
            buffer.drain(..offset);
        }
        buffer.truncate(len);
        Some(kind)
    }

    /// The tree of the commit `id`; `None` if the commit is missing.
    pub(super) fn tree_of(&self, id: &ObjectId) -> Option<ObjectId> {
        let mut buffer = Vec::new();
        self.read(id, &mut buffer).filter(|&kind| kind == gix::objs::Kind::Commit)?;
        gix::objs::CommitRefIter::from_bytes(&buffer, self.hash_kind()).tree_id().ok()
    }

    /// The size of the object `id` in bytes, without decoding it as a whole; `None` if it is missing.
    pub(super) fn size(&self, id: &ObjectId) -> Option<u64> {
        Some(self.repository.try_find_header(*id).ok()??.size())
    }

    /// The hash that names the objects of this repository.
    pub(super) fn hash_kind(&self) -> gix::hash::Kind {
        self.repository.object_hash()
    }
}
