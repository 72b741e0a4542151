//! Struct-of-arrays tables: one vector per column, all of the same length.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::cell::Cell;
use crate::value::{Value, ValueRef};

/// Name of a column in a batch.
pub(crate) type ColumnName = Cow<'static, str>;

/// A column whose cell type is erased.
pub(crate) trait ErasedColumn: Any + Send + Sync {
    fn bytes(&self) -> usize;
    fn retain(&mut self, keep: &[bool]);
    fn len(&self) -> usize;
    fn value(&self, row: usize) -> Option<ValueRef<'_>>;
    fn type_name(&self) -> &'static str;
    fn copy(&self) -> Box<dyn ErasedColumn>;
}

impl<T: Cell> ErasedColumn for Vec<T> {
    fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>() + self.iter().map(T::heap_bytes).sum::<usize>()
    }

    fn retain(&mut self, keep: &[bool]) {
        let mut keep = keep.iter();
        Vec::retain(self, |_| keep.next().copied().unwrap_or(false));
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn value(&self, row: usize) -> Option<ValueRef<'_>> {
        self.get(row).and_then(T::value)
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<T>()
    }

    fn copy(&self) -> Box<dyn ErasedColumn> {
        Box::new(self.clone())
    }
}

struct StoredColumn {
    cells: Box<dyn ErasedColumn>,
    bytes: usize,
}

/// The rows of a batch that belong to one entity (files or chunks), stored by column.
#[derive(Default)]
pub(crate) struct ColumnTable {
    rows: usize,
    columns: BTreeMap<ColumnName, StoredColumn>,
}

impl ColumnTable {
    pub(crate) fn with_rows(rows: usize) -> Self {
        Self { rows, columns: BTreeMap::new() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn set_rows(&mut self, rows: usize) {
        debug_assert!(self.columns.is_empty(), "rows are added before columns");
        self.rows = rows;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.columns.values().map(|column| column.bytes).sum()
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.columns.contains_key(name)
    }

    pub(crate) fn has_no_columns(&self) -> bool {
        self.columns.is_empty()
    }

    pub(crate) fn insert<T: Cell>(&mut self, name: ColumnName, cells: Vec<T>) {
        let bytes = ErasedColumn::bytes(&cells);
        self.columns.insert(name, StoredColumn { cells: Box::new(cells), bytes });
    }

    /// Returns the cells of a column. If the cells have another type, the error is the name of that type.
    pub(crate) fn get<T: Cell>(&self, name: &str) -> Option<Result<&[T], &'static str>> {
        let cells = self.any(name)?;
        let typed: &dyn Any = cells;
        Some(typed.downcast_ref::<Vec<T>>().map(Vec::as_slice).ok_or_else(|| cells.type_name()))
    }

    pub(crate) fn any(&self, name: &str) -> Option<&dyn ErasedColumn> {
        self.columns.get(name).map(|column| column.cells.as_ref())
    }

    pub(crate) fn take<T: Cell>(&mut self, name: &str) -> Option<Vec<T>> {
        let typed: &dyn Any = self.any(name)?;
        typed.downcast_ref::<Vec<T>>()?;
        let cells: Box<dyn Any> = self.columns.remove(name)?.cells;
        cells.downcast::<Vec<T>>().ok().map(|cells| *cells)
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.columns.remove(name);
    }

    pub(crate) fn retain(&mut self, keep: &[bool]) {
        self.rows = keep.iter().filter(|keep| **keep).count();
        for column in self.columns.values_mut() {
            column.cells.retain(keep);
            column.bytes = column.cells.bytes();
        }
    }

    /// A copy of the columns for which `wanted` returns true.
    pub(crate) fn copy(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let columns = self.columns.iter().filter(|(name, _)| wanted(name));
        let columns = columns
            .map(|(name, column)| (name.clone(), StoredColumn { cells: column.cells.copy(), bytes: column.bytes }));
        Self { rows: self.rows, columns: columns.collect() }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(AsRef::as_ref)
    }

    /// Adds the columns of another table with the same number of rows.
    pub(crate) fn merge(&mut self, other: Self) {
        debug_assert_eq!(self.rows, other.rows, "both tables have the same rows");
        self.columns.extend(other.columns);
    }

    /// Iterates over the custom columns in the order of their names. The cells of a custom column are optional
    /// [`Value`]s.
    pub(crate) fn dynamic(&self) -> impl Iterator<Item = (&str, &[Option<Value>])> {
        self.columns.iter().filter_map(|(name, column)| {
            let cells: &dyn Any = column.cells.as_ref();
            Some((name.as_ref(), cells.downcast_ref::<Vec<Option<Value>>>()?.as_slice()))
        })
    }
}
