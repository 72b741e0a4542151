//! State that every command receives.

use std::path::PathBuf;
use std::sync::Arc;

use aurora_pipeline::Registry;
use aurora_project::Project;

use crate::context::terminal::Terminal;

/// State that every command receives.
pub(crate) struct Program {
    pub(crate) terminal: Terminal,
    /// The stage types that pipelines may use.
    pub(crate) registry: Arc<Registry>,
}

impl Program {
    /// Returns the project at a root. Its pipeline may use the stage types of this program.
    pub(crate) fn project(&self, root: PathBuf) -> Project {
        Project::new(root, Arc::clone(&self.registry))
    }
}
