//! Tree diffs: the files that differ between two trees, in the order of `git diff-tree -r`.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering as AtomicOrdering};

use gix::ObjectId;

use crate::common_affix::common_prefix;
use crate::objects::ObjectReader;
use crate::tree::{EntryKind, RawTree, TreeCache, TreeEntry};

/// Maximum depth of directories. Deeper directories are skipped, so that a crafted tree cannot exhaust the stack.
const MAX_DEPTH: usize = 256;

/// Maximum number of entries that one comparison visits. Entries beyond the limit count as missing. The limit is
/// necessary because a few small trees that contain each other many times can describe billions of files.
const MAX_ENTRIES: usize = 16 << 20;

/// Maximum number of changes in one comparison. Changes beyond the limit count as missing.
const MAX_CHANGES: usize = 2 << 20;

/// The state of a path in one tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathState {
    /// The path does not exist, or is a directory.
    Absent,
    /// A symbolic link or a submodule.
    Other,
    /// A regular file with this blob.
    File(ObjectId),
}

/// Compares trees through a cache.
pub(crate) struct TreeDiffer<'a> {
    pub(crate) reader: &'a ObjectReader,
    pub(crate) trees: &'a mut TreeCache,
    /// When the flag is set, the comparison stops, and entries that it has not visited count as missing.
    pub(crate) cancel: Option<&'a AtomicBool>,
    /// Whether entries were not visited because a tree object was missing, a comparison reached [`MAX_ENTRIES`] or
    /// [`MAX_CHANGES`], or `cancel` was set.
    pub(crate) missing: bool,
}

impl TreeDiffer<'_> {
    /// Calls `change(path, old, new)` for each path that differs and is a regular file in at least one of the trees.
    ///
    /// A missing old tree counts as empty, so all files of the new tree appear as added. A missing new tree is skipped.
    pub(crate) fn compare(
        &mut self,
        old: Option<&ObjectId>,
        new: Option<&ObjectId>,
        change: &mut dyn FnMut(&[u8], PathState, PathState),
    ) {
        let mut budget = DiffBudget { entries: MAX_ENTRIES, changes: MAX_CHANGES };
        self.descend((old, new), &mut Vec::new(), 0, &mut budget, change);
    }

    /// Returns the state of `path` in the tree `root`.
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
        budget: &mut DiffBudget,
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
            if !budget.take() || self.is_cancelled() {
                self.missing = true;
                break;
            }
            self.entries((left, right), path, depth, budget, change);
        }
    }

    /// Reports the difference between two entries with the same name, and descends into directories.
    fn entries(
        &mut self,
        (old, new): (Option<TreeEntry<'_>>, Option<TreeEntry<'_>>),
        path: &mut Vec<u8>,
        depth: usize,
        budget: &mut DiffBudget,
        change: &mut dyn FnMut(&[u8], PathState, PathState),
    ) {
        let Some(name) = old.or(new).map(|entry| entry.name) else { return };
        let (old_state, new_state) = (state(old.as_ref()), state(new.as_ref()));
        let base = path.len();
        path.extend_from_slice(name);
        let is_file = |state| matches!(state, PathState::File(_));
        if old_state != new_state && (is_file(old_state) || is_file(new_state)) {
            budget.changes = budget.changes.saturating_sub(1);
            change(path, old_state, new_state);
        }
        let old_tree = old.filter(|entry| entry.kind == EntryKind::Tree).and_then(|entry| entry.object_id());
        let new_tree = new.filter(|entry| entry.kind == EntryKind::Tree).and_then(|entry| entry.object_id());
        if old_tree.is_some() || new_tree.is_some() {
            path.push(b'/');
            self.descend((old_tree.as_ref(), new_tree.as_ref()), path, depth + 1, budget, change);
        }
        path.truncate(base);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(AtomicOrdering::Relaxed))
    }

    /// Returns the tree `id`, or an empty tree if `id` is `None`. Returns `None` if the tree object is missing.
    fn load(&mut self, id: Option<&ObjectId>) -> Option<RawTree> {
        let Some(id) = id else { return Some(RawTree::default()) };
        let tree = self.trees.get(self.reader, id);
        self.missing |= tree.is_none();
        tree
    }
}

/// The remaining budget of a comparison.
struct DiffBudget {
    entries: usize,
    changes: usize,
}

impl DiffBudget {
    /// Takes one entry from the budget. Returns false if the budget is exhausted.
    fn take(&mut self) -> bool {
        let has_left = self.entries > 0 && self.changes > 0;
        self.entries = self.entries.saturating_sub(1);
        has_left
    }
}

fn state(entry: Option<&TreeEntry<'_>>) -> PathState {
    match entry {
        Some(TreeEntry { kind: EntryKind::Other, .. }) => PathState::Other,
        Some(entry) if entry.kind == EntryKind::File => entry.object_id().map_or(PathState::Other, PathState::File),
        _ => PathState::Absent,
    }
}

/// Advances both offsets past equal entries, to the first entries that may differ.
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

    /// Uses ten trees, each of which contains the next tree ten times.
    #[test]
    fn a_tree_of_billions_of_files_is_visited_within_the_budget() {
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
            let (mut budget, mut count) = (DiffBudget { entries, changes }, 0);
            differ.descend((None, Some(&root)), &mut Vec::new(), 0, &mut budget, &mut |_, _, _| count += 1);
            assert!(differ.missing && count <= found && count > 0, "{count}");
        }
    }
}
