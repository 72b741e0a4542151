//! Collects the postings of a future segment as sorted runs in memory. Beyond a limit, the runs are merged and written
//! to files.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_inverted::{DamagedRun, MergeError, Run, RunIndex, RunReader, RunWriter, TermRange, merge_runs};

use crate::error::StorageError;
use crate::project::ProjectDirectory;
use crate::read::SegmentPages;

/// Directory of runs within `.aurora`.
const TEMPORARY: &str = ProjectDirectory::TEMPORARY;

/// The postings of chunks, collected for one segment.
#[derive(Debug)]
pub(crate) struct Inversion {
    home: Directory,
    /// Maximum size of the runs in memory, in bytes. Larger runs are written to a file.
    spill_beyond: usize,
    memory: Vec<Run>,
    /// Size of the runs in memory, in bytes.
    held: usize,
    /// Number of files that were started.
    spills: u32,
    files: Vec<RunFile>,
    /// One term for about each 16 KiB of every run, in no particular order. Writing runs to files does not change the
    /// samples.
    samples: Vec<Box<[u8]>>,
}

/// Runs that the caller must write to a file.
pub(crate) struct Spill {
    runs: Vec<Run>,
    home: Directory,
    name: String,
}

impl Inversion {
    /// Creates a collection without postings. Keeps about `spill_beyond` bytes in memory, and the rest in files in the
    /// directory `tmp` of `home`. Removes files that a killed writer has left. The caller must hold the writer's lock.
    pub(crate) fn begin(home: &Directory, spill_beyond: usize) -> Result<Self, StorageError> {
        home.remove(TEMPORARY).map_err(|error| StorageError::io(&home.path().join(TEMPORARY), error))?;
        Ok(Self {
            home: home.clone(),
            spill_beyond,
            memory: Vec::new(),
            held: 0,
            spills: 0,
            files: Vec::new(),
            samples: Vec::new(),
        })
    }

    /// Adds a run with the postings of some chunks. If this function returns a [`Spill`], the caller must write it, and
    /// pass the file to [`Self::add_file`].
    #[must_use]
    pub(crate) fn add(&mut self, run: Run) -> Option<Spill> {
        self.samples.extend(run.index.terms().map(Box::from));
        self.held += run.bytes.len();
        self.memory.push(run);
        if self.held <= self.spill_beyond {
            return None;
        }
        self.held = 0;
        self.spills += 1;
        let (runs, name) = (std::mem::take(&mut self.memory), format!("run-{}", self.spills));
        Some(Spill { runs, home: self.home.clone(), name })
    }

    /// Adds the file of a [`Spill`].
    pub(crate) fn add_file(&mut self, file: RunFile) {
        self.files.push(file);
    }

    /// Returns one term for about each 16 KiB of all runs.
    pub(crate) fn samples(&self) -> impl Iterator<Item = &[u8]> {
        self.samples.iter().map(|term| &**term)
    }

    /// Returns the parts of all runs that contain a range of terms. The parts may also contain some terms before and
    /// after the range.
    pub(crate) fn read(&self, range: TermRange<'_>) -> Result<Vec<Cow<'_, [u8]>>, StorageError> {
        let mut read = Vec::with_capacity(self.memory.len() + self.files.len());
        for run in &self.memory {
            let end = if range.to.is_empty() { None } else { run.index.end_before(range.to) };
            let part = run.index.start_of(range.from)..end.unwrap_or(run.bytes.len());
            read.push(Cow::Borrowed(&run.bytes[part]));
        }
        for file in &self.files {
            let bytes = file.read(range).map_err(|error| StorageError::io(&file.path(), error))?;
            read.push(Cow::Owned(bytes));
        }
        Ok(read)
    }
}

impl Spill {
    /// Merges the runs into a new file.
    pub(crate) fn write(self) -> Result<RunFile, StorageError> {
        let Self { runs, home, name } = self;
        let path = home.path().join(TEMPORARY);
        let failed = |error| StorageError::io(&path, error);
        let directory = home.create_directory(TEMPORARY).map_err(failed)?;
        let file = directory.create_new(&name).map_err(failed)?;
        let mut written = RunFile { directory, name, index: RunIndex::default() };
        let mut writer = RunWriter::new(BufWriter::with_capacity(1 << 18, file));
        let readers = runs.iter().map(|run| RunReader::new(&run.bytes)).collect::<Result<Vec<_>, _>>();
        let readers = readers.map_err(|DamagedRun| damaged(&path))?;
        merge_runs::<SegmentPages<'_>, _>(readers, &mut writer).map_err(|error| match error {
            MergeError::Sink(error) => failed(error),
            MergeError::Damaged(_) | MergeError::Segment(_) => damaged(&path),
        })?;
        (_, written.index) = writer.finish().map_err(failed)?;
        Ok(written)
    }
}

/// Creates the error for a run that has changed since it was written.
pub(crate) fn damaged(path: &Path) -> StorageError {
    StorageError::Damaged { path: path.to_owned(), what: "a temporary file is damaged".to_owned() }
}

/// A sorted run in a file. The file is removed when the value is dropped.
#[derive(Debug)]
pub(crate) struct RunFile {
    directory: Directory,
    name: String,
    index: RunIndex,
}

impl RunFile {
    fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    fn read(&self, range: TermRange<'_>) -> io::Result<Vec<u8>> {
        let start = self.index.start_of(range.from);
        let end = if range.to.is_empty() { None } else { self.index.end_before(range.to) };
        let mut file: File = self.directory.open_file(&self.name)?;
        file.seek(SeekFrom::Start(start as u64))?;
        let mut bytes = Vec::new();
        let length = end.map_or(u64::MAX, |end| (end - start) as u64);
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // Errors are ignored here. The next writer clears the directory.
        drop(self.directory.remove(&self.name));
    }
}
