//! The common tree of all configuration formats.

use std::ops::Range;

/// A key and its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Value,
    pub(super) value_span: Range<usize>,
}

#[derive(Debug)]
pub(crate) enum Value {
    /// A table or object, in the order of the text.
    Table(Vec<Entry>),
    Text(String),
    Boolean(bool),
    Number(f64),
    Array,
    /// A value of any other type.
    Other,
}
