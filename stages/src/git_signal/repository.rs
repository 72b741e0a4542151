//! The indexed root's git repository, opened at once but walked no sooner than something needs it.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aurora_history::ObjectId;
use aurora_pipeline::CancelToken;
use aurora_storage::{HistoryTier, Snapshot};
use rustc_hash::FxHashMap;

use super::stored::from_stored;
use super::walk::{HistoryWalk, WalkOutcome};
use crate::columns::Attribution;
use aurora_cachefile::CacheFile;
use aurora_history::{
    EventIndex, EventKey, FileAttribution, History, HistoryError, Unattributed, WorktreeIndex, WorktreeState,
};

/// A walk that is about as quick as this is always waited for.
const SHORTEST_PATIENCE: Duration = Duration::from_millis(500);

/// What earlier runs have left of attribution.
pub struct PreviousRun {
    /// The index as it was published.
    pub index: Snapshot,
    /// [`Repository::state`] when that was.
    pub state: Option<String>,
    /// The file that keeps the walk over the history.
    pub walk: CacheFile,
    /// The file that keeps how old versions differ.
    pub comparisons: CacheFile,
}

/// How long the walk over the history is waited for.
#[derive(Debug, Clone, Copy)]
pub enum WaitLimit {
    /// As long as everything else takes, where a file costs one core so much.
    PerFile(Duration),
    /// This long.
    Total(Duration),
}

/// How a run uses a repository.
pub struct RunSettings {
    /// Whether it attributes at all. If not, it takes no notice of new commits.
    pub attributes: bool,
    /// Whether what earlier runs have found may be used; if not, all of it is found again.
    pub trusts: bool,
    /// Threads for the walk over the history.
    pub threads: usize,
    /// Stops the walk.
    pub cancel: CancelToken,
}

/// A repository, or the lack of one.
pub struct Repository {
    history: Option<Arc<History>>,
    /// Why there is none to be read, where git's own files are broken.
    broken: Option<Arc<str>>,
    /// See [`Self::state`].
    state: String,
    /// Whether the configuration that attribution depends on is that of the last run.
    configured_as_before: bool,
    previous: PreviousRun,
    using: RunSettings,
    walk: OnceLock<Arc<HistoryWalk>>,
    /// How long the walk is waited for; as long as it takes unless given.
    patience: OnceLock<WaitLimit>,
    /// Whether files were left without an attribution, because of that or because the run was stopped.
    deferred: AtomicBool,
    /// What git's index lists.
    tracked: OnceLock<Result<Option<WorktreeIndex>, HistoryError>>,
}

impl Repository {
    /// Opens the repository that `root` lies in. One that cannot be opened is as good as none; [`Self::remarks`] says so.
    pub fn open(root: &Path, previous: PreviousRun, using: RunSettings) -> Self {
        let (history, broken) = match History::open(root) {
            Ok(history) => {
                let keep = |history: History| history.with_comparisons_in(previous.comparisons.clone());
                (history.map(keep).map(Arc::new), None)
            }
            Err(error) => (None, Some(Arc::from(error.to_string()))),
        };
        let (walk, patience, deferred, tracked) = Default::default();
        let state = state(history.as_deref(), using.attributes);
        let ends_alike = |history: &Arc<History>| {
            previous.state.as_ref().is_some_and(|state| state.ends_with(&configuration(history)))
        };
        let configured_as_before = history.as_ref().is_some_and(ends_alike);
        Self { history, broken, state, configured_as_before, previous, using, walk, patience, deferred, tracked }
    }

    /// Lets files go without an attribution if the walk over the history takes longer; see [`Self::deferred`].
    pub fn defer_beyond(&self, patience: WaitLimit) {
        self.patience.get_or_init(|| patience);
    }

    /// Goes on with a walk that an earlier run has begun, unless HEAD has moved since.
    #[must_use]
    pub fn with_walk(self, walk: Arc<HistoryWalk>) -> Self {
        match *walk.state() == self.state {
            true => Self { walk: walk.into(), ..self },
            false => self,
        }
    }

    /// The walk that files have gone without an attribution for, if any.
    pub fn deferred(&self) -> Option<Arc<HistoryWalk>> {
        let deferred = self.deferred.load(Ordering::Relaxed);
        self.walk.get().filter(|_| deferred).cloned()
    }

    /// Whether no file has to be looked at again: none was left without an attribution, and the walk, if there was one, has
    /// found something.
    pub fn is_settled(&self) -> bool {
        let failed = self.walk.get().is_some_and(|walk| walk.has_failed());
        !failed && !self.deferred.load(Ordering::Relaxed)
    }

    /// Keeps what was found by comparing old versions for the next run; to be called when all files were attributed.
    pub fn store_comparisons(&self) {
        self.history.iter().for_each(|history| history.store_comparisons());
    }

    /// The commit that HEAD points at, as hexadecimal digits; nothing before the first commit.
    pub fn head(&self) -> Option<String> {
        Some(self.history.as_ref()?.head()?.to_string())
    }

    /// All that the attribution of an unchanged file depends on: HEAD, and the configuration that
    /// rewrites authors and passes over commits.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// The same after a run that was stopped, or that left files without an attribution: some files are as this run left
    /// them, the others as the last one did. It is that of no repository, so that the next run looks at the history of
    /// every file.
    pub fn unfinished_state(&self) -> String {
        let is_new = self.previous.state.is_none();
        match &self.history {
            _ if self.is_unmoved() && self.is_settled() => self.state.clone(),
            Some(history) if is_new || self.configured_as_before => {
                format!("unfinished {}", configuration(history))
            }
            _ => String::from("unfinished"),
        }
    }

    /// What a user should know of the history, for the run report.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(reason) = &self.broken {
            remarks.push(format!("git history is unavailable: {reason}"));
        }
        let Some(history) = &self.history else { return remarks };
        if history.head().is_none() {
            remarks.push("HEAD is no commit yet: no file has a history".into());
        }
        for file in history.unreadable_ignore_files() {
            remarks.push(format!("blame.ignoreRevsFile names {}, which cannot be read: ignored", file.display()));
        }
        if history.ignores_includes() {
            remarks.push(
                "files that the repository's git configuration includes are not regular files or too large: ignored"
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
            remarks
                .push("partial clone: lines whose older versions are missing go to the oldest commit at hand".into());
        }
        let submodules = self.tracked().map_or(0, |tracked| tracked.submodules().len());
        if submodules > 0 {
            let plural = if submodules == 1 { "" } else { "s" };
            remarks.push(format!("{submodules} submodule{plural}: their files have no history here"));
        }
        remarks
    }

    /// The object id under which git's index holds a file that git can vouch for without reading it.
    pub fn clean_blob(&self, path: &str) -> Option<ObjectId> {
        let file = self.tracked()?.file(path)?;
        (file.state == WorktreeState::Unmodified).then_some(file.blob)
    }

    /// Whether git's index lists a file below a directory.
    pub fn tracks(&self, directory: &str) -> bool {
        self.tracked().is_some_and(|tracked| tracked.has_files_below(directory))
    }

    fn tracked(&self) -> Option<&WorktreeIndex> {
        // Without git's word every file is judged by its time and content: slower, not wrong.
        self.tracked.get_or_init(|| self.read_index()).as_ref().ok()?.as_ref()
    }

    fn read_index(&self) -> Result<Option<WorktreeIndex>, HistoryError> {
        self.history.as_ref().map(|history| history.worktree_index()).transpose()
    }

    /// Whether the attribution of a file may differ from the one that `known_key` stands for, the
    /// file's content being the same. Walks the history if HEAD has moved.
    pub fn key_changed(&self, path: &str, known_key: &[u8]) -> bool {
        if self.previous.state.is_none() {
            return true;
        }
        if !self.using.attributes || self.is_unmoved() {
            return false;
        }
        let Some(history) = &self.history else { return !known_key.is_empty() };
        if !self.configured_as_before {
            return true;
        }
        let events = self.events(history).and_then(|found| found.as_ref().ok());
        events.is_some_and(|events| key(events, path) != known_key)
    }

    /// Whether git's own files are broken, so that no file has a history; [`Self::remarks`] says why.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Whether objects may be missing because the clone left them out.
    pub fn is_partial(&self) -> bool {
        self.history.as_ref().is_some_and(|history| history.info().is_partial)
    }

    /// Attributes a file of the working tree: as a whole, or line by line and for each of `ranges` (lines, counted from 0,
    /// without their end).
    pub fn attribute(&self, path: &str, text: &str, ranges: &[Range<u32>], tier: HistoryTier) -> Attribution {
        let Some(history) = &self.history else {
            return self.broken.clone().map_or(Attribution::NoRepository, Attribution::Unavailable);
        };
        match history.has_file(path) {
            Ok(true) => {}
            Ok(false) => return Attribution::Untracked,
            Err(failure) => return Attribution::Unavailable(failure.to_string().into()),
        }
        if tier == HistoryTier::Line
            && let Some(unmoved) = self.attribute_unmoved(history, path, text, ranges)
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
            let of_file = |history| Attribution::File { history: Arc::new(history), key: key(events, path) };
            return history.map_or(Attribution::Untracked, of_file);
        }
        // Asked for a range at a time.
        let asked = RefCell::new(FxHashMap::default());
        let known = |path: &[u8], key: &EventKey| {
            let mut asked = asked.borrow_mut();
            let find = || self.stored(path).map(|(key, stored)| (key, Arc::new(stored)));
            let found = asked.entry(path.to_vec()).or_insert_with(find).as_ref();
            found.filter(|(stored, _)| stored == key).map(|(_, stored)| Arc::clone(stored))
        };
        match history.attribute(events, &known, path, text.as_bytes(), ranges) {
            Ok((blame, touches)) => Attribution::lines(blame, touches, key(events, path)),
            Err(Unattributed::Untracked) => Attribution::Untracked,
            Err(failure) => Attribution::Unavailable(failure.to_string().into()),
        }
    }

    /// The attribution of a file whose history is as it was when it was last attributed: an edit costs no walk.
    fn attribute_unmoved(
        &self,
        history: &History,
        path: &str,
        text: &str,
        ranges: &[Range<u32>],
    ) -> Option<Attribution> {
        if !self.is_unmoved() {
            return None;
        }
        let (key, committed) = self.stored(path.as_bytes())?;
        match history.carry_over(&committed, &key, text.as_bytes(), ranges) {
            Ok(Some((blame, touches))) => Some(Attribution::lines(blame, touches, key.to_bytes().to_vec())),
            Ok(None) => None,
            Err(failure) => Some(Attribution::Unavailable(failure.to_string().into())),
        }
    }

    /// What the index holds of the attribution of a path, and under which key; `None` also where it may not be used.
    fn stored(&self, path: &[u8]) -> Option<(EventKey, FileAttribution)> {
        if !self.using.trusts || !self.configured_as_before {
            return None;
        }
        let row = self.previous.index.file(std::str::from_utf8(path).ok()?).ok()??;
        let key = EventKey::from_bytes(row.history_key.try_into().ok()?);
        let stored = self.previous.index.blame(*row.chunks.first()?).ok()??;
        Some((key, from_stored(stored)?.committed))
    }

    /// What the walk over the history finds; `None` if that is not waited for, or the run is stopped meanwhile.
    fn events(&self, history: &Arc<History>) -> Option<&WalkOutcome> {
        let walk = self.walk.get_or_init(|| {
            let kept = self.previous.walk.clone();
            if !self.using.trusts {
                // One that cannot be removed is written over.
                let _ = kept.remove();
                let _ = self.previous.comparisons.remove();
            }
            let RunSettings { threads, cancel, .. } = &self.using;
            Arc::new(HistoryWalk::start(Arc::clone(history), self.state.clone(), kept, *threads, cancel.clone()))
        });
        let found = match self.patience.get() {
            _ if self.deferred.load(Ordering::Relaxed) => None,
            Some(&patience) => walk.wait_unless(self.longest_wait(patience)),
            None => Some(walk.wait()),
        };
        // That a walk was stopped says nothing of the files: the next run has to look at them.
        let found = found.filter(|found| found.is_ok() || !self.using.cancel.is_cancelled());
        self.deferred.fetch_or(found.is_none(), Ordering::Relaxed);
        found
    }

    fn longest_wait(&self, patience: WaitLimit) -> Duration {
        let cost = match patience {
            WaitLimit::Total(patience) => return patience,
            WaitLimit::PerFile(cost) => cost,
        };
        // An update of an index that has everything looks at few files.
        let files = match self.previous.index.manifest().complete {
            true => 0,
            false => u32::try_from(self.tracked().map_or(0, WorktreeIndex::len)).unwrap_or(u32::MAX),
        };
        let threads = u32::try_from(self.using.threads.max(1)).unwrap_or(u32::MAX);
        SHORTEST_PATIENCE.max(cost.saturating_mul(files) / threads)
    }

    /// Whether HEAD and all else that attribution depends on are those of the last run.
    fn is_unmoved(&self) -> bool {
        self.previous.state.as_ref() == Some(&self.state)
    }
}

fn state(history: Option<&History>, attributes: bool) -> String {
    if !attributes {
        return String::from("not attributed");
    }
    let Some(history) = history else { return String::from("no repository") };
    let head = history.head().map_or_else(|| String::from("no commits"), ToString::to_string);
    format!("{head} {}", configuration(history))
}

/// What the attribution of a path is a function of; empty for a path that HEAD does not have.
fn key(events: &EventIndex, path: &str) -> Vec<u8> {
    events.latest(path).map(|key| key.to_bytes().to_vec()).unwrap_or_default()
}

fn configuration(history: &History) -> String {
    history.config_fingerprint().iter().map(|byte| format!("{byte:02x}")).collect()
}
