//! Sizes of the tables of an index.

use aurora_lmdb_pages::first_damage;
use serde::Serialize;

use crate::error::StorageError;
use crate::read::snapshot::Snapshot;
use crate::tables::Table;

/// Size of a table of an index.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableSize {
    /// Name of the table in the environment.
    pub name: &'static str,
    /// Number of rows.
    pub rows: u64,
    /// Size of the table's pages in bytes, including free space in them.
    pub bytes: u64,
}

impl Snapshot {
    /// Returns the size of the pages of all tables in bytes, as the tables record it. No page is visited, so the result
    /// is not reliable for a damaged index.
    pub fn table_bytes(&self) -> u64 {
        let pages = Table::all().fold(0_u64, |pages, table| pages.saturating_add(self.tree(table).pages));
        pages.saturating_mul(self.pages().page_size as u64)
    }

    /// Returns the tables of the generation, largest first. The rest of the data file consists of free pages, and of
    /// pages of other generations that are still being read.
    ///
    /// # Errors
    /// Fails if the pages of a table are damaged. Every page is visited, so that a damaged root cannot result in a
    /// wrong size.
    pub fn table_sizes(&self) -> Result<Vec<TableSize>, StorageError> {
        self.check(first_damage(&self.pages(), self.meta()))?;
        let page = self.pages().page_size as u64;
        let size = |table: Table| {
            let tree = self.tree(table);
            TableSize { name: table.name(), rows: tree.entries, bytes: tree.pages.saturating_mul(page) }
        };
        let mut sizes: Vec<_> = Table::all().map(size).collect();
        sizes.sort_by_key(|size| std::cmp::Reverse(size.bytes));
        Ok(sizes)
    }
}
