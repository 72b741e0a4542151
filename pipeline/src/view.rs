//! The view through which a stage accesses a batch.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::batch::Batch;
use crate::batch_copy::BatchCopy;
use crate::built_in_column::RefusedValue;
use crate::cell::Cell;
use crate::column::{CellType, Column, Entity, full_name};
use crate::column_table::{ColumnName, ColumnTable};
use crate::column_values::ColumnValues;
use crate::context::StageContext;
use crate::missing_result::MissingResult;
use crate::permissions::{AccessError, Permissions};
use crate::probe::StageOutput;
use crate::value::{DynamicType, Value, ValueRef};

pub(crate) enum BatchRows<'a> {
    /// The stage fills the batch and then emits it.
    Owned(Batch),
    /// No other stage uses the batch at the same time.
    Exclusive(&'a mut Batch),
    /// Other stages of the step read the batch at the same time. Columns that this stage writes go to `staged`.
    Shared { base: &'a Batch, staged: &'a mut Batch },
}

/// A stage's view of a batch. It gives access to the declared columns and rejects access to all others.
///
/// An undeclared access to a column or to the rows ends the run even if the stage ignores the error, because the plan
/// derives the order of stages from the declarations.
pub struct BatchView<'a> {
    pub(crate) rows: BatchRows<'a>,
    permissions: &'a Permissions,
    written: Vec<ColumnName>,
    taken: Vec<ColumnName>,
    refused: OnceLock<AccessError>,
}

impl<'a> BatchView<'a> {
    pub(crate) fn new(rows: BatchRows<'a>, permissions: &'a Permissions) -> Self {
        Self { rows, permissions, written: Vec::new(), taken: Vec::new(), refused: OnceLock::new() }
    }

    /// Number of file rows.
    pub fn files(&self) -> usize {
        self.batch().files.rows()
    }

    /// Number of chunk rows.
    pub fn chunks(&self) -> usize {
        self.batch().chunks.rows()
    }

    /// The file row of every chunk row.
    pub fn chunk_files(&self) -> &[u32] {
        &self.batch().chunk_files
    }

    /// The cells of a column, one per row.
    ///
    /// # Errors
    /// Returns an error if the column is absent or has another type, or if the stage neither declares it as read nor
    /// has written it.
    pub fn read<T: Cell>(&self, column: Column<T>) -> Result<&[T], AccessError> {
        match self.read_optional(column)? {
            Some(cells) => Ok(cells),
            None if self.batch().table(column.entity()).rows() == 0 => Ok(&[]),
            None => Err(AccessError::Absent { stage: self.permissions.stage(), column: column.name().to_owned() }),
        }
    }

    /// The cells of a column, or `None` if the column is absent.
    ///
    /// # Errors
    /// Returns an error if the column has another type, or if the stage neither declares it as read nor has written it.
    pub fn read_optional<T: Cell>(&self, column: Column<T>) -> Result<Option<&[T]>, AccessError> {
        let name = column.name();
        self.check_read(name)?;
        match self.find(column.entity(), name).and_then(|table| table.get::<T>(name)) {
            None => Ok(None),
            Some(Ok(cells)) => Ok(Some(cells)),
            Some(Err(found)) => Err(self.wrong_type(name, std::any::type_name::<T>(), found)),
        }
    }

    /// Moves a column out of the batch if no later stage uses it; otherwise clones it. In both cases, the stage cannot
    /// read the column again.
    ///
    /// # Errors
    /// See [`BatchView::read`].
    pub fn take<T: Cell>(&mut self, column: Column<T>) -> Result<Vec<T>, AccessError> {
        let name = column.name();
        self.read(column)?;
        let last = self.permissions.columns.get(name).is_some_and(|permission| permission.last);
        let moved = match &mut self.rows {
            BatchRows::Exclusive(batch) if last => batch.table_mut(column.entity()).take(name),
            _ => None,
        };
        let cells = match moved {
            Some(cells) => cells,
            None => self.read(column)?.to_vec(),
        };
        self.taken.push(Cow::Borrowed(name));
        Ok(cells)
    }

    /// Fills a column with one value per row. Replaces the column if it already exists.
    ///
    /// # Errors
    /// Returns an error if the stage does not declare the column as written, or if the number of values differs from
    /// the number of rows.
    pub fn write<T: Cell>(&mut self, column: Column<T>, values: Vec<T>) -> Result<(), AccessError> {
        let declared = self.check_write(column.name(), values.len(), column.entity())?;
        if !declared.accepts(&column.spec().cell) {
            return Err(self.wrong_type(column.name(), std::any::type_name::<T>(), &declared.to_string()));
        }
        self.put(column.entity(), Cow::Borrowed(column.name()), values);
        Ok(())
    }

    /// The values of a column, independent of its Rust type. The stage must have declared the column by name, or as a
    /// custom column.
    ///
    /// # Errors
    /// Returns an error if the stage does not declare the column as read, or if the column is absent.
    pub fn values(&self, name: &str) -> Result<ColumnValues<'_>, AccessError> {
        match self.optional_values(name)? {
            Some(values) => Ok(values),
            None => Err(AccessError::Absent { stage: self.permissions.stage(), column: name.to_owned() }),
        }
    }

    /// Like [`BatchView::values`], but returns `None` if the batch has rows and the column is absent.
    ///
    /// # Errors
    /// Returns an error if the stage does not declare the column as read.
    pub fn optional_values(&self, name: &str) -> Result<Option<ColumnValues<'_>>, AccessError> {
        let name = &*full_name(name.to_owned());
        let built_in = self.permissions.built_in.get(name);
        let held_by = built_in.map_or(name, |column| column.source.name());
        self.check_read(held_by)?;
        let entity = Entity::from_column(held_by).unwrap_or(Entity::Chunk);
        let cells = self.find(entity, held_by).and_then(|table| table.any(held_by));
        let field = built_in.map(|column| column.get.as_ref());
        let is_empty = self.batch().table(entity).rows() == 0;
        Ok(cells.map(|cells| ColumnValues::new(cells, field)).or(is_empty.then_some(ColumnValues::NONE)))
    }

    /// The values of a column, as owned values.
    ///
    /// # Errors
    /// See [`BatchView::values`].
    pub fn read_dynamic(&self, name: &str) -> Result<Vec<Option<Value>>, AccessError> {
        Ok(self.values(name)?.iter().map(|value| value.map(ValueRef::into_owned)).collect())
    }

    /// Fills a custom column, with at most one value per row.
    ///
    /// # Errors
    /// Returns an error if the stage does not declare the column as a written custom column, if a value does not have
    /// the declared type, or if the number of values differs from the number of rows.
    pub fn write_dynamic(&mut self, name: &str, values: Vec<Option<Value>>) -> Result<(), AccessError> {
        let name = &*full_name(name.to_owned());
        let entity = Entity::from_column(name).unwrap_or(Entity::Chunk);
        let declared = self.check_write(name, values.len(), entity)?;
        let CellType::Dynamic(cell) = declared else {
            return Err(self.wrong_type(name, "values of a custom column", &declared.to_string()));
        };
        if let Some(found) = foreign_type(&values, cell) {
            return Err(self.wrong_type(name, &found.to_string(), &cell.to_string()));
        }
        self.put(entity, Cow::Owned(name.to_owned()), values);
        Ok(())
    }

    /// Fills a custom column, or a built-in column that custom stages may write. A built-in column may reject values.
    /// Returns the rows of rejected values with the reasons; these rows are not changed.
    ///
    /// # Errors
    /// See [`BatchView::write_dynamic`].
    pub fn write_values(&mut self, name: &str, values: Vec<Option<Value>>) -> Result<Vec<RefusedValue>, AccessError> {
        let Some(column) = self.permissions.built_in.get(&*full_name(name.to_owned())) else {
            return self.write_dynamic(name, values).map(|()| Vec::new());
        };
        let (held_by, cell) = (column.source.name.clone(), column.reference.value);
        let entity = Entity::from_column(&held_by).unwrap_or(Entity::Chunk);
        self.check_write(&held_by, values.len(), entity)?;
        if let Some(found) = foreign_type(&values, cell) {
            return Err(self.wrong_type(&held_by, &found.to_string(), &cell.to_string()));
        }
        let Some(set) = &column.set else { return Err(self.undeclared(&held_by, "writes")) };
        let before =
            if column.is_updated { self.find(entity, &held_by).and_then(|table| table.any(&held_by)) } else { None };
        let mut made = ColumnTable::with_rows(values.len());
        let refused = set(values, before, &mut made);
        self.note_written(held_by);
        self.own().table_mut(entity).merge(made);
        Ok(refused)
    }

    /// All custom columns of an entity that have been written so far, sorted by name. The names do not include the
    /// entity. Empty unless the stage declares `reads_dynamic()`.
    pub fn dynamic_columns(&self, entity: Entity) -> impl Iterator<Item = (&str, &[Option<Value>])> {
        let table = self.permissions.reads_dynamic.then(|| self.batch().table(entity));
        table
            .into_iter()
            .flat_map(ColumnTable::dynamic)
            .map(|(name, values)| (name.split_once('.').map_or(name, |(_, bare)| bare), values))
    }

    /// Returns an owned copy of the rows, with the columns that this stage may read.
    pub fn copy(&self) -> BatchCopy {
        let readable = |name: &str| {
            let declared = self.permissions.columns.get(name).is_some_and(|permission| permission.read);
            declared && !self.taken.iter().any(|taken| taken == name)
        };
        BatchCopy::new(self.batch(), readable)
    }

    /// Drops the file rows whose flag is `false`, and the chunks of these files.
    ///
    /// # Errors
    /// Returns an error if the stage does not declare `restructures()`, or if the number of flags differs from the
    /// number of file rows.
    pub fn retain_files(&mut self, keep: &[bool]) -> Result<(), AccessError> {
        self.check_flags(keep, self.files())?;
        self.exclusive()?.retain_files(keep);
        Ok(())
    }

    /// Drops the chunk rows whose flag is `false`.
    ///
    /// # Errors
    /// Returns an error if the stage does not declare `restructures()`, or if the number of flags differs from the
    /// number of chunk rows.
    pub fn retain_chunks(&mut self, keep: &[bool]) -> Result<(), AccessError> {
        self.check_flags(keep, self.chunks())?;
        let batch = self.exclusive()?;
        let mut kept = keep.iter();
        batch.chunk_files.retain(|_| kept.next().copied().unwrap_or(false));
        batch.retain_chunk_rows(keep);
        Ok(())
    }

    /// Adds chunk rows. `files` contains the file row of each chunk. The stage must write the chunk columns afterwards.
    ///
    /// # Errors
    /// Returns an error if the stage does not declare `restructures()`, if a file row does not exist, or if the batch
    /// already has chunk columns.
    pub fn add_chunks(&mut self, files: Vec<u32>) -> Result<(), AccessError> {
        let (stage, rows) = (self.permissions.stage(), self.files());
        let batch = self.exclusive()?;
        if let Some(file) = files.iter().copied().find(|file| *file as usize >= rows) {
            return Err(AccessError::NoSuchFile { stage, file, files: rows });
        }
        if !batch.chunks.has_no_columns() {
            return Err(AccessError::ChunksFilled { stage });
        }
        batch.chunk_files.extend(files);
        batch.chunks.set_rows(batch.chunk_files.len());
        Ok(())
    }

    /// Sets the size in bytes that a batch is expected to reach before it is emitted. The memory budget counts this size
    /// from the start.
    pub fn expect_bytes(&mut self, bytes: u64) {
        self.own().expected_bytes = bytes;
    }

    /// Reports that the stage could not process a row. The row continues without values from the stage, and a later run
    /// processes it again. `path` is the path of the row's file, for the run report.
    pub fn fail(&mut self, entity: Entity, row: u32, path: &str, reason: &str, cx: &StageContext<'_>) {
        cx.report_failure(path, reason);
        self.add_missing_result(entity, row, Some(reason));
    }

    /// Records that the stage has no result for a row. `reason` is the error of an earlier run, in which the stage
    /// failed on the row; `None` if the stage has not processed the row.
    pub fn add_missing_result(&mut self, entity: Entity, row: u32, reason: Option<&str>) {
        let result = MissingResult { stage: self.permissions.stage(), entity, row, reason: reason.map(Arc::from) };
        self.own().missing_results.push(result);
    }

    /// The rows for which an earlier stage has no result, in arbitrary order.
    pub fn missing_results(&self) -> &[MissingResult] {
        &self.batch().missing_results
    }

    /// Whether the batch has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.batch().is_empty()
    }

    /// Called after the stage has processed the batch. Returns an error if the stage ignored a rejected access or did
    /// not write every declared column.
    pub(crate) fn conclude(&self) -> Result<(), AccessError> {
        if let Some(refusal) = self.refused.get() {
            return Err(refusal.clone());
        }
        for (name, permission) in &self.permissions.columns {
            let Some(entity) = Entity::from_column(name).filter(|_| permission.write.is_some()) else { continue };
            if self.batch().table(entity).rows() > 0
                && self.find_any(entity, name).is_none()
                && !self.taken.contains(name)
            {
                return Err(AccessError::Unwritten { stage: self.permissions.stage(), column: name.to_string() });
            }
        }
        Ok(())
    }

    /// Returns the output of the stage for a probe. `time` is the time that the stage spent on the batch.
    pub(crate) fn output(&self, time: Duration) -> StageOutput<'_> {
        let mut written: Vec<&str> = self.written.iter().map(AsRef::as_ref).collect();
        written.sort_unstable();
        written.dedup();
        StageOutput { batch: self.batch(), staged: self.staged(), written, time }
    }

    fn batch(&self) -> &Batch {
        match &self.rows {
            BatchRows::Owned(batch) => batch,
            BatchRows::Exclusive(batch) => batch,
            BatchRows::Shared { base, .. } => base,
        }
    }

    /// Returns the batch to which this stage writes its columns.
    fn own(&mut self) -> &mut Batch {
        match &mut self.rows {
            BatchRows::Owned(batch) => batch,
            BatchRows::Exclusive(batch) => batch,
            BatchRows::Shared { staged, .. } => staged,
        }
    }

    /// Returns the columns that this stage has written while it shares the batch.
    fn staged(&self) -> Option<&Batch> {
        match &self.rows {
            BatchRows::Shared { staged, .. } => Some(staged),
            _ => None,
        }
    }

    fn exclusive(&mut self) -> Result<&mut Batch, AccessError> {
        if !self.permissions.restructures || self.staged().is_some() {
            return Err(refuse(&self.refused, AccessError::Rows { stage: self.permissions.stage() }));
        }
        Ok(self.own())
    }

    fn find(&self, entity: Entity, name: &str) -> Option<&ColumnTable> {
        if self.taken.iter().any(|taken| taken == name) {
            return None;
        }
        self.find_any(entity, name)
    }

    fn find_any(&self, entity: Entity, name: &str) -> Option<&ColumnTable> {
        let batches = self.staged().into_iter().chain([self.batch()]);
        batches.map(|batch| batch.table(entity)).find(|table| table.contains(name))
    }

    fn put<T: Cell>(&mut self, entity: Entity, name: ColumnName, values: Vec<T>) {
        self.note_written(name.clone());
        self.own().table_mut(entity).insert(name, values);
    }

    fn note_written(&mut self, name: ColumnName) {
        self.taken.retain(|taken| *taken != name);
        self.written.push(name);
    }

    fn check_read(&self, name: &str) -> Result<(), AccessError> {
        let declared = self.permissions.columns.get(name).is_some_and(|permission| permission.read);
        if declared || self.written.iter().any(|written| written == name) {
            return Ok(());
        }
        Err(self.undeclared(name, "reads"))
    }

    fn check_write(&self, name: &str, values: usize, entity: Entity) -> Result<CellType, AccessError> {
        let Some(cell) = self.permissions.columns.get(name).and_then(|permission| permission.write) else {
            return Err(self.undeclared(name, "writes"));
        };
        let rows = self.batch().table(entity).rows();
        if rows != values {
            let (stage, column) = (self.permissions.stage(), name.to_owned());
            return Err(AccessError::WrongLength { stage, column, rows, values });
        }
        Ok(cell)
    }

    fn check_flags(&self, keep: &[bool], rows: usize) -> Result<(), AccessError> {
        if keep.len() == rows {
            return Ok(());
        }
        Err(AccessError::Flags { stage: self.permissions.stage(), rows, flags: keep.len() })
    }

    fn undeclared(&self, name: &str, action: &'static str) -> AccessError {
        let (stage, column) = (self.permissions.stage(), name.to_owned());
        refuse(&self.refused, AccessError::Undeclared { stage, column, action })
    }

    fn wrong_type(&self, name: &str, asked: &str, found: &str) -> AccessError {
        AccessError::WrongType {
            stage: self.permissions.stage(),
            column: name.to_owned(),
            asked: asked.to_owned(),
            found: found.to_owned(),
        }
    }
}

/// Records the first undeclared access. Returns `error`.
fn refuse(refused: &OnceLock<AccessError>, error: AccessError) -> AccessError {
    refused.get_or_init(|| error.clone());
    error
}

fn foreign_type(values: &[Option<Value>], declared: DynamicType) -> Option<DynamicType> {
    values.iter().flatten().map(Value::dynamic_type).find(|found| *found != declared)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::access::Access;

    const ID: Column<u32> = Column::new("file.id");
    const NAME: Column<String> = Column::new("file.name");
    const OF: Column<u32> = Column::new("chunk.of");

    fn batch(files: u32, chunk_files: &[u32]) -> Batch {
        let access = Access::source().writes([ID.spec(), NAME.spec(), OF.spec()]);
        let permissions = Permissions::new("rows", &access, |_| false);
        let mut batch = Batch::with_files(files as usize);
        let mut view = BatchView::new(BatchRows::Exclusive(&mut batch), &permissions);
        view.write(ID, (0..files).collect()).expect("declared");
        view.write(NAME, (0..files).map(|n| n.to_string()).collect()).expect("declared");
        view.add_chunks(chunk_files.to_vec()).expect("sources add rows");
        view.write(OF, chunk_files.to_vec()).expect("declared");
        view.conclude().expect("everything declared is written");
        batch
    }

    proptest! {
        #[test]
        fn chunks_still_refer_to_their_files_after_rows_were_dropped(
            keep in prop::collection::vec(any::<bool>(), 1..12),
            chunks in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let chunk_files: Vec<u32> = chunks.iter().map(|index| index.index(keep.len()) as u32).collect();
            let mut batch = batch(keep.len() as u32, &chunk_files);
            batch.expected_bytes = 1 << 20;
            let access = Access::transform().reads([ID.spec(), OF.spec()]).restructures();
            let permissions = Permissions::new("drop", &access, |_| false);
            let mut view = BatchView::new(BatchRows::Exclusive(&mut batch), &permissions);
            view.retain_files(&keep).expect("declared");

            let ids: Vec<u32> = (0..keep.len() as u32).filter(|id| keep[*id as usize]).collect();
            prop_assert_eq!(view.read(ID).expect("declared"), ids.as_slice());
            let expected: Vec<u32> = chunk_files.iter().copied().filter(|file| keep[*file as usize]).collect();
            prop_assert_eq!(view.read(OF).expect("declared"), expected.as_slice());
            let pointed: Vec<u32> = view.chunk_files().iter().map(|file| ids[*file as usize]).collect();
            prop_assert_eq!(pointed, expected);
            prop_assert_eq!(batch.expected_bytes, (1 << 20) * ids.len() as u64 / keep.len() as u64);
        }
    }

    #[test]
    fn take_moves_a_column_on_its_last_use_and_clones_it_otherwise() {
        for last in [true, false] {
            let mut batch = batch(3, &[]);
            let access = Access::sink().reads([NAME]);
            let permissions = Permissions::new("keep", &access, |_| last);
            let mut view = BatchView::new(BatchRows::Exclusive(&mut batch), &permissions);
            assert_eq!(view.take(NAME).expect("declared"), ["0", "1", "2"]);
            assert!(matches!(view.take(NAME), Err(AccessError::Absent { .. })), "the column was taken");
            view.conclude().expect("the stage used only declared columns");
            assert_eq!(batch.files.contains("file.name"), !last);
        }
    }

    #[test]
    fn concurrent_stages_do_not_see_each_others_columns() {
        let base = batch(2, &[]);
        let access = Access::transform().reads([ID]).writes([ID]);
        let permissions = Permissions::new("update", &access, |_| false);
        let mut staged = base.without_columns();
        let mut view = BatchView::new(BatchRows::Shared { base: &base, staged: &mut staged }, &permissions);
        view.write(ID, vec![7, 8]).expect("declared");
        assert_eq!(view.read(ID).expect("declared"), [7, 8], "the stage's own column");
        assert!(view.retain_files(&[true, false]).is_err(), "the rows are shared");
        assert_eq!(base.files.get::<u32>("file.id").expect("exists").expect("integers"), [0, 1]);
    }

    #[test]
    fn a_view_rejects_undeclared_access() {
        let mut batch = batch(2, &[0]);
        let access = Access::transform().reads([ID]).writes_dynamic("owner", DynamicType::String);
        let permissions = Permissions::new("owners", &access, |_| false);
        let mut view = BatchView::new(BatchRows::Exclusive(&mut batch), &permissions);
        let messages = [
            view.read(NAME).err(),
            view.write(ID, vec![1, 2]).err(),
            view.read(Column::<String>::new("file.id")).err(),
            view.write_dynamic("owner", vec![]).err(),
            view.write_dynamic("owner", vec![Some(Value::Bool(true))]).err(),
            view.read_dynamic("chunk.owner").err(),
            view.add_chunks(vec![0]).err(),
            view.conclude().err(),
        ];
        let text: Vec<String> = messages.into_iter().flatten().map(|error| error.to_string()).collect();
        insta::assert_snapshot!(text.join("\n"), @r"
        stage `owners` reads column `file.name` without declaring it; add it to the stage's access
        stage `owners` writes column `file.id` without declaring it; add it to the stage's access
        stage `owners` uses column `file.id` as `alloc::string::String`, but it holds `u32`
        stage `owners` writes 0 values to column `chunk.owner` of a batch with 1 rows
        stage `owners` uses column `chunk.owner` as `bool`, but it holds `string`
        stage `owners` reads column `chunk.owner` without declaring it; add it to the stage's access
        stage `owners` drops or adds rows without declaring `restructures()`
        stage `owners` reads column `file.name` without declaring it; add it to the stage's access
        ");
    }
}
