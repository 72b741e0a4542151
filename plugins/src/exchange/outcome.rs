//! The checked and combined answers for one batch.

use std::collections::BTreeMap;

use aurora_pipeline::{
    BatchView, DynamicType, Entity, NO_RESULT, RefusedValue, StageContext, StageError, Value, ValueRef,
};

use super::response::{CellValue, Response, RowNote};
use super::rows::RowSet;
use crate::declaration::{Declaration, DropRows, FILE_DEFINITIONS, FILE_SKIP, FILE_TEXT, RowUnit, WrittenColumn};

/// Maximum size of one value, in bytes.
const MAX_VALUE_BYTES: usize = 1 << 20;
/// Maximum number of strings in a list of strings.
const MAX_TEXTS: usize = 1_000;
/// Maximum number of undeclared columns that are reported for one batch.
const MAX_UNDECLARED_COLUMNS: usize = 20;
/// Maximum length in bytes of a custom stage's message in reports.
const MAX_MESSAGE_BYTES: usize = 200;
/// Name of a file in reports if its path is not in the batch.
const NO_PATH: &str = "?";

/// The combined answers of a custom stage for a batch.
pub struct BatchOutcome<'d> {
    pub(super) declaration: &'d Declaration,
    /// Values of all rows, by full column name.
    columns: BTreeMap<&'d str, Vec<Option<Value>>>,
    /// Dropped units with their reasons.
    dropped: BTreeMap<u32, String>,
    /// Failed units with their reasons.
    failed: Vec<(u32, String)>,
    /// Description of the first invalid value.
    pub(crate) invalid: Option<String>,
    /// Undeclared columns in answers. For each column, the first unit of the first answer that contains the column.
    undeclared: BTreeMap<String, u32>,
}

impl<'d> BatchOutcome<'d> {
    /// Creates an outcome for the given numbers of rows, without any values.
    pub fn new(declaration: &'d Declaration, files: usize, chunks: usize) -> Self {
        let rows = |entity| if entity == Entity::File { files } else { chunks };
        let columns =
            declaration.written.iter().map(|column| (column.name.as_str(), vec![None; rows(column.entity())]));
        Self {
            declaration,
            columns: columns.collect(),
            dropped: BTreeMap::new(),
            failed: Vec::new(),
            invalid: None,
            undeclared: BTreeMap::new(),
        }
    }

    /// The unit in which the stage processes rows.
    pub fn unit(&self) -> RowUnit {
        self.declaration.unit
    }

    /// Sets a value that the last run stored. The value is not checked.
    pub fn restore(&mut self, column: &str, row: usize, value: Option<Value>) {
        if let Some(values) = self.columns.get_mut(column) {
            values[row] = value;
        }
    }

    /// Records units that could not be processed. A later run processes them again.
    pub fn fail(&mut self, units: &[u32], reason: &str) {
        self.failed.extend(units.iter().map(|unit| (*unit, shortened(reason))));
    }

    /// Adds the answer for some rows. If a value is invalid, its unit fails and the other units are accepted.
    /// Undeclared columns are recorded for a warning and otherwise ignored.
    ///
    /// # Errors
    /// Returns the reason why the whole answer cannot be used: a written column is missing, a column does not have one
    /// value for each row, or an error or drop refers to an invalid row.
    pub fn take(&mut self, rows: &RowSet, response: Response, chunk_files: &[u32]) -> Result<(), String> {
        self.check(rows, &response)?;
        let mut faults: BTreeMap<u32, String> = BTreeMap::new();
        for note in &response.errors {
            faults.insert(self.unit_of(note, rows, chunk_files)?, shortened(&note.message));
        }
        for note in &response.drops {
            let unit = self.unit_of(note, rows, chunk_files)?;
            if self.declaration.drops == DropRows::None {
                let reason = "it drops the row, which the key `drops` of the stage does not allow".to_owned();
                faults.insert(unit, reason);
            } else {
                self.dropped.insert(unit, shortened(&note.message));
            }
        }
        let first_unit = rows.units(self.declaration.unit).first().copied().unwrap_or_default();
        let tables = [(Entity::File, response.files, &rows.files), (Entity::Chunk, response.chunks, &rows.chunks)];
        for (entity, table, rows) in tables {
            for (short, values) in table.columns {
                let Some(column) = self.declaration.column(entity, &short) else {
                    self.note_undeclared(entity, &short, first_unit);
                    continue;
                };
                let Some(target) = self.columns.get_mut(column.name.as_str()) else { continue };
                for (row, CellValue(value)) in rows.iter().zip(values) {
                    match value.map(|value| checked(value, column)).transpose() {
                        Ok(value) => target[*row as usize] = value,
                        Err(reason) => {
                            let unit = if self.declaration.unit.entity() == entity {
                                *row
                            } else {
                                chunk_files[*row as usize]
                            };
                            let reason = format!("column `{short}`: {reason}");
                            self.invalid.get_or_insert_with(|| reason.clone());
                            faults.entry(unit).or_insert(reason);
                        }
                    }
                }
            }
        }
        self.failed.extend(faults);
        Ok(())
    }

    /// Writes everything to the batch and reports the failures. If the stage may drop units, a failed unit is dropped,
    /// because the stage might have dropped it. The failure is then recorded for the unit's file, because the row of a
    /// dropped chunk is removed.
    ///
    /// # Errors
    /// Returns an error if the declaration does not allow a write, which is a bug in this crate.
    pub fn write(mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let unit_entity = self.declaration.unit.entity();
        for (unit, reason) in std::mem::take(&mut self.failed) {
            self.clear(unit, batch.chunk_files());
            let path = path_of(batch, self.declaration.unit, unit);
            let (entity, row) = match self.declaration.drops {
                DropRows::None => (unit_entity, unit),
                DropRows::Files => (Entity::File, unit),
                DropRows::Chunks => (Entity::File, batch.chunk_files()[unit as usize]),
            };
            if self.declaration.drops != DropRows::None {
                self.dropped.insert(unit, NO_RESULT.to_owned());
            }
            batch.fail(entity, row, &path, &reason, cx);
        }
        let path = |unit| path_of(batch, self.declaration.unit, unit);
        for (column, unit) in &self.undeclared {
            let stage = cx.stage();
            let reason =
                format!("stage `{stage}` gives column `{column}`, which `writes` does not list; it is not stored");
            cx.warn(&path(*unit), &reason);
        }
        if self.declaration.drops == DropRows::Files {
            let mut reasons = vec![None; batch.files()];
            for (file, reason) in &self.dropped {
                let reason = format!("stage `{}`: {reason}", cx.stage());
                cx.skip(&path(*file), &reason);
                reasons[*file as usize] = Some(Value::String(reason));
            }
            cx.count("files.left_out", self.dropped.len() as u64);
            batch.write_values(FILE_SKIP, reasons)?;
        }
        for (name, mut values) in std::mem::take(&mut self.columns) {
            let mut refused = Vec::new();
            if name == FILE_DEFINITIONS {
                refused = remove_definitions_beyond_the_end(&mut values, batch)?;
            }
            refused.extend(batch.write_values(name, values)?);
            for (row, reason) in refused {
                let entity = Entity::from_column(name).unwrap_or(Entity::Chunk);
                let unit = if entity == Entity::File { RowUnit::File } else { RowUnit::Chunk };
                let path = path_of(batch, unit, row as u32);
                batch.fail(entity, row as u32, &path, &format!("column `{name}`: {}", shortened(&reason)), cx);
            }
        }
        if self.declaration.drops == DropRows::Chunks {
            // All drops are counted before the chunks are removed.
            for reason in self.dropped.values() {
                cx.count(&format!("{}: {reason}", cx.stage()), 1);
            }
            let keep: Vec<bool> = (0..batch.chunks() as u32).map(|chunk| !self.dropped.contains_key(&chunk)).collect();
            batch.retain_chunks(&keep)?;
        }
        Ok(())
    }

    /// Checks that an answer matches the declaration and has the right number of values.
    fn check(&self, rows: &RowSet, response: &Response) -> Result<(), String> {
        let tables =
            [(Entity::File, &response.files, rows.files.len()), (Entity::Chunk, &response.chunks, rows.chunks.len())];
        for (entity, table, rows) in tables {
            for (short, values) in &table.columns {
                let Some(column) = self.declaration.column(entity, short) else { continue };
                if values.len() != rows {
                    return Err(format!("{} values for {rows} rows in column `{}`", values.len(), column.name));
                }
            }
        }
        let missing = self.declaration.written.iter().find(|column| {
            let table = if column.entity() == Entity::File { &response.files } else { &response.chunks };
            !table.columns.contains_key(column.short_name())
        });
        match missing {
            Some(column) => Err(format!("column `{}` is missing", column.name)),
            None => Ok(()),
        }
    }

    fn note_undeclared(&mut self, entity: Entity, short: &str, unit: u32) {
        let entity = if entity == Entity::File { "file" } else { "chunk" };
        if self.undeclared.len() < MAX_UNDECLARED_COLUMNS {
            self.undeclared.entry(format!("{entity}.{}", shortened(short))).or_insert(unit);
        }
    }

    /// Returns the unit to which a note refers.
    fn unit_of(&self, note: &RowNote, rows: &RowSet, chunk_files: &[u32]) -> Result<u32, String> {
        let table = if note.entity == Entity::File { &rows.files } else { &rows.chunks };
        let row = *table.get(note.row as usize).ok_or_else(|| format!("there is no row {}", note.row))?;
        match (self.declaration.unit, note.entity) {
            (RowUnit::File, Entity::Chunk) => Ok(chunk_files[row as usize]),
            (RowUnit::Chunk, Entity::File) => {
                Err("the stage processes chunks, but its answer has a note about a file".to_owned())
            }
            _ => Ok(row),
        }
    }

    /// Removes all values of a unit.
    fn clear(&mut self, unit: u32, chunk_files: &[u32]) {
        let by_file = self.declaration.unit == RowUnit::File;
        for (name, values) in &mut self.columns {
            let is_of_file = Entity::from_column(name) == Some(Entity::File);
            if by_file && !is_of_file {
                let chunks = values.iter_mut().zip(chunk_files);
                chunks.filter(|(_, file)| **file == unit).for_each(|(value, _)| *value = None);
            } else if by_file == is_of_file {
                values[unit as usize] = None;
            }
        }
    }
}

/// Removes all definitions of a file if one of them starts after the last line of the file's text. Returns the rows of
/// such files with the reasons.
fn remove_definitions_beyond_the_end(
    values: &mut [Option<Value>],
    batch: &BatchView<'_>,
) -> Result<Vec<RefusedValue>, StageError> {
    let Some(texts) = batch.optional_values(FILE_TEXT)? else { return Ok(Vec::new()) };
    let mut refused = Vec::new();
    for (row, value) in values.iter_mut().enumerate() {
        let (Some(Value::Json(json)), Some(ValueRef::String(text))) = (&*value, texts.get(row)) else { continue };
        let lines = text.lines().count().max(1) as u64;
        let beyond = json.as_array().into_iter().flatten().find_map(|definition| {
            let first = definition.get("line_start")?.as_u64().filter(|first| *first > lines)?;
            let name = definition.get("name").and_then(|name| name.as_str()).unwrap_or_default();
            Some(format!("`{}` begins on line {first} of a file of {lines} lines", shortened(name)))
        });
        if let Some(reason) = beyond {
            *value = None;
            refused.push((row, reason));
        }
    }
    Ok(refused)
}

/// Converts a value to the declared type. If this is not possible or the value is invalid, returns the reason.
fn checked(value: Value, column: &WrittenColumn) -> Result<Value, String> {
    let kind = column.kind;
    let value = match (value, kind) {
        (Value::Integer(number), DynamicType::Float) => Value::Float(number as f64),
        (Value::Strings(texts), DynamicType::Vector) if texts.is_empty() => Value::Vector(Vec::new()),
        (Value::Json(value), DynamicType::Json) => Value::Json(value),
        (value, DynamicType::Json) => Value::Json(serde_json::to_value(value).map_err(|error| error.to_string())?),
        (value, _) => value,
    };
    if value.dynamic_type() != kind {
        let given =
            if value.dynamic_type() == DynamicType::Json { "another value" } else { value.dynamic_type().as_str() };
        return Err(format!("{given} instead of {kind}"));
    }
    match value {
        Value::Float(number) if !number.is_finite() => Err("not a finite number".to_owned()),
        Value::Vector(numbers) => unit_vector(numbers, column.dimensions).map(Value::Vector),
        Value::String(ref text) if text.len() > MAX_VALUE_BYTES => Err(format!("more than {MAX_VALUE_BYTES} bytes")),
        Value::Strings(ref texts) if texts.len() > MAX_TEXTS => Err(format!("more than {MAX_TEXTS} texts")),
        Value::Strings(ref texts) if texts.iter().map(String::len).sum::<usize>() > MAX_VALUE_BYTES => {
            Err(format!("more than {MAX_VALUE_BYTES} bytes"))
        }
        _ => Ok(value),
    }
}

/// Normalises a vector to length 1, so that the dot product of two vectors is their cosine similarity. A zero vector
/// stays unchanged. If the vector is invalid, returns the reason.
fn unit_vector(mut numbers: Vec<f32>, dimensions: Option<usize>) -> Result<Vec<f32>, String> {
    if dimensions.is_some_and(|dimensions| dimensions != numbers.len()) {
        return Err(format!("{} numbers instead of {}", numbers.len(), dimensions.unwrap_or_default()));
    }
    if numbers.iter().any(|number| !number.is_finite()) {
        return Err("a number that is not finite in single precision".to_owned());
    }
    let length = numbers.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        numbers.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    }
    Ok(numbers)
}

/// Shortens a message of a custom stage to one line of limited length.
fn shortened(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default().trim();
    printable(&line[..line.floor_char_boundary(MAX_MESSAGE_BYTES)])
}

/// Replaces tabs with spaces and removes other control characters, because they could control a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.replace('\t', " ").replace(char::is_control, "")
}

/// Looks up the path of the file to which a file row or chunk row belongs.
fn path_of(batch: &BatchView<'_>, unit: RowUnit, row: u32) -> String {
    let file = match unit {
        RowUnit::File => row,
        RowUnit::Chunk => batch.chunk_files()[row as usize],
    };
    let paths = batch.optional_values("file.path").ok().flatten();
    match paths.and_then(|paths| paths.get(file as usize)) {
        Some(ValueRef::String(path)) => path.into_owned(),
        _ => NO_PATH.to_owned(),
    }
}
