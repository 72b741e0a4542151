//! The values of one batch column, independent of their Rust type.

use crate::built_in_column::GetValue;
use crate::column_table::ErasedColumn;
use crate::value::ValueRef;

/// The values of a column, at most one per row; see [`BatchView::values`](crate::BatchView::values).
#[derive(Clone, Copy)]
pub struct ColumnValues<'b> {
    cells: Option<&'b dyn ErasedColumn>,
    field: Option<&'b GetValue>,
}

impl<'b> ColumnValues<'b> {
    /// The values of a table without rows.
    pub(crate) const NONE: Self = Self { cells: None, field: None };

    pub(crate) fn new(cells: &'b dyn ErasedColumn, field: Option<&'b GetValue>) -> Self {
        Self { cells: Some(cells), field }
    }

    /// Returns the same cells, but with values read through `field`.
    pub(crate) fn with_field<'v>(self, field: &'v GetValue) -> ColumnValues<'v>
    where
        'b: 'v,
    {
        ColumnValues { cells: self.cells, field: Some(field) }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.cells.map_or(0, ErasedColumn::len)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row; `None` if the row does not exist, the cell is empty, or its type cannot be passed to custom
    /// stages.
    pub fn get(&self, row: usize) -> Option<ValueRef<'b>> {
        let cells = self.cells?;
        match self.field {
            Some(field) => field(cells, row),
            None => cells.value(row),
        }
    }

    /// The values of all rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<ValueRef<'b>>> + use<'b> {
        let values = *self;
        (0..self.len()).map(move |row| values.get(row))
    }
}
