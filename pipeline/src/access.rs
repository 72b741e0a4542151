//! What a stage declares about itself: its kind, the columns which it touches, and where it stands.

use serde::Serialize;

use crate::column::{ColumnSpec, DynamicType};

/// The place of a stage in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Emits batches. A pipeline has exactly one; it runs on one worker.
    Source,
    /// Works on batches in any order, on as many workers as there are jobs.
    Transform,
    /// Sees batches in the order of their emission, on one worker.
    Sink,
}

impl Kind {
    /// `source`, `transform` or `sink`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Transform => "transform",
            Self::Sink => "sink",
        }
    }
}

/// The declared access of a stage. The plan is ordered by it, and a batch view refuses anything beyond it.
///
/// ```
/// use aurora_pipeline::{Access, Column};
/// const PATH: Column<String> = Column::new("file.path");
/// const LANGUAGE: Column<&'static str> = Column::new("file.language");
/// let access = Access::transform().reads([PATH.spec()]).writes([LANGUAGE.spec()]);
/// assert_eq!(access.written().next().unwrap().name(), "file.language");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub(crate) kind: Kind,
    pub(crate) reads: Vec<ColumnSpec>,
    pub(crate) optional: Vec<ColumnSpec>,
    pub(crate) writes: Vec<ColumnSpec>,
    pub(crate) after: Vec<String>,
    pub(crate) reads_dynamic: bool,
    pub(crate) restructures: bool,
}

impl Access {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            reads: Vec::new(),
            optional: Vec::new(),
            writes: Vec::new(),
            after: Vec::new(),
            reads_dynamic: false,
            restructures: false,
        }
    }

    /// A stage which emits batches.
    pub fn source() -> Self {
        Self::new(Kind::Source)
    }

    /// A stage which works on batches in any order.
    pub fn transform() -> Self {
        Self::new(Kind::Transform)
    }

    /// A stage which sees batches one after the other, in the order of their emission.
    pub fn sink() -> Self {
        Self::new(Kind::Sink)
    }

    /// Columns which must have been written before this stage.
    #[must_use]
    pub fn reads<C: Into<ColumnSpec>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.reads.extend(columns.into_iter().map(Into::into));
        self
    }

    /// Columns which are read where some stage of the pipeline writes them, and done without otherwise.
    #[must_use]
    pub fn reads_optional<C: Into<ColumnSpec>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.optional.extend(columns.into_iter().map(Into::into));
        self
    }

    /// Columns which this stage fills for every row. A column both read and written is an update.
    #[must_use]
    pub fn writes<C: Into<ColumnSpec>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.writes.extend(columns.into_iter().map(Into::into));
        self
    }

    /// A column of plugin values which this stage fills. A name without a dot means a chunk's column.
    #[must_use]
    pub fn writes_dynamic(mut self, name: &str, cell: DynamicType) -> Self {
        self.writes.push(ColumnSpec::dynamic(name, cell));
        self
    }

    /// Stages, by name, which come before this one where the pipeline has them. The pipeline's file can add more.
    #[must_use]
    pub fn after<S: Into<String>>(mut self, stages: impl IntoIterator<Item = S>) -> Self {
        self.after.extend(stages.into_iter().map(Into::into));
        self
    }

    /// The stage reads whatever plugin columns there are. It comes after every stage which writes one, unless
    /// something else puts that stage behind it.
    #[must_use]
    pub fn reads_dynamic(mut self) -> Self {
        self.reads_dynamic = true;
        self
    }

    /// The stage drops or adds rows, so it never shares a batch with another, and rows are final for the stages
    /// behind it. Only such a stage, or a source, may emit batches.
    #[must_use]
    pub fn restructures(mut self) -> Self {
        self.restructures = true;
        self
    }

    /// Source, transform or sink.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The columns which the stage cannot do without.
    pub fn required(&self) -> impl Iterator<Item = &ColumnSpec> {
        self.reads.iter()
    }

    /// The columns which the stage uses where they exist.
    pub fn optional(&self) -> impl Iterator<Item = &ColumnSpec> {
        self.optional.iter()
    }

    /// The columns which the stage fills.
    pub fn written(&self) -> impl Iterator<Item = &ColumnSpec> {
        self.writes.iter()
    }

    pub(crate) fn all_reads(&self) -> impl Iterator<Item = &ColumnSpec> {
        self.reads.iter().chain(&self.optional)
    }

    pub(crate) fn reads_column(&self, name: &str) -> bool {
        self.all_reads().any(|column| column.name() == name)
    }

    pub(crate) fn writes_column(&self, name: &str) -> bool {
        self.writes.iter().any(|column| column.name() == name)
    }
}
