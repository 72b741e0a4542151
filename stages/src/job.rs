//! What the built-in stages of one index run share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use aurora_analysis::{Embedder, ModelDirectory, StaticModel};
use aurora_pipeline::{BuildContext, StageError};
use aurora_storage::{IndexWriter, ModelInfo, Snapshot, StorageError};

use crate::columns::RelativePath;
use crate::git_signal::Repository;

/// How much of an index has to be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// What has changed in the tree.
    Changes,
    /// That, and for every other file all that is derived from its stored chunks.
    Derived,
    /// Everything.
    Everything,
}

/// What stands before the paths of conversation logs, which lie in the user's Aurora directory.
pub(crate) const CONVERSATIONS: &str = ".aurora/logs/conversations/";
/// What stands before the paths of reasoning patterns, which lie in the project's.
pub(crate) const PATTERNS: &str = ".aurora/reasoning/";

/// A time stamp with a part below the second comes from a clock that ticks at least this often.
const FINE_TICK_NS: i64 = 20_000_000;
/// The coarsest clock of a file system in use.
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// One index run: where it reads, what was there before, where it writes.
pub struct Job {
    /// The indexed directory.
    pub root: PathBuf,
    /// The generation that was published when the run began.
    pub previous: Snapshot,
    /// Takes what the sinks have to store; published when every sink is done.
    pub writer: IndexWriter,
    /// The root's git repository, if any.
    pub repository: Repository,
    /// Where models other than the embedded one are found.
    pub models: ModelDirectory,
    started: i64,
    scope: OnceLock<Scope>,
    model: OnceLock<ModelInfo>,
    vanished: OnceLock<HashMap<[u8; 32], Vec<RelativePath>>>,
    moved: Mutex<Vec<(RelativePath, RelativePath)>>,
}

impl Job {
    /// A job that begins at `started`, nanoseconds since the epoch.
    pub(crate) fn new(
        root: PathBuf,
        previous: Snapshot,
        writer: IndexWriter,
        repository: Repository,
        models: ModelDirectory,
        started: i64,
    ) -> Self {
        Self {
            root,
            previous,
            writer,
            repository,
            models,
            started,
            scope: OnceLock::new(),
            model: OnceLock::new(),
            vanished: OnceLock::new(),
            moved: Mutex::default(),
        }
    }

    /// The job that a stage is being built for.
    ///
    /// # Errors
    /// When the pipeline is built outside an index run.
    pub fn of(cx: &BuildContext<'_>) -> Result<Arc<Self>, StageError> {
        cx.services.get::<Self>().ok_or_else(|| StageError::new("this stage runs as part of an index run only"))
    }

    /// Where the file lies that is filed under a path. The user's Aurora directory, which holds the
    /// models, holds the logs beside them.
    pub(crate) fn locate(&self, path: &str) -> PathBuf {
        match (path.strip_prefix(CONVERSATIONS), self.models.path().parent()) {
            (Some(log), Some(home)) => home.join("logs").join("conversations").join(log),
            _ => self.root.join(path),
        }
    }

    /// How much has to be made again.
    pub fn scope(&self) -> Scope {
        self.scope.get().copied().unwrap_or(Scope::Everything)
    }

    pub(crate) fn decide(&self, scope: Scope) {
        self.scope.get_or_init(|| scope);
    }

    /// The model whose vectors this run stores.
    pub(crate) fn model(&self) -> Option<ModelInfo> {
        self.model.get().cloned()
    }

    pub(crate) fn set_model(&self, embedder: &dyn Embedder, tokens: &StaticModel) {
        self.model.get_or_init(|| ModelInfo {
            id: embedder.id().to_owned(),
            dimensions: embedder.dimensions(),
            tokens: tokens.id().to_owned(),
        });
    }

    /// The modification time under which a file is remembered: zero, which no file matches, if the
    /// file could still change without its time changing.
    pub(crate) fn recorded_mtime(&self, mtime: i64) -> i64 {
        if self.is_settled(mtime) { mtime } else { 0 }
    }

    /// Whether what changed at a time would have another time if it changed again, from the beginning of this run on.
    pub(crate) fn is_settled(&self, time: i64) -> bool {
        let tick = if time % 1_000_000_000 == 0 { COARSE_TICK_NS } else { FINE_TICK_NS };
        time < self.started - tick
    }

    /// Stored paths that are no longer on disk, by the hash of their content, sorted.
    pub(crate) fn vanished(&self) -> Result<&HashMap<[u8; 32], Vec<RelativePath>>, StorageError> {
        if let Some(vanished) = self.vanished.get() {
            return Ok(vanished);
        }
        let mut vanished: HashMap<_, Vec<RelativePath>> = HashMap::new();
        for record in self.previous.files() {
            let record = record?;
            if self.locate(&record.path).symlink_metadata().is_err() {
                vanished.entry(record.hash).or_default().push(record.path.into());
            }
        }
        Ok(self.vanished.get_or_init(|| vanished))
    }

    /// Notes that a file was moved, so that what is remembered of its chunks moves with it.
    pub(crate) fn moved(&self, from: &RelativePath, to: &RelativePath) {
        let pair = (Arc::clone(from), Arc::clone(to));
        self.moved.lock().unwrap_or_else(PoisonError::into_inner).push(pair);
    }

    /// Takes the writer and the moves out of a job whose stages have ended.
    pub(crate) fn into_parts(self) -> (IndexWriter, Repository, Vec<(RelativePath, RelativePath)>) {
        (self.writer, self.repository, self.moved.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}
