//! An index run from end to end: plan, open, run the stages, publish.

mod access;
mod descriptors;
mod recovery;
mod summary;
mod trust;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aurora_analysis::{Analyzer, ModelDirectory};
use aurora_confined::{Directory, read_regular_to_string};
use aurora_pipeline::{
    BuildContext, CancelToken, Diagnostics, Observer, Outcome, PipelineSource, Plan, RunError, RunOptions, Services,
    Silent, StageError,
};
use aurora_storage::{
    Chunk, Environment, ManifestUpdate, ModelInfo, OpenMode, Origin, Snapshot, StorageError, WriterOptions,
    give_back_freed_memory,
};

pub use summary::{ChunkCounts, FileCounts, IndexSummary, KeywordIndex, Skipped, Unreadable};
pub use trust::{Distrust, Trust};

use crate::git_signal::{GitSignal, HistoryWalk, PreviousRun, Repository, RunSettings, WaitLimit, WalkProgress};
use crate::job::{Finished, Job, Scope};
use crate::limits::Limits;
use crate::{chunk, pipelines, registry};
use aurora_cachefile::CacheFile;
use recovery::Recovery;
use summary::After;

/// Name of the directory below the root that holds an index and the project's configuration.
pub const INDEX_DIRECTORY: &str = ".aurora";

/// The pipeline of a project, below its root.
pub const PROJECT_PIPELINE: &str = ".aurora/pipeline.toml";
/// Most bytes of a pipeline file.
pub const MOST_PIPELINE_BYTES: u64 = 1 << 20;

/// Which pipeline to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PipelineChoice {
    /// The project's `.aurora/pipeline.toml`, or the embedded default.
    #[default]
    Default,
    /// An embedded one.
    Named(String),
    /// A file.
    File(PathBuf),
}

/// What an index run is asked to do.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// Directory to index.
    pub root: PathBuf,
    /// Which pipeline.
    pub pipeline: PipelineChoice,
    /// Make everything again, and set aside an index that cannot be opened.
    pub force: bool,
    /// Threads; as many as there are cores unless given.
    pub jobs: Option<usize>,
    /// Bytes of memory for batches in flight and for postings before they are written; the pipeline's figure unless given.
    pub memory: Option<u64>,
    /// How long files wait for the walk over git's history, before they go without an attribution and everything is
    /// published; attributions follow. As long as everything else takes unless given.
    pub patience: Option<Duration>,
    /// Stops the run cleanly.
    pub cancel: CancelToken,
    /// Where models other than the embedded one are found.
    pub models: ModelDirectory,
    /// Which indexes are brought up to date; any other is set aside and made anew.
    pub trust: Trust,
    /// What the project's own pipeline may ask for.
    pub limits: Limits,
}

/// Watches an index run.
pub trait IndexObserver: Observer {
    /// How far the walk over git's history is that files have gone without an attribution for. Everything is published
    /// already; attributions follow.
    fn on_history(&self, _walk: WalkProgress) {}

    /// The same as the observer of a pipeline's run.
    fn of_run(&self) -> &dyn Observer;
}

impl IndexObserver for Silent {
    fn of_run(&self) -> &dyn Observer {
        self
    }
}

/// Why there is no new index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The pipeline's configuration is wrong.
    #[error("the pipeline has errors")]
    Pipeline(Diagnostics),
    /// The pipeline's file cannot be read.
    #[error("cannot read the pipeline {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The root is not there, or no directory.
    #[error("{path} cannot be indexed: {reason}")]
    Root {
        /// As given.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The process may have too few files open; nothing was written.
    #[error(
        "a run needs {needed} file descriptors and {allowed} are allowed; raise the limit (`ulimit -n {needed}`), or use \
         fewer threads (`--jobs`)"
    )]
    Descriptors {
        /// How many files may be open.
        allowed: u64,
        /// How many a run needs at least.
        needed: u64,
    },
    /// The index cannot be opened or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A stage could not be made ready.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A stage failed while running; the index is as it was.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Resolves and checks a pipeline for a root, without touching anything but its TOML files. The project's own pipeline
/// is held against the limits.
///
/// # Errors
/// With every fault of the configuration at once, or when its file cannot be read.
pub fn plan(root: &Path, choice: &PipelineChoice, limits: &Limits) -> Result<Plan, IndexError> {
    let (name, text) = pipeline_source(root, choice)?;
    let source = PipelineSource { name: &name, text: &text };
    // A file that the user names is trusted.
    let ceilings = if *choice == PipelineChoice::Default { limits.ceilings() } else { Vec::new() };
    let plan = aurora_pipeline::load_within(&[source], &registry(), pipelines::EMBEDDED, &ceilings);
    plan.map_err(IndexError::Pipeline)
}

/// The name and the TOML of a pipeline.
fn pipeline_source(root: &Path, choice: &PipelineChoice) -> Result<(String, String), IndexError> {
    let read = |path: PathBuf, text: io::Result<String>| match text {
        Ok(text) => Ok((path.display().to_string(), text)),
        Err(source) => Err(IndexError::Unreadable { path, source }),
    };
    let extending = |name: &str| (name.to_owned(), format!("extends = {name:?}\n"));
    match choice {
        PipelineChoice::File(path) => read(path.clone(), read_regular_to_string(path, MOST_PIPELINE_BYTES)),
        PipelineChoice::Named(name) => Ok(extending(name)),
        PipelineChoice::Default => {
            let text =
                Directory::open_root(root).and_then(|root| root.read_to_string(PROJECT_PIPELINE, MOST_PIPELINE_BYTES));
            match text {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(extending("default")),
                text => read(root.join(PROJECT_PIPELINE), text),
            }
        }
    }
}

/// Brings the index of a root up to date and publishes it.
///
/// A run that is cancelled publishes what it has finished; the next one goes on from there. A run
/// that fails publishes nothing. What cannot be read stays in the index as it is, see [`IndexSummary::unreadable`]. A keyword index that is damaged is made again from the stored chunks; an index that is
/// damaged elsewhere, or of another format, is set aside and made anew. Either is warned of.
///
/// # Errors
/// When the configuration is wrong, the index cannot be written, or a stage fails.
pub fn run(options: &IndexOptions, observer: &dyn IndexObserver) -> Result<IndexSummary, IndexError> {
    give_back_freed_memory();
    let threads = options.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
    descriptors::ensure(threads.unwrap_or(1))?;
    let root = indexable(&options.root)?;
    let mut done = Vec::from_iter(recovery::clear_unknown(&root, &options.trust)?);
    if options.force && done.is_empty() {
        // What is made again over something that is damaged is damaged still.
        done.extend(recovery::clear_damage(&root)?);
    }
    loop {
        let error = match attempt(&root, options, observer) {
            Ok(mut summary) => {
                summary.warnings.extend(done.iter().map(Recovery::to_string));
                return Ok(summary);
            }
            Err(error) => error,
        };
        match recovery::recover(&error, &root, options, &done)? {
            Some(recovery) => done.push(recovery),
            None => return Err(error),
        }
    }
}

fn attempt(root: &Path, options: &IndexOptions, observer: &dyn IndexObserver) -> Result<IndexSummary, IndexError> {
    let begun = Instant::now();
    let (summary, deferred) = pass(root, options, observer, None)?;
    let Some(walk) = deferred else { return Ok(summary) };
    loop {
        observer.on_history(walk.progress());
        if options.cancel.is_cancelled() {
            return Ok(summary);
        }
        if walk.is_done_after(observer.interval().unwrap_or(WALK_LOOK)) {
            break;
        }
    }
    let (attributed, _) = pass(root, &IndexOptions { force: false, ..options.clone() }, observer, Some(walk))?;
    Ok(summary.followed_by(attributed, begun.elapsed()))
}

/// Runs the pipeline once and publishes. Where files had to go without an attribution, because the walk over git's
/// history takes longer than everything else, that walk is given back: another pass goes on with it.
fn pass(
    root: &Path,
    options: &IndexOptions,
    observer: &dyn IndexObserver,
    walk: Option<Arc<HistoryWalk>>,
) -> Result<(IndexSummary, Option<Arc<HistoryWalk>>), IndexError> {
    let begun = Instant::now();
    let plan = plan(root, &options.pipeline, &options.limits)?;
    let mut warnings: Vec<_> = plan.warnings().iter().map(ToString::to_string).collect();
    let memory = Shares::of(options.memory.unwrap_or(plan.run_config().memory));
    let environment = Environment::open(&root.join(INDEX_DIRECTORY), OpenMode::Create)?;
    if options.trust.known.origin(&root.join(INDEX_DIRECTORY), &environment.snapshot()?) == Origin::Own {
        environment.assume_sound();
    }
    let goes_on = walk.is_some();
    let job = job(root, &plan, &environment, options, memory, walk)?;
    let before = job.previous.manifest().clone();

    let mut services = Services::new();
    services.insert(Arc::clone(&job));
    let pipeline = plan.build(&BuildContext { root, services: &services })?;
    drop(services);
    let mut chain: Vec<_> =
        pipeline.fingerprints().iter().map(|stage| (stage.name.clone(), stage.to_string())).collect();
    // What cannot be read cannot be made again for another configuration.
    let is_same_configuration = scope(&before.fingerprints, &chain, false) == Scope::Changes;
    job.decide(scope(&before.fingerprints, &chain, options.force));
    if !goes_on {
        job.repository.defer_beyond(match options.patience {
            Some(patience) => WaitLimit::Total(patience),
            None => WaitLimit::PerFile(cost_of_a_file(job.model().as_ref())),
        });
    }

    let (jobs, cancel) = (options.jobs, options.cancel.clone());
    let run = RunOptions { jobs, memory: Some(memory.batches), cancel, observer: observer.of_run() };
    let report = pipeline.run(run)?;
    let is_complete = report.outcome == Outcome::Completed;
    let scope = job.scope();
    let (model, job) =
        (job.model(), Arc::into_inner(job).expect("the stages that shared the job ended with the pipeline"));
    let Finished { writer, repository, moved, unread } = job.finish();
    repository.save_diff_cache();
    let deferred = repository.deferred();
    // The next run has to look at the history of what this one could not read.
    let is_settled = repository.is_settled() && unread.known() == 0;
    let history = if is_settled { repository.state().to_owned() } else { repository.unfinished_state() };
    chain.push((HISTORY.to_owned(), history));
    let is_first = before.generation == 0;
    let fingerprints = match is_complete || is_first {
        true => chain,
        false => unfinished(&before.fingerprints, &repository),
    };
    // Half an index of one configuration and half of another would answer neither's way.
    let is_of_one_configuration = match is_complete {
        true => is_same_configuration || unread.known() == 0,
        false => scope == Scope::Changes,
    };
    let published = if is_first || is_of_one_configuration {
        writer.publish(ManifestUpdate {
            model,
            head_commit: repository.head(),
            root: root.display().to_string(),
            fingerprints,
            complete: is_complete && deferred.is_none() && unread.is_empty(),
            now: now_ns() / 1_000_000_000,
            summary: serde_json::Value::Null,
        })?
    } else {
        writer.abandon()?;
        before.clone()
    };
    let is_left = is_complete && !is_first && !is_of_one_configuration;
    let snapshot = environment.snapshot()?;
    if published.generation != before.generation {
        access::follow(root, &moved, &snapshot, now_ns() / 1_000_000_000);
    }
    warnings.extend(record(root, &options.trust, &snapshot));
    let mut remarks = repository.remarks();
    remarks.extend(is_left.then(|| LEFT.to_owned()));
    let after = After { published, snapshot, remarks, warnings, unread };
    let summary = IndexSummary::new(root, &before, after, report, begun.elapsed())?;
    Ok((summary, deferred.filter(|_| is_complete)))
}

/// What is said of an index that could not be made anew.
const LEFT: &str = "the index was left as it was: files that it knows could not be read, and the configuration or the \
                    program has changed since they were indexed; make them readable, or name them in an ignore file";

/// Records the index as this user's; the warning to give if that fails.
fn record(root: &Path, trust: &Trust, snapshot: &Snapshot) -> Option<String> {
    let error = trust.known.record(&root.join(INDEX_DIRECTORY), snapshot).err()?;
    (!trust.accepts_unknown).then(|| format!("searches will not trust this index: {error}"))
}

/// What indexing takes for a file apart from its history, on one core: measured on sources of 100 to 200 lines.
fn cost_of_a_file(model: Option<&ModelInfo>) -> Duration {
    match model {
        Some(model) if model.id != model.tokens => Duration::from_millis(100),
        _ => Duration::from_millis(2),
    }
}

/// The fingerprints of a run that was stopped: files that it has not reached are still as the last run left them.
fn unfinished(before: &[(String, String)], repository: &Repository) -> Vec<(String, String)> {
    let of = |(name, state): &(String, String)| match name == HISTORY {
        true => (name.clone(), repository.unfinished_state()),
        false => (name.clone(), state.clone()),
    };
    before.iter().map(of).collect()
}

/// What the memory of a run is for. A quarter is left for what a run needs whatever its input: models, syntax trees,
/// rows of files.
#[derive(Debug, Clone, Copy)]
struct Shares {
    /// Bytes of batches in flight.
    batches: u64,
    /// Bytes of the writer.
    writer: usize,
}

impl Shares {
    fn of(memory: u64) -> Self {
        Self { batches: memory / 4, writer: usize::try_from(memory / 2).unwrap_or(usize::MAX) }
    }
}

/// Time between two looks at a walk that is waited for.
const WALK_LOOK: Duration = Duration::from_millis(100);

/// Name of the cache file, beside the index, of the walk over git's history.
const WALK: &str = "history.walk";
/// Most bytes of it: some five million commits.
const MAX_WALK: u64 = 1 << 30;

/// Name of the cache file, beside the index, of line diffs and rename sources.
const COMPARISONS: &str = "history.comparisons";
/// Most bytes of it; the library writes less.
const MAX_COMPARISONS: u64 = 160 << 20;

/// The entry of the manifest's fingerprints that stands for HEAD and what else attribution depends on.
const HISTORY: &str = "history";

fn job(
    root: &Path,
    plan: &Plan,
    environment: &Environment,
    options: &IndexOptions,
    memory: Shares,
    walk: Option<Arc<HistoryWalk>>,
) -> Result<Arc<Job>, IndexError> {
    let started = now_ns();
    let writer = environment.writer(WriterOptions { memory: memory.writer })?;
    let previous = environment.snapshot()?;
    if previous.manifest().generation == 0 {
        options.trust.known.announce(&root.join(INDEX_DIRECTORY), &writer.id());
    }
    previous.check_keywords()?;
    let known = previous.manifest().fingerprints.iter().find(|(name, _)| name == HISTORY);
    let state = known.map(|(_, state)| state.clone());
    let attributes = plan.stages().iter().any(|stage| stage.type_name() == GitSignal::NAME);
    let opened = |source| IndexError::Root { path: root.to_owned(), reason: io::Error::to_string(&source) };
    let tree = Directory::open_root(root).map_err(opened)?;
    let beside = tree.open_directory(INDEX_DIRECTORY).map_err(opened)?;
    let secret = writer.id().as_bytes().to_vec();
    let cache = |name, max_bytes| CacheFile::new(beside.clone(), name, &secret, max_bytes);
    let (walk_cache, diff_cache) = (cache(WALK, MAX_WALK), cache(COMPARISONS, MAX_COMPARISONS));
    let previous_run = PreviousRun { index: previous.clone(), state, walk_cache, diff_cache };
    let threads = options.jobs.unwrap_or_else(|| plan.run_config().threads());
    let using = RunSettings { attributes, uses_previous: !options.force, threads, cancel: options.cancel.clone() };
    let repository = Repository::open(root, previous_run, using);
    let repository = walk.into_iter().fold(repository, Repository::with_walk);
    let models = options.models.clone();
    Ok(Arc::new(Job::new((tree, beside), previous, writer, repository, models, (secret, started))))
}

/// Builds the keyword index anew from the stored chunks, whatever state it is in; returns how many there are.
///
/// # Errors
/// When there is no index, another run is writing, or the disk refuses.
pub fn rebuild_bm25(root: &Path, trust: &Trust) -> Result<u64, IndexError> {
    let mut terms = |chunk: &Chunk| chunk::stage::terms_of(&Analyzer, chunk);
    let directory = root.join(INDEX_DIRECTORY);
    let rebuilt = Environment::rebuild_keywords(&directory, &trust.known, WriterOptions::default(), &mut terms)?;
    trust.known.record(&directory, &Environment::open(&directory, OpenMode::Existing)?.snapshot()?)?;
    Ok(rebuilt.chunk_count)
}

/// The absolute path of a directory that can be indexed.
fn indexable(path: &Path) -> Result<PathBuf, IndexError> {
    let refuse = |reason: &str| Err(IndexError::Root { path: path.to_owned(), reason: reason.to_owned() });
    let root = match path.canonicalize() {
        Ok(root) => root,
        Err(error) => return refuse(&error.to_string()),
    };
    if !root.is_dir() {
        return refuse("it is not a directory");
    }
    let is_git_directory = root.join("HEAD").is_file() && root.join("objects").is_dir() && root.join("refs").is_dir();
    if is_git_directory {
        return refuse("it is a git directory without a work tree; check a branch out and index that");
    }
    Ok(root)
}

/// What the stages' fingerprints say about the index that is there. What is made of a file's text
/// has to be made again from the file when parsing or chunking differs, and from the stored chunks
/// when only a later stage does.
fn scope(before: &[(String, String)], now: &[(String, String)], force: bool) -> Scope {
    if force || before.is_empty() {
        return Scope::Everything;
    }
    let differing: Vec<&str> = now
        .iter()
        .chain(before)
        .filter(|entry| entry.0 != HISTORY && !(before.contains(entry) && now.contains(entry)))
        .map(|(name, _)| name.as_str())
        .collect();
    let derived = |name: &&str| DERIVED.contains(name);
    match differing.as_slice() {
        [] => Scope::Changes,
        names if names.iter().all(derived) => Scope::Derived,
        _ => Scope::Everything,
    }
}

/// Stages whose work can be done again from stored chunks.
const DERIVED: &[&str] = &["embed", "git-signal", "store", "bm25"];

pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
