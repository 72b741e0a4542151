//! Which paths have a new latest change since an earlier HEAD, without walking the whole history.

use std::collections::BTreeSet;

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::CommitRefIter;

use super::commit::CommitId;
use super::objects::ObjectReader;
use super::repository::History;
use super::tree::TreeCache;
use super::tree_diff::TreeDiffer;

impl History {
    /// The paths whose [`EventKey`](super::EventKey) may differ from the one they had when HEAD was `old`; all others keep
    /// their key, and with it their attribution.
    ///
    /// Compares only the commits between `old` and HEAD along first parents. `None` if `old` is not found within
    /// `max_commits` of them (another branch, rewritten history), or if objects are missing: then ask an
    /// [`EventIndex`](super::EventIndex).
    pub fn paths_changed_since(&self, old: &CommitId, max_commits: usize) -> Option<BTreeSet<BString>> {
        let reader = self.reader();
        let mut trees = TreeCache::new();
        let mut buffer = Vec::new();
        let mut changed = BTreeSet::new();
        let mut commit = self.head()?.0;
        let mut tree = read_commit(&reader, &commit, &mut buffer)?.0;
        for _ in 0..max_commits {
            if commit == old.0 {
                return Some(changed);
            }
            let parent =
                read_commit(&reader, &commit, &mut buffer)?.1.filter(|_| !self.is_shallow_boundary(&commit))?;
            let parent_tree = read_commit(&reader, &parent, &mut buffer)?.0;
            let mut differ = TreeDiffer { reader: &reader, trees: &mut trees, missing: false };
            differ.compare(Some(&parent_tree), Some(&tree), &mut |path, _, _| {
                if let Some(path) = path.strip_prefix(self.prefix.as_slice()) {
                    changed.insert(path.into());
                }
            });
            if differ.missing {
                return None;
            }
            (commit, tree) = (parent, parent_tree);
        }
        (commit == old.0).then_some(changed)
    }
}

/// The tree and the first parent of a commit.
fn read_commit(reader: &ObjectReader, id: &ObjectId, buffer: &mut Vec<u8>) -> Option<(ObjectId, Option<ObjectId>)> {
    reader.read(id, buffer).filter(|&kind| kind == gix::objs::Kind::Commit)?;
    let mut commit = CommitRefIter::from_bytes(buffer, reader.hash_kind());
    Some((commit.tree_id().ok()?, commit.parent_ids().next()))
}
