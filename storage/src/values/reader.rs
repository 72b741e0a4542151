//! The values of custom columns, of one chunk and of all.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::{ValueBlock, place_of, value_key};
use crate::chunk::{ChunkId, MetaValue};
use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::label::texts_of;
use crate::snapshot::Snapshot;
use crate::tables::Table;
use crate::vectors::BLOCK_IDS;

impl Snapshot {
    /// The value that a live chunk has in a custom column.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn custom_value(&self, id: ChunkId, column: &str) -> Result<Option<MetaValue>, StorageError> {
        if !self.live().contains(id.0) || self.custom_column(column).is_none() {
            return Ok(None);
        }
        let (block, place) = place_of(id.0);
        Ok(self.value_block(block, column)?.and_then(|block| block.get(place)))
    }

    /// The values that a live chunk has in custom columns, in the order of their names.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn custom_values(&self, id: ChunkId) -> Result<Vec<(String, MetaValue)>, StorageError> {
        let mut values = Vec::new();
        for column in &self.manifest().columns {
            values.extend(self.custom_value(id, &column.name)?.map(|value| (column.name.clone(), value)));
        }
        Ok(values)
    }

    /// The live chunks that have a value in a custom column. An empty list is no value.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn chunks_with_column(&self, column: &str) -> Result<RoaringBitmap, StorageError> {
        let mut found = RoaringBitmap::new();
        self.each_run(column, |value, ids| {
            if !matches!(value, MetaValue::Strings(texts) if texts.is_empty()) {
                found.insert_range(ids);
            }
        })?;
        Ok(found & self.live())
    }

    /// The live chunks that have the text as their value in a custom column, or in the list that is their value.
    pub(crate) fn chunks_with_value(&self, column: &str, text: &str) -> Result<RoaringBitmap, StorageError> {
        let mut found = RoaringBitmap::new();
        self.each_run(column, |value, ids| {
            if texts_of(value).iter().any(|known| known == text) {
                found.insert_range(ids);
            }
        })?;
        Ok(found & self.live())
    }

    /// The texts of all values in a custom column, each with the live chunks that have it.
    pub(crate) fn chunks_by_value(&self, column: &str) -> Result<BTreeMap<String, RoaringBitmap>, StorageError> {
        let mut found: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
        self.each_run(column, |value, ids| {
            for text in texts_of(value) {
                found.entry(text).or_default().insert_range(ids.clone());
            }
        })?;
        found.values_mut().for_each(|chunks| *chunks &= self.live());
        found.retain(|_, chunks| !chunks.is_empty());
        Ok(found)
    }

    /// The declaration of a custom column.
    pub(crate) fn custom_column(&self, name: &str) -> Option<&ColumnDeclaration> {
        self.manifest().columns.iter().find(|column| column.name == name)
    }

    /// The values of a column for a block of 1,024 chunk ids, including the values of dead chunks.
    pub(crate) fn value_block(&self, block: u32, column: &str) -> Result<Option<ValueBlock<'_>>, StorageError> {
        let Some(bytes) = self.get(Table::Values, &value_key(block, column))? else { return Ok(None) };
        let read = ValueBlock::decode(bytes);
        read.map(Some).ok_or_else(|| self.damaged(format!("block {block} of the column `{column}` is invalid")))
    }

    /// Calls `visit` with every value of a column and the ids of neighbouring chunks that share it, dead ones included.
    fn each_run(
        &self,
        column: &str,
        mut visit: impl FnMut(&MetaValue, std::ops::Range<u32>),
    ) -> Result<(), StorageError> {
        for number in 0..self.manifest().next_chunk_id.div_ceil(BLOCK_IDS) {
            let Some(block) = self.value_block(number, column)? else { continue };
            let values: Vec<_> = block.values().collect();
            let first = number * BLOCK_IDS;
            for (places, value) in block.runs() {
                visit(&values[value], first + places.start as u32..first + places.end as u32);
            }
        }
        Ok(())
    }
}
