//! Git attribution of whole repositories. For every file, it finds the commit of each line, like `git blame`, and
//! counts the commits that touched a range of lines, like `git log -L`. One walk of the history serves all files.
//!
//! The work has two parts. [`History::index_events`] compares every commit with its first parent once, and records in
//! an [`EventIndex`] which commits changed which path. [`History::blame`] then visits the events of one path, and
//! passes lines from each version to an older version. Commits that did not change the path are skipped. Files are
//! independent of each other, so they can be attributed in parallel. [`History::attribute`] counts touches in the same
//! walk.
//!
//! Attribution at HEAD is a function of the path, its latest event ([`EventIndex::latest`]) and the configuration
//! ([`History::config_fingerprint`]). A caller can therefore store attributions between runs under these keys.
//! [`Options`] contains the files in which the library caches the walk and the diffs of old versions.
//! `docs/internals/git-attribution.md` explains the algorithm.
//!
//! Every request about one file returns an [`Outcome`]. If objects are missing or damaged, only the requests that need
//! these objects fail.
//!
//! The library deliberately does not support copy and move detection (`git blame -C`, `-M`), clean and textconv
//! filters, and fetching objects that are missing in a partial clone. It runs no programs and does not write to `.git`,
//! except to the cache files that the caller chooses.
//!
//! ```
//! # fn git(root: &std::path::Path, arguments: &[&str]) {
//! #     let mut git = std::process::Command::new("git");
//! #     git.current_dir(root).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]);
//! #     assert!(git.args(arguments).status().is_ok_and(|status| status.success()));
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let repository = tempfile::tempdir()?;
//! # let root = repository.path();
//! # git(root, &["init", "-q"]);
//! # std::fs::write(root.join("poem.txt"), "one\ntwo\n")?;
//! # git(root, &["add", "."]);
//! # git(root, &["commit", "-q", "-m", "first"]);
//! use std::sync::atomic::AtomicBool;
//!
//! use aurora_history::{History, Options, Unattributed};
//!
//! let history = History::open(root, Options::default())?.expect("there is a repository");
//! let index = history.index_events(&AtomicBool::new(false), &|_done, _total| ())?;
//! let blame = history.blame(&index, "poem.txt")?;
//! assert_eq!(blame.line_count(), 2);
//! assert_eq!(blame.commit_of(1).map(|commit| &commit.id), history.head());
//! assert_eq!(history.blame(&index, "absent.txt"), Err(Unattributed::Untracked));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod ancestors;
mod attribute;
mod attribution;
mod blame;
mod blame_config;
mod blamer;
mod change_table;
mod commit;
mod commit_graph;
mod commit_table;
mod common_affix;
mod comparison;
mod diff_cache;
mod diff_cache_codec;
mod error;
mod event_key;
mod events;
mod excludes;
mod file_history;
mod history;
mod ignore_revs;
mod inspection;
mod line_diff;
mod line_map;
mod line_ranges;
mod mailmap;
mod mask;
mod objects;
mod open;
mod outcome;
mod packs;
mod rename;
mod scan;
mod similarity;
mod touch;
mod tree;
mod tree_diff;
mod version_cache;
mod walk_cache;
mod working_copy;
mod worktree_index;
mod worktrees;

#[cfg(test)]
mod tests;

pub use ancestors::nearest_ancestor;
pub use attribution::{
    BlameEntry, FileAttribution, FileBlame, HistorySummary, NOT_COMMITTED, TouchCount, WorktreeBlame,
};
pub use blame::CachedAttribution;
pub use commit::{CommitId, CommitInfo, Person};
pub use comparison::{Comparison, FileChange, Sides};
pub use error::HistoryError;
pub use event_key::EventKey;
pub use events::EventIndex;
pub use excludes::excludes_file;
pub use gix::ObjectId;
pub use history::{History, Options};
pub use line_map::{LineMap, MappedLines};
pub use mask::Mask;
pub use open::RepositoryInfo;
pub use outcome::{AttributedFile, Outcome, Unattributed};
pub use touch::CachedTouches;
pub use working_copy::WorkingCopy;
pub use worktree_index::{TrackedFile, WorktreeIndex, WorktreeState};
pub use worktrees::{git_directory, sibling_directories};
