//! The options of an index run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::{CancelToken, Observer, Registry, Services, Silent};
use aurora_storage::{ProjectDirectory, UserDirectory, Workers};

use super::trust::Trust;
use crate::git_signal::WalkProgress;
use crate::limits::Limits;
use crate::services::ShardRun;

/// The pipeline to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PipelineChoice {
    /// The project's `.aurora/pipeline.toml`, or the embedded default.
    #[default]
    Default,
    /// An embedded pipeline.
    Named(String),
    /// A pipeline file.
    File(PathBuf),
    /// A pipeline from the calling program.
    Text {
        /// Name of the pipeline in messages.
        name: String,
        /// TOML of the pipeline.
        text: String,
    },
}

/// The use of git in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GitUse {
    /// As in the last run on the index; the first run uses git.
    #[default]
    AsBefore,
    /// Lines are attributed to commits, and git's index can show that a file is unchanged.
    On,
    /// The run works as if there were no repository. Ignore files, such as `.gitignore` and git's `info/exclude`, still apply.
    Off,
}

/// The options of an index run.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// Directory to index.
    pub root: PathBuf,
    /// The stage types available to pipelines: the built-in types, see [`crate::registry`], and custom types.
    pub registry: Arc<Registry>,
    /// Objects for custom stages, in addition to the services of the run.
    pub services: Services,
    /// The pipeline to run.
    pub pipeline: PipelineChoice,
    /// Stages that are removed from the pipeline, together with their columns.
    pub left_out: Vec<String>,
    /// Stages that are not run because the user has not allowed their programs. Rows with unchanged text keep the
    /// values of these stages, and the values are marked as stale.
    pub untrusted: Vec<String>,
    /// Whether programs are run. If false, stages that run programs are treated like the stages in `untrusted`, but
    /// their values are not marked as stale. The next run with programs runs these stages on the rows without a result.
    pub runs_programs: bool,
    /// Whether rows on which a stage failed are processed again even if nothing else has changed.
    pub retries_failures: bool,
    /// Maximum number of failed rows for each stage. Overrides the value in the pipeline.
    pub max_failed_rows: Vec<(String, u64)>,
    /// Minimum percentage of chunks with a value for each column. Overrides the value in the pipeline.
    pub min_columns: Vec<(String, f64)>,
    /// The use of git.
    pub git: GitUse,
    /// Whether to rebuild everything. An index that cannot be opened is moved away.
    pub force: bool,
    /// Whether the run is recorded for [`super::runs`] if it changes the index. If false, the caller records the run
    /// with [`super::record_run`].
    pub records: bool,
    /// Whether to fail without writing anything if there is no index that can be updated. If false, the run builds a
    /// new index.
    pub requires_index: bool,
    /// Whether to fail without writing anything if the project's `.aurora` is missing.
    pub requires_directory: bool,
    /// Restricts the run to a part of the tree; `None` for a run on the whole tree. [`run_shard`](super::run_shard) sets
    /// it.
    pub shard: Option<ShardRun>,
    /// Number of threads. Defaults to the number of cores.
    pub jobs: Option<usize>,
    /// Memory limit for batches in flight and for postings that are not written yet, in bytes. Defaults to the value in
    /// the pipeline.
    pub memory: Option<u64>,
    /// Maximum time for which the run waits for the walk over the git history. After this time, files are published
    /// without attribution, and a second pass adds the attribution. Zero disables waiting. Defaults to the estimated
    /// time that all other work takes.
    pub patience: Option<Duration>,
    /// Time between publications of a long run that builds an index or processes many changes. Defaults to 10 seconds,
    /// or longer if publications would otherwise take more than 2 % of the time.
    pub publish_every: Option<Duration>,
    /// Token that stops the run cleanly.
    pub cancel: CancelToken,
    /// Directory of installed models.
    pub models: ModelDirectory,
    /// Directory of the user's conversation logs. Defaults to the directory next to the models.
    pub conversations: Option<PathBuf>,
    /// The indexes that may be updated. Any other index is moved away and rebuilt.
    pub trust: Trust,
    /// Limits for the project's own pipeline.
    pub limits: Limits,
}

impl IndexOptions {
    /// Creates options for a run of the project's pipeline with the built-in stages and the default limits. `models` is
    /// the user's directory of models, and `trust` lists the indexes that the user trusts.
    pub fn new(root: PathBuf, models: ModelDirectory, trust: Trust) -> Self {
        Self {
            root,
            registry: Arc::new(crate::registry()),
            services: Services::new(),
            pipeline: PipelineChoice::Default,
            left_out: Vec::new(),
            untrusted: Vec::new(),
            runs_programs: true,
            retries_failures: true,
            max_failed_rows: Vec::new(),
            min_columns: Vec::new(),
            git: GitUse::AsBefore,
            force: false,
            records: true,
            requires_index: false,
            requires_directory: false,
            shard: None,
            jobs: None,
            memory: None,
            patience: None,
            publish_every: None,
            cancel: CancelToken::new(),
            // The user's directory contains the directory of models.
            conversations: models.path().parent().map(|user| UserDirectory::at(user).conversations()),
            models,
            trust,
            limits: Limits::default(),
        }
    }

    /// Returns the directory of the index.
    pub(super) fn project(&self) -> ProjectDirectory {
        match &self.shard {
            Some(run) => ProjectDirectory::at(&run.directory),
            None => ProjectDirectory::in_root(&self.root),
        }
    }

    /// Returns the number of threads for work on the index outside of stages.
    pub(super) fn workers(&self) -> Workers {
        self.jobs.map_or_else(Workers::default, Workers::new)
    }
}

/// An observer of an index run.
pub trait IndexObserver: Observer {
    /// Reports the progress of the walk over the git history. Called after everything else was published, while the run
    /// waits for the walk.
    fn on_history(&self, _walk: WalkProgress) {}

    /// Returns this observer as the observer of a pipeline run.
    fn run_observer(&self) -> &dyn Observer;
}

impl IndexObserver for Silent {
    fn run_observer(&self) -> &dyn Observer {
        self
    }
}
