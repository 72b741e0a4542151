//! Probes, which observe the output of every stage for every batch.

use std::time::Duration;

use crate::batch::Batch;
use crate::built_in_column::BuiltInColumn;
use crate::cell::Cell;
use crate::column::{Column, Entity};
use crate::column_values::ColumnValues;

/// Observes the stages of a run. Workers call the methods on their own threads and wait until they return.
pub trait Probe: Send + Sync {
    /// Called when a stage has processed or emitted a batch, before the batch is forwarded.
    fn on_output(&self, stage: &str, output: &StageOutput<'_>);

    /// Called when a stage has reported an event.
    fn on_event(&self, stage: &str, event: StageEvent<'_>) {
        let _ = (stage, event);
    }
}

/// An event that a stage reports with a method of [`StageContext`](crate::StageContext).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageEvent<'a> {
    /// A file is not indexed.
    Skipped {
        /// The file.
        path: &'a str,
        /// The reason.
        reason: &'a str,
    },
    /// A problem with a file. The file is still processed.
    Warning {
        /// The file.
        path: &'a str,
        /// The problem.
        reason: &'a str,
    },
    /// A file could not be processed.
    Error {
        /// The file.
        path: &'a str,
        /// The reason.
        reason: &'a str,
    },
    /// The stage could not process a row, or failed outside of a batch.
    Failed {
        /// The path of the row's file, or the path passed with the failure.
        path: &'a str,
        /// The reason.
        reason: &'a str,
    },
    /// A counter was incremented.
    Counted {
        /// The counter.
        name: &'a str,
        /// The increment.
        n: u64,
    },
}

/// The output of one stage for a batch. Unlike a [`BatchView`](crate::BatchView), it gives access to every column.
pub struct StageOutput<'a> {
    pub(crate) batch: &'a Batch,
    /// The columns that the stage wrote while it shared the batch with other stages.
    pub(crate) staged: Option<&'a Batch>,
    /// Full names of the columns that the stage wrote, sorted.
    pub(crate) written: Vec<&'a str>,
    pub(crate) time: Duration,
}

impl<'a> StageOutput<'a> {
    /// Creates the output for an emitted batch. The emitting stage wrote all columns of the batch.
    pub(crate) fn emitted(batch: &'a Batch, time: Duration) -> Self {
        let written = batch.files.names().chain(batch.chunks.names()).collect();
        Self { batch, staged: None, written, time }
    }

    /// Number of file rows.
    pub fn files(&self) -> usize {
        self.batch.files.rows()
    }

    /// Number of chunk rows.
    pub fn chunks(&self) -> usize {
        self.batch.chunks.rows()
    }

    /// The file row of every chunk row.
    pub fn chunk_files(&self) -> &'a [u32] {
        &self.batch.chunk_files
    }

    /// The full names of the columns that the stage wrote: file columns first, each group in alphabetical order.
    pub fn written(&self) -> impl Iterator<Item = &'a str> {
        let of = |entity| self.written.iter().copied().filter(move |name| Entity::from_column(name) == Some(entity));
        of(Entity::File).chain(of(Entity::Chunk))
    }

    /// Time that the stage spent on the batch.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// The cells of a column; `None` if the batch does not have the column or the cells have another type.
    pub fn cells<T: Cell>(&self, column: Column<T>) -> Option<&'a [T]> {
        let (entity, name) = (column.entity(), column.name());
        let staged = self.staged.and_then(|staged| staged.table(entity).get(name));
        staged.or_else(|| self.batch.table(entity).get(name))?.ok()
    }

    /// The values of a column, independent of the cell type.
    pub fn values(&self, column: &str) -> Option<ColumnValues<'a>> {
        let entity = Entity::from_column(column)?;
        let staged = self.staged.and_then(|staged| staged.table(entity).any(column));
        let cells = staged.or_else(|| self.batch.table(entity).any(column))?;
        Some(ColumnValues::new(cells, None))
    }

    /// The values of a built-in column, in the form that a stage receives when it accesses the column by name.
    pub fn built_in<'v>(&self, column: &'v BuiltInColumn) -> Option<ColumnValues<'v>>
    where
        'a: 'v,
    {
        Some(self.values(column.source.name())?.with_field(column.get.as_ref()))
    }
}
