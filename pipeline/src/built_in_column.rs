//! Columns that a program describes to stages which know them by name only: how their values are read and written.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;

use crate::cell::Cell;
use crate::column::{Column, ColumnSpec};
use crate::column_table::{ColumnName, ColumnTable, ErasedColumn};
use crate::value::{DynamicType, Value, ValueRef};

/// What the reference says about a built-in column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnReference {
    /// Its full name, `chunk.name` for instance.
    pub name: &'static str,
    /// Its type in custom stages that are processes or WebAssembly.
    pub value: DynamicType,
    /// Its type in Rust: the cell type, or that of the column which it is a field of.
    pub cell: &'static str,
    /// The Rust column that holds it, if it is a field of another column.
    pub field_of: Option<&'static str>,
    /// What it holds.
    pub meaning: &'static str,
    /// Which other stages may write it, in words; empty if none may.
    pub writers: &'static str,
}

/// A column that stages may use by name.
#[derive(Clone)]
pub struct BuiltInColumn {
    pub(crate) reference: ColumnReference,
    /// The column that holds the values.
    pub(crate) source: ColumnSpec,
    pub(crate) get: Arc<dyn GetValue>,
    pub(crate) set: Option<Arc<dyn SetCells>>,
    /// A stage that writes the column sees what was written before it.
    pub(crate) is_updated: bool,
}

impl BuiltInColumn {
    /// A column that can be read: its values are those of [`Cell::value`].
    pub fn new<T: Cell>(column: Column<T>, value: DynamicType, meaning: &'static str) -> Self {
        Self::field(column, column.name(), value, meaning, T::value)
    }

    /// A part of the cells of `column` that can be read under a name of its own.
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
            get: Arc::new(Getter { get, cell: PhantomData::<fn(&T)> }),
            set: None,
            is_updated: false,
        }
    }

    /// What the reference says about it.
    pub fn reference(&self) -> &ColumnReference {
        &self.reference
    }

    /// Lets other stages fill the column; `writers` says which, in words. Every cell begins with the default, and `set` puts a value in it or refuses the value
    /// with a reason.
    #[must_use]
    pub fn writable<T: Cell + Default>(
        mut self,
        column: Column<T>,
        writers: &'static str,
        set: fn(&mut T, Value) -> Result<(), String>,
    ) -> Self {
        self.reference.writers = writers;
        self.set = Some(Arc::new(Setter { column, set }));
        self
    }

    /// Lets other stages change the column: the same, but every cell begins with what an earlier stage has written.
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

impl PartialEq for BuiltInColumn {
    fn eq(&self, other: &Self) -> bool {
        self.reference == other.reference
    }
}

impl fmt::Debug for BuiltInColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reference.fmt(f)
    }
}

/// Reads a value of a cell whose type is erased.
pub(crate) trait GetValue: Send + Sync {
    fn value<'c>(&self, cells: &'c dyn ErasedColumn, row: usize) -> Option<ValueRef<'c>>;
}

struct Getter<T, F> {
    get: F,
    cell: PhantomData<fn(&T)>,
}

impl<T, F> GetValue for Getter<T, F>
where
    T: Cell,
    F: Fn(&T) -> Option<ValueRef<'_>> + Send + Sync,
{
    fn value<'c>(&self, cells: &'c dyn ErasedColumn, row: usize) -> Option<ValueRef<'c>> {
        let cells: &dyn Any = cells;
        cells.downcast_ref::<Vec<T>>()?.get(row).and_then(&self.get)
    }
}

/// A value that was refused: its row, and why.
pub type RefusedValue = (usize, String);

/// Makes cells of values.
pub(crate) trait SetCells: Send + Sync {
    /// Puts a column of cells into `target`. `before` is the table with the cells so far.
    fn put(
        &self,
        values: Vec<Option<Value>>,
        before: Option<&dyn ErasedColumn>,
        target: &mut ColumnTable,
    ) -> Vec<RefusedValue>;
}

struct Setter<T> {
    column: Column<T>,
    set: fn(&mut T, Value) -> Result<(), String>,
}

impl<T: Cell + Default> SetCells for Setter<T> {
    fn put(
        &self,
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
            if let Some(Err(reason)) = value.map(|value| (self.set)(&mut cells[row], value)) {
                refused.push((row, reason));
            }
        }
        target.insert(ColumnName::Borrowed(self.column.name()), cells);
        refused
    }
}
