//! What the built-in stages of one index run share.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use aurora_analysis::{Embedder, ModelDirectory, StaticModel};
use aurora_confined::{Directory, Refusal, refusal_of};
use aurora_pipeline::{BuildContext, StageError};
use aurora_storage::{IndexWriter, ModelInfo, Snapshot, StorageError};

use crate::columns::RelativePath;
use crate::git_signal::Repository;
use crate::unread::{Unread, is_gone};
use aurora_cachefile::CacheFile;

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

/// Files of more bytes than this are not indexed, unless the pipeline has another figure.
pub(crate) const MAX_FILE_SIZE: u64 = 4 << 20;

/// A time stamp with a part below the second comes from a clock that ticks at least this often.
const FINE_TICK_NS: i64 = 20_000_000;
/// The coarsest clock of a file system in use.
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// One index run: where it reads, what was there before, where it writes.
pub struct Job {
    /// The indexed directory.
    pub root: Directory,
    /// The directory in it that holds the index.
    pub beside: Directory,
    /// The generation that was published when the run began.
    pub previous: Snapshot,
    /// Takes what the sinks have to store; published when every sink is done.
    pub writer: IndexWriter,
    /// The root's git repository, if any.
    pub repository: Repository,
    /// Where models other than the embedded one are found.
    pub models: ModelDirectory,
    /// The secret in the headers of cache files; see [`CacheFile`].
    secret: Vec<u8>,
    started: i64,
    scope: OnceLock<Scope>,
    max_file_size: OnceLock<u64>,
    model: OnceLock<ModelInfo>,
    vanished: OnceLock<HashMap<[u8; 32], Vec<RelativePath>>>,
    moved: Mutex<Vec<(RelativePath, RelativePath)>>,
    unread: Mutex<Unread>,
}

/// What is left of a job whose stages have ended.
pub(crate) struct Finished {
    /// Holds what the sinks have stored.
    pub(crate) writer: IndexWriter,
    /// The root's git repository.
    pub(crate) repository: Repository,
    /// Files that were moved: from where, and to where.
    pub(crate) moved: Vec<(RelativePath, RelativePath)>,
    /// What could not be read.
    pub(crate) unread: Unread,
}

impl Job {
    /// A job that begins at `started`, nanoseconds since the epoch.
    pub(crate) fn new(
        (root, beside): (Directory, Directory),
        previous: Snapshot,
        writer: IndexWriter,
        repository: Repository,
        models: ModelDirectory,
        (secret, started): (Vec<u8>, i64),
    ) -> Self {
        Self {
            root,
            beside,
            previous,
            writer,
            repository,
            models,
            secret,
            started,
            scope: OnceLock::new(),
            max_file_size: OnceLock::new(),
            model: OnceLock::new(),
            vanished: OnceLock::new(),
            moved: Mutex::default(),
            unread: Mutex::default(),
        }
    }

    /// The job that a stage is being built for.
    ///
    /// # Errors
    /// When the pipeline is built outside an index run.
    pub fn of(cx: &BuildContext<'_>) -> Result<Arc<Self>, StageError> {
        cx.services.get::<Self>().ok_or_else(|| StageError::new("this stage runs as part of an index run only"))
    }

    /// The cache file `name` beside the index.
    pub(crate) fn cache_file(&self, name: &str, max_bytes: u64) -> CacheFile {
        CacheFile::new(self.beside.clone(), name, &self.secret, max_bytes)
    }

    /// The user's conversation logs. The user's Aurora directory, which holds the models, holds the logs beside them.
    pub(crate) fn conversations(&self) -> Option<PathBuf> {
        Some(self.models.path().parent()?.join("logs").join("conversations"))
    }

    /// The content of the file that is filed under a path, if it has no more than `limit` bytes.
    ///
    /// # Errors
    /// When there is no regular file, a component of the path is a symbolic link, or the system refuses.
    pub(crate) fn read(&self, path: &str, limit: u64) -> io::Result<Vec<u8>> {
        match self.log(path) {
            Some((log, logs)) => Directory::open_root(&logs)?.read(log, limit),
            None => self.root.read(path, limit),
        }
    }

    /// Whether there is nothing any more where a path is filed; a directory on the way that has become a symbolic link
    /// leads elsewhere.
    fn is_gone(&self, path: &str) -> bool {
        let metadata = match self.log(path) {
            Some((log, logs)) => Directory::open_root(&logs).and_then(|logs| logs.metadata(log)),
            None => self.root.metadata(path),
        };
        metadata.is_err_and(|error| is_gone(&error) || refusal_of(&error) == Some(Refusal::SymbolicLink))
    }

    /// The conversation log that a path stands for, and where the logs are.
    fn log<'p>(&self, path: &'p str) -> Option<(&'p str, PathBuf)> {
        Some((path.strip_prefix(CONVERSATIONS)?, self.conversations()?))
    }

    /// How much has to be made again.
    pub fn scope(&self) -> Scope {
        self.scope.get().copied().unwrap_or(Scope::Everything)
    }

    pub(crate) fn decide(&self, scope: Scope) {
        self.scope.get_or_init(|| scope);
    }

    /// Files of more bytes are not read.
    pub(crate) fn max_file_size(&self) -> u64 {
        self.max_file_size.get().copied().unwrap_or(MAX_FILE_SIZE)
    }

    pub(crate) fn limit_file_size(&self, bytes: u64) {
        self.max_file_size.get_or_init(|| bytes);
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

    /// Takes note of a file or directory that is there and could not be read.
    pub(crate) fn note_unread(&self, path: &str) {
        self.unread().add(path);
    }

    /// What could not be read so far.
    pub(crate) fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stored paths that are no longer on disk, by the hash of their content, sorted.
    pub(crate) fn vanished(&self) -> Result<&HashMap<[u8; 32], Vec<RelativePath>>, StorageError> {
        if let Some(vanished) = self.vanished.get() {
            return Ok(vanished);
        }
        let mut vanished: HashMap<_, Vec<RelativePath>> = HashMap::new();
        for record in self.previous.files() {
            let record = record?;
            if self.is_gone(&record.path) {
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

    /// Takes out of a job whose stages have ended what is left of it.
    pub(crate) fn finish(self) -> Finished {
        let Self { writer, repository, moved, unread, .. } = self;
        let moved = moved.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unread = unread.into_inner().unwrap_or_else(PoisonError::into_inner);
        Finished { writer, repository, moved, unread }
    }
}
