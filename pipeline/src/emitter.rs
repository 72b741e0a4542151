//! Emission of batches by a source, or by a restructuring stage when it closes.

use crate::batch::Batch;
use crate::built_in_column::RefusedValue;
use crate::cell::Cell;
use crate::column::{Column, Entity};
use crate::column_table::ColumnName;
use crate::permissions::{AccessError, Permissions};
use crate::stage_error::StageError;
use crate::value::Value;
use crate::view::{BatchRows, BatchView};

/// Receives emitted batches.
pub(crate) trait OutputPort {
    /// Waits as long as `condition` is true for the number of finished files and the run is not stopping.
    fn wait_while(&mut self, condition: &mut dyn FnMut(u64) -> bool);

    /// Waits for the memory budget, assigns the sequence number, and sends the batch to the next step.
    fn send(&mut self, batch: Batch) -> Result<(), StageError>;
}

/// Sends batches to the next step of the pipeline.
pub struct Emitter<'a> {
    permissions: &'a Permissions,
    /// Columns that a later stage reads and no stage in between writes.
    required: &'a [ColumnName],
    port: &'a mut dyn OutputPort,
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(permissions: &'a Permissions, required: &'a [ColumnName], port: &'a mut dyn OutputPort) -> Self {
        Self { permissions, required, port }
    }

    /// Creates an empty batch with this number of file rows, to be filled and emitted.
    pub fn batch(&self, files: usize) -> Draft<'a> {
        Draft { batch: Batch::with_files(files), permissions: self.permissions }
    }

    /// Waits as long as `condition` is true. The argument of `condition` is the number of files that have reached the
    /// end of the pipeline or were dropped, including files that other stages emitted. A source can use this to limit
    /// the work in flight. Returns immediately if the run is stopping.
    pub fn wait_while(&mut self, mut condition: impl FnMut(u64) -> bool) {
        self.port.wait_while(&mut condition);
    }

    /// Sends a batch to the next step. Blocks until the memory budget has room for the batch.
    ///
    /// # Errors
    /// Returns [`StageError::Stopped`] if the run is stopping. Returns an [`AccessError`] if the batch lacks a column
    /// that a later stage requires, or if the stage may not emit batches.
    pub fn emit(&mut self, draft: Draft<'_>) -> Result<(), StageError> {
        let batch = draft.batch;
        if !self.permissions.restructures {
            return Err(AccessError::Emission { stage: self.permissions.stage() }.into());
        }
        let missing = self.required.iter().find(|name| {
            Entity::from_column(name).is_some_and(|entity| {
                let table = batch.table(entity);
                table.rows() > 0 && !table.contains(name)
            })
        });
        if let Some(name) = missing {
            let (stage, column) = (self.permissions.stage(), name.to_string());
            return Err(AccessError::Unwritten { stage, column }.into());
        }
        self.port.send(batch)
    }
}

/// A batch that is being filled.
pub struct Draft<'a> {
    batch: Batch,
    permissions: &'a Permissions,
}

impl Draft<'_> {
    /// Fills a column, one value per row.
    ///
    /// # Errors
    /// Returns an error if the stage does not declare the column as written, or if the number of values differs from
    /// the number of rows.
    pub fn write<T: Cell>(&mut self, column: Column<T>, values: Vec<T>) -> Result<(), AccessError> {
        self.view().write(column, values)
    }

    /// Fills a custom column, with at most one value per row.
    ///
    /// # Errors
    /// Returns the same errors as [`BatchView::write_dynamic`].
    pub fn write_dynamic(&mut self, name: &str, values: Vec<Option<Value>>) -> Result<(), AccessError> {
        self.view().write_dynamic(name, values)
    }

    /// Fills a column by name.
    ///
    /// # Errors
    /// Returns the same errors as [`BatchView::write_values`].
    pub fn write_values(&mut self, name: &str, values: Vec<Option<Value>>) -> Result<Vec<RefusedValue>, AccessError> {
        self.view().write_values(name, values)
    }

    /// Adds chunk rows. `files` contains the file row of each chunk.
    ///
    /// # Errors
    /// Returns the same errors as [`BatchView::add_chunks`].
    pub fn add_chunks(&mut self, files: Vec<u32>) -> Result<(), AccessError> {
        self.view().add_chunks(files)
    }

    /// Sets the size in bytes that the batch is expected to reach. The memory budget counts this size from the start.
    pub fn expect_bytes(&mut self, bytes: u64) {
        self.batch.expected_bytes = bytes;
    }

    fn view(&mut self) -> BatchView<'_> {
        BatchView::new(BatchRows::Exclusive(&mut self.batch), self.permissions)
    }
}
