//! Checks the rows of a table on several threads.

use aurora_lmdb_pages::{Cursor, Damage};

use crate::error::StorageError;
use crate::read::Snapshot;
use crate::tables::{Table, parse_chunk_key};
use crate::workers::Workers;

impl Snapshot {
    /// Iterates over the rows of a table up to the first key for which `is_end` is true. A thread calls `visit` for
    /// each of up to `step` rows, and `visit` adds its findings to a value that these rows share. `add` receives these
    /// values in row order.
    pub(super) fn verify_rows<T: Default + Send>(
        &self,
        workers: Workers,
        table: Table,
        step: usize,
        is_end: impl Fn(&[u8]) -> bool,
        visit: impl Fn(&Self, &mut T, &[u8], &[u8]) -> Result<(), StorageError> + Sync,
        mut add: impl FnMut(T),
    ) -> Result<(), StorageError> {
        let wrap = |damage| self.wrap(damage);
        let walk = |(mut cursor, rows): (Cursor<'_>, usize)| {
            let (snapshot, mut found) = (self.with_own_frames(), T::default());
            let walked = (0..rows).try_for_each(|row| {
                if row > 0 {
                    cursor.advance().map_err(wrap)?;
                }
                let entry = cursor.entry().map_err(wrap)?;
                entry.map_or(Ok(()), |(key, value)| visit(&snapshot, &mut found, key, value))
            });
            (found, walked)
        };
        let take = |(found, walked)| {
            add(found);
            walked
        };
        workers.in_order(walk, take, |queue| {
            let mut cursor = self.cursor(table, &[])?;
            loop {
                let (start, mut rows) = (cursor.clone(), 0);
                let mut advance = || -> Result<bool, Damage> {
                    while rows < step {
                        if cursor.key()?.is_none_or(&is_end) {
                            return Ok(false);
                        }
                        rows += 1;
                        cursor.advance()?;
                    }
                    Ok(true)
                };
                let is_further = advance();
                queue.push(0, (start, rows))?;
                if !is_further.map_err(wrap)? {
                    return Ok(());
                }
            }
        })
    }

    /// Whether a key's chunk is not published. Such a row belongs to a writer that has not published it yet, or never
    /// will.
    pub(super) fn is_unpublished(&self, key: &[u8]) -> bool {
        parse_chunk_key(key).is_some_and(|id| id >= self.manifest().next_chunk_id)
    }
}
