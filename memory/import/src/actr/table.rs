//! Reads the rows of a table, some at a time.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::error::ActrError;
use crate::problem::ImportProblem;

/// Rows that are read at a time, and bytes after which no more are.
const ROWS: i64 = 512;
const BYTES: usize = 8 << 20;
/// Names by which SQLite knows the number of a row, unless a column has them.
const ROW_NUMBER: [&str; 3] = ["rowid", "oid", "_rowid_"];

/// A column that is read: its name, and the most bytes that its value may have.
pub(super) type Column = (&'static str, usize);

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    /// There is none, or the table has no such column.
    Null,
    Text(String),
    Integer(i64),
    Real(f64),
    /// Bytes.
    Blob,
    /// A text that is not UTF-8.
    NotText,
    /// It has more bytes than are allowed: this many.
    TooLong(i64),
}

/// A row: its number, and the values of the columns in their order.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) number: i64,
    pub(super) cells: Vec<Cell>,
}

/// Rows of a table.
pub(super) enum Rows {
    Some(Vec<Row>),
    /// There are no more.
    End,
    /// No more can be read.
    Damaged(ImportProblem),
}

impl Cell {
    /// The text, or what there is instead.
    pub(super) fn text(&self) -> Result<&str, String> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(other.describe()),
        }
    }

    /// What it is, in words.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "missing".to_owned(),
            Self::Text(_) => "a text".to_owned(),
            Self::Integer(_) | Self::Real(_) => "a number".to_owned(),
            Self::Blob => "a blob".to_owned(),
            Self::NotText => "not UTF-8".to_owned(),
            Self::TooLong(bytes) => format!("too long, with {bytes} bytes"),
        }
    }

    fn of(value: ValueRef<'_>, length: Option<i64>, most: usize) -> Self {
        match value {
            ValueRef::Null => {
                match length.filter(|length| usize::try_from(*length).is_ok_and(|length| length > most)) {
                    Some(length) => Self::TooLong(length),
                    None => Self::Null,
                }
            }
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Blob(_) => Self::Blob,
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.to_owned()),
                Err(_) => Self::NotText,
            },
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            _ => 16,
        }
    }
}

/// A reading of a table from its first row to its last.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    table: &'static str,
    /// `None` where there is no such table.
    statement: Option<String>,
    columns: Vec<Column>,
    last: Option<i64>,
    /// Why no more can be read.
    damage: Option<ImportProblem>,
}

impl Scan {
    /// Of some columns of a table; those that are missing have no values. A table that is missing has no rows, unless it is
    /// required.
    pub(super) fn of(
        connection: &Connection,
        path: &Path,
        (table, is_required): (&'static str, bool),
        columns: &[Column],
    ) -> Result<Self, ActrError> {
        let foreign = |what: String| ActrError::Foreign { path: path.to_owned(), what };
        let wrap = |source| ActrError::Database { path: path.to_owned(), source };
        let statement = match look(connection, table).map_err(wrap)? {
            Found::Nothing if is_required => return Err(foreign(format!("it has no table `{table}`"))),
            Found::Nothing => None,
            Found::NoTable => return Err(foreign(format!("`{table}` is no ordinary table"))),
            Found::Table(known) => Some(statement(table, columns, &known)),
        };
        Ok(Self { table, statement, columns: columns.to_vec(), last: None, damage: None })
    }

    /// The next rows.
    pub(super) fn next(&mut self, connection: &Connection) -> Rows {
        if let Some(damage) = self.damage.take() {
            self.statement = None;
            return Rows::Damaged(damage);
        }
        let Some(statement) = &self.statement else { return Rows::End };
        let mut rows = Vec::new();
        let result = read(connection, statement, &self.columns, self.last, &mut rows);
        self.last = rows.last().map(|row| row.number).or(self.last);
        if let Err(error) = result {
            let place = self.last.map_or_else(|| "from its first row on".to_owned(), |row| format!("behind row {row}"));
            let why = format!("it cannot be read {place}: {error}");
            self.damage = Some(ImportProblem::unmapped(format!("table {}", self.table), "damaged", why));
        }
        match (rows.is_empty(), &self.damage) {
            (true, Some(_)) => self.next(connection),
            (true, None) => Rows::End,
            (false, _) => Rows::Some(rows),
        }
    }
}

/// What has the name of a table.
enum Found {
    Nothing,
    /// A view, a virtual table, or one without row numbers or with computed columns.
    NoTable,
    /// A table with these columns.
    Table(Vec<String>),
}

fn look(connection: &Connection, table: &str) -> rusqlite::Result<Found> {
    let query = "SELECT type, rootpage FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')";
    let found = connection.query_row(query, params![table], |row| {
        Ok((matches!(row.get_ref(0)?, ValueRef::Text(b"table")), matches!(row.get_ref(1)?, ValueRef::Integer(1..))))
    });
    match found.optional()? {
        None => return Ok(Found::Nothing),
        Some((true, true)) => {}
        Some(_) => return Ok(Found::NoTable),
    }
    let mut statement = connection.prepare(&format!("PRAGMA table_xinfo({table})"))?;
    let mut rows = statement.query([])?;
    let mut columns = Vec::new();
    while let Some(row) = rows.next()? {
        let is_stored = matches!(row.get_ref("hidden")?, ValueRef::Integer(0));
        match row.get_ref("name")?.as_str().map(str::to_ascii_lowercase) {
            Ok(name) if is_stored && !ROW_NUMBER.contains(&name.as_str()) => columns.push(name),
            _ => return Ok(Found::NoTable),
        }
    }
    // Without row numbers, this cannot be prepared.
    let has_numbers = connection.prepare(&format!("SELECT _rowid_ FROM {table} NOT INDEXED LIMIT 0")).is_ok();
    Ok(if has_numbers { Found::Table(columns) } else { Found::NoTable })
}

/// Each value with its length in bytes; one that is too long is not read.
fn statement(table: &str, columns: &[Column], known: &[String]) -> String {
    let value = |(name, most): &Column| match known.iter().any(|known| known == name) {
        true => format!("CASE WHEN octet_length({name}) <= {most} THEN {name} END, octet_length({name})"),
        false => "NULL, NULL".to_owned(),
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let values = values.join(", ");
    format!("SELECT _rowid_, {values} FROM {table} NOT INDEXED WHERE _rowid_ >= ?1 ORDER BY _rowid_ LIMIT {ROWS}")
}

/// Reads rows behind the one with the number `last`.
fn read(
    connection: &Connection,
    statement: &str,
    columns: &[Column],
    last: Option<i64>,
    into: &mut Vec<Row>,
) -> Result<(), String> {
    let wrap = |error: rusqlite::Error| error.to_string();
    let first = match last {
        None => i64::MIN,
        Some(i64::MAX) => return Ok(()),
        Some(last) => last + 1,
    };
    let mut statement = connection.prepare(statement).map_err(wrap)?;
    let mut rows = statement.query(params![first]).map_err(wrap)?;
    let (mut bytes, mut before) = (0, last);
    while let Some(row) = rows.next().map_err(wrap)? {
        let number: i64 = row.get(0).map_err(wrap)?;
        if before.is_some_and(|before| number <= before) {
            // Pages that are used twice could make a short file endless.
            return Err("its rows are not in order".to_owned());
        }
        before = Some(number);
        let mut cells = Vec::with_capacity(columns.len());
        for (place, (_, most)) in columns.iter().enumerate() {
            let length = row.get_ref(2 * place + 2).map_err(wrap)?.as_i64().ok();
            cells.push(Cell::of(row.get_ref(2 * place + 1).map_err(wrap)?, length, *most));
        }
        bytes += cells.iter().map(Cell::bytes).sum::<usize>();
        into.push(Row { number, cells });
        if bytes >= BYTES {
            break;
        }
    }
    Ok(())
}
