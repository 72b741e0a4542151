//! Emission: how a source, or a stage at its end, sends batches off.

use crate::batch::Batch;
use crate::column::{Cell, Column, Entity, Value};
use crate::grant::{AccessError, Grant};
use crate::stage::StageError;
use crate::table::Name;
use crate::view::{BatchView, Rows};

/// Where emitted batches go.
pub(crate) trait Port {
    /// Waits for the budget, gives the batch its number, and sends it to the stages behind.
    fn send(&mut self, batch: Batch) -> Result<(), StageError>;
}

/// Sends batches to the stages behind the one which holds it.
pub struct Emitter<'a> {
    grant: &'a Grant,
    /// Columns which a stage behind reads and none writes before it.
    required: &'a [Name],
    port: Option<&'a mut dyn Port>,
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(grant: &'a Grant, required: &'a [Name], port: Option<&'a mut dyn Port>) -> Self {
        Self { grant, required, port }
    }

    /// A new batch with that many file rows, to be filled and emitted.
    pub fn batch(&self, files: usize) -> Draft<'a> {
        Draft { batch: Batch::with_files(files), grant: self.grant }
    }

    /// Sends a batch off; waits until the memory budget has room for it.
    ///
    /// # Errors
    /// [`StageError::Stopped`] when the run is to end; an [`AccessError`] when a column which a later stage needs
    /// is missing, or the stage may not emit.
    pub fn emit(&mut self, draft: Draft<'_>) -> Result<(), StageError> {
        let batch = draft.batch;
        let Some(port) = self.port.as_mut().filter(|_| self.grant.restructures) else {
            return Err(AccessError::Emission { stage: self.grant.stage() }.into());
        };
        let missing = self.required.iter().find(|name| {
            Entity::of_column(name).is_some_and(|entity| {
                let table = batch.table(entity);
                table.rows() > 0 && !table.contains(name)
            })
        });
        if let Some(name) = missing {
            let (stage, column) = (self.grant.stage(), name.to_string());
            return Err(AccessError::Unwritten { stage, column }.into());
        }
        port.send(batch)
    }
}

/// A batch in the making.
pub struct Draft<'a> {
    batch: Batch,
    grant: &'a Grant,
}

impl Draft<'_> {
    /// Fills a column, one value per row.
    ///
    /// # Errors
    /// If the column is not declared as written, or the number of values is not the number of rows.
    pub fn write<T: Cell>(&mut self, column: Column<T>, values: Vec<T>) -> Result<(), AccessError> {
        self.view().write(column, values)
    }

    /// Fills a plugin's column, one value or nothing per row.
    ///
    /// # Errors
    /// As [`BatchView::write_dynamic`].
    pub fn write_dynamic(&mut self, name: &str, values: Vec<Option<Value>>) -> Result<(), AccessError> {
        self.view().write_dynamic(name, values)
    }

    /// Adds chunk rows: for each the file row it belongs to.
    ///
    /// # Errors
    /// As [`BatchView::add_chunks`].
    pub fn add_chunks(&mut self, files: Vec<u32>) -> Result<(), AccessError> {
        self.view().add_chunks(files)
    }

    /// Says how many bytes the batch will grow to on its way, so that the budget counts them from the start.
    pub fn expect_bytes(&mut self, bytes: u64) {
        self.batch.expected_bytes = bytes;
    }

    fn view(&mut self) -> BatchView<'_> {
        BatchView::new(Rows::Exclusive(&mut self.batch), self.grant)
    }
}
