//! What differs between two trees, file by file, in the order in which `git diff-tree` lists it.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering as AtomicOrdering};

use gix::ObjectId;

use crate::common_affix::common_prefix;
use crate::objects::ObjectReader;
use crate::tree::{EntryKind, RawTree, TreeCache, TreeEntry};

/// Directories nested deeper than this are left out; it keeps a crafted tree from exhausting the stack.
const MAX_DEPTH: usize = 256;

/// Most entries that one comparison looks at. A few small trees that name each other many times are a directory of billions
/// of files; what lies beyond counts as missing.
const MAX_ENTRIES: usize = 16 << 20;

/// Most files that differ in one comparison, beyond which they count as missing.
const MAX_CHANGES: usize = 2 << 20;

/// What a path is on one side of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathState {
    /// There is nothing, or a directory.
    Absent,
    /// There is a symbolic link or a submodule.
    Other,
    /// There is a regular file with this content.
    File(ObjectId),
}

/// Compares trees through a cache.
pub(crate) struct TreeDiffer<'a> {
    pub(crate) reader: &'a ObjectReader,
    pub(crate) trees: &'a mut TreeCache,
    /// Stops a comparison; what it has not come to is missing.
    pub(crate) cancel: Option<&'a AtomicBool>,
    /// Set as soon as a tree was missing: the comparison then treats it as described at [`TreeDiffer::compare`].
    pub(crate) missing: bool,
}

impl TreeDiffer<'_> {
    /// Calls `change(path, old, new)` for each path that is a regular file on at least one side and differs.
    ///
    /// A tree missing on the old side counts as empty, so that its files look added; one missing on the new side is skipped.
    pub(crate) fn compare(
        &mut self,
        old: Option<&ObjectId>,
        new: Option<&ObjectId>,
        change: &mut dyn FnMut(&[u8], PathState, PathState),
    ) {
        let mut room = DiffBudget { entries: MAX_ENTRIES, changes: MAX_CHANGES };
        self.descend((old, new), &mut Vec::new(), 0, &mut room, change);
    }

    /// What `path` is in the tree `root`.
    pub(crate) fn look_up(&mut self, root: &ObjectId, path: &[u8]) -> PathState {
        let mut directory = *root;
        let mut components = path.split(|&byte| byte == b'/').peekable();
        while let Some(component) = components.next() {
            let Some(tree) = self.trees.get(self.reader, &directory) else {
                self.missing = true;
                return PathState::Absent;
            };
            match (tree.find(component), components.peek()) {
                (Some(entry), None) => return state(Some(&entry)),
                (Some(entry), Some(_)) if entry.kind == EntryKind::Tree => match entry.object_id() {
                    Some(id) => directory = id,
                    None => return PathState::Absent,
                },
                _ => return PathState::Absent,
            }
        }
        PathState::Absent
    }

    fn descend(
        &mut self,
        (old, new): (Option<&ObjectId>, Option<&ObjectId>),
        path: &mut Vec<u8>,
        depth: usize,
        room: &mut DiffBudget,
        change: &mut dyn FnMut(&[u8], PathState, PathState),
    ) {
        if old == new || depth > MAX_DEPTH {
            return;
        }
        let old = self.load(old).unwrap_or_default();
        let Some(new) = self.load(new) else { return };
        let (mut old_at, mut new_at) = (0, 0);
        loop {
            skip_equal_entries(&old, &new, &mut old_at, &mut new_at);
            let (left, right) = (old.entry_at(old_at), new.entry_at(new_at));
            let order = match (&left, &right) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(left), Some(right)) => left.cmp(right),
            };
            let left = left.filter(|_| order != Ordering::Greater);
            let right = right.filter(|_| order != Ordering::Less);
            old_at = left.map_or(old_at, |entry| entry.end);
            new_at = right.map_or(new_at, |entry| entry.end);
            if !room.take() || self.is_cancelled() {
                self.missing = true;
                break;
            }
            self.entries((left, right), path, depth, room, change);
        }
    }

    /// Reports one pair of entries of the same name, or what lies below them.
    fn entries(
        &mut self,
        (old, new): (Option<TreeEntry<'_>>, Option<TreeEntry<'_>>),
        path: &mut Vec<u8>,
        depth: usize,
        room: &mut DiffBudget,
        change: &mut dyn FnMut(&[u8], PathState, PathState),
    ) {
        let Some(name) = old.or(new).map(|entry| entry.name) else { return };
        let (old_state, new_state) = (state(old.as_ref()), state(new.as_ref()));
        let base = path.len();
        path.extend_from_slice(name);
        let is_file = |state| matches!(state, PathState::File(_));
        if old_state != new_state && (is_file(old_state) || is_file(new_state)) {
            room.changes = room.changes.saturating_sub(1);
            change(path, old_state, new_state);
        }
        let old_tree = old.filter(|entry| entry.kind == EntryKind::Tree).and_then(|entry| entry.object_id());
        let new_tree = new.filter(|entry| entry.kind == EntryKind::Tree).and_then(|entry| entry.object_id());
        if old_tree.is_some() || new_tree.is_some() {
            path.push(b'/');
            self.descend((old_tree.as_ref(), new_tree.as_ref()), path, depth + 1, room, change);
        }
        path.truncate(base);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(AtomicOrdering::Relaxed))
    }

    /// The tree `id`; an empty one for no id; `None` if it is missing.
    fn load(&mut self, id: Option<&ObjectId>) -> Option<RawTree> {
        let Some(id) = id else { return Some(RawTree::default()) };
        let tree = self.trees.get(self.reader, id);
        self.missing |= tree.is_none();
        tree
    }
}

/// How much more a comparison may look at.
struct DiffBudget {
    entries: usize,
    changes: usize,
}

impl DiffBudget {
    /// Takes the room of an entry, if there is any.
    fn take(&mut self) -> bool {
        let is_left = self.entries > 0 && self.changes > 0;
        self.entries = self.entries.saturating_sub(1);
        is_left
    }
}

fn state(entry: Option<&TreeEntry<'_>>) -> PathState {
    match entry {
        Some(TreeEntry { kind: EntryKind::Other, .. }) => PathState::Other,
        Some(entry) if entry.kind == EntryKind::File => entry.object_id().map_or(PathState::Other, PathState::File),
        _ => PathState::Absent,
    }
}

/// Moves both offsets past what is equal byte by byte, to the start of the first entries that may differ.
fn skip_equal_entries(old: &RawTree, new: &RawTree, old_at: &mut usize, new_at: &mut usize) {
    let (Some(left), Some(right)) = (old.bytes().get(*old_at..), new.bytes().get(*new_at..)) else { return };
    let shared = common_prefix(left, right);
    if let Some(step) = old.entry_start(*old_at + shared).checked_sub(*old_at) {
        *old_at += step;
        *new_at += step;
    }
}

#[cfg(test)]
mod tests {
    use gix::ObjectId;

    use super::{DiffBudget, TreeCache, TreeDiffer};
    use crate::objects::{ObjectReader, ObjectStore};
    use crate::tests::fixture::Repo;

    /// Ten trees, each of which names the next one ten times.
    #[test]
    fn issue_15_a_tree_of_billions_of_files_is_looked_at_as_far_as_there_is_room() {
        let repo = Repo::new();
        let blob = repo.git_with_input(&["hash-object", "-w", "--stdin"], b"text");
        let (mut kind, mut inner) = ("100644 blob", blob.trim().to_owned());
        for _ in 0..10 {
            let tree: String = (0..10).map(|entry| format!("{kind} {inner}\t{entry}\n")).collect();
            (kind, inner) = ("040000 tree", repo.git_with_input(&["mktree"], tree.as_bytes()).trim().to_owned());
        }
        let objects = ObjectStore::new(gix::open(&repo.root).unwrap().into_sync(), Vec::new());
        let (reader, mut trees) = (ObjectReader::new(&objects), TreeCache::new());
        let root = ObjectId::from_hex(inner.as_bytes()).unwrap();
        for (entries, changes, found) in [(5_000, 1_000, 1_000), (500, 1_000, 450)] {
            let mut differ = TreeDiffer { reader: &reader, trees: &mut trees, cancel: None, missing: false };
            let (mut room, mut count) = (DiffBudget { entries, changes }, 0);
            differ.descend((None, Some(&root)), &mut Vec::new(), 0, &mut room, &mut |_, _, _| count += 1);
            assert!(differ.missing && count <= found && count > 0, "{count}");
        }
    }
}
