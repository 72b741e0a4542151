//! Databases that tests make.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

/// A database that is gone when the value is.
pub(crate) struct TestDatabase(TempDir);

impl TestDatabase {
    /// A directory for one.
    pub(crate) fn empty() -> Self {
        Self(TempDir::new().expect("a temporary directory"))
    }

    /// One with the tables of aurora-actr and what scripts add.
    pub(crate) fn new(scripts: &[&str]) -> Self {
        let database = Self::without_tables(include_str!("schema.sql"));
        for script in scripts {
            database.connection().execute_batch(script).expect("a script");
        }
        database
    }

    /// One with what a script makes.
    pub(crate) fn without_tables(script: &str) -> Self {
        let database = Self::empty();
        database.connection().execute_batch(script).expect("a script");
        database
    }

    /// The database.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("memory.db")
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        self.0.path()
    }

    /// A connection that writes whatever it is told.
    pub(crate) fn connection(&self) -> Connection {
        let connection = Connection::open(self.path()).expect("a database");
        connection.execute_batch("PRAGMA foreign_keys = 0").expect("a setting");
        connection
    }

    /// All files of the directory, sorted by name.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(self.0.path()).expect("a directory").flatten();
        let mut files: Vec<_> = entries
            .map(|entry| {
                let bytes = std::fs::read(entry.path()).expect("a file");
                (entry.file_name().to_string_lossy().into_owned(), bytes)
            })
            .collect();
        files.sort();
        files
    }
}
