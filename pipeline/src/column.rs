//! Columns: the typed keys of the values that stages exchange, and the types of these values.

use std::any::TypeId;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a row of a batch represents.
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
    pub fn of_column(name: &str) -> Option<Self> {
        match name.split_once('.')? {
            ("file", rest) if !rest.is_empty() => Some(Self::File),
            ("chunk", rest) if !rest.is_empty() => Some(Self::Chunk),
            _ => None,
        }
    }
}

/// The typed key of a column, for instance `Column::<Arc<str>>::new("file.text")`.
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
    /// A column of that name.
    ///
    /// # Panics
    /// If the name starts with neither `file.` nor `chunk.`; in a `const` that is a compile error.
    pub const fn new(name: &'static str) -> Self {
        assert!(starts_with(name, "file.") || starts_with(name, "chunk."), "a column is named file.* or chunk.*");
        Self { name, cell: PhantomData }
    }

    /// The full name, `file.path` for instance.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the column belongs to files or to chunks.
    pub const fn entity(&self) -> Entity {
        if starts_with(self.name, "file.") { Entity::File } else { Entity::Chunk }
    }

    /// The name together with the cell type, as [`Access`](crate::Access) declares it.
    pub fn spec(&self) -> ColumnSpec {
        ColumnSpec {
            name: Cow::Borrowed(self.name),
            cell: CellType::Native { id: TypeId::of::<T>(), name: std::any::type_name::<T>() },
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

/// A column as a stage declares it: name and cell type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    pub(crate) name: Cow<'static, str>,
    pub(crate) cell: CellType,
}

impl ColumnSpec {
    /// A column declared by name only. It can be read as [`Value`]s whatever its type.
    /// A name without a dot is a chunk column: `owner` is `chunk.owner`.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: full_name(name.into()), cell: CellType::Any }
    }

    /// A column of [`Value`]s of one type, as a plugin writes it. A name without a dot is a chunk column.
    pub fn dynamic(name: impl Into<String>, cell: DynamicType) -> Self {
        Self { name: full_name(name.into()), cell: CellType::Dynamic(cell) }
    }

    /// The full name, `file.path` for instance.
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

/// `owner` is short for `chunk.owner`.
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
        /// Its path, for messages.
        name: &'static str,
    },
    /// Optional [`Value`]s of one type.
    Dynamic(DynamicType),
    /// Declared by name only; read as [`Value`]s.
    Any,
}

impl CellType {
    /// Whether a stage that expects `self` can read what a stage wrote as `other`.
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

/// The type of a plugin's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DynamicType {
    /// UTF-8 text.
    String,
    /// A signed 64-bit integer.
    Integer,
    /// A 64-bit float.
    Float,
    /// True or false.
    Bool,
    /// A list of texts.
    Strings,
}

impl fmt::Display for DynamicType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::Strings => "strings",
        })
    }
}

/// One cell of a plugin's column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A signed 64-bit integer.
    Integer(i64),
    /// A 64-bit float.
    Float(f64),
    /// UTF-8 text.
    String(String),
    /// A list of texts.
    Strings(Vec<String>),
}

impl Value {
    /// The type of this value.
    pub fn dynamic_type(&self) -> DynamicType {
        match self {
            Self::String(_) => DynamicType::String,
            Self::Integer(_) => DynamicType::Integer,
            Self::Float(_) => DynamicType::Float,
            Self::Bool(_) => DynamicType::Bool,
            Self::Strings(_) => DynamicType::Strings,
        }
    }
}

/// A type whose values a column may hold.
///
/// Both methods have defaults. A type that owns heap memory should return its size, because the memory budget counts it.
pub trait Cell: Clone + Send + Sync + 'static {
    /// Heap bytes that the value owns. Shared memory counts for every owner.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// The value as a plugin sees it; `None` if the type has no such form, or the cell is empty.
    fn to_value(&self) -> Option<Value> {
        None
    }
}

macro_rules! plain_cells {
    ($($cell:ty => |$value:ident| $form:expr;)*) => {$(
        impl Cell for $cell {
            fn to_value(&self) -> Option<Value> {
                let $value = self;
                $form
            }
        }
    )*};
}

plain_cells! {
    bool => |v| Some(Value::Bool(*v));
    u8 => |v| Some(Value::Integer(i64::from(*v)));
    u16 => |v| Some(Value::Integer(i64::from(*v)));
    u32 => |v| Some(Value::Integer(i64::from(*v)));
    i8 => |v| Some(Value::Integer(i64::from(*v)));
    i16 => |v| Some(Value::Integer(i64::from(*v)));
    i32 => |v| Some(Value::Integer(i64::from(*v)));
    i64 => |v| Some(Value::Integer(*v));
    u64 => |v| i64::try_from(*v).ok().map(Value::Integer);
    usize => |v| i64::try_from(*v).ok().map(Value::Integer);
    f32 => |v| Some(Value::Float(f64::from(*v)));
    f64 => |v| Some(Value::Float(*v));
    &'static str => |v| Some(Value::String((*v).to_owned()));
    () => |_v| None;
}

impl<const N: usize> Cell for [u8; N] {
    fn to_value(&self) -> Option<Value> {
        Some(Value::String(self.iter().map(|byte| format!("{byte:02x}")).collect()))
    }
}

impl Cell for String {
    fn heap_bytes(&self) -> usize {
        self.capacity()
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::String(self.clone()))
    }
}

impl Cell for Arc<str> {
    fn heap_bytes(&self) -> usize {
        self.len()
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::String(self.to_string()))
    }
}

impl<T: Cell> Cell for Arc<T> {
    fn heap_bytes(&self) -> usize {
        size_of::<T>() + T::heap_bytes(self)
    }
    fn to_value(&self) -> Option<Value> {
        T::to_value(self)
    }
}

impl<T: Cell> Cell for Option<T> {
    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, T::heap_bytes)
    }
    fn to_value(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_value)
    }
}

impl<T: Cell> Cell for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>() + self.iter().map(T::heap_bytes).sum::<usize>()
    }
    fn to_value(&self) -> Option<Value> {
        let texts: Option<Vec<String>> = self
            .iter()
            .map(|cell| match cell.to_value() {
                Some(Value::String(text)) => Some(text),
                _ => None,
            })
            .collect();
        texts.map(Value::Strings)
    }
}

impl Cell for Value {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::String(text) => text.capacity(),
            Self::Strings(texts) => texts.heap_bytes(),
            Self::Integer(_) | Self::Float(_) | Self::Bool(_) => 0,
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(self.clone())
    }
}
