//! The indexes that several parts use, each built when it is first asked for.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::Outcome;
use crate::corpus::Corpus;
use crate::ours::{self, Fields};
use crate::peer::{self, Beside};

/// Bytes that a writer may take, ours or the peer's: what the indexer takes when it is not told.
pub const MEMORY: usize = 1 << 30;

/// The corpus, and indexes of it in a directory that goes away at the end.
pub struct Lab {
    /// What is indexed.
    pub corpus: Arc<Corpus>,
    /// Times that what is built is built.
    pub rounds: usize,
    directory: TempDir,
    empty: OnceCell<PathBuf>,
    one: OnceCell<PathBuf>,
    six: OnceCell<PathBuf>,
    peer: OnceCell<PathBuf>,
}

impl Lab {
    /// Begins without indexes.
    pub fn new(corpus: Corpus, rounds: usize) -> Outcome<Self> {
        Ok(Self {
            corpus: Arc::new(corpus),
            rounds: rounds.max(1),
            directory: tempfile::tempdir()?,
            empty: OnceCell::new(),
            one: OnceCell::new(),
            six: OnceCell::new(),
            peer: OnceCell::new(),
        })
    }

    /// A directory that does not exist yet, or no longer.
    pub fn scratch(&self, name: &str) -> Outcome<PathBuf> {
        let directory = self.directory.path().join(name);
        if directory.exists() {
            std::fs::remove_dir_all(&directory)?;
        }
        Ok(directory)
    }

    /// A fresh copy of our index whose chunks have no terms.
    pub fn without_terms(&self, name: &str) -> Outcome<PathBuf> {
        let empty = built(&self.empty, || {
            let directory = self.scratch("empty")?;
            ours::prepare(&directory, &self.corpus)?;
            Ok(directory)
        })?;
        self.copy(empty, name)
    }

    /// Our index.
    pub fn ours(&self, fields: Fields) -> Outcome<&Path> {
        let (place, name) = match fields {
            Fields::One => (&self.one, "one"),
            Fields::Six => (&self.six, "six"),
        };
        built(place, || {
            let directory = self.without_terms(name)?;
            ours::add_terms(&directory, &self.corpus, fields, 1)?;
            Ok(directory)
        })
    }

    /// The peer's index, of one segment.
    pub fn peer(&self) -> Outcome<&Path> {
        built(&self.peer, || {
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

fn built(place: &OnceCell<PathBuf>, build: impl FnOnce() -> Outcome<PathBuf>) -> Outcome<&Path> {
    if place.get().is_none() {
        // Nobody else sets it: building does not come back here for the same place.
        let _ = place.set(build()?);
    }
    place.get().map(PathBuf::as_path).ok_or_else(|| "an index was not built".into())
}
