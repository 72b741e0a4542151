//! Values in custom columns that the last run stored. A stage whose output is current can reuse them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cell::Cell;
use crate::column::Column;
use crate::value::Value;

/// The values in custom columns that the last run stored for a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredValues {
    values: Option<Arc<[(String, Value)]>>,
    /// Names of the stages whose values cannot be reused, sorted.
    outdated: Arc<BTreeSet<String>>,
}

/// The stored values of files. Present if the program restores files from the last run.
pub const FILE_STORED: Column<StoredValues> = Column::new("file.stored");
/// The stored values of chunks. Present if the program restores chunks from the last run.
pub const CHUNK_STORED: Column<StoredValues> = Column::new("chunk.stored");

impl StoredValues {
    /// Creates the stored values of a row, each with the short name of its column.
    pub fn new(values: impl Into<Arc<[(String, Value)]>>) -> Self {
        Self { values: Some(values.into()), ..Self::default() }
    }

    /// Creates stored values without content, for a row that the last run did not store.
    pub fn new_row() -> Self {
        Self::default()
    }

    /// Marks the values of `stages` as outdated, because each of these stages, or a stage whose columns it reads, has
    /// no result for the row.
    #[must_use]
    pub fn outdated_for(self, stages: Arc<BTreeSet<String>>) -> Self {
        Self { outdated: stages, ..self }
    }

    /// Whether the values of a stage can be reused for this row, if the stage's output is current.
    pub fn is_current(&self, stage: &str) -> bool {
        self.is_stored() && !self.outdated.contains(stage)
    }

    /// Whether the last run stored the row.
    pub fn is_stored(&self) -> bool {
        self.values.is_some()
    }

    /// Returns the stored value of a column, given its short name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().flat_map(|values| values.iter()).find_map(|(known, value)| (known == name).then_some(value))
    }
}

impl Cell for StoredValues {
    fn heap_bytes(&self) -> usize {
        let of = |(name, value): &(String, Value)| size_of::<(String, Value)>() + name.len() + value.heap_bytes();
        self.values.iter().flat_map(|values| values.iter()).map(of).sum()
    }
}
