//! Lookup of file rows of a snapshot by path.

use aurora_lmdb_pages::Cursor;

use super::codec::{FileRow, key};
use super::record::FileRecord;
use crate::error::StorageError;
use crate::read::snapshot::Snapshot;
use crate::tables::Table;

/// Finds the rows of files by path. A row directly after the previously found row needs no search.
pub struct FileFinder<'s> {
    snapshot: &'s Snapshot,
    /// Cursor after the last row that was found.
    next: Option<Cursor<'s>>,
}

impl Snapshot {
    /// Returns a finder of file rows, which reads them in place.
    pub fn file_finder(&self) -> FileFinder<'_> {
        FileFinder { snapshot: self, next: None }
    }

    /// Returns the row of a file.
    ///
    /// # Errors
    /// Fails if the row or the path to it is damaged.
    pub fn file(&self, path: &str) -> Result<Option<FileRecord>, StorageError> {
        let Some(row) = self.file_finder().row(path)? else { return Ok(None) };
        row.record().map(Some).ok_or_else(|| self.damaged(format!("the row of {path} is invalid")))
    }
}

impl<'s> FileFinder<'s> {
    /// Returns the row of a file, in place.
    ///
    /// # Errors
    /// Fails if the row or the path to it is damaged.
    pub fn row(&mut self, path: &str) -> Result<Option<FileRow<'s>>, StorageError> {
        let Self { snapshot, next } = self;
        let wrap = |damage| snapshot.wrap(damage);
        let key = key(path);
        let is_next = match next {
            Some(next) => next.key().map_err(wrap)? == Some(&key),
            None => false,
        };
        if !is_next {
            // `get` also checks that damage does not hide a row that exists.
            if snapshot.get(Table::Files, &key)?.is_none() {
                return Ok(None);
            }
            *next = Some(snapshot.cursor(Table::Files, &key)?);
        }
        let Some(cursor) = next else { return Ok(None) };
        let Some((key, value)) = cursor.entry().map_err(wrap)? else { return Ok(None) };
        cursor.advance().map_err(wrap)?;
        let row = FileRow::new(key, value).ok_or_else(|| snapshot.damaged(format!("the row of {path} is invalid")))?;
        Ok(Some(row).filter(|row| row.path == path))
    }
}
