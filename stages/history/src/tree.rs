//! Git trees, parsed in place, and a cache of trees that is bounded in bytes.

use std::cmp::Ordering;
use std::sync::Arc;

use gix::ObjectId;
use gix::hashtable::HashMap;

use crate::objects::ObjectReader;

/// Maximum size of each of the two generations of a [`TreeCache`], in bytes.
const MAX_GENERATION_BYTES: usize = 24 << 20;

/// The kind of a tree entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EntryKind {
    /// A directory.
    Tree,
    /// A regular file, executable or not.
    File,
    /// A symbolic link or a submodule, which are not attributed.
    Other,
}

/// One entry of a tree.
#[derive(Clone, Copy)]
pub(crate) struct TreeEntry<'a> {
    pub(crate) kind: EntryKind,
    pub(crate) name: &'a [u8],
    /// The raw bytes of the object id.
    pub(crate) id: &'a [u8],
    /// The offset of the next entry in the tree.
    pub(crate) end: usize,
}

impl TreeEntry<'_> {
    /// Returns the object id as an [`ObjectId`], or `None` if its length is invalid.
    pub(crate) fn object_id(&self) -> Option<ObjectId> {
        ObjectId::try_from(self.id).ok()
    }

    /// Compares entries by their order in a tree. Entries are sorted by name, and a directory is sorted as if its name
    /// ended in `/`.
    pub(crate) fn cmp(&self, other: &TreeEntry<'_>) -> Ordering {
        let shared = self.name.len().min(other.name.len());
        let after = |entry: &TreeEntry<'_>| {
            entry.name.get(shared).copied().unwrap_or(if entry.kind == EntryKind::Tree { b'/' } else { 0 })
        };
        self.name[..shared]
            .cmp(&other.name[..shared])
            .then_with(|| after(self).cmp(&after(other)))
            .then_with(|| self.name.len().cmp(&other.name.len()))
    }
}

/// The bytes of a tree object and the offsets of its entries, in one shared allocation.
#[derive(Clone, Default)]
pub(crate) struct RawTree {
    /// The bytes of the tree, followed by the offset of each entry and the end offset of the last entry.
    data: Arc<[u8]>,
    len: usize,
    hash_len: usize,
}

/// Size of an offset in a [`RawTree`], in bytes.
const OFFSET_BYTES: usize = size_of::<u32>();

impl RawTree {
    /// Indexes the entries of `bytes`, whose object ids are `hash_len` bytes long. A malformed entry and all entries
    /// after it are ignored.
    ///
    /// `bytes` is used as scratch space, to which the offsets are appended.
    pub(crate) fn new(bytes: &mut Vec<u8>, hash_len: usize) -> Self {
        let len = bytes.len();
        let mut at = 0;
        while let Some(entry) = entry_at(&bytes[..len], hash_len, at) {
            let end = entry.end;
            bytes.extend_from_slice(&(at as u32).to_le_bytes());
            at = end;
        }
        bytes.extend_from_slice(&(at as u32).to_le_bytes());
        bytes.drain(at..len);
        Self { data: bytes.as_slice().into(), len: at, hash_len }
    }

    /// Returns the bytes of the tree.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data[..self.len]
    }

    /// Returns the memory that this tree uses, in bytes.
    fn weight(&self) -> usize {
        self.data.len() + 128
    }

    /// Returns the number of entries.
    fn len(&self) -> usize {
        ((self.data.len() - self.len) / OFFSET_BYTES).saturating_sub(1)
    }

    /// Returns the offset of entry number `entry`, or the end of the tree if there is no such entry.
    fn offset(&self, entry: usize) -> usize {
        let at = self.len + entry.min(self.len()) * OFFSET_BYTES;
        let offset = self.data.get(at..at + OFFSET_BYTES).and_then(|bytes| bytes.try_into().ok());
        offset.map_or(self.len, |bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// Returns the offset of the entry that contains the byte at `at`.
    pub(crate) fn entry_start(&self, at: usize) -> usize {
        self.offset(self.partition_point(|entry| self.offset(entry) <= at).saturating_sub(1))
    }

    /// Returns the number of the first entry for which `is_before` is false. If `is_before` is true for all entries,
    /// the result is greater than the number of the last entry. `is_before` must be monotonic.
    fn partition_point(&self, is_before: impl Fn(usize) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len() + 1);
        while from < to {
            let middle = from + (to - from) / 2;
            if is_before(middle) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Returns the entry that starts at offset `at`, or `None` at the end of the tree.
    pub(crate) fn entry_at(&self, at: usize) -> Option<TreeEntry<'_>> {
        entry_at(self.bytes(), self.hash_len, at)
    }

    /// Finds the entry `name` of any kind. Files and directories sort differently, so both orders are tried.
    pub(crate) fn find(&self, name: &[u8]) -> Option<TreeEntry<'_>> {
        [EntryKind::File, EntryKind::Tree].into_iter().find_map(|kind| self.find_sorted_as(name, kind))
    }

    fn find_sorted_as(&self, name: &[u8], kind: EntryKind) -> Option<TreeEntry<'_>> {
        let wanted = TreeEntry { kind, name, id: &[], end: 0 };
        let is_before = |entry: &TreeEntry<'_>| entry.cmp(&wanted) == Ordering::Less;
        let at = self.partition_point(|entry| self.entry_at(self.offset(entry)).as_ref().is_some_and(is_before));
        let entry = self.entry_at(self.offset(at))?;
        let same_sort = (entry.kind == EntryKind::Tree) == (kind == EntryKind::Tree);
        (entry.name == name && same_sort).then_some(entry)
    }
}

/// Returns the entry of the raw tree `bytes` that starts at offset `at`.
fn entry_at(bytes: &[u8], hash_len: usize, mut at: usize) -> Option<TreeEntry<'_>> {
    // Some old versions of git padded modes with zeros ("040000").
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
    let end = id + hash_len;
    Some(TreeEntry { kind, name: &bytes[name..id - 1], id: bytes.get(id..end)?, end })
}

/// A cache of trees in two generations. When the young generation is full, it replaces the old generation.
pub(crate) struct TreeCache {
    young: HashMap<ObjectId, RawTree>,
    old: HashMap<ObjectId, RawTree>,
    young_bytes: usize,
    buffer: Vec<u8>,
}

impl TreeCache {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        Self { young: HashMap::default(), old: HashMap::default(), young_bytes: 0, buffer: Vec::new() }
    }

    /// Returns the tree `id`, or `None` if the object is missing or not a tree.
    pub(crate) fn get(&mut self, reader: &ObjectReader, id: &ObjectId) -> Option<RawTree> {
        if let Some(tree) = self.young.get(id) {
            return Some(tree.clone());
        }
        let tree = match self.old.get(id) {
            Some(tree) => tree.clone(),
            None => {
                if reader.read(id, &mut self.buffer)? != gix::objs::Kind::Tree {
                    return None;
                }
                RawTree::new(&mut self.buffer, reader.hash_kind().len_in_bytes())
            }
        };
        self.young_bytes += tree.weight();
        self.young.insert(*id, tree.clone());
        if self.young_bytes > MAX_GENERATION_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        Some(tree)
    }
}
