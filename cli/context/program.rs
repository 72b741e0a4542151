//! What every command gets.

use std::path::PathBuf;
use std::sync::Arc;

use aurora_pipeline::Registry;
use aurora_project::Project;

use crate::context::terminal::Terminal;

/// What every command gets.
pub(crate) struct Program {
    pub(crate) terminal: Terminal,
    /// The stage types that pipelines may use.
    pub(crate) registry: Arc<Registry>,
}

impl Program {
    /// The project at a root, whose pipeline may use the stage types of this program.
    pub(crate) fn project(&self, root: PathBuf) -> Project {
        Project::new(root, Arc::clone(&self.registry))
    }
}
