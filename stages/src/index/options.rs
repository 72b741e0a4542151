//! What an index run is asked to do.

use std::path::PathBuf;
use std::time::Duration;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::{CancelToken, Observer, Silent};

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
    /// How long files wait for the walk over git's history before they are published without attribution, which follows in
    /// a second pass. By default as long as everything else takes.
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
    /// The progress of the walk over git's history, after everything was published without attributions.
    fn on_history(&self, _walk: WalkProgress) {}

    /// This observer as the observer of a pipeline's run.
    fn of_run(&self) -> &dyn Observer;
}

impl IndexObserver for Silent {
    fn of_run(&self) -> &dyn Observer {
        self
    }
}
