//! Why a question about a project has no answer.

use std::path::PathBuf;

use aurora_analysis::ModelError;
use aurora_diagnostics::Diagnostics;
use aurora_query::QueryError;
use aurora_stages::index::{Distrust, IndexError};
use aurora_stages::limits::LimitErrors;
use aurora_storage::StorageError;

/// Why a question about a project has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// Somebody else has made the index.
    #[error("the index of {} is not trusted: {reason}", root.display())]
    Distrusted {
        /// The indexed directory.
        root: PathBuf,
        /// Why.
        reason: Distrust,
    },
    /// The search configuration is wrong.
    #[error("{0}")]
    Configuration(Diagnostics),
    /// The configuration of the conversation logs is wrong.
    #[error("{0}")]
    Logs(Diagnostics),
    /// No chunk has this id.
    #[error("no chunk has the id {}", plain(id))]
    UnknownChunk {
        /// As given.
        id: String,
        /// Ids like it, the nearest first.
        near: Vec<String>,
    },
    /// The file is indexed, but no chunk holds the line.
    #[error("no chunk of {} holds line {line}", plain(path))]
    NoChunkAtLine {
        /// Path below the root.
        path: String,
        /// From 1.
        line: u32,
    },
    /// No definition has this name.
    #[error("no definition is called {}", plain(name))]
    UnknownName {
        /// As given.
        name: String,
        /// Qualified names like it, the nearest first.
        near: Vec<String>,
    },
    /// Several definitions have this name.
    #[error("{count} definitions are called {}:\n{}", plain(name), listed(ids, *count))]
    AmbiguousName {
        /// As given.
        name: String,
        /// How many there are.
        count: usize,
        /// The ids of the first ones.
        ids: Vec<String>,
    },
    /// The index has no such file.
    #[error("{} is not in the index", plain(path))]
    UnknownFile {
        /// As given.
        path: String,
    },
    /// The path is outside the indexed directory.
    #[error("{} is not below {}", plain(path), plain(&root.display().to_string()))]
    OutsideRoot {
        /// The path as given.
        path: String,
        /// The indexed directory.
        root: PathBuf,
    },
    /// The file is indexed, but its lines are attributed to no commits.
    #[error("{} has no attribution: {reason}", plain(path))]
    NotAttributed {
        /// Path below the root.
        path: String,
        /// Why.
        reason: String,
    },
    /// The embedder of the index does not run here.
    #[error("queries cannot be embedded: {0}")]
    NoEmbedder(String),
    /// The user's limits are wrong.
    #[error(transparent)]
    Limits(#[from] LimitErrors),
    /// The index run cannot start, or its pipeline is wrong.
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

/// A name in a message: names may contain line feeds, and messages have lines of their own.
pub(crate) fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// One id a line, and how many more there are.
fn listed(ids: &[String], count: usize) -> String {
    let mut lines: Vec<String> = ids.iter().map(|id| format!("  {}", plain(id))).collect();
    if count > ids.len() {
        lines.push(format!("  and {} more", count - ids.len()));
    }
    lines.join("\n")
}
