//! The error type for requests about a project.

use std::path::PathBuf;

use aurora_analysis::ModelError;
use aurora_diagnostics::Diagnostics;
use aurora_query::QueryError;
use aurora_stages::index::{Distrust, IndexError};
use aurora_stages::limits::LimitErrors;
use aurora_storage::StorageError;

/// The error of a request about a project.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The index was made by somebody else.
    #[error("the index of {} is not trusted: {reason}", root.display())]
    Distrusted {
        /// The indexed directory.
        root: PathBuf,
        /// The reason.
        reason: Distrust,
    },
    /// The search configuration is invalid.
    #[error("{0}")]
    Configuration(Diagnostics),
    /// The configuration of the conversation logs is invalid.
    #[error("{0}")]
    Logs(Diagnostics),
    /// No chunk has this id.
    #[error("no chunk has the id {}", plain(id))]
    UnknownChunk {
        /// Id, as given.
        id: String,
        /// Similar ids, nearest first.
        near: Vec<String>,
    },
    /// The file is indexed, but no chunk contains the line.
    #[error("no chunk of {} contains line {line}", plain(path))]
    NoChunkAtLine {
        /// Path below the root.
        path: String,
        /// Line, from 1.
        line: u32,
    },
    /// No definition has this name.
    #[error("no definition is called {}", plain(name))]
    UnknownName {
        /// Name, as given.
        name: String,
        /// Similar qualified names, nearest first.
        near: Vec<String>,
    },
    /// Several definitions have this name.
    #[error("{count} definitions are called {}:\n{}", plain(name), list_ids(ids, *count))]
    AmbiguousName {
        /// Name, as given.
        name: String,
        /// Number of definitions.
        count: usize,
        /// Ids of the first definitions.
        ids: Vec<String>,
    },
    /// The file is not in the index.
    #[error("{} is not in the index", plain(path))]
    UnknownFile {
        /// Path, as given.
        path: String,
    },
    /// The path is outside the indexed directory.
    #[error("{} is not below {}", plain(path), plain(&root.display().to_string()))]
    OutsideRoot {
        /// Path, as given.
        path: String,
        /// The indexed directory.
        root: PathBuf,
    },
    /// The file is indexed, but its lines are not attributed to commits.
    #[error("{} has no attribution: {reason}", plain(path))]
    NotAttributed {
        /// Path below the root.
        path: String,
        /// The reason.
        reason: String,
    },
    /// Several files match the name of a module.
    #[error("{count} files match {}:\n{}", plain(name), list_ids(files, *count))]
    AmbiguousModule {
        /// Name, as given.
        name: String,
        /// Number of files.
        count: usize,
        /// The first files.
        files: Vec<String>,
    },
    /// The project is not in a git repository.
    #[error("{} is not in a git repository", root.display())]
    NoRepository {
        /// The indexed directory.
        root: PathBuf,
    },
    /// The git history cannot be read, or a revision is unknown.
    #[error(transparent)]
    History(#[from] aurora_history::HistoryError),
    /// The embedder of the index cannot be run.
    #[error("queries cannot be embedded: {0}")]
    NoEmbedder(String),
    /// The user's limits are invalid.
    #[error(transparent)]
    Limits(#[from] LimitErrors),
    /// The pipeline is invalid, or an index run cannot start or has failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The query cannot be answered.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The index cannot be opened, read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Replaces the control characters of a name, because a line feed in a name would split a message in the middle.
pub(crate) fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Lists one id per line, followed by the number of definitions whose ids are not listed.
fn list_ids(ids: &[String], count: usize) -> String {
    let mut lines: Vec<String> = ids.iter().map(|id| format!("  {}", plain(id))).collect();
    if count > ids.len() {
        lines.push(format!("  and {} more", count - ids.len()));
    }
    lines.join("\n")
}
