//! What an index run is asked to do.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::{CancelToken, Observer, Registry, Services, Silent};
use aurora_storage::{UserDirectory, Workers};

use super::trust::Trust;
use crate::git_signal::WalkProgress;
use crate::limits::Limits;

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
    /// One that the calling program brings.
    Text {
        /// How messages name it.
        name: String,
        /// Its TOML.
        text: String,
    },
}

/// What an index run is asked to do.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// Directory to index.
    pub root: PathBuf,
    /// The stage types that pipelines may use: the built-in ones, see [`crate::registry`], and custom ones.
    pub registry: Arc<Registry>,
    /// Objects for custom stages, beside those of the run.
    pub services: Services,
    /// Which pipeline.
    pub pipeline: PipelineChoice,
    /// Stages of the pipeline that are left out, with their columns.
    pub left_out: Vec<String>,
    /// Stages that are not run because the user has not allowed their programs. Rows whose text is unchanged keep the values of
    /// these stages, which are marked as stale.
    pub untrusted: Vec<String>,
    /// Whether programs are run. Without, stages that run programs are treated like those in `untrusted`, but their values are
    /// not stale: the next run with programs runs them on the rows without a result.
    pub runs_programs: bool,
    /// Whether rows on which a stage has failed are tried again although nothing else has changed.
    pub retries_failures: bool,
    /// Number of failed rows that are tolerated by stage, in place of what the pipeline says.
    pub max_failed_rows: Vec<(String, u64)>,
    /// Share of the chunks that must have a value by column, in percent, in place of what the pipeline says.
    pub min_columns: Vec<(String, f64)>,
    /// Make everything again, and set aside an index that cannot be opened.
    pub force: bool,
    /// Fail, and write nothing, if there is no index that can be brought up to date, instead of building one.
    pub requires_index: bool,
    /// Fail, and write nothing, if the project's `.aurora` is missing.
    pub requires_directory: bool,
    /// Threads; as many as there are cores unless given.
    pub jobs: Option<usize>,
    /// Bytes of memory for batches in flight and for postings before they are written; the pipeline's figure unless given.
    pub memory: Option<u64>,
    /// How long files wait for the walk over git's history before they are published without attribution, which follows in
    /// a second pass. Zero: not at all. By default as long as everything else takes.
    pub patience: Option<Duration>,
    /// Time between publications of a long run that builds an index or has many changes to process. By default at least 10 seconds, and
    /// so long that publications take less than 2 % of the time.
    pub publish_every: Option<Duration>,
    /// Stops the run cleanly.
    pub cancel: CancelToken,
    /// Where models other than the embedded one are found.
    pub models: ModelDirectory,
    /// The user's conversation logs; by default those beside the models.
    pub conversations: Option<PathBuf>,
    /// Which indexes are brought up to date; any other is set aside and made anew.
    pub trust: Trust,
    /// What the project's own pipeline may ask for.
    pub limits: Limits,
}

impl IndexOptions {
    /// A run of the project's own pipeline with the built-in stages and without bounds on what it uses. `models` and `trust`
    /// are those of the user.
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
            force: false,
            requires_index: false,
            requires_directory: false,
            jobs: None,
            memory: None,
            patience: None,
            publish_every: None,
            cancel: CancelToken::new(),
            // The user's directory is the one that holds the models.
            conversations: models.path().parent().map(|user| UserDirectory::at(user).conversations()),
            models,
            trust,
            limits: Limits::default(),
        }
    }

    /// The threads of work on the index that no stage does.
    pub(super) fn workers(&self) -> Workers {
        self.jobs.map_or_else(Workers::default, Workers::new)
    }
}

/// Watches an index run.
pub trait IndexObserver: Observer {
    /// The progress of the walk over git's history, after everything was published without attributions.
    fn on_history(&self, _walk: WalkProgress) {}

    /// This observer as the observer of a pipeline's run.
    fn run_observer(&self) -> &dyn Observer;
}

impl IndexObserver for Silent {
    fn run_observer(&self) -> &dyn Observer {
        self
    }
}
