//! Columns: the typed keys of the values that stages exchange.

use std::any::TypeId;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;

use crate::cell::Cell;
use crate::column_use::ColumnUses;
use crate::value::{DynamicType, Value};

/// The entity that a row of a batch represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Entity {
    /// A file of the repository; its columns are named `file.*`.
    File,
    /// A chunk of a file; its columns are named `chunk.*`, and every chunk row refers to a file row.
    Chunk,
}

impl Entity {
    /// The entity of a column name, or `None` if it starts with neither `file.` nor `chunk.`.
    pub fn from_column(name: &str) -> Option<Self> {
        match name.split_once('.')? {
            ("file", rest) if !rest.is_empty() => Some(Self::File),
            ("chunk", rest) if !rest.is_empty() => Some(Self::Chunk),
            _ => None,
        }
    }
}

/// A typed column name, for instance `Column::<Arc<str>>::new("file.text")`.
///
/// A column is declared once as a `const`, and used by every stage that reads or writes it.
pub struct Column<T> {
    name: &'static str,
    cell: PhantomData<fn() -> T>,
}

impl<T> Clone for Column<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Column<T> {}

impl<T> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Column({})", self.name)
    }
}

impl<T: Cell> Column<T> {
    /// Creates a column key.
    ///
    /// # Panics
    /// Panics if the name starts with neither `file.` nor `chunk.`. In a `const`, the panic is a compile error.
    pub const fn new(name: &'static str) -> Self {
        assert!(starts_with(name, "file.") || starts_with(name, "chunk."), "a column is named file.* or chunk.*");
        Self { name, cell: PhantomData }
    }

    /// The full name, such as `file.path`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the column belongs to files or to chunks.
    pub const fn entity(&self) -> Entity {
        if starts_with(self.name, "file.") { Entity::File } else { Entity::Chunk }
    }

    /// Returns the name and the cell type, for a declaration in [`Access`](crate::Access).
    pub fn spec(&self) -> ColumnSpec {
        ColumnSpec {
            name: Cow::Borrowed(self.name),
            cell: CellType::Native { id: TypeId::of::<T>(), name: std::any::type_name::<T>() },
            uses: ColumnUses::default(),
            dimensions: None,
        }
    }
}

const fn starts_with(text: &str, prefix: &str) -> bool {
    let (text, prefix) = (text.as_bytes(), prefix.as_bytes());
    if text.len() <= prefix.len() {
        return false;
    }
    let mut at = 0;
    while at < prefix.len() {
        if text[at] != prefix[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The declaration of a column in a stage's access: name, cell type and uses.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    pub(crate) name: Cow<'static, str>,
    pub(crate) cell: CellType,
    pub(crate) uses: ColumnUses,
    /// Length of the vectors, if the writer declares it.
    pub(crate) dimensions: Option<usize>,
}

impl ColumnSpec {
    /// A column declared by name only. A stage can read it as [`Value`]s, whatever its cell type. A name without a dot
    /// names a chunk column: `owner` means `chunk.owner`.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: full_name(name.into()), cell: CellType::Any, uses: ColumnUses::default(), dimensions: None }
    }

    /// A custom column with [`Value`]s of one type. A name without a dot names a chunk column. By default the values
    /// are stored, and searches can filter by them.
    pub fn dynamic(name: impl Into<String>, cell: DynamicType) -> Self {
        Self { name: full_name(name.into()), cell: CellType::Dynamic(cell), uses: ColumnUses::FILTER, dimensions: None }
    }

    /// Replaces the declared uses of the column.
    #[must_use]
    pub fn used(mut self, uses: ColumnUses) -> Self {
        self.uses = uses;
        self
    }

    /// Declares that the column contains vectors with this number of dimensions.
    #[must_use]
    pub fn with_dimensions(self, dimensions: usize) -> Self {
        Self { dimensions: Some(dimensions), ..self }
    }

    /// The number of dimensions of the vectors in the column, if its writer has declared it.
    pub fn dimensions(&self) -> Option<usize> {
        self.dimensions
    }

    /// The declared uses of a custom column.
    pub fn uses(&self) -> ColumnUses {
        self.uses
    }

    /// The name without the entity: `owner` of `chunk.owner`.
    pub fn short_name(&self) -> &str {
        self.name.split_once('.').map_or(&self.name, |(_, short)| short)
    }

    /// The full name, such as `file.path`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of the cells.
    pub fn cell(&self) -> CellType {
        self.cell
    }

    pub(crate) fn is_dynamic(&self) -> bool {
        matches!(self.cell, CellType::Dynamic(_))
    }
}

impl<T: Cell> From<Column<T>> for ColumnSpec {
    fn from(column: Column<T>) -> Self {
        column.spec()
    }
}

impl From<&str> for ColumnSpec {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}

/// Adds the entity `chunk` to a name without a dot.
pub(crate) fn full_name(name: String) -> Cow<'static, str> {
    Cow::Owned(if name.contains('.') { name } else { format!("chunk.{name}") })
}

/// The cell type of a declared column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// A Rust type.
    Native {
        /// Identity of the type.
        id: TypeId,
        /// Path of the type, for messages.
        name: &'static str,
    },
    /// Optional [`Value`]s of one type.
    Dynamic(DynamicType),
    /// Declared by name only; read as [`Value`]s.
    Any,
}

impl CellType {
    /// Whether a stage that reads cells of type `self` can read cells that were written as `other`.
    pub(crate) fn accepts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Native { id, .. }, Self::Native { id: written, .. }) => id == written,
            (Self::Dynamic(read), Self::Dynamic(written)) => read == written,
            (Self::Native { id, .. }, Self::Dynamic(_)) | (Self::Dynamic(_), Self::Native { id, .. }) => {
                *id == TypeId::of::<Option<Value>>()
            }
        }
    }
}

impl fmt::Display for CellType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Native { name, .. } => f.write_str(name),
            Self::Dynamic(cell) => cell.fmt(f),
            Self::Any => f.write_str("any"),
        }
    }
}
