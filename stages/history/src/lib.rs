//! Which commit each line of a repository came from: what `git blame` says, for every file, from one walk of the history.
//!
//! The work is cut in two. [`History::index_events`] compares every commit with its parent once and keeps, per path, which
//! commits changed it. [`History::blame`] then goes through the changes of one path and passes lines back from version to
//! version; it touches no commit that left the path alone, and files are independent of each other.
//! [`History::attribute`] also counts, in the same pass, the commits that ever touched a range of lines: what
//! `git log -L` prints.
//!
//! Attribution at HEAD depends on nothing but the path, its latest change ([`EventIndex::latest`]) and the configuration
//! ([`History::config_fingerprint`]), so results can be kept between runs under these.
//!
//! Deliberately absent: copies between files (`git blame -C`), lines moved within a file (`-M`), clean and textconv
//! filters, and any fetching of objects that a partial clone lacks.

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod attribution;
mod blame;
mod blame_config;
mod change_table;
mod commit;
mod commit_graph;
mod commit_table;
mod common_affix;
mod diff_cache;
mod diff_cache_codec;
mod error;
mod event_key;
mod events;
mod file_history;
mod history;
mod ignore_revs;
mod inspection;
mod line_diff;
mod line_map;
mod line_ranges;
mod mailmap;
mod objects;
mod packs;
mod rename;
mod scan;
mod similarity;
mod touch;
mod tree;
mod tree_diff;
mod version_cache;
mod walk_cache;
mod worktree_index;

#[cfg(test)]
mod tests;

pub use attribution::{
    BlameEntry, FileAttribution, FileBlame, HistorySummary, NOT_COMMITTED, TouchCount, WorktreeBlame,
};
pub use blame::CachedAttribution;
pub use commit::{CommitId, CommitInfo, Person};
pub use error::{HistoryError, Unattributed};
pub use event_key::EventKey;
pub use events::EventIndex;
pub use gix::ObjectId;
pub use history::{History, RepositoryInfo};
pub use line_map::{LineMap, MappedLines};
pub use touch::CachedTouches;
pub use worktree_index::{TrackedFile, WorktreeIndex, WorktreeState};
