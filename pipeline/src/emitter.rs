//! Emission of batches by a source, or by a restructuring stage when it closes.

use crate::batch::Batch;
use crate::column::Entity;
use crate::column_table::ColumnName;
use crate::permissions::{AccessError, Permissions};
use crate::stage_error::StageError;
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
    pub fn batch(&self, files: usize) -> BatchView<'a> {
        BatchView::new(BatchRows::Owned(Batch::with_files(files)), self.permissions)
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
    pub fn emit(&mut self, draft: BatchView<'_>) -> Result<(), StageError> {
        let (BatchRows::Owned(batch), true) = (draft.rows, self.permissions.restructures) else {
            return Err(AccessError::Emission { stage: self.permissions.stage() }.into());
        };
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
