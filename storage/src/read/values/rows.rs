//! Writes the values of new chunks and updates the values of existing chunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{ValueBlockBuilder, place_of, value_key};
use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::read::chunk::MetaValue;
use crate::read::snapshot::Snapshot;
use crate::read::vectors::BLOCK_IDS;
use crate::tables::{Emit, Operation, Table};

/// Builds the rows of [`Table::Values`].
///
/// Blocks without ids of the base generation are emitted when they are full. All other blocks are kept until
/// [`ValueRows::publish`], because readers of the base generation see them.
pub(crate) struct ValueRows {
    columns: Arc<[ColumnDeclaration]>,
    base: Option<Snapshot>,
    /// The current block of new ids, with a builder for each column.
    open: Option<(u32, Vec<ValueBlockBuilder>)>,
    /// Blocks with ids of the base, by block and position of the column.
    kept: BTreeMap<(u32, usize), ValueBlockBuilder>,
}

impl ValueRows {
    /// Starts without rows; `columns` are the custom columns, and `base` is the generation that is changed.
    pub(crate) fn new(columns: Arc<[ColumnDeclaration]>, base: Option<Snapshot>) -> Self {
        Self { columns, base, open: None, kept: BTreeMap::new() }
    }

    /// Adds the values of a new chunk's metadata for the columns. Ids ascend.
    ///
    /// # Errors
    /// Refuses a value whose type differs from its column's type.
    pub(crate) fn push(
        &mut self,
        id: u32,
        metadata: &[(String, MetaValue)],
        emit: Emit<'_>,
    ) -> Result<(), StorageError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let (block, place) = place_of(id);
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
            builder.set(place, value);
        }
        Ok(())
    }

    /// Sets the values of a chunk of the base to those in `metadata`. Columns that are missing in `metadata` lose their
    /// value. Returns whether a value has changed.
    ///
    /// # Errors
    /// The errors of [`ValueRows::push`].
    pub(crate) fn set(&mut self, id: u32, metadata: &[(String, MetaValue)]) -> Result<bool, StorageError> {
        let (block, place) = place_of(id);
        let mut is_changed = false;
        for position in 0..self.columns.len() {
            let value = self.value_in(metadata, position)?;
            is_changed |= self.base_block(block, position)?.set(place, value);
        }
        Ok(is_changed)
    }

    /// Whether a value of a chunk of the base has changed.
    pub(crate) fn has_changes(&self) -> bool {
        self.kept.values().any(ValueBlockBuilder::is_changed)
    }

    /// Closes the open block.
    pub(crate) fn finish(&mut self, emit: Emit<'_>) -> Result<(), StorageError> {
        let Some((block, builders)) = self.open.take() else { return Ok(()) };
        for (column, builder) in self.columns.iter().zip(builders) {
            if let Some(bytes) = builder.encode() {
                emit(Operation::put(Table::Values, value_key(block, &column.name), bytes))?;
            }
        }
        Ok(())
    }

    /// Emits the rows that readers of the base would see: changed blocks, and deletions for dropped columns and dead
    /// chunks. A block of which at most half of the chunks are alive is rewritten without the dead chunks. Deletes new
    /// blocks whose chunks have all been replaced by the same writer.
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
                    let is_live = |place: usize| live.contains(block * BLOCK_IDS + place as u32);
                    (0..BLOCK_IDS as usize)
                        .filter(|place| !is_live(*place))
                        .for_each(|place| _ = builder.set(place, None));
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

    /// The first block without ids of the base.
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

/// Whether the columns have one with the same name and type, and so the same stored values.
fn has_column(columns: &[ColumnDeclaration], wanted: &ColumnDeclaration) -> bool {
    columns.iter().any(|column| column.name == wanted.name && column.kind == wanted.kind)
}
