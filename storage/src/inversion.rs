//! What is to become a segment: postings in memory, and beyond a bound in runs on disk.

use std::fs;
use std::path::PathBuf;

use crate::dictionary::{Inverter, RunFile, Source};
use crate::error::StorageError;
use crate::field::FIELDS;
use crate::terms::Hashed;

/// Directory of spilled inversions within `.aurora`.
pub(crate) const TEMPORARY: &str = "tmp";

/// The postings of chunks, gathered for one segment.
#[derive(Debug)]
pub(crate) struct Inversion {
    inverter: Inverter,
    runs: Vec<RunFile>,
    directory: PathBuf,
    spill_beyond: usize,
}

impl Inversion {
    /// An empty one that holds about `spill_beyond` bytes in memory, and the rest in files in `directory`.
    pub(crate) fn new(directory: PathBuf, spill_beyond: usize) -> Self {
        Self { inverter: Inverter::default(), runs: Vec::new(), directory, spill_beyond }
    }

    /// Adds the postings of a chunk. For one term, chunks must be added in ascending order.
    pub(crate) fn add<'t>(&mut self, chunk: u32, postings: impl Iterator<Item = (Hashed<'t>, [u16; FIELDS])> + Clone) {
        self.inverter.add(chunk, postings);
    }

    /// Writes what is in memory to a file if it is too much.
    pub(crate) fn spill_if_large(&mut self) -> Result<(), StorageError> {
        if self.inverter.memory() <= self.spill_beyond {
            return Ok(());
        }
        let io = |error| StorageError::io(&self.directory, error);
        fs::create_dir_all(&self.directory).map_err(io)?;
        let path = self.directory.join(format!("run-{}", self.runs.len()));
        let run = RunFile::write(path, std::mem::take(&mut self.inverter)).map_err(io)?;
        self.runs.push(run);
        Ok(())
    }

    /// Everything that was added, to be merged in this order. The files stay as long as this does.
    pub(crate) fn sources(&mut self) -> Result<Vec<Source<'static>>, StorageError> {
        let mut sources = self.runs.iter().map(Source::run).collect::<Result<Vec<_>, _>>()?;
        sources.push(Source::memory(std::mem::take(&mut self.inverter)));
        Ok(sources)
    }
}
