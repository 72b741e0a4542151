//! What takes up space in an index.

use serde::Serialize;

use crate::btree::first_damage;
use crate::error::StorageError;
use crate::snapshot::Snapshot;
use crate::tables::Table;

/// A table of an index.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableSize {
    /// Its name within the environment.
    pub name: &'static str,
    /// Number of its rows.
    pub rows: u64,
    /// Bytes of its pages, free space in them included.
    pub bytes: u64,
}

impl Snapshot {
    /// The tables of the generation, the largest first. What the data file has beyond their sum is free pages, and pages of
    /// generations that are still being read.
    ///
    /// # Errors
    /// When the pages of a table are damaged: every page is visited, so that no figure is that of a damaged root.
    pub fn table_sizes(&self) -> Result<Vec<TableSize>, StorageError> {
        first_damage(&self.pages(), self.meta()).map_err(|damage| self.wrap(damage))?;
        let page = self.pages().page_size as u64;
        let size = |table: Table| {
            let tree = self.tree(table);
            TableSize { name: table.name(), rows: tree.entries, bytes: tree.pages.saturating_mul(page) }
        };
        let mut sizes: Vec<_> = Table::ALL.into_iter().map(size).collect();
        sizes.sort_by_key(|size| std::cmp::Reverse(size.bytes));
        Ok(sizes)
    }
}
