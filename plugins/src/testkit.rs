//! Runs one stage with rows from a test.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use aurora_pipeline::{
    Access, AccessError, BatchCopy, BatchView, BuildContext, Cell, Column, ColumnSpec, Configured, Diagnostics,
    DynamicType, Emitter, Entity, Fingerprint, Pipeline, Registry, RunConfig, RunError, RunOptions, RunReport,
    Services, Stage, StageConfig, StageContext, StageError, StageKind, StagePart, Value, Worker, producer,
};

/// Name of the stage under test in messages and reports.
pub const STAGE: &str = "stage-under-test";

/// The error of a test run.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// The configuration is invalid, or the stage requires columns that the rows do not have.
    #[error("{0}")]
    Config(#[from] Diagnostics),
    /// The stage could not be built.
    #[error(transparent)]
    Build(#[from] StageError),
    /// The stage failed, panicked, or violated its declared access.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A test of one stage with input rows. The rows form one batch.
pub struct StageTest {
    configured: Configured,
    services: Services,
    root: PathBuf,
    rows: TestRows,
}

type Fill = Box<dyn Fn(&mut BatchView<'_>) -> Result<(), AccessError> + Send + Sync>;

/// A source that emits one batch with the rows of the test.
#[derive(Default)]
struct TestRows {
    files: usize,
    chunks: Vec<u32>,
    columns: Vec<ColumnSpec>,
    fills: Vec<Fill>,
}

impl StageTest {
    /// Creates a test of a stage. `config` is TOML with the content of a table `[stage.<name>]`.
    ///
    /// # Errors
    /// Returns all errors of the configuration.
    pub fn new<C: StageConfig>(config: &str) -> Result<Self, TestError> {
        let mut registry = Registry::new();
        registry.register::<C>();
        Ok(Self {
            configured: registry.configure(C::TYPE, config)?,
            services: Services::new(),
            root: PathBuf::new(),
            rows: TestRows::default(),
        })
    }

    /// Sets the root directory in the stage's [`BuildContext`].
    #[must_use]
    pub fn root(mut self, root: &Path) -> Self {
        root.clone_into(&mut self.root);
        self
    }

    /// Sets the services in the stage's [`BuildContext`].
    #[must_use]
    pub fn services(mut self, services: Services) -> Self {
        self.services = services;
        self
    }

    /// Adds chunk rows. `files` contains the file row of each chunk.
    #[must_use]
    pub fn chunks(mut self, files: impl IntoIterator<Item = u32>) -> Self {
        self.rows.chunks.extend(files);
        self
    }

    /// Adds a column with one value per row. The longest file column determines the number of files.
    #[must_use]
    pub fn column<T: Cell>(mut self, column: Column<T>, values: Vec<T>) -> Self {
        self.rows.note(column.entity(), values.len());
        self.rows.columns.push(column.spec());
        self.rows.fills.push(Box::new(move |draft| draft.write(column, values.clone())));
        self
    }

    /// Adds a custom column with at most one value per row. A name without a dot names a chunk column.
    #[must_use]
    pub fn dynamic(mut self, name: &str, cell: DynamicType, values: Vec<Option<Value>>) -> Self {
        let column = ColumnSpec::dynamic(name, cell);
        let name = column.name().to_owned();
        self.rows.note(Entity::from_column(&name).unwrap_or(Entity::Chunk), values.len());
        self.rows.columns.push(column);
        self.rows.fills.push(Box::new(move |draft| draft.write_dynamic(&name, values.clone())));
        self
    }

    /// Runs the stage.
    ///
    /// # Errors
    /// Returns an error if the stage cannot be built, lacks a column, fails, panics, or accesses an undeclared column.
    pub fn run(self) -> Result<StageOutcome, TestError> {
        self.run_with(RunOptions::default())
    }

    /// Runs the stage with options, such as a number of threads or a token that cancels the run.
    ///
    /// # Errors
    /// See [`run`](Self::run).
    pub fn run_with(self, options: RunOptions<'_>) -> Result<StageOutcome, TestError> {
        let access = self.configured.access();
        let stage = self.configured.build(&BuildContext { root: &self.root, services: &self.services })?;
        let kept = Arc::<Mutex<Vec<BatchCopy>>>::default();
        let keeper = Keeper { kept: Arc::clone(&kept) };
        let columns = self.rows.columns.iter().chain(access.written()).map(ColumnSpec::name);
        let keeper_access = Access::sink().reads_optional(columns).after([STAGE]);
        let mut parts = Vec::new();
        if access.kind() != StageKind::Source {
            let rows = Access::source().writes(self.rows.columns.iter().cloned());
            parts.push(StagePart::new("rows", rows, Box::new(self.rows)));
        }
        parts.push(StagePart::new(STAGE, access, stage));
        parts.push(StagePart::new("keeper", keeper_access, Box::new(keeper)));
        let report = Pipeline::assemble(RunConfig::default(), parts)?.run(options)?;
        let batches = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(StageOutcome { batches, report })
    }
}

/// The output of a stage.
pub struct StageOutcome {
    batches: Vec<BatchCopy>,
    report: RunReport,
}

impl StageOutcome {
    /// The batches after the stage: the batch of the test, and batches that the stage emitted when it closed.
    pub fn batches(&self) -> &[BatchCopy] {
        &self.batches
    }

    /// Number of file rows.
    pub fn files(&self) -> usize {
        self.batches.iter().map(BatchCopy::files).sum()
    }

    /// Number of chunk rows.
    pub fn chunks(&self) -> usize {
        self.batches.iter().map(BatchCopy::chunks).sum()
    }

    /// The cells of a column in all batches; empty if the stage did not write the column.
    pub fn read<T: Cell>(&self, column: Column<T>) -> Vec<T> {
        self.batches.iter().filter_map(|batch| batch.read(column)).flatten().cloned().collect()
    }

    /// The cells of a column in all batches, converted to the values that custom stages receive.
    pub fn values(&self, name: &str) -> Vec<Option<Value>> {
        self.batches.iter().filter_map(|batch| batch.values(name)).flatten().collect()
    }

    /// The report of the run: skipped files, warnings, and counters.
    pub fn report(&self) -> &RunReport {
        &self.report
    }
}

impl TestRows {
    fn note(&mut self, entity: Entity, rows: usize) {
        if entity == Entity::File {
            self.files = self.files.max(rows);
        }
    }
}

impl Stage for TestRows {
    fn open(&self) -> Box<dyn Worker + '_> {
        producer(|out: &mut Emitter<'_>, _: &StageContext<'_>| {
            let needed = self.chunks.iter().map(|file| *file as usize + 1).max().unwrap_or(0);
            let mut draft = out.batch(self.files.max(needed));
            draft.add_chunks(self.chunks.clone())?;
            for fill in &self.fills {
                fill(&mut draft)?;
            }
            out.emit(draft)
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new("rows", 1)
    }
}

/// A sink that collects the output.
struct Keeper {
    kept: Arc<Mutex<Vec<BatchCopy>>>,
}

impl Stage for Keeper {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, _: &StageContext<'_>| {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(batch.copy());
            Ok(())
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new("keeper", 1)
    }
}
