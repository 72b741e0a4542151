//! What every command gets.

use std::sync::Arc;

use aurora_pipeline::Registry;

use crate::terminal::Terminal;

/// What every command gets.
pub(crate) struct Program {
    pub(crate) terminal: Terminal,
    /// The stage types that pipelines may use.
    pub(crate) registry: Arc<Registry>,
}
