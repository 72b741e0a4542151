//! The indexes that several parts of the bench use. Each is built on first use.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::Outcome;
use crate::corpus::Corpus;
use crate::ours::{self, Fields};
use crate::tantivy_index::{self, ExtraField};

/// Memory limit of a writer in bytes, for our index and for tantivy's. It is the default of `aur`'s indexer.
pub const MEMORY: usize = 1 << 30;

/// The corpus and its indexes in a directory that is deleted on drop.
pub struct Lab {
    /// The corpus.
    pub corpus: Arc<Corpus>,
    /// Number of runs of each build.
    pub rounds: usize,
    directory: TempDir,
    one: OnceCell<PathBuf>,
    six: OnceCell<PathBuf>,
    tantivy: OnceCell<PathBuf>,
}

impl Lab {
    /// Creates a lab without indexes.
    pub fn new(corpus: Corpus, rounds: usize) -> Outcome<Self> {
        Ok(Self {
            corpus: Arc::new(corpus),
            rounds: rounds.max(1),
            directory: tempfile::tempdir()?,
            one: OnceCell::new(),
            six: OnceCell::new(),
            tantivy: OnceCell::new(),
        })
    }

    /// Deletes the directory `name` if it exists, and returns its path.
    pub fn scratch(&self, name: &str) -> Outcome<PathBuf> {
        let directory = self.directory.path().join(name);
        if directory.exists() {
            std::fs::remove_dir_all(&directory)?;
        }
        Ok(directory)
    }

    /// Returns the directory of our index with the given fields.
    pub fn ours(&self, fields: Fields) -> Outcome<&Path> {
        let (cell, name) = match fields {
            Fields::One => (&self.one, "one"),
            Fields::Six => (&self.six, "six"),
        };
        get_or_build(cell, || {
            let directory = self.scratch(name)?;
            ours::build(&directory, &self.corpus, fields, 1)?;
            Ok(directory)
        })
    }

    /// Returns the directory of tantivy's index, merged into one segment.
    pub fn tantivy(&self) -> Outcome<&Path> {
        get_or_build(&self.tantivy, || {
            let directory = self.scratch("tantivy")?;
            tantivy_index::build(&directory, &self.corpus, 1, ExtraField::Number)?;
            tantivy_index::merge(&directory)?;
            Ok(directory)
        })
    }

    /// Copies one of our indexes, which must not be open.
    pub fn copy(&self, from: &Path, name: &str) -> Outcome<PathBuf> {
        let to = self.scratch(name)?;
        std::fs::create_dir_all(to.join("index"))?;
        std::fs::copy(data(from), data(&to))?;
        Ok(to)
    }
}

/// Returns the path of LMDB's file in one of our indexes.
fn data(directory: &Path) -> PathBuf {
    directory.join("index").join("data.mdb")
}

fn get_or_build(cell: &OnceCell<PathBuf>, build: impl FnOnce() -> Outcome<PathBuf>) -> Outcome<&Path> {
    if cell.get().is_none() {
        // The cell is still empty, because building this index does not use the same cell.
        let _ = cell.set(build()?);
    }
    cell.get().map(PathBuf::as_path).ok_or_else(|| "an index was not built".into())
}
