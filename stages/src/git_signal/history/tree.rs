//! Raw git trees: parsing entries where they lie, and a cache of decoded trees bounded in bytes.

use std::cmp::Ordering;
use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::HashMap;

use super::objects::ObjectReader;

/// Bytes of trees that one generation of a [`TreeCache`] holds; two generations live at a time.
const CACHE_BYTES: usize = 24 << 20;

/// What a tree entry names, as far as attribution cares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryKind {
    /// A directory.
    Tree,
    /// A regular file, executable or not.
    File,
    /// A symbolic link or a submodule: present, but never attributed.
    Other,
}

/// One entry of a raw tree.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) kind: EntryKind,
    pub(super) name: &'a [u8],
    /// The raw bytes of the object id.
    pub(super) id: &'a [u8],
    /// The offset of the next entry in the tree.
    pub(super) end: usize,
}

impl Entry<'_> {
    /// The object id as a value.
    pub(super) fn object_id(&self) -> Option<ObjectId> {
        ObjectId::try_from(self.id).ok()
    }

    /// The order of entries in a tree: by name, where a directory sorts as if its name ended in `/`.
    pub(super) fn cmp(&self, other: &Entry<'_>) -> Ordering {
        let shared = self.name.len().min(other.name.len());
        let after = |entry: &Entry<'_>| {
            entry.name.get(shared).copied().unwrap_or(if entry.kind == EntryKind::Tree { b'/' } else { 0 })
        };
        self.name[..shared]
            .cmp(&other.name[..shared])
            .then_with(|| after(self).cmp(&after(other)))
            .then_with(|| self.name.len().cmp(&other.name.len()))
    }
}

/// The raw bytes of a tree and where each of its entries starts.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) bytes: Vec<u8>,
    /// The offset of each entry, then the offset behind the last one.
    pub(super) offsets: Vec<u32>,
    hash_len: usize,
}

impl Tree {
    /// Indexes the entries of `bytes`, whose object ids are `hash_len` bytes long. What follows a broken entry is ignored.
    pub(super) fn new(bytes: Vec<u8>, hash_len: usize) -> Self {
        let mut tree = Self { offsets: Vec::with_capacity(bytes.len() / 34 + 2), bytes, hash_len };
        let mut at = 0;
        while let Some(entry) = tree.entry_at(at) {
            let end = entry.end;
            tree.offsets.push(at as u32);
            at = end;
        }
        tree.bytes.truncate(at);
        tree.offsets.push(at as u32);
        tree
    }

    /// The entry that starts at offset `at`; `None` at the end.
    pub(super) fn entry_at(&self, mut at: usize) -> Option<Entry<'_>> {
        let bytes = self.bytes.as_slice();
        // Some old writers padded modes with zeros ("040000").
        while bytes.get(at) == Some(&b'0') {
            at += 1;
        }
        let kind = match (bytes.get(at)?, bytes.get(at + 1)?) {
            (b'4', _) => EntryKind::Tree,
            (b'1', b'0') => EntryKind::File,
            _ => EntryKind::Other,
        };
        let name = at + memchr::memchr(b' ', &bytes[at..])? + 1;
        let id = name + memchr::memchr(0, &bytes[name..])? + 1;
        let end = id + self.hash_len;
        Some(Entry { kind, name: &bytes[name..id - 1], id: bytes.get(id..end)?, end })
    }

    /// Finds the entry `name`, trying it as a file, as something else and as a directory.
    pub(super) fn find(&self, name: &[u8]) -> Option<Entry<'_>> {
        [EntryKind::File, EntryKind::Tree].into_iter().find_map(|kind| self.find_sorted_as(name, kind))
    }

    fn find_sorted_as(&self, name: &[u8], kind: EntryKind) -> Option<Entry<'_>> {
        let wanted = Entry { kind, name, id: &[], end: 0 };
        let starts = &self.offsets[..self.offsets.len().saturating_sub(1)];
        let at = starts.partition_point(|&start| {
            self.entry_at(start as usize).is_some_and(|entry| entry.cmp(&wanted) == Ordering::Less)
        });
        let entry = self.entry_at(*starts.get(at)? as usize)?;
        let same_sort = (entry.kind == EntryKind::Tree) == (kind == EntryKind::Tree);
        (entry.name == name && same_sort).then_some(entry)
    }
}

/// Decoded trees in two generations: when the younger one is full it becomes the older one, which is dropped.
pub(super) struct TreeCache {
    young: HashMap<ObjectId, Arc<Tree>>,
    old: HashMap<ObjectId, Arc<Tree>>,
    young_bytes: usize,
    buffer: Vec<u8>,
}

impl TreeCache {
    /// An empty cache.
    pub(super) fn new() -> Self {
        Self { young: HashMap::default(), old: HashMap::default(), young_bytes: 0, buffer: Vec::new() }
    }

    /// The tree `id`, or `None` if the object is missing or is no tree.
    pub(super) fn get(&mut self, reader: &ObjectReader, id: &ObjectId) -> Option<Arc<Tree>> {
        if let Some(tree) = self.young.get(id) {
            return Some(Arc::clone(tree));
        }
        let tree = match self.old.get(id) {
            Some(tree) => Arc::clone(tree),
            None => {
                if reader.read(id, &mut self.buffer)? != gix::objs::Kind::Tree {
                    return None;
                }
                Arc::new(Tree::new(self.buffer.clone(), reader.hash_kind().len_in_bytes()))
            }
        };
        self.young_bytes += tree.bytes.len() + tree.offsets.len() * 4 + 128;
        self.young.insert(*id, Arc::clone(&tree));
        if self.young_bytes > CACHE_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        Some(tree)
    }
}
