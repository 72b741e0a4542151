//! The declared access of a stage: its kind, the columns that it reads and writes, and its position in the order.

use serde::Serialize;

use crate::built_in_column::BuiltInColumn;
use crate::column::ColumnSpec;
use crate::column_use::ColumnUses;
use crate::value::DynamicType;

/// The role of a stage in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum StageKind {
    /// Emits batches. A pipeline has exactly one source, which runs on one worker.
    Source,
    /// Processes batches in any order. Has one worker per thread of the run (`jobs` in `[run]`), unless the pipeline
    /// file sets `workers`.
    Transform,
    /// Receives batches in the order in which the source emitted them. Has one worker unless it declares
    /// [`Access::in_parallel`].
    Sink,
}

impl StageKind {
    /// `source`, `transform` or `sink`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The declared access of a stage. The plan orders stages by their declared columns, and a batch view rejects access to
/// any other column.
///
/// ```
/// use aurora_pipeline::{Access, Column};
/// const PATH: Column<String> = Column::new("file.path");
/// const LANGUAGE: Column<&'static str> = Column::new("file.language");
/// let access = Access::transform().reads([PATH.spec()]).writes([LANGUAGE.spec()]);
/// assert_eq!(access.written().next().unwrap().name(), "file.language");
/// ```
#[derive(Clone)]
pub struct Access {
    pub(crate) kind: StageKind,
    pub(crate) reads: Vec<ColumnSpec>,
    pub(crate) optional: Vec<ColumnSpec>,
    pub(crate) writes: Vec<ColumnSpec>,
    /// Names of written columns that cause no warning if no stage reads them.
    pub(crate) offered: Vec<String>,
    pub(crate) after: Vec<String>,
    pub(crate) reads_dynamic: Option<DynamicColumns>,
    pub(crate) restructures: bool,
    pub(crate) in_parallel: bool,
    /// Built-in columns that the stage uses by name. Empty until the plan has resolved the names.
    pub(crate) built_in: Vec<BuiltInColumn>,
}

/// The set of custom columns that a stage reads.
#[derive(Clone, Copy)]
pub(crate) enum DynamicColumns {
    All,
    /// The columns with these uses.
    Used(fn(ColumnUses) -> bool),
}

impl DynamicColumns {
    /// Whether a column is in the set.
    pub(crate) fn include(self, column: &ColumnSpec) -> bool {
        column.is_dynamic()
            && match self {
                Self::All => true,
                Self::Used(is_wanted) => is_wanted(column.uses),
            }
    }
}

impl Access {
    fn new(kind: StageKind) -> Self {
        Self {
            kind,
            reads: Vec::new(),
            optional: Vec::new(),
            writes: Vec::new(),
            offered: Vec::new(),
            after: Vec::new(),
            reads_dynamic: None,
            restructures: false,
            in_parallel: false,
            built_in: Vec::new(),
        }
    }

    /// A stage that emits batches.
    pub fn source() -> Self {
        Self::new(StageKind::Source)
    }

    /// A stage that processes batches in any order.
    pub fn transform() -> Self {
        Self::new(StageKind::Transform)
    }

    /// A stage that receives batches one at a time, in the order in which the source emitted them.
    pub fn sink() -> Self {
        Self::new(StageKind::Sink)
    }

    /// Runs a sink with one worker per thread of the run. Batches are admitted in the order in which the source emitted
    /// them ([`Worker::admit`](crate::Worker::admit)), and then processed in any order.
    #[must_use]
    pub fn in_parallel(mut self) -> Self {
        self.in_parallel = true;
        self
    }

    /// Adds columns that an earlier stage must have written.
    #[must_use]
    pub fn reads<C: Into<ColumnSpec>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.reads.extend(columns.into_iter().map(Into::into));
        self
    }

    /// Adds columns that the stage reads if some stage of the pipeline writes them.
    #[must_use]
    pub fn reads_optional<C: Into<ColumnSpec>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.optional.extend(columns.into_iter().map(Into::into));
        self
    }

    /// Adds columns that this stage fills for every row. If a stage both reads and writes a column, it updates the
    /// column.
    #[must_use]
    pub fn writes<C: Into<ColumnSpec>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.writes.extend(columns.into_iter().map(Into::into));
        self
    }

    /// Adds columns that this stage writes although a pipeline may have no reader for them. If no stage reads such a
    /// column, there is no warning.
    #[must_use]
    pub fn offers<C: Into<ColumnSpec>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        let columns: Vec<ColumnSpec> = columns.into_iter().map(Into::into).collect();
        self.offered.extend(columns.iter().map(|column| column.name().to_owned()));
        self.writes(columns)
    }

    /// Adds a custom column that this stage fills. A name without a dot names a chunk column.
    #[must_use]
    pub fn writes_dynamic(mut self, name: &str, cell: DynamicType) -> Self {
        self.writes.push(ColumnSpec::dynamic(name, cell));
        self
    }

    /// Adds names of stages that must run before this one if the pipeline has them. The pipeline file can add more
    /// names.
    #[must_use]
    pub fn after<S: Into<String>>(mut self, stages: impl IntoIterator<Item = S>) -> Self {
        self.after.extend(stages.into_iter().map(Into::into));
        self
    }

    /// Declares that the stage reads every custom column. The plan puts the stage after every stage that writes a
    /// custom column, unless other dependencies require the opposite order.
    #[must_use]
    pub fn reads_dynamic(mut self) -> Self {
        self.reads_dynamic = Some(DynamicColumns::All);
        self
    }

    /// Like [`Access::reads_dynamic`], but the stage reads only the custom columns whose declared uses satisfy
    /// `is_wanted`.
    #[must_use]
    pub fn reads_dynamic_used_for(mut self, is_wanted: fn(ColumnUses) -> bool) -> Self {
        self.reads_dynamic = Some(DynamicColumns::Used(is_wanted));
        self
    }

    /// Declares that the stage drops or adds rows. Such a stage never shares a batch with another stage, and later
    /// stages see the changed rows. Only a source or a restructuring stage may emit batches.
    #[must_use]
    pub fn restructures(mut self) -> Self {
        self.restructures = true;
        self
    }

    /// Whether the stage may drop or add rows.
    pub fn is_restructuring(&self) -> bool {
        self.restructures
    }

    /// Source, transform or sink.
    pub fn kind(&self) -> StageKind {
        self.kind
    }

    /// The columns that the stage requires.
    pub fn required(&self) -> impl Iterator<Item = &ColumnSpec> {
        self.reads.iter()
    }

    /// The columns that the stage fills.
    pub fn written(&self) -> impl Iterator<Item = &ColumnSpec> {
        self.writes.iter()
    }

    /// All columns that the stage reads, required and optional.
    pub fn all_reads(&self) -> impl Iterator<Item = &ColumnSpec> {
        self.reads.iter().chain(&self.optional)
    }

    pub(crate) fn reads_column(&self, name: &str) -> bool {
        self.all_reads().any(|column| column.name() == name)
    }

    pub(crate) fn writes_column(&self, name: &str) -> bool {
        self.writes.iter().any(|column| column.name() == name)
    }
}
