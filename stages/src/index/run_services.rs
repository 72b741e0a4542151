//! Opens the services of a run and provides them to its stages.

use std::io;
use std::path::Path;
use std::sync::Arc;

use aurora_confined::Directory;
use aurora_pipeline::{Plan, Services};
use aurora_storage::{
    ColumnDeclaration, Environment, IndexWriter, OpenMode, ProjectDirectory, Snapshot, WriterOptions,
};

use super::embedding_stage::EmbeddingStage;
use super::error::IndexError;
use super::options::{GitUse, IndexOptions};
use super::pass_kind::PassKind;
use super::scope::HISTORY;
use crate::git_signal::{GitSignal, PreviousRun, Repository, RunSettings};
use crate::services::{
    CacheFiles, Checkpoint, CustomColumns, MAX_HISTORY_WALK_BYTES, Models, Moves, PreviousIndex, RunClock, SourceTree,
};

/// Maximum size of the cache of line diffs and rename sources, in bytes. The history library limits its own data to
/// less than this size.
const MAX_COMPARISONS_BYTES: u64 = 160 << 20;

/// The services of one run.
pub(super) struct RunServices {
    pub(super) tree: Arc<SourceTree>,
    pub(super) previous: Arc<PreviousIndex>,
    /// The index writer. `None` in a dry run.
    pub(super) writer: Option<Arc<IndexWriter>>,
    pub(super) repository: Arc<Repository>,
    pub(super) models: Arc<Models>,
    pub(super) moves: Arc<Moves>,
    pub(super) checkpoint: Arc<Checkpoint>,
    columns: Arc<CustomColumns>,
    caches: Arc<CacheFiles>,
    clock: Arc<RunClock>,
}

impl RunServices {
    /// Opens everything that the stages of a pass share.
    pub(super) fn open(
        plan: &Plan,
        columns: Vec<ColumnDeclaration>,
        environment: &Environment,
        options: &IndexOptions,
        memory: MemoryShares,
        kind: &PassKind,
    ) -> Result<Self, IndexError> {
        let threads = options.jobs.unwrap_or_else(|| plan.run_config().threads());
        let writer = environment.writer(WriterOptions { memory: memory.writer, threads, columns: columns.clone() })?;
        let previous = environment.snapshot()?;
        let project = options.project();
        if previous.manifest().generation == 0 {
            options.trust.known.announce(project.path(), &writer.id());
        }
        // The check reads the whole keyword index, which takes longer than a run over a few changes.
        if !matches!(kind, PassKind::Changes | PassKind::Rest(_)) {
            previous.check_keywords()?;
        }
        let caches = CacheFiles::new(opened(&project, &options.root)?, &writer.id());
        let base = RunBase { columns, writer: Some(Arc::new(writer)), ..RunBase::new(previous, caches, kind) };
        Self::from_base(base, plan, options)
    }

    /// Opens the services of a dry run, which processes one file and stores nothing. The previous index is empty.
    /// `scratch` is a directory for temporary files.
    pub(super) fn dry(
        plan: &Plan,
        columns: Vec<ColumnDeclaration>,
        options: &IndexOptions,
        scratch: &Path,
        path: &str,
    ) -> Result<Self, IndexError> {
        let previous = Environment::open(scratch, OpenMode::Create)?.snapshot()?;
        let caches = CacheFiles::temporary(opened(&ProjectDirectory::at(scratch), scratch)?);
        let base = RunBase { columns, only: Some(path), ..RunBase::new(previous, caches, &PassKind::Whole) };
        Self::from_base(base, plan, options)
    }

    /// Opens the services of a run that compares the tree with the index `previous` and stores nothing. `scratch` is a
    /// directory for temporary files.
    pub(super) fn reading(
        plan: &Plan,
        options: &IndexOptions,
        previous: Snapshot,
        scratch: &Path,
    ) -> Result<Self, IndexError> {
        let caches = CacheFiles::temporary(opened(&ProjectDirectory::at(scratch), scratch)?);
        Self::from_base(RunBase::new(previous, caches, &PassKind::Whole), plan, options)
    }

    /// Like [`reading`](Self::reading), for a check that finds the changes that a [`PassKind::Changes`] pass would
    /// process. Uses the cache files of the project read-only. `previous` must be this user's index, and `plan` must
    /// have all stages.
    pub(super) fn checking(plan: &Plan, options: &IndexOptions, previous: Snapshot) -> Result<Self, IndexError> {
        let project = opened(&ProjectDirectory::in_root(&options.root), &options.root)?;
        let caches = match previous.id() {
            Some(id) => CacheFiles::new(project, &id),
            None => CacheFiles::temporary(project),
        };
        Self::from_base(RunBase::new(previous, caches.read_only(), &PassKind::Changes), plan, options)
    }

    fn from_base(base: RunBase<'_>, plan: &Plan, options: &IndexOptions) -> Result<Self, IndexError> {
        let RunBase { previous, caches, kind, columns, writer, only } = base;
        let (clock, root) = (RunClock::start(), options.root.as_path());
        let tree = Directory::open_root(root).map_err(|error| root_error(root, &error))?;
        let known = previous.manifest().fingerprints.iter().find(|(name, _)| name == HISTORY);
        let shared = options.shard.as_ref().and_then(|shard| shard.history.clone());
        let own = || caches.file(ProjectDirectory::HISTORY_WALK, MAX_HISTORY_WALK_BYTES);
        let (walk_cache, walk_lock) = shared.map_or_else(|| (own(), None), |shared| (shared.cache, Some(shared.lock)));
        let previous_run = PreviousRun {
            state: known.map(|(_, state)| state.clone()),
            walk_cache,
            walk_lock,
            diff_cache: caches.file(ProjectDirectory::HISTORY_COMPARISONS, MAX_COMPARISONS_BYTES),
            index: previous.clone(),
        };
        let restores_vectors = EmbeddingStage::in_plan(plan).map_err(IndexError::Pipeline)?.is_some();
        let uses_git = match options.git {
            GitUse::On => true,
            GitUse::Off => false,
            GitUse::AsBefore => known.is_none_or(|(_, state)| Repository::used_git(state)),
        };
        let settings = RunSettings {
            uses_git,
            attributes: plan.stages().iter().any(|stage| stage.type_name() == GitSignal::NAME),
            compares_history: !matches!(kind, PassKind::Changes),
            uses_previous: !options.force,
            threads: options.jobs.unwrap_or_else(|| plan.run_config().threads()),
            cancel: options.cancel.clone(),
        };
        let repository = Repository::open(root, previous_run, settings);
        let repository = match kind {
            PassKind::Attributions(walk) => repository.with_walk(Arc::clone(walk)),
            PassKind::Rest(earlier) => earlier.walk.iter().cloned().fold(repository, Repository::with_walk),
            PassKind::Whole | PassKind::Changes => repository,
        };
        let tree = SourceTree::new(tree, options.conversations.clone());
        let tree = options.shard.iter().cloned().fold(tree, SourceTree::with_shard);
        Ok(Self {
            tree: Arc::new(only.into_iter().fold(tree, SourceTree::with_only)),
            previous: Arc::new(PreviousIndex::new(previous, restores_vectors)),
            writer,
            repository: Arc::new(repository),
            models: Arc::new(Models::new(options.models.clone())),
            moves: Arc::default(),
            checkpoint: Arc::default(),
            columns: Arc::new(CustomColumns::new(columns)),
            caches: Arc::new(caches),
            clock: Arc::new(clock),
        })
    }

    /// Returns the services in `others` and the services of this run, for use by the stages.
    pub(super) fn lend(&self, others: &Services) -> Services {
        let mut services = others.clone();
        services.insert(Arc::clone(&self.tree));
        services.insert(Arc::clone(&self.previous));
        self.writer.iter().for_each(|writer| services.insert(Arc::clone(writer)));
        services.insert(Arc::clone(&self.repository));
        services.insert(Arc::clone(&self.models));
        services.insert(Arc::clone(&self.moves));
        services.insert(Arc::clone(&self.checkpoint));
        services.insert(Arc::clone(&self.columns));
        services.insert(Arc::clone(&self.caches));
        services.insert(Arc::clone(&self.clock));
        services
    }
}

/// The inputs of [`RunServices::from_base`] that depend on the kind of run.
struct RunBase<'a> {
    previous: Snapshot,
    caches: CacheFiles,
    kind: &'a PassKind,
    columns: Vec<ColumnDeclaration>,
    writer: Option<Arc<IndexWriter>>,
    only: Option<&'a str>,
}

impl<'a> RunBase<'a> {
    fn new(previous: Snapshot, caches: CacheFiles, kind: &'a PassKind) -> Self {
        Self { previous, caches, kind, columns: Vec::new(), writer: None, only: None }
    }
}

/// Opens the directory of a project. An error contains `root` as the path.
fn opened(project: &ProjectDirectory, root: &Path) -> Result<Directory, IndexError> {
    project.open().map_err(|error| root_error(root, &error))
}

fn root_error(path: &Path, error: &io::Error) -> IndexError {
    IndexError::Root { path: path.to_owned(), reason: error.to_string() }
}

/// The division of a run's memory. A quarter of the memory is reserved for data that the shares do not cover: models,
/// syntax trees and file rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryShares {
    /// Memory for batches in flight, in bytes.
    pub(super) batches: u64,
    /// Memory for the writer, in bytes.
    pub(super) writer: usize,
}

impl MemoryShares {
    pub(super) fn from_total(memory: u64) -> Self {
        Self { batches: memory / 4, writer: usize::try_from(memory / 2).unwrap_or(usize::MAX) }
    }
}
