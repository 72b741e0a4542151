//! The rows of one message, borrowed from the batch.

use aurora_pipeline::{AccessError, BatchView, ColumnValues, Entity, ValueRef};
use serde::{Serialize, Serializer};

use super::rows::RowSet;

/// The values of the rows of one message.
pub struct Request<'b> {
    rows: &'b RowSet,
    /// For each chunk of the message, the index of its file in the message.
    chunk_files: Vec<u32>,
    /// File columns with their short names.
    files: Vec<(&'b str, ColumnValues<'b>)>,
    chunks: Vec<(&'b str, ColumnValues<'b>)>,
}

impl<'b> Request<'b> {
    /// Borrows the values of some rows. `reads` contains the full names of the columns.
    ///
    /// # Errors
    /// Returns an error if a column is not declared.
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
            match Entity::from_column(name) {
                Some(Entity::File) => files.push((short, values)),
                _ => chunks.push((short, values)),
            }
        }
        Ok(Self { rows, chunk_files, files, chunks })
    }

    /// The rows of the message.
    pub fn rows(&self) -> &RowSet {
        self.rows
    }

    /// For each chunk of the message, the index of its file in the message.
    pub fn chunk_files(&self) -> &[u32] {
        &self.chunk_files
    }

    /// Returns the files in the format of the process protocol: `count` and `columns`.
    pub(crate) fn files_table(&self) -> impl Serialize + use<'_, 'b> {
        Table::new(&self.rows.files, None, &self.files)
    }

    /// Returns the chunks in the format of the process protocol: `count`, `file` and `columns`.
    pub(crate) fn chunks_table(&self) -> impl Serialize + use<'_, 'b> {
        Table::new(&self.rows.chunks, Some(&self.chunk_files), &self.chunks)
    }

    /// Iterates over the file columns: the short name, and an optional value for each file of the message.
    pub fn file_columns(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Option<ValueRef<'b>>>)> {
        columns(&self.files, &self.rows.files)
    }

    /// Iterates over the chunk columns: the short name, and an optional value for each chunk of the message.
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

#[derive(Serialize)]
struct Table<'a> {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a [u32]>,
    columns: Columns<'a>,
}

impl<'a> Table<'a> {
    fn new(rows: &'a [u32], file: Option<&'a [u32]>, columns: &'a [(&'a str, ColumnValues<'a>)]) -> Self {
        Self { count: rows.len(), file, columns: Columns { rows, columns } }
    }
}

struct Columns<'a> {
    rows: &'a [u32],
    columns: &'a [(&'a str, ColumnValues<'a>)],
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cells = |values| Cells { rows: self.rows, values };
        serializer.collect_map(self.columns.iter().map(|(name, values)| (name, cells(*values))))
    }
}

struct Cells<'a> {
    rows: &'a [u32],
    values: ColumnValues<'a>,
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|row| self.values.get(*row as usize)))
    }
}
