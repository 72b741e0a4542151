//! The postings that will become a segment: in memory, and beyond a bound in sorted runs on disk.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::PathBuf;

use aurora_confined::Directory;
use aurora_inverted::{HashedTerm, Inverter, MergeSource, RunReader, TfVector};

use crate::error::StorageError;
use crate::project::ProjectDirectory;
use crate::segment::SegmentPages;

/// Directory of runs within `.aurora`.
const TEMPORARY: &str = ProjectDirectory::TEMPORARY;

/// A source of a merge.
pub(crate) type SegmentMergeSource<'a> = MergeSource<'a, SegmentPages<'a>, BufReader<File>>;

/// The postings of chunks, gathered for one segment.
#[derive(Debug)]
pub(crate) struct Inversion {
    inverter: Inverter,
    runs: Vec<RunFile>,
    home: Directory,
    spill_beyond: usize,
}

impl Inversion {
    /// An empty one that holds about `spill_beyond` bytes in memory, and the rest in files in `tmp` below `home`. Files that
    /// a killed writer left there are removed; the caller holds the writer's lock.
    pub(crate) fn begin(home: &Directory, spill_beyond: usize) -> Result<Self, StorageError> {
        home.remove(TEMPORARY).map_err(|error| StorageError::io(&home.path().join(TEMPORARY), error))?;
        Ok(Self { inverter: Inverter::default(), runs: Vec::new(), home: home.clone(), spill_beyond })
    }

    /// Adds the postings of a chunk. For one term, chunks must be added in ascending order.
    pub(crate) fn add<'t>(&mut self, chunk: u32, postings: impl Iterator<Item = (HashedTerm<'t>, TfVector)> + Clone) {
        self.inverter.add(chunk, postings);
    }

    /// Writes a run if there are too many postings in memory.
    pub(crate) fn spill_if_large(&mut self) -> Result<(), StorageError> {
        if self.inverter.memory() <= self.spill_beyond {
            return Ok(());
        }
        let name = format!("run-{}", self.runs.len());
        let directory = self.home.create_directory(TEMPORARY);
        let run = directory.and_then(|directory| RunFile::write(directory, name, std::mem::take(&mut self.inverter)));
        self.runs.push(run.map_err(|error| StorageError::io(&self.runs_path(), error))?);
        Ok(())
    }

    /// Everything that was added, to be merged in this order. The files stay as long as the inversion does.
    pub(crate) fn sources<'a>(&mut self) -> Result<Vec<SegmentMergeSource<'a>>, StorageError> {
        let open = |run: &RunFile| match run.read() {
            Ok(run) => Ok(SegmentMergeSource::Run(run)),
            Err(error) => Err(StorageError::io(&run.path(), error)),
        };
        let mut sources = self.runs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        sources.push(SegmentMergeSource::memory(std::mem::take(&mut self.inverter)));
        Ok(sources)
    }

    /// The directory of runs.
    pub(crate) fn runs_path(&self) -> PathBuf {
        self.home.path().join(TEMPORARY)
    }
}

/// A sorted run in a file, which is removed with the value.
#[derive(Debug)]
struct RunFile {
    directory: Directory,
    name: String,
}

impl RunFile {
    /// Writes an inversion to a new file in a directory.
    fn write(directory: Directory, name: String, inverter: Inverter) -> io::Result<Self> {
        let file = directory.create_new(&name)?;
        let run = Self { directory, name };
        inverter.write_run(BufWriter::with_capacity(1 << 18, file))?;
        Ok(run)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    fn read(&self) -> io::Result<RunReader<BufReader<File>>> {
        RunReader::new(BufReader::with_capacity(1 << 17, self.directory.open_file(&self.name)?))
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // Nothing can be done here; the next writer clears the directory.
        drop(self.directory.remove(&self.name));
    }
}
