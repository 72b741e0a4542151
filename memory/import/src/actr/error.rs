//! Why a database cannot be read.

use std::io;
use std::path::PathBuf;

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ActrError {
    /// A file cannot be read, or the copy cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another program writes it.
    #[error("{} is being written by another program", .0.display())]
    Busy(PathBuf),
    /// A program has ended while it was writing, and left a journal.
    #[error("the last write to {} did not end: {} is there", database.display(), journal.display())]
    Unfinished {
        /// The database.
        database: PathBuf,
        /// The journal.
        journal: PathBuf,
    },
    /// It is no database that SQLite can read.
    #[error("{} cannot be read as a database of SQLite", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// It is a database, but none of aurora-actr.
    #[error("{} is no database of aurora-actr: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        what: String,
    },
}
