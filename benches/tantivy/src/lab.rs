//! The indexes that several parts use, each built on first use.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::Outcome;
use crate::corpus::Corpus;
use crate::ours::{self, Fields};
use crate::peer::{self, Beside};

/// Memory limit of a writer in bytes, for both sides. It is the indexer's default.
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
    peer: OnceCell<PathBuf>,
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
            peer: OnceCell::new(),
        })
    }

    /// Path of a directory that does not exist. Deletes an existing one.
    pub fn scratch(&self, name: &str) -> Outcome<PathBuf> {
        let directory = self.directory.path().join(name);
        if directory.exists() {
            std::fs::remove_dir_all(&directory)?;
        }
        Ok(directory)
    }

    /// Our index.
    pub fn ours(&self, fields: Fields) -> Outcome<&Path> {
        let (place, name) = match fields {
            Fields::One => (&self.one, "one"),
            Fields::Six => (&self.six, "six"),
        };
        get_or_build(place, || {
            let directory = self.scratch(name)?;
            ours::build(&directory, &self.corpus, fields, 1)?;
            Ok(directory)
        })
    }

    /// The peer's index, merged into one segment.
    pub fn peer(&self) -> Outcome<&Path> {
        get_or_build(&self.peer, || {
            let directory = self.scratch("peer")?;
            peer::build(&directory, &self.corpus, 1, Beside::Number)?;
            peer::merge(&directory)?;
            Ok(directory)
        })
    }

    /// A copy of one of our indexes, which must not be open.
    pub fn copy(&self, from: &Path, name: &str) -> Outcome<PathBuf> {
        let to = self.scratch(name)?;
        std::fs::create_dir_all(to.join("index"))?;
        std::fs::copy(data(from), data(&to))?;
        Ok(to)
    }
}

/// LMDB's file of one of our indexes.
fn data(directory: &Path) -> PathBuf {
    directory.join("index").join("data.mdb")
}

fn get_or_build(place: &OnceCell<PathBuf>, build: impl FnOnce() -> Outcome<PathBuf>) -> Outcome<&Path> {
    if place.get().is_none() {
        // Nothing else sets the cell, because building does not recurse into the same cell.
        let _ = place.set(build()?);
    }
    place.get().map(PathBuf::as_path).ok_or_else(|| "an index was not built".into())
}
