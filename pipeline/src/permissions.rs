//! The permissions of one stage for a batch, derived from its declared access, and the errors for violations.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::access::{Access, StageKind};
use crate::built_in_column::BuiltInColumn;
use crate::column::CellType;
use crate::column_table::ColumnName;

/// An error for an operation that the stage has not declared, or that does not match the rows or columns of the batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The stage did not declare the column.
    #[error("stage `{stage}` {action} column `{column}` without declaring it; add it to the stage's access")]
    Undeclared {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
        /// `reads` or `writes`.
        action: &'static str,
    },
    /// The column is declared, but the batch does not have it (any more).
    #[error(
        "stage `{stage}` reads column `{column}`, which this batch does not have; an optional column is read with `read_optional`"
    )]
    Absent {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
    },
    /// The stage declares that it writes a column, but did not write it.
    #[error("stage `{stage}` declares that it writes column `{column}`, but did not write it")]
    Unwritten {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
    },
    /// The cells of the column have a different type.
    #[error("stage `{stage}` uses column `{column}` as `{asked}`, but it holds `{found}`")]
    WrongType {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
        /// The requested type.
        asked: String,
        /// The type of the cells.
        found: String,
    },
    /// The number of values differs from the number of rows.
    #[error("stage `{stage}` writes {values} values to column `{column}` of a batch with {rows} rows")]
    WrongLength {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
        /// Number of rows of the entity.
        rows: usize,
        /// Number of values passed.
        values: usize,
    },
    /// The stage dropped or added rows without declaring it.
    #[error("stage `{stage}` drops or adds rows without declaring `restructures()`")]
    Rows {
        /// Name of the stage.
        stage: String,
    },
    /// Chunk rows were added after a chunk column had been written.
    #[error("stage `{stage}` adds chunks to a batch that already has chunk columns")]
    ChunksFilled {
        /// Name of the stage.
        stage: String,
    },
    /// A chunk row refers to a file row that does not exist.
    #[error("stage `{stage}` adds a chunk of file row {file} to a batch with {files} files")]
    NoSuchFile {
        /// Name of the stage.
        stage: String,
        /// The file row.
        file: u32,
        /// Number of file rows in the batch.
        files: usize,
    },
    /// The number of flags given to `retain_files` or `retain_chunks` differs from the number of rows.
    #[error("stage `{stage}` passes {flags} flags for {rows} rows to `retain_files` or `retain_chunks`")]
    Flags {
        /// Name of the stage.
        stage: String,
        /// Number of rows of the entity.
        rows: usize,
        /// Number of flags passed.
        flags: usize,
    },
    /// The stage may not emit batches.
    #[error("stage `{stage}` emits a batch, which only a source, or a stage that declares `restructures()`, may do")]
    Emission {
        /// Name of the stage.
        stage: String,
    },
}

/// The permissions of one stage for a batch. A view checks every operation against the permissions.
pub(crate) struct Permissions {
    pub(crate) stage: Arc<str>,
    pub(crate) columns: BTreeMap<ColumnName, ColumnPermission>,
    /// Built-in columns that the stage uses by name.
    pub(crate) built_in: BTreeMap<&'static str, BuiltInColumn>,
    pub(crate) reads_dynamic: bool,
    pub(crate) restructures: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ColumnPermission {
    pub(crate) read: bool,
    /// Type of the column, if the stage may write it.
    pub(crate) write: Option<CellType>,
    /// Whether this step is the last one that uses the column.
    pub(crate) last: bool,
}

impl Permissions {
    /// Derives the permissions from the declared access. `last` returns whether no later stage uses a column.
    pub(crate) fn new(stage: &str, access: &Access, last: impl Fn(&str) -> bool) -> Self {
        let mut columns: BTreeMap<ColumnName, ColumnPermission> = BTreeMap::new();
        for column in access.all_reads() {
            let permission = columns.entry(column.name.clone()).or_default();
            permission.read = true;
            permission.last = last(column.name());
        }
        for column in &access.writes {
            columns.entry(column.name.clone()).or_default().write = Some(column.cell);
        }
        Self {
            stage: Arc::from(stage),
            columns,
            built_in: access.built_in.iter().map(|column| (column.reference.name, column.clone())).collect(),
            reads_dynamic: access.reads_dynamic.is_some(),
            restructures: access.restructures || access.kind == StageKind::Source,
        }
    }

    pub(crate) fn stage(&self) -> String {
        self.stage.to_string()
    }
}
