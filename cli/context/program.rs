//! State that every command receives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_pipeline::Registry;
use aurora_project::{Project, chain};
use aurora_stages::index::IndexOptions;
use aurora_storage::Snapshot;

use crate::context::{Failure, Outcome, Terminal, place};

/// State that every command receives.
pub(crate) struct Program {
    pub(crate) terminal: Terminal,
    /// Number of `-v`.
    pub(crate) verbose: u8,
    /// The stage types that pipelines may use.
    pub(crate) registry: Arc<Registry>,
}

impl Program {
    /// Whether commands redraw a line of progress. Log messages would interrupt the line.
    pub(crate) fn shows_progress(&self, is_quiet: bool) -> bool {
        self.terminal.live && self.verbose == 0 && !is_quiet
    }

    /// Returns the project at a root. Its pipeline may use the stage types of this program.
    pub(crate) fn project(&self, root: PathBuf) -> Project {
        Project::new(root, Arc::clone(&self.registry))
    }

    /// Returns the project that the argument selects; see [`place::for_search`].
    pub(crate) fn find(&self, argument: Option<&Path>) -> Outcome<Project> {
        Ok(self.project(place::for_search(argument)?))
    }

    /// Opens the index of the selected project.
    pub(crate) fn open(&self, argument: Option<&Path>) -> Outcome<(Project, Snapshot)> {
        let project = self.find(argument)?;
        let snapshot = project.snapshot()?;
        Ok((project, snapshot))
    }

    /// Returns the options of an index run in a root. The message of a failure contains all errors of the user's
    /// configuration.
    pub(crate) fn options(&self, root: impl Into<PathBuf>) -> Outcome<IndexOptions> {
        self.project(root.into()).options().map_err(|error| Failure::new(chain(&error)))
    }
}
