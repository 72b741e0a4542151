//! Iteration over the file rows of a snapshot in the order of paths.

use std::vec;

use aurora_lmdb_pages::Cursor;

use super::codec::{PREFIX_BYTES, decode};
use super::record::FileRecord;
use crate::error::StorageError;
use crate::read::snapshot::Snapshot;
use crate::tables::Table;

/// Iterates over the file rows sorted by path.
///
/// Keys of very long paths with the same prefix are in the order of their digests. The rows of such a group are sorted
/// when they are read.
struct FileRows<'s> {
    snapshot: &'s Snapshot,
    /// Path prefixes whose rows are skipped.
    skipped_prefixes: Vec<&'s str>,
    cursor: Option<Cursor<'s>>,
    /// Records that have been read but not returned yet.
    group: vec::IntoIter<FileRecord>,
    /// Number of remaining rows; unknown once rows have been skipped.
    left: Option<u64>,
    failed: Option<StorageError>,
}

impl Snapshot {
    /// Number of file rows.
    pub fn file_count(&self) -> u64 {
        self.tree(Table::Files).entries
    }

    /// Returns all file rows, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = Result<FileRecord, StorageError>> + '_ {
        FileRows::new(self, Vec::new())
    }

    /// Returns the file rows whose paths do not begin with any of `prefixes`, sorted by path. Skipped rows are not
    /// read.
    pub fn files_outside<'s>(
        &'s self,
        prefixes: impl IntoIterator<Item = &'s str>,
    ) -> impl Iterator<Item = Result<FileRecord, StorageError>> + 's {
        FileRows::new(self, prefixes.into_iter().collect())
    }
}

impl<'s> FileRows<'s> {
    fn new(snapshot: &'s Snapshot, skipped_prefixes: Vec<&'s str>) -> Self {
        let (cursor, failed) = match snapshot.cursor(Table::Files, &[]) {
            Ok(cursor) => (Some(cursor), None),
            Err(error) => (None, Some(error)),
        };
        let left = Some(snapshot.tree(Table::Files).entries);
        Self { snapshot, skipped_prefixes, cursor, group: Vec::new().into_iter(), left, failed }
    }

    /// Moves the cursor past rows with a skipped prefix.
    fn skip_prefixes(&mut self) -> Result<(), StorageError> {
        let Self { snapshot, skipped_prefixes, cursor: Some(cursor), left, .. } = self else { return Ok(()) };
        while let Some((key, _)) = snapshot.check(cursor.entry())? {
            let Some(prefix) = skipped_prefixes.iter().find(|prefix| key.starts_with(prefix.as_bytes())) else { break };
            let mut end = prefix.as_bytes().to_vec();
            // UTF-8 has no byte 255, so the sum does not overflow. An empty prefix covers all rows.
            match end.last_mut() {
                Some(last) => *last += 1,
                None => end.push(u8::MAX),
            }
            *cursor = snapshot.cursor(Table::Files, &end)?;
            *left = None;
        }
        Ok(())
    }

    /// Reads the next row. If its key has a prefix of the maximum length, reads all rows with this prefix.
    fn read_group(&mut self) -> Result<Vec<FileRecord>, StorageError> {
        let mut group = Vec::new();
        let mut shared: Option<&[u8]> = None;
        self.skip_prefixes()?;
        let Some(cursor) = &mut self.cursor else { return Ok(group) };
        while let Some((key, value)) = self.snapshot.check(cursor.entry())? {
            let prefix = &key[..key.len().min(PREFIX_BYTES)];
            if shared.is_some_and(|shared| shared != prefix) {
                break;
            }
            let record = decode(key, value).ok_or_else(|| {
                let name = String::from_utf8_lossy(key);
                self.snapshot.damaged(format!("the row of {name} is invalid"))
            })?;
            group.push(record);
            self.left = self.left.map(|left| left.wrapping_sub(1));
            self.snapshot.check(cursor.advance())?;
            if prefix.len() < PREFIX_BYTES {
                break;
            }
            shared = Some(prefix);
        }
        if group.is_empty() && self.left.is_some_and(|left| left != 0) {
            return Err(self.snapshot.damaged("rows of files are missing".to_owned()));
        }
        group.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(group)
    }
}

impl Iterator for FileRows<'_> {
    type Item = Result<FileRecord, StorageError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.group.len() == 0 {
            match self.failed.take().map_or_else(|| self.read_group(), Err) {
                Ok(group) => self.group = group.into_iter(),
                Err(error) => {
                    self.cursor = None;
                    return Some(Err(error));
                }
            }
        }
        self.group.next().map(Ok)
    }
}
