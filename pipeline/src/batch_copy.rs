//! An owned copy of a batch that outlives the run, for tests and dumps.

use crate::batch::Batch;
use crate::cell::Cell;
use crate::column::{Column, Entity, full_name};
use crate::value::{Value, ValueRef};

/// A copy of a batch's rows, made by [`BatchView::copy`](crate::BatchView::copy).
pub struct BatchCopy(Batch);

impl BatchCopy {
    pub(crate) fn new(batch: &Batch, wanted: impl Fn(&str) -> bool) -> Self {
        Self(Batch {
            files: batch.files.copy(&wanted),
            chunks: batch.chunks.copy(&wanted),
            chunk_files: batch.chunk_files.clone(),
            ..Batch::with_files(0)
        })
    }

    /// Number of file rows.
    pub fn files(&self) -> usize {
        self.0.files.rows()
    }

    /// Number of chunk rows.
    pub fn chunks(&self) -> usize {
        self.0.chunks.rows()
    }

    /// The file row of every chunk row.
    pub fn chunk_files(&self) -> &[u32] {
        &self.0.chunk_files
    }

    /// The cells of a column, or `None` if it was not copied or has another type.
    pub fn read<T: Cell>(&self, column: Column<T>) -> Option<&[T]> {
        self.0.table(column.entity()).get(column.name())?.ok()
    }

    /// The values of a column as custom stages receive them, or `None` if the column was not copied.
    pub fn values(&self, name: &str) -> Option<Vec<Option<Value>>> {
        let name = full_name(name.to_owned());
        let cells = self.0.table(Entity::from_column(&name)?).any(&name)?;
        Some((0..cells.len()).map(|row| cells.value(row).map(ValueRef::into_owned)).collect())
    }
}
