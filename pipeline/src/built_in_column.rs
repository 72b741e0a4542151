//! Columns that stages can use by name, with functions that read and write their values.

use std::any::Any;
use std::sync::Arc;

use serde::Serialize;

use crate::cell::Cell;
use crate::column::{Column, ColumnSpec};
use crate::column_table::{ColumnName, ColumnTable, ErasedColumn};
use crate::value::{DynamicType, Value, ValueRef};

/// Reference entry of a built-in column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnReference {
    /// Full name, such as `chunk.name`.
    pub name: &'static str,
    /// Type of the values that custom stages receive.
    pub value: DynamicType,
    /// Rust type of the cells. For a field of another column, the cell type of that other column.
    pub cell: &'static str,
    /// Name of the column that holds the value, if the value is a field of another column's cells.
    pub field_of: Option<&'static str>,
    /// Description of the values.
    pub meaning: &'static str,
    /// Description of the custom stages that may write the column; empty if none may.
    pub writers: &'static str,
}

/// A column that stages may use by name.
#[derive(Clone)]
pub struct BuiltInColumn {
    pub(crate) reference: ColumnReference,
    /// The column that holds the cells.
    pub(crate) source: ColumnSpec,
    pub(crate) get: Arc<GetValue>,
    pub(crate) set: Option<Arc<SetCells>>,
    /// Whether a stage that writes the column starts from the values of earlier stages.
    pub(crate) is_updated: bool,
}

impl BuiltInColumn {
    /// Creates a read-only column whose values come from [`Cell::value`].
    pub fn new<T: Cell>(column: Column<T>, value: DynamicType, meaning: &'static str) -> Self {
        Self::field(column, column.name(), value, meaning, T::value)
    }

    /// Creates a read-only column `name` for a field of the cells of `column`. `get` returns the field of a cell.
    pub fn field<T: Cell>(
        column: Column<T>,
        name: &'static str,
        value: DynamicType,
        meaning: &'static str,
        get: impl Fn(&T) -> Option<ValueRef<'_>> + Send + Sync + 'static,
    ) -> Self {
        let field_of = (name != column.name()).then_some(column.name());
        let cell = std::any::type_name::<T>();
        let reference = ColumnReference { name, value, cell, field_of, meaning, writers: "" };
        Self {
            reference,
            source: column.spec(),
            get: Arc::new(move |cells, row| {
                let cells: &dyn Any = cells;
                cells.downcast_ref::<Vec<T>>()?.get(row).and_then(&get)
            }),
            set: None,
            is_updated: false,
        }
    }

    /// The entry of the column in the reference.
    pub fn reference(&self) -> &ColumnReference {
        &self.reference
    }

    /// Allows custom stages to fill the column. `writers` describes these stages. Every cell starts with its default,
    /// and `set` stores a value in the cell or returns the reason why it rejects the value.
    #[must_use]
    pub fn writable<T: Cell + Default>(
        mut self,
        column: Column<T>,
        writers: &'static str,
        set: fn(&mut T, Value) -> Result<(), String>,
    ) -> Self {
        self.reference.writers = writers;
        self.set = Some(Arc::new(move |values, before, target| put(column, set, values, before, target)));
        self
    }

    /// Allows custom stages to change the column. Like [`Self::writable`], but a cell starts with the value that an
    /// earlier stage wrote.
    #[must_use]
    pub fn updatable<T: Cell + Default>(
        self,
        column: Column<T>,
        writers: &'static str,
        set: fn(&mut T, Value) -> Result<(), String>,
    ) -> Self {
        Self { is_updated: true, ..self.writable(column, writers, set) }
    }
}

/// Reads the value of a cell whose Rust type is erased.
pub(crate) type GetValue = dyn Fn(&dyn ErasedColumn, usize) -> Option<ValueRef<'_>> + Send + Sync;

/// The row of a rejected value, and the reason.
pub type RefusedValue = (usize, String);

/// Converts values into cells and inserts them into a table; see [`put`].
pub(crate) type SetCells =
    dyn Fn(Vec<Option<Value>>, Option<&dyn ErasedColumn>, &mut ColumnTable) -> Vec<RefusedValue> + Send + Sync;

/// Converts `values` into cells and inserts them into `target`. `before` contains the cells that an earlier stage
/// wrote. If it is `None`, every cell starts with its default. Returns the rejected values.
fn put<T: Cell + Default>(
    column: Column<T>,
    set: fn(&mut T, Value) -> Result<(), String>,
    values: Vec<Option<Value>>,
    before: Option<&dyn ErasedColumn>,
    target: &mut ColumnTable,
) -> Vec<RefusedValue> {
    let before = before.and_then(|cells| {
        let cells: &dyn Any = cells;
        cells.downcast_ref::<Vec<T>>().cloned()
    });
    let mut cells = before.unwrap_or_default();
    cells.resize_with(values.len(), T::default);
    let mut refused = Vec::new();
    for (row, value) in values.into_iter().enumerate() {
        if let Some(Err(reason)) = value.map(|value| set(&mut cells[row], value)) {
            refused.push((row, reason));
        }
    }
    target.insert(ColumnName::Borrowed(column.name()), cells);
    refused
}
