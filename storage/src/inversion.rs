//! What is to become a segment: postings in memory, and beyond a bound in runs on disk.

use aurora_confined::Directory;

use crate::dictionary::{Inverter, MergeSource, RunFile};
use crate::error::StorageError;
use crate::field::FIELDS;
use crate::terms::HashedTerm;

/// Directory of spilled inversions within `.aurora`.
const TEMPORARY: &str = "tmp";

/// The postings of chunks, gathered for one segment.
#[derive(Debug)]
pub(crate) struct Inversion {
    inverter: Inverter,
    runs: Vec<RunFile>,
    home: Directory,
    spill_beyond: usize,
}

impl Inversion {
    /// An empty one that holds about `spill_beyond` bytes in memory, and the rest in files in `tmp` below `home`.
    /// What a writer that was killed has left there is removed; the caller holds the writer's lock.
    pub(crate) fn begin(home: &Directory, spill_beyond: usize) -> Result<Self, StorageError> {
        home.remove(TEMPORARY).map_err(|error| StorageError::io(&home.path().join(TEMPORARY), error))?;
        Ok(Self { inverter: Inverter::default(), runs: Vec::new(), home: home.clone(), spill_beyond })
    }

    /// Adds the postings of a chunk. For one term, chunks must be added in ascending order.
    pub(crate) fn add<'t>(
        &mut self,
        chunk: u32,
        postings: impl Iterator<Item = (HashedTerm<'t>, [u16; FIELDS])> + Clone,
    ) {
        self.inverter.add(chunk, postings);
    }

    /// Writes what is in memory to a file if it is too much.
    pub(crate) fn spill_if_large(&mut self) -> Result<(), StorageError> {
        if self.inverter.memory() <= self.spill_beyond {
            return Ok(());
        }
        let name = format!("run-{}", self.runs.len());
        let directory = self.home.create_directory(TEMPORARY);
        let run = directory.and_then(|directory| RunFile::write(directory, name, std::mem::take(&mut self.inverter)));
        self.runs.push(run.map_err(|error| StorageError::io(&self.home.path().join(TEMPORARY), error))?);
        Ok(())
    }

    /// Everything that was added, to be merged in this order. The files stay as long as this does.
    pub(crate) fn sources(&mut self) -> Result<Vec<MergeSource<'static>>, StorageError> {
        let mut sources = self.runs.iter().map(MergeSource::run).collect::<Result<Vec<_>, _>>()?;
        sources.push(MergeSource::memory(std::mem::take(&mut self.inverter)));
        Ok(sources)
    }
}
