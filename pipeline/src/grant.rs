//! What one stage may do to a batch, made from its declaration; and what is said when it does more.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::access::{Access, Kind};
use crate::column::CellType;
use crate::table::Name;

/// Why a view refused a stage.
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
    /// The column is declared, yet this batch does not have it (any more).
    #[error(
        "stage `{stage}` reads column `{column}`, which this batch does not have; an optional column is read with `read_optional`"
    )]
    Absent {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
    },
    /// The stage declared a column as written and left it out.
    #[error("stage `{stage}` declares that it writes column `{column}`, and did not")]
    Unwritten {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
    },
    /// The column holds another type.
    #[error("stage `{stage}` uses column `{column}` as `{asked}`, but it holds `{found}`")]
    WrongType {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
        /// The type asked for.
        asked: String,
        /// The type of the cells.
        found: String,
    },
    /// The number of values is not the number of rows.
    #[error("stage `{stage}` writes {values} values to column `{column}` of a batch with {rows} rows")]
    WrongLength {
        /// Name of the stage.
        stage: String,
        /// Full name of the column.
        column: String,
        /// Rows of the entity.
        rows: usize,
        /// Values given.
        values: usize,
    },
    /// Rows were dropped or added by a stage which does not declare that.
    #[error("stage `{stage}` drops or adds rows without declaring `restructures()`")]
    Rows {
        /// Name of the stage.
        stage: String,
    },
    /// Chunk rows were added after a chunk column had been written.
    #[error("stage `{stage}` adds chunks to a batch which has chunk columns already")]
    ChunksFilled {
        /// Name of the stage.
        stage: String,
    },
    /// A chunk row points at a file row that does not exist.
    #[error("stage `{stage}` adds a chunk of file row {file} to a batch with {files} files")]
    NoSuchFile {
        /// Name of the stage.
        stage: String,
        /// The row pointed at.
        file: u32,
        /// File rows of the batch.
        files: usize,
    },
    /// The flags given to `retain_files` or `retain_chunks` are not one per row.
    #[error("stage `{stage}` gives {flags} flags for {rows} rows of which it keeps some")]
    Flags {
        /// Name of the stage.
        stage: String,
        /// Rows of the entity.
        rows: usize,
        /// Flags given.
        flags: usize,
    },
    /// The stage emits a batch where it may not.
    #[error(
        "stage `{stage}` emits a batch, which only a source, or a stage that declares `restructures()` and has stages behind it, may do"
    )]
    Emission {
        /// Name of the stage.
        stage: String,
    },
}

/// What one stage may do to a batch.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) stage: Arc<str>,
    pub(crate) columns: BTreeMap<Name, Permission>,
    pub(crate) reads_dynamic: bool,
    pub(crate) restructures: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Permission {
    pub(crate) read: bool,
    /// Type of the column where it may be written.
    pub(crate) write: Option<CellType>,
    /// No later stage looks at the column.
    pub(crate) last: bool,
}

impl Grant {
    /// `last` says of a column that no other stage looks at it from here on.
    pub(crate) fn new(stage: &str, access: &Access, last: impl Fn(&str) -> bool) -> Self {
        let mut columns: BTreeMap<Name, Permission> = BTreeMap::new();
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
            reads_dynamic: access.reads_dynamic,
            restructures: access.restructures || access.kind == Kind::Source,
        }
    }

    pub(crate) fn stage(&self) -> String {
        self.stage.to_string()
    }
}
