//! The commits that touched a file, as `git log -- PATH` lists them. The simplification of path histories needs only
//! the event index, so no file is read.

use rustc_hash::FxHashSet;

use crate::attribution::HistorySummary;
use crate::commit_graph::CommitPos;
use crate::events::{EventId, EventIndex};

impl EventIndex {
    /// Returns a summary of the commits that `git log` lists for a path, without following renames. If a parent of a
    /// merge has the same content as the merge, the merge does not count, and only this parent is followed. Returns
    /// `None` if the path is not a regular file at HEAD.
    ///
    /// Like blame, the summary depends only on the path and its [`EventKey`](crate::EventKey).
    pub fn file_history(&self, path: impl AsRef<[u8]>) -> Option<HistorySummary> {
        let latest = self.next_event(self.path_id_below_prefix(path.as_ref())?, CommitPos(0))?;
        self.key(latest)?;
        Some(HistorySummary::from_commits(self.touching(latest).into_iter().map(|commit| self.graph.info(commit))))
    }

    /// Returns the commits that touched the path of an event, up to and including the commit of the event.
    fn touching(&self, latest: EventId) -> Vec<CommitPos> {
        let path = self.path_of(latest);
        let (mut open, mut seen) = (vec![latest], FxHashSet::default());
        seen.insert(latest);
        let mut commits = Vec::new();
        while let Some(event) = open.pop() {
            let commit = self.commit(event);
            let parents = self.graph.parents(commit);
            let new = self.new_state(event);
            let same = (0..parents.len()).find(|&parent| self.parent_state(event, parent) == new);
            let followed = match same {
                Some(parent) => &parents[parent..=parent],
                None => {
                    commits.push(commit);
                    parents
                }
            };
            let next = followed.iter().filter_map(|&parent| self.next_event(path, parent));
            open.extend(next.filter(|&event| seen.insert(event)));
        }
        commits
    }
}
