//! The rows of one message, borrowed from the batch.

use aurora_pipeline::{AccessError, BatchView, ColumnValues, Entity, ValueRef};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::rows::RowSet;

/// The values of the rows of one message.
pub struct Request<'b> {
    rows: &'b RowSet,
    /// For each chunk of the message, the position of its file in the message.
    chunk_files: Vec<u32>,
    /// Columns of files, with their short names.
    files: Vec<(&'b str, ColumnValues<'b>)>,
    chunks: Vec<(&'b str, ColumnValues<'b>)>,
}

impl<'b> Request<'b> {
    /// Borrows the values of some rows. `reads` has the full names of the columns.
    ///
    /// # Errors
    /// If a column is not declared.
    pub fn new(batch: &'b BatchView<'_>, rows: &'b RowSet, reads: &'b [String]) -> Result<Self, AccessError> {
        let position = |chunk: &u32| {
            let file = batch.chunk_files()[*chunk as usize];
            rows.files.binary_search(&file).map_or(0, |at| at as u32)
        };
        let chunk_files = rows.chunks.iter().map(position).collect();
        let (mut files, mut chunks) = (Vec::new(), Vec::new());
        for name in reads {
            let values = batch.values(name)?;
            let short = name.split_once('.').map_or(name.as_str(), |(_, short)| short);
            match Entity::of_column(name) {
                Some(Entity::File) => files.push((short, values)),
                _ => chunks.push((short, values)),
            }
        }
        Ok(Self { rows, chunk_files, files, chunks })
    }

    /// The rows.
    pub fn rows(&self) -> &RowSet {
        self.rows
    }

    /// For each chunk of the message, the position of its file in the message.
    pub fn chunk_files(&self) -> &[u32] {
        &self.chunk_files
    }

    /// The files in the form of the process protocol: `count` and `columns`.
    pub(crate) fn files_table(&self) -> impl Serialize + use<'_, 'b> {
        Table { rows: &self.rows.files, file: None, columns: &self.files }
    }

    /// The chunks in the form of the process protocol: `count`, `file` and `columns`.
    pub(crate) fn chunks_table(&self) -> impl Serialize + use<'_, 'b> {
        Table { rows: &self.rows.chunks, file: Some(&self.chunk_files), columns: &self.chunks }
    }

    /// The short names and values of file columns, with an optional value for each file of the message.
    pub fn file_columns(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Option<ValueRef<'b>>>)> {
        columns(&self.files, &self.rows.files)
    }

    /// The short names and values of chunk columns, with an optional value for each chunk of the message.
    pub fn chunk_columns(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Option<ValueRef<'b>>>)> {
        columns(&self.chunks, &self.rows.chunks)
    }
}

fn columns<'r, 'b>(
    columns: &'r [(&'b str, ColumnValues<'b>)],
    rows: &'r [u32],
) -> impl Iterator<Item = (&'r str, impl Iterator<Item = Option<ValueRef<'b>>>)> {
    columns.iter().map(|(name, values)| (*name, rows.iter().map(|row| values.get(*row as usize))))
}

struct Table<'a> {
    rows: &'a [u32],
    file: Option<&'a [u32]>,
    columns: &'a [(&'a str, ColumnValues<'a>)],
}

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2 + usize::from(self.file.is_some())))?;
        map.serialize_entry("count", &self.rows.len())?;
        if let Some(file) = self.file {
            map.serialize_entry("file", file)?;
        }
        map.serialize_entry("columns", &Columns { rows: self.rows, columns: self.columns })?;
        map.end()
    }
}

struct Columns<'a> {
    rows: &'a [u32],
    columns: &'a [(&'a str, ColumnValues<'a>)],
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (name, values) in self.columns {
            map.serialize_entry(name, &Cells { rows: self.rows, values: *values })?;
        }
        map.end()
    }
}

struct Cells<'a> {
    rows: &'a [u32],
    values: ColumnValues<'a>,
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.rows.len()))?;
        for row in self.rows {
            list.serialize_element(&Wire(self.values.get(*row as usize)))?;
        }
        list.end()
    }
}

/// A value in a message.
struct Wire<'a>(Option<ValueRef<'a>>);

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_none(),
            Some(ValueRef::Bool(value)) => serializer.serialize_bool(*value),
            Some(ValueRef::Integer(value)) => serializer.serialize_i64(*value),
            Some(ValueRef::Float(value)) => serializer.serialize_f64(*value),
            Some(ValueRef::String(value)) => serializer.serialize_str(value),
            Some(ValueRef::Strings(value)) => value.serialize(serializer),
            Some(ValueRef::Vector(value)) => value.serialize(serializer),
            Some(ValueRef::Json(value)) => value.serialize(serializer),
        }
    }
}
