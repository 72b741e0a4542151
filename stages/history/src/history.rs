//! The type [`History`], an opened git repository that attributes files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aurora_cachefile::CacheFile;
use gix::ObjectId;

use crate::attribution::FileBlame;
use crate::blame::LineCommits;
use crate::blame_config::BlameConfig;
use crate::blamer::Blamer;
use crate::change_table::{ChangeTable, PathId};
use crate::commit::CommitId;
use crate::commit_graph::{CommitGraph, CommitPos};
use crate::commit_table::CommitTable;
use crate::diff_cache::DiffCache;
use crate::error::HistoryError;
use crate::events::EventIndex;
use crate::mask::Mask;
use crate::objects::{ObjectReader, ObjectStore};
use crate::open::{self, Opened, RepositoryInfo};
use crate::outcome::{Outcome, Unattributed};
use crate::scan::scan;
use crate::tree_diff::{PathState, TreeDiffer};
use crate::walk_cache::{self, CacheEnd};

/// A cached walk with at most this number of commits that are unreachable from HEAD is always used. A cached walk with
/// more unreachable commits is used only if at most half of its commits are unreachable.
const MAX_UNREACHABLE: usize = 100_000;

/// The history of the repository that contains a directory, as seen from HEAD.
///
/// [`History::open`] reads HEAD and the configuration once. To see later changes, open the repository again. Paths are
/// relative to the directory that was opened, with `/` as the separator. All methods can be called from several threads
/// at the same time.
pub struct History {
    pub(crate) objects: ObjectStore,
    /// The directory to which paths are relative.
    pub(crate) root: PathBuf,
    /// The directory `root` relative to the work tree, ending in `/`, or empty.
    pub(crate) prefix: Vec<u8>,
    head: Option<CommitId>,
    info: RepositoryInfo,
    ignores_includes: bool,
    pub(crate) config: BlameConfig,
    walk_cache: Option<CacheFile>,
    diff_cache: Option<Arc<DiffCache>>,
    mask: Option<Mask>,
    /// Blamers that no thread is using.
    idle: Mutex<Vec<Blamer>>,
}

/// Settings of a repository that have defaults. By default, nothing is cached between runs.
///
/// A cache never changes a result. If a cache file cannot be read or written, the work only takes longer. Cache files
/// can be deleted at any time.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// File that caches the walk over the history: the headers of commits and the paths that each commit changed.
    pub walk_cache: Option<CacheFile>,
    /// File that caches line diffs and rename sources, see [`History::save_diff_cache`].
    pub diff_cache: Option<CacheFile>,
    /// Function that masks secrets in paths and in the names and e-mail addresses of authors, before they are used or
    /// cached.
    pub mask: Option<Mask>,
}

impl History {
    /// Opens the repository at or above `root`. Returns `None` if there is no repository.
    ///
    /// # Errors
    /// Fails if the files, HEAD or the configuration of the repository cannot be read.
    pub fn open(root: &Path, options: Options) -> Result<Option<History>, HistoryError> {
        let Options { walk_cache, diff_cache, mask } = options;
        let Some(Opened { objects, prefix, head, info, ignores_includes, config }) = open::open(root, mask)? else {
            return Ok(None);
        };
        let diff_cache = diff_cache.map(|file| Arc::new(DiffCache::in_file(file, &config.walk_key)));
        let (root, idle) = (root.to_owned(), Mutex::default());
        Ok(Some(History {
            objects,
            root,
            prefix,
            head,
            info,
            ignores_includes,
            config,
            walk_cache,
            diff_cache,
            mask,
            idle,
        }))
    }

    /// Appends the results of all comparisons since [`History::open`] to [`Options::diff_cache`].
    pub fn save_diff_cache(&self) {
        self.diff_cache.iter().for_each(|cache| cache.save());
    }

    /// Returns the directory to which paths are relative.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory [`Self::root`] relative to the work tree, ending in `/`. The result is empty if both are
    /// the same directory.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Returns the commit at HEAD, or `None` before the first commit.
    pub fn head(&self) -> Option<&CommitId> {
        self.head.as_ref()
    }

    /// Returns properties of the repository.
    pub fn info(&self) -> RepositoryInfo {
        self.info
    }

    /// Whether the includes in the repository's configuration are ignored, because an included file is not a regular
    /// file, or is too large.
    pub fn ignores_includes(&self) -> bool {
        self.ignores_includes
    }

    /// Returns the files named by `blame.ignoreRevsFile` that cannot be read. They are treated as empty,
    /// whereas `git blame` would fail.
    pub fn unreadable_ignore_files(&self) -> &[PathBuf] {
        &self.config.unreadable
    }

    /// Returns a hash of the configuration on which attribution depends: mailmap, ignored revisions, the shallow
    /// boundary, grafts, replace refs and `diff.indentHeuristic`.
    ///
    /// Attribution that was stored under another fingerprint is invalid, even if its [`EventKey`](crate::EventKey) is
    /// the same.
    pub fn config_fingerprint(&self) -> [u8; 20] {
        self.config.fingerprint
    }

    /// Walks the history, in parallel on rayon's current pool. Calls `progress(done, total)` with the number of commits
    /// that were compared with their parents and the number of all commits to compare. Commits in
    /// [`Options::walk_cache`] need not be compared.
    ///
    /// # Errors
    /// Fails if the commit at HEAD is missing, or `cancel` was set.
    pub fn index_events(
        &self,
        cancel: &AtomicBool,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<EventIndex, HistoryError> {
        let Some(head) = self.head else { return Ok(EventIndex::default()) };
        let BlameConfig { walk_key, grafts, mailmap, .. } = &self.config;
        let load = |commits: CommitTable| {
            CommitGraph::load(commits.masking(self.mask), &self.reader(), head.0, grafts, mailmap, cancel)
        };
        let cache = self.walk_cache.as_ref();
        let walk = cache.map(|file| walk_cache::read(file, walk_key, self.info.hash)).unwrap_or_default();
        let mut end = walk.end();
        let (mut graph, mut changes) = (load(walk.commits)?, walk.changes);
        if graph.unreachable() > MAX_UNREACHABLE.max(graph.len()) {
            (end, graph, changes) = (CacheEnd::default(), load(CommitTable::default())?, ChangeTable::default());
        }
        changes = changes.masking(self.mask);
        let all = (0..graph.len() as u32).map(CommitPos);
        let new: Vec<CommitPos> = all.filter(|&commit| !changes.is_compared(graph.row(commit))).collect();
        let blocks = scan(&graph, &new, &self.objects, cancel, progress);
        if cancel.load(Ordering::Relaxed) {
            return Err(HistoryError::Cancelled);
        }
        let incomplete = graph.incomplete || blocks.iter().any(|block| block.missing);
        blocks.into_iter().for_each(|block| changes.add(block));
        // An object that is missing now may exist in the next run, so an incomplete walk is not cached.
        if let Some(file) = cache.filter(|_| !incomplete && !new.is_empty()) {
            let _ = walk_cache::append(file, walk_key, end, &graph.table, &changes);
        }
        Ok(EventIndex::new(graph, changes, &self.prefix, incomplete))
    }

    /// Attributes the lines of `path` at HEAD. `index` must be an index of this history.
    ///
    /// # Errors
    /// Fails if HEAD has no such file, or its content is missing or too large.
    pub fn blame(&self, index: &EventIndex, path: impl AsRef<[u8]>) -> Outcome<FileBlame> {
        let (id, blob) = self.file_at_head(index, path.as_ref())?;
        self.with_blamer(|blamer| {
            let lines = blamer.attribute((index, id, blob), &self.config.ignored, &|_, _| None, None);
            let (lines, _) = lines.ok_or_else(|| blamer.failure(&blob))?;
            Ok(self.file_blame(index, &lines))
        })
    }

    /// Whether `path` is a regular file at HEAD.
    ///
    /// # Errors
    /// Fails if the commit at HEAD or one of its directories is missing.
    pub fn has_file(&self, path: impl AsRef<[u8]>) -> Outcome<bool> {
        let Some(head) = self.head else { return Ok(false) };
        let path = [self.prefix.as_slice(), path.as_ref()].concat();
        let missing = |what: &str| {
            let reason =
                format!("{what} of {head}, the commit at HEAD, is missing or damaged; run `git fsck` for details");
            Unattributed::Unavailable { reason }
        };
        self.with_blamer(|blamer| {
            let tree = blamer.reader.tree_of(&head.0).ok_or_else(|| missing("the header"))?;
            let (reader, trees) = (&blamer.reader, &mut blamer.trees);
            let mut differ = TreeDiffer { reader, trees, cancel: None, missing: false };
            let found = differ.look_up(&tree, &path);
            if differ.missing { Err(missing("a directory")) } else { Ok(matches!(found, PathState::File(_))) }
        })
    }

    /// Returns the id of `path` and its blob at HEAD.
    pub(crate) fn file_at_head(&self, index: &EventIndex, path: &[u8]) -> Outcome<(PathId, ObjectId)> {
        let id = index.path_id_below_prefix(path).ok_or(Unattributed::Untracked)?;
        let event = index.next_event(id, CommitPos(0)).ok_or(Unattributed::Untracked)?;
        let PathState::File(blob) = index.new_state(event) else { return Err(Unattributed::Untracked) };
        Ok((id, blob))
    }

    /// Returns the blame of a file whose lines came from the commits in `lines`.
    pub(crate) fn file_blame(&self, index: &EventIndex, lines: &LineCommits) -> FileBlame {
        FileBlame::new(&lines.commits, &index.graph, lines.incomplete || index.is_incomplete())
    }

    /// Runs `work` with a blamer that no other thread uses. Creates a blamer if all existing blamers are in use.
    pub(crate) fn with_blamer<T>(&self, work: impl FnOnce(&mut Blamer) -> T) -> T {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut blamer =
            idle.unwrap_or_else(|| Blamer::new(self.reader(), self.config.indent_heuristic, self.diff_cache.clone()));
        let result = work(&mut blamer);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(blamer);
        result
    }

    /// Creates a handle to the repository for the calling thread.
    pub(crate) fn local(&self) -> gix::Repository {
        self.objects.repository.to_thread_local()
    }

    /// Creates an object reader for the calling thread.
    pub(crate) fn reader(&self) -> ObjectReader {
        ObjectReader::new(&self.objects)
    }
}
