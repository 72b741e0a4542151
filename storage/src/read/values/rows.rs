//! Writes the values of new chunks and updates the values of existing chunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{ValueBlockBuilder, split_id, value_key};
use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::read::chunk::MetaValue;
use crate::read::snapshot::Snapshot;
use crate::read::vectors::BLOCK_IDS;
use crate::tables::{Emit, Operation, Table};

/// Builds the rows of [`Table::Values`].
///
/// A block without ids of the base generation is emitted when the next block begins. [`ValueRows::publish`] emits all
/// other blocks, because readers of the base generation read these blocks.
pub(crate) struct ValueRows {
    columns: Arc<[ColumnDeclaration]>,
    base: Option<Snapshot>,
    /// The current block of new ids, with a builder for each column.
    open: Option<(u32, Vec<ValueBlockBuilder>)>,
    /// Blocks with ids of the base, by block number and index of the column.
    kept: BTreeMap<(u32, usize), ValueBlockBuilder>,
}

impl ValueRows {
    /// Creates a builder without rows. `columns` are the custom columns, and `base` is the generation to change.
    pub(crate) fn new(columns: Arc<[ColumnDeclaration]>, base: Option<Snapshot>) -> Self {
        Self { columns, base, open: None, kept: BTreeMap::new() }
    }

    /// Adds the values of the columns from a new chunk's metadata. Ids must ascend.
    ///
    /// # Errors
    /// Returns [`StorageError::Refused`] if the type of a value differs from the type of its column.
    pub(crate) fn push(
        &mut self,
        id: u32,
        metadata: &[(String, MetaValue)],
        emit: Emit<'_>,
    ) -> Result<(), StorageError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let (block, index) = split_id(id);
        if self.open.as_ref().is_some_and(|(open, _)| *open != block) {
            self.finish(emit)?;
        }
        for position in 0..self.columns.len() {
            let value = self.value_in(metadata, position)?;
            if value.is_none() {
                continue;
            }
            let builder = if block < self.first_new_block() {
                self.base_block(block, position)?
            } else {
                let columns = self.columns.len();
                let begin = || (block, std::iter::repeat_with(ValueBlockBuilder::new).take(columns).collect());
                &mut self.open.get_or_insert_with(begin).1[position]
            };
            builder.set(index, value);
        }
        Ok(())
    }

    /// Sets the values of a chunk of the base generation to the values in `metadata`. If a column is missing in
    /// `metadata`, its value is removed. Returns whether a value has changed.
    ///
    /// # Errors
    /// Returns the errors of [`ValueRows::push`].
    pub(crate) fn set(&mut self, id: u32, metadata: &[(String, MetaValue)]) -> Result<bool, StorageError> {
        let (block, index) = split_id(id);
        let mut is_changed = false;
        for position in 0..self.columns.len() {
            let value = self.value_in(metadata, position)?;
            is_changed |= self.base_block(block, position)?.set(index, value);
        }
        Ok(is_changed)
    }

    /// Whether a value in a block of the base generation has changed.
    pub(crate) fn has_changes(&self) -> bool {
        self.kept.values().any(ValueBlockBuilder::is_changed)
    }

    /// Emits the current block of new ids.
    pub(crate) fn finish(&mut self, emit: Emit<'_>) -> Result<(), StorageError> {
        let Some((block, builders)) = self.open.take() else { return Ok(()) };
        for (column, builder) in self.columns.iter().zip(builders) {
            if let Some(bytes) = builder.encode() {
                emit(Operation::put(Table::Values, value_key(block, &column.name), bytes))?;
            }
        }
        Ok(())
    }

    /// Emits the operations that must be in the transaction of the publication: changed blocks of the base, and
    /// deletions for removed columns and deleted chunks. A block with at most half of its chunks live is rewritten
    /// without the values of deleted chunks. A new block is deleted if this writer has replaced all of its chunks.
    pub(crate) fn publish(
        &mut self,
        live: &RoaringBitmap,
        dead: &RoaringBitmap,
        mut emit: impl FnMut(Operation),
    ) -> Result<(), StorageError> {
        let known = self.base.as_ref().map_or(&[][..], |base| &base.manifest().columns);
        for column in known.iter().filter(|old| !has_column(&self.columns, old)) {
            for block in 0..self.first_new_block() {
                emit(Operation::delete(Table::Values, value_key(block, &column.name)));
            }
        }
        let mut last = None;
        for block in dead.iter().map(|id| id / BLOCK_IDS).filter(|block| last.replace(*block) != Some(*block)) {
            let ids = block * BLOCK_IDS..=block * BLOCK_IDS + (BLOCK_IDS - 1);
            let alive = live.range_cardinality(ids);
            if block >= self.first_new_block() {
                let columns = self.columns.iter().filter(|_| alive == 0);
                columns.for_each(|column| emit(Operation::delete(Table::Values, value_key(block, &column.name))));
            } else if 2 * alive <= u64::from(BLOCK_IDS) {
                for position in 0..self.columns.len() {
                    let builder = self.base_block(block, position)?;
                    let is_live = |index: usize| live.contains(block * BLOCK_IDS + index as u32);
                    (0..BLOCK_IDS as usize)
                        .filter(|index| !is_live(*index))
                        .for_each(|index| _ = builder.set(index, None));
                }
            }
        }
        for ((block, position), builder) in self.kept.iter().filter(|(_, builder)| builder.is_changed()) {
            let key = value_key(*block, &self.columns[*position].name);
            match builder.encode() {
                Some(bytes) => emit(Operation::put(Table::Values, key, bytes)),
                None => emit(Operation::delete(Table::Values, key)),
            }
        }
        Ok(())
    }

    /// Returns the number of the first block without ids of the base.
    fn first_new_block(&self) -> u32 {
        self.base.as_ref().map_or(0, |base| base.manifest().next_chunk_id.div_ceil(BLOCK_IDS))
    }

    /// Returns the builder of a block of the base.
    fn base_block(&mut self, block: u32, position: usize) -> Result<&mut ValueBlockBuilder, StorageError> {
        use std::collections::btree_map::Entry;
        let column = &self.columns[position];
        match self.kept.entry((block, position)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(vacant) => {
                let is_stored = |base: &&Snapshot| has_column(&base.manifest().columns, column);
                let builder = match self.base.as_ref().filter(is_stored) {
                    Some(base) => base.value_block(block, &column.name)?.as_ref().map(ValueBlockBuilder::from_block),
                    None => None,
                };
                Ok(vacant.insert(builder.unwrap_or_else(ValueBlockBuilder::new)))
            }
        }
    }

    /// Returns the value of a column in the metadata of a chunk.
    fn value_in<'m>(
        &self,
        metadata: &'m [(String, MetaValue)],
        position: usize,
    ) -> Result<Option<&'m MetaValue>, StorageError> {
        let column = &self.columns[position];
        let Some((_, value)) = metadata.iter().find(|(name, _)| *name == column.name) else { return Ok(None) };
        if value.kind() == column.kind {
            Ok(Some(value))
        } else {
            let (name, kind, given) = (&column.name, column.kind, value.kind());
            Err(StorageError::Refused(format!("the column `{name}` has the type {kind}, not {given}")))
        }
    }
}

/// Whether `columns` contains a column with the same name and type, so that its stored values can be used.
fn has_column(columns: &[ColumnDeclaration], wanted: &ColumnDeclaration) -> bool {
    columns.iter().any(|column| column.name == wanted.name && column.kind == wanted.kind)
}
