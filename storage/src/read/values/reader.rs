//! Reads the values of custom columns for one chunk or for all chunks.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::{ValueBlock, split_id, value_key};
use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::read::chunk::{ChunkId, MetaValue};
use crate::read::label::filter_texts;
use crate::read::snapshot::Snapshot;
use crate::read::vectors::BLOCK_IDS;
use crate::tables::Table;

impl Snapshot {
    /// Returns the value of a live chunk in a custom column.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn custom_value(&self, id: ChunkId, column: &str) -> Result<Option<MetaValue>, StorageError> {
        if !self.live().contains(id.0) || self.custom_column(column).is_none() {
            return Ok(None);
        }
        let (block, index) = split_id(id.0);
        Ok(self.value_block(block, column)?.and_then(|block| block.get(index)))
    }

    /// Returns the values of a live chunk in all custom columns, sorted by the names of the columns.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn custom_values(&self, id: ChunkId) -> Result<Vec<(String, MetaValue)>, StorageError> {
        let mut values = Vec::new();
        for column in &self.manifest().columns {
            values.extend(self.custom_value(id, &column.name)?.map(|value| (column.name.clone(), value)));
        }
        Ok(values)
    }

    /// Returns the live chunks that have a value in a custom column. An empty list does not count as a value.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn chunks_with_column(&self, column: &str) -> Result<RoaringBitmap, StorageError> {
        self.chunks_where(column, |value| !matches!(value, MetaValue::Strings(texts) if texts.is_empty()))
    }

    /// Returns the live chunks whose value in a custom column is `text`, or is a list that contains `text`.
    pub(crate) fn chunks_with_value(&self, column: &str, text: &str) -> Result<RoaringBitmap, StorageError> {
        self.chunks_where(column, |value| filter_texts(value).iter().any(|known| known == text))
    }

    /// Returns the live chunks with a value in the column for which `is_wanted` holds.
    fn chunks_where(
        &self,
        column: &str,
        is_wanted: impl Fn(&MetaValue) -> bool,
    ) -> Result<RoaringBitmap, StorageError> {
        let mut found = RoaringBitmap::new();
        self.for_each_run(column, |value, ids| {
            if is_wanted(value) {
                found.insert_range(ids);
            }
        })?;
        Ok(found & self.live())
    }

    /// Returns the texts of all values in a custom column, each with its live chunks.
    pub(crate) fn chunks_by_value(&self, column: &str) -> Result<BTreeMap<String, RoaringBitmap>, StorageError> {
        let mut found: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
        self.for_each_run(column, |value, ids| {
            for text in filter_texts(value) {
                found.entry(text).or_default().insert_range(ids.clone());
            }
        })?;
        found.values_mut().for_each(|chunks| *chunks &= self.live());
        found.retain(|_, chunks| !chunks.is_empty());
        Ok(found)
    }

    /// Returns the declaration of a custom column.
    pub(crate) fn custom_column(&self, name: &str) -> Option<&ColumnDeclaration> {
        self.manifest().columns.iter().find(|column| column.name == name)
    }

    /// Returns the values of a column for a block of 1,024 chunk ids, including the values of deleted chunks.
    pub(crate) fn value_block(&self, block: u32, column: &str) -> Result<Option<ValueBlock<'_>>, StorageError> {
        let Some(bytes) = self.get(Table::Values, &value_key(block, column))? else { return Ok(None) };
        let read = ValueBlock::decode(bytes);
        read.map(Some).ok_or_else(|| self.damaged(format!("block {block} of the column `{column}` is invalid")))
    }

    /// Calls `visit` for each range of consecutive ids that have the same value in a column. The ranges may include
    /// deleted chunks.
    fn for_each_run(
        &self,
        column: &str,
        mut visit: impl FnMut(&MetaValue, std::ops::Range<u32>),
    ) -> Result<(), StorageError> {
        for number in 0..self.manifest().next_chunk_id.div_ceil(BLOCK_IDS) {
            let Some(block) = self.value_block(number, column)? else { continue };
            let values: Vec<_> = block.values().collect();
            let first = number * BLOCK_IDS;
            for (range, value) in block.runs() {
                visit(&values[value], first + range.start as u32..first + range.end as u32);
            }
        }
        Ok(())
    }
}
