//! The git repository of the indexed root. The repository is opened when the run starts. The walk over the history
//! starts when the first file needs it.

use std::cell::RefCell;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aurora_cachefile::CacheFile;
use aurora_history::{
    AttributedFile, EventIndex, EventKey, FileAttribution, History, HistoryError, Mask, ObjectId, Options,
    Unattributed, WorkingCopy, WorktreeIndex, WorktreeState,
};
use aurora_pipeline::CancelToken;
use aurora_redact::masked;
use aurora_storage::{HistoryTier, Snapshot};
use rustc_hash::FxHashMap;

use super::stored::from_stored;
use super::walk::{HistoryWalk, WalkOutcome};
use crate::columns::Attribution;
use crate::masking::masked_with_digest;

/// Minimum time that a run waits for the walk over the history.
const MIN_WAIT: Duration = Duration::from_millis(500);

/// The attribution data that earlier runs stored.
pub struct PreviousRun {
    /// The published index.
    pub index: Snapshot,
    /// The [`Repository::state`] of the last run.
    pub state: Option<String>,
    /// Cache of the walk over the history.
    pub walk_cache: CacheFile,
    /// Lock that is held during the walk, if other runs use the same cache at the same time.
    pub walk_lock: Option<Arc<File>>,
    /// Cache of diffs and rename sources.
    pub diff_cache: CacheFile,
}

/// Maximum time for which a run waits for the walk over the history.
#[derive(Debug, Clone, Copy)]
pub enum WaitLimit {
    /// Wait as long as the rest of the run takes, assuming that each file takes this time on one core.
    PerFile(Duration),
    /// Wait for at most this time in total.
    Total(Duration),
}

/// End of the [`Repository::state`] of a run that does not use git.
const UNUSED: &str = "git is not used";

/// Settings for the use of a repository in a run.
pub struct RunSettings {
    /// Whether git is used. If false, the run works as if there were no repository.
    pub uses_git: bool,
    /// Whether the pipeline attributes files. If false, new commits are ignored.
    pub attributes: bool,
    /// Whether unchanged files are attributed again if their history has changed. If false, a later run attributes
    /// these files. If the repository was removed, the attribution is removed in any case, because this needs no walk.
    pub compares_history: bool,
    /// Whether results of earlier runs may be used. If false, the caches are removed and everything is computed again.
    pub uses_previous: bool,
    /// Number of threads for the walk over the history.
    pub threads: usize,
    /// Token that stops the walk.
    pub cancel: CancelToken,
}

/// The git repository of the indexed root, which may be missing or unreadable.
pub struct Repository {
    history: Option<Arc<History>>,
    /// Reason why the repository cannot be read.
    broken: Option<Arc<str>>,
    /// See [`Self::state`].
    state: String,
    /// Whether the configuration on which attribution depends is unchanged since the last run.
    is_configuration_unchanged: bool,
    previous: PreviousRun,
    using: RunSettings,
    walk: OnceLock<Arc<HistoryWalk>>,
    /// Maximum time for which the run waits for the walk. The time is unlimited while the cell is empty.
    wait_limit: OnceLock<WaitLimit>,
    /// Whether files were left without an attribution, because of the wait limit or because the run was stopped.
    deferred: AtomicBool,
    /// Git's index, or `None` if there is no repository.
    tracked: OnceLock<Result<Option<WorktreeIndex>, HistoryError>>,
}

impl Repository {
    /// Opens the repository at or above `root`. If opening fails, files have no history, and [`Self::remarks`] reports
    /// the reason.
    pub fn open(root: &Path, previous: PreviousRun, using: RunSettings) -> Self {
        let (walk_cache, diff_cache) = (Some(previous.walk_cache.clone()), Some(previous.diff_cache.clone()));
        let mask = Some(Mask { apply: masked, version: aurora_redact::VERSION });
        let options = Options { walk_cache, diff_cache, mask };
        let opened = if using.uses_git { History::open(root, options) } else { Ok(None) };
        let (history, broken) = match opened {
            Ok(history) => (history.map(Arc::new), None),
            Err(error) => (None, Some(Arc::from(error.to_string()))),
        };
        let (walk, wait_limit, deferred, tracked) = Default::default();
        let state = match using.uses_git {
            true => state(history.as_deref(), broken.as_deref(), using.attributes),
            false => UNUSED.to_owned(),
        };
        let has_same_configuration = |history: &Arc<History>| {
            previous.state.as_ref().is_some_and(|state| state.ends_with(&configuration(history)))
        };
        let is_configuration_unchanged = history.as_ref().is_some_and(has_same_configuration);
        Self {
            history,
            broken,
            state,
            is_configuration_unchanged,
            previous,
            using,
            walk,
            wait_limit,
            deferred,
            tracked,
        }
    }

    /// Sets the maximum time for which the run waits for the walk over the history. If the walk takes longer, files
    /// that need it are left without an attribution, see [`Self::deferred`].
    pub fn defer_beyond(&self, limit: WaitLimit) {
        self.wait_limit.get_or_init(|| limit);
    }

    /// Returns the repository with the walk of an earlier pass, unless HEAD or the configuration has changed since that
    /// pass.
    #[must_use]
    pub fn with_walk(self, walk: Arc<HistoryWalk>) -> Self {
        if *walk.state() == self.state { Self { walk: walk.into(), ..self } } else { self }
    }

    /// Returns the unfinished walk, if files were left without an attribution because of it.
    pub fn deferred(&self) -> Option<Arc<HistoryWalk>> {
        let deferred = self.deferred.load(Ordering::Relaxed);
        self.walk.get().filter(|_| deferred).cloned()
    }

    /// Returns the walk over the history, if a file needed it.
    pub fn walk(&self) -> Option<Arc<HistoryWalk>> {
        self.walk.get().cloned()
    }

    /// Whether the attribution of all files is complete and current. This is not the case if the walk failed, or if
    /// files were left without an attribution or with the attribution of an earlier HEAD.
    pub fn is_settled(&self) -> bool {
        let failed = self.walk.get().is_some_and(|walk| walk.has_failed());
        let is_compared = self.using.compares_history || self.is_unmoved() || self.is_missing();
        !failed && is_compared && !self.deferred.load(Ordering::Relaxed)
    }

    /// Saves the diff cache for the next run. Call this method after all files were attributed.
    pub fn save_diff_cache(&self) {
        self.history.iter().for_each(|history| history.save_diff_cache());
    }

    /// Returns the commit at HEAD in hexadecimal digits, or `None` before the first commit.
    pub fn head(&self) -> Option<String> {
        Some(self.history.as_ref()?.head()?.to_string())
    }

    /// Returns everything on which the attribution of an unchanged file depends: HEAD and the configuration of
    /// attribution, or the reason why there is no history.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Returns the state after a run that was stopped or that left files without an attribution. After such a run, some
    /// files have an attribution from this run, and others have an attribution from an earlier run. The returned state
    /// then differs from every [`Self::state`], so the next run checks the history of every file.
    ///
    /// If HEAD and the configuration are unchanged and the attribution of all files is current, returns
    /// [`Self::state`].
    pub fn unfinished_state(&self) -> String {
        let is_new = self.previous.state.is_none();
        match &self.history {
            _ if self.is_unmoved() && self.is_settled() => self.state.clone(),
            Some(history) if is_new || self.is_configuration_unchanged => {
                format!("unfinished {}", configuration(history))
            }
            None if !self.using.uses_git => format!("unfinished {UNUSED}"),
            _ => String::from("unfinished"),
        }
    }

    /// Whether a run that ended with this state has used git.
    pub fn used_git(state: &str) -> bool {
        !state.ends_with(UNUSED)
    }

    /// Returns the remarks about the history for the run report.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(reason) = &self.broken {
            remarks.push(format!("git history is unavailable: {reason}"));
        }
        let Some(history) = &self.history else { return remarks };
        if history.head().is_none() {
            remarks.push("HEAD has no commit yet: no file has a history".into());
        }
        for file in history.unreadable_ignore_files() {
            remarks.push(format!("blame.ignoreRevsFile names {}, which cannot be read: ignored", file.display()));
        }
        if history.ignores_includes() {
            remarks.push(
                "ignored files that the repository's git configuration includes: they are not regular files or are too large"
                    .into(),
            );
        }
        let tracked = self.tracked.get_or_init(|| self.read_index());
        if let Err(error) = tracked {
            remarks.push(format!("{error}; files are judged by time and content"));
        }
        if history.info().is_shallow {
            remarks.push("shallow clone: history ends where the clone does".into());
        }
        if history.info().is_partial {
            remarks.push(
                "partial clone: lines whose older versions are missing are attributed to the oldest available commit"
                    .into(),
            );
        }
        let submodules = self.tracked().map_or(0, |tracked| tracked.submodules().len());
        if submodules > 0 {
            let plural = if submodules == 1 { "" } else { "s" };
            remarks.push(format!("{submodules} submodule{plural}: their files have no history here"));
        }
        remarks
    }

    /// Returns the blob of a file in git's index, if the metadata of the file proves that the file is unmodified.
    pub fn clean_blob(&self, path: &str) -> Option<ObjectId> {
        let file = self.tracked()?.file(path)?;
        (file.state == WorktreeState::Unmodified).then_some(file.blob)
    }

    /// Whether git's index lists a file below a directory.
    pub fn tracks(&self, directory: &str) -> bool {
        self.tracked().is_some_and(|tracked| tracked.has_files_below(directory))
    }

    fn tracked(&self) -> Option<&WorktreeIndex> {
        // Without git's index, every file is checked by time and content, which is slower but correct.
        self.tracked.get_or_init(|| self.read_index()).as_ref().ok()?.as_ref()
    }

    fn read_index(&self) -> Result<Option<WorktreeIndex>, HistoryError> {
        self.history.as_ref().map(|history| history.worktree_index()).transpose()
    }

    /// Whether the attribution of a file with unchanged content may differ from the attribution stored under
    /// `known_key`. Walks the history if HEAD has moved.
    pub fn key_changed(&self, path: &str, known_key: &[u8]) -> bool {
        if self.previous.state.is_none() {
            return true;
        }
        let is_compared = self.using.compares_history || self.is_missing();
        if !self.using.attributes || !is_compared || self.is_unmoved() {
            return false;
        }
        // If the repository was removed, the history of every file has changed. Keys cannot detect this: a file that
        // git did not track has no key with or without a repository.
        let Some(history) = &self.history else { return true };
        if !self.is_configuration_unchanged {
            return true;
        }
        let events = self.events(history).and_then(|found| found.as_ref().ok());
        events.is_some_and(|events| key(events, path) != known_key)
    }

    /// Whether the repository cannot be read. In this case, no file has a history, and [`Self::remarks`] reports the
    /// reason.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Whether there is no repository.
    fn is_missing(&self) -> bool {
        self.history.is_none() && self.broken.is_none()
    }

    /// Whether the repository is a partial clone.
    pub fn is_partial(&self) -> bool {
        self.history.as_ref().is_some_and(|history| history.info().is_partial)
    }

    /// Attributes a file of the working tree: the whole file, or every line and every range in `ranges`, depending on
    /// `tier`. The ranges are half-open and count lines from 0.
    pub fn attribute(
        &self,
        path: &str,
        copy: WorkingCopy<'_>,
        ranges: &[Range<u32>],
        tier: HistoryTier,
    ) -> Attribution {
        let Some(history) = &self.history else {
            return self.broken.clone().map_or(Attribution::NoRepository, Attribution::Unavailable);
        };
        match history.has_file(path) {
            Ok(true) => {}
            Ok(false) => return Attribution::Untracked,
            Err(failure) => return Attribution::Unavailable(failure.to_string().into()),
        }
        if tier == HistoryTier::Line
            && let Some(unmoved) = self.attribute_unmoved(history, path, copy, ranges)
        {
            return unmoved;
        }
        let events = match self.events(history) {
            Some(Ok(events)) => events,
            Some(Err(reason)) => return Attribution::Unavailable(Arc::clone(reason)),
            None => return Attribution::Pending,
        };
        if tier == HistoryTier::File {
            let history = events.file_history(path);
            let attribution = |history| Attribution::File { history: Arc::new(history), key: key(events, path) };
            return history.map_or(Attribution::Untracked, attribution);
        }
        // The library requests an attribution once per range. The cache ensures that each path is read from the index
        // only once.
        let read = RefCell::new(FxHashMap::default());
        let cached = |path: &[u8], key: &EventKey| {
            let mut read = read.borrow_mut();
            let find = || self.stored(path).map(|(key, stored)| (key, Arc::new(stored)));
            let found = read.entry(path.to_vec()).or_insert_with(find).as_ref();
            found.filter(|(stored, _)| stored == key).map(|(_, stored)| Arc::clone(stored))
        };
        match history.attribute(events, &cached, path, Some(copy), ranges) {
            Ok(AttributedFile { blame, touches }) => Attribution::lines(blame, touches, key(events, path)),
            Err(Unattributed::Untracked) => Attribution::Untracked,
            Err(failure) => Attribution::Unavailable(failure.to_string().into()),
        }
    }

    /// Attributes a file without a walk if HEAD has not moved since the last run and the index contains an attribution.
    fn attribute_unmoved(
        &self,
        history: &History,
        path: &str,
        copy: WorkingCopy<'_>,
        ranges: &[Range<u32>],
    ) -> Option<Attribution> {
        if !self.is_unmoved() {
            return None;
        }
        let (key, committed) = self.stored(path.as_bytes())?;
        match history.carry_over(&committed, &key, copy, ranges) {
            Ok(Some(AttributedFile { blame, touches })) => Some(Attribution::lines(blame, touches, key.to_bytes())),
            Ok(None) => None,
            Err(failure) => Some(Attribution::Unavailable(failure.to_string().into())),
        }
    }

    /// Returns the key and the attribution that the index stores for a path. Returns `None` if they are missing or must
    /// not be used.
    fn stored(&self, path: &[u8]) -> Option<(EventKey, FileAttribution)> {
        if !self.using.uses_previous || !self.is_configuration_unchanged {
            return None;
        }
        let row = self.previous.index.file(std::str::from_utf8(path).ok()?).ok()??;
        let key = EventKey::from_bytes(&row.history_key)?;
        let stored = self.previous.index.blame(*row.chunks.first()?).ok()??;
        Some((key, from_stored(stored)?.committed))
    }

    /// Returns the result of the walk over the history, or `None` if waiting would exceed the limit or if the run is
    /// stopped.
    fn events(&self, history: &Arc<History>) -> Option<&WalkOutcome> {
        let walk = self.walk.get_or_init(|| {
            if !self.using.uses_previous {
                // If a cache file cannot be removed, the walk overwrites it.
                let _ = self.previous.walk_cache.remove();
                let _ = self.previous.diff_cache.remove();
            }
            let RunSettings { threads, cancel, .. } = &self.using;
            let (history, lock) = (Arc::clone(history), self.previous.walk_lock.clone());
            Arc::new(HistoryWalk::start(history, self.state.clone(), lock, *threads, cancel.clone()))
        });
        let found = match self.wait_limit.get() {
            _ if self.deferred.load(Ordering::Relaxed) => None,
            Some(&limit) => walk.wait_unless(self.max_wait(limit)),
            None => Some(walk.wait()),
        };
        // A stopped walk has no result, so the next run has to attribute the files.
        let found = found.filter(|found| found.is_ok() || !self.using.cancel.is_cancelled());
        self.deferred.fetch_or(found.is_none(), Ordering::Relaxed);
        found
    }

    fn max_wait(&self, limit: WaitLimit) -> Duration {
        let cost = match limit {
            WaitLimit::Total(limit) => return limit,
            WaitLimit::PerFile(cost) => cost,
        };
        // An update of a complete index processes few files, so the walk gets only the minimum time.
        let is_update = self.previous.index.manifest().complete;
        let files = if is_update { 0 } else { self.tracked().map_or(0, WorktreeIndex::len) };
        let files = u32::try_from(files).unwrap_or(u32::MAX);
        let threads = u32::try_from(self.using.threads.max(1)).unwrap_or(u32::MAX);
        MIN_WAIT.max(cost.saturating_mul(files) / threads)
    }

    /// Whether HEAD and the configuration of attribution are unchanged since the last run.
    fn is_unmoved(&self) -> bool {
        self.previous.state.as_ref() == Some(&self.state)
    }
}

fn state(history: Option<&History>, broken: Option<&str>, attributes: bool) -> String {
    if !attributes {
        return String::from("not attributed");
    }
    let Some(history) = history else {
        return broken.map_or_else(
            || String::from("no repository"),
            |reason| masked(format!("unreadable repository: {reason}")),
        );
    };
    let head = history.head().map_or_else(|| String::from("no commits"), ToString::to_string);
    format!("{head} {}", configuration(history))
}

/// Returns the key that determines the attribution of a path. The key is empty for a path that is not in HEAD.
fn key(events: &EventIndex, path: &str) -> Vec<u8> {
    events.latest(path).map(|key| key.to_bytes()).unwrap_or_default()
}

/// Returns a text with the fingerprint of the attribution settings and the path of the root within the work tree.
fn configuration(history: &History) -> String {
    let fingerprint: String = history.config_fingerprint().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{fingerprint} {}", masked_with_digest(String::from_utf8_lossy(history.prefix()).into_owned()))
}
