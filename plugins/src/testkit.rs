//! Runs one stage over rows made by hand.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use aurora_pipeline::{
    Access, AccessError, BatchCopy, BatchView, BuildContext, Cell, Column, ColumnSpec, Configured, Diagnostics, Draft,
    DynamicType, Emitter, Entity, Fingerprint, Pipeline, Registry, RunConfig, RunError, RunOptions, RunReport,
    Services, Stage, StageConfig, StageContext, StageError, StageKind, StagePart, Value, Worker, producer,
};

/// Name of the stage under test in messages and reports.
pub const STAGE: &str = "stage-under-test";

/// Why a test of a stage did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// The configuration is wrong, or asks for columns which the rows do not have.
    #[error("{0}")]
    Config(#[from] Diagnostics),
    /// The stage could not be made.
    #[error(transparent)]
    Build(#[from] StageError),
    /// The stage failed, panicked, or went beyond its declared access.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// One stage, and the rows that it is to see. The rows travel in one batch.
pub struct StageTest {
    configured: Configured,
    services: Services,
    root: PathBuf,
    rows: HandMade,
}

type Fill = Box<dyn Fn(&mut Draft<'_>) -> Result<(), AccessError> + Send + Sync>;

/// A source of one batch.
#[derive(Default)]
struct HandMade {
    files: usize,
    chunks: Vec<u32>,
    columns: Vec<ColumnSpec>,
    fills: Vec<Fill>,
}

impl StageTest {
    /// A test of the stage that this configuration makes: TOML as it stands below `[stage.<name>]`.
    ///
    /// # Errors
    /// Everything that is wrong with the configuration.
    pub fn new<C: StageConfig>(config: &str) -> Result<Self, TestError> {
        let mut registry = Registry::new();
        registry.register::<C>();
        Ok(Self {
            configured: registry.configure(C::TYPE, config)?,
            services: Services::new(),
            root: PathBuf::new(),
            rows: HandMade::default(),
        })
    }

    /// The directory which the stage finds in its [`BuildContext`].
    #[must_use]
    pub fn root(mut self, root: &Path) -> Self {
        root.clone_into(&mut self.root);
        self
    }

    /// The services which the stage finds in its [`BuildContext`].
    #[must_use]
    pub fn services(mut self, services: Services) -> Self {
        self.services = services;
        self
    }

    /// Adds chunk rows: for each the file row it belongs to.
    #[must_use]
    pub fn chunks(mut self, files: impl IntoIterator<Item = u32>) -> Self {
        self.rows.chunks.extend(files);
        self
    }

    /// Adds a column, a value per row. The columns of files say how many files there are.
    #[must_use]
    pub fn column<T: Cell>(mut self, column: Column<T>, values: Vec<T>) -> Self {
        self.rows.note(column.entity(), values.len());
        self.rows.columns.push(column.spec());
        self.rows.fills.push(Box::new(move |draft| draft.write(column, values.clone())));
        self
    }

    /// Adds a plugin's column, a value or nothing per row. A name without a dot means a chunk's column.
    #[must_use]
    pub fn dynamic(mut self, name: &str, cell: DynamicType, values: Vec<Option<Value>>) -> Self {
        let column = ColumnSpec::dynamic(name, cell);
        let name = column.name().to_owned();
        self.rows.note(Entity::of_column(&name).unwrap_or(Entity::Chunk), values.len());
        self.rows.columns.push(column);
        self.rows.fills.push(Box::new(move |draft| draft.write_dynamic(&name, values.clone())));
        self
    }

    /// Runs the stage.
    ///
    /// # Errors
    /// If the stage cannot be made, misses a column, fails, panics, or touches a column which it did not declare.
    pub fn run(self) -> Result<StageOutcome, TestError> {
        self.run_with(RunOptions::default())
    }

    /// Runs the stage with options: a number of threads, or a token that cancels the run.
    ///
    /// # Errors
    /// As [`run`](Self::run).
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

/// What a stage made of the rows.
pub struct StageOutcome {
    batches: Vec<BatchCopy>,
    report: RunReport,
}

impl StageOutcome {
    /// The batches behind the stage: the rows given, and what the stage emitted at its end.
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

    /// The cells of a column over all batches; empty where the stage left it out.
    pub fn read<T: Cell>(&self, column: Column<T>) -> Vec<T> {
        self.batches.iter().filter_map(|batch| batch.read(column)).flatten().cloned().collect()
    }

    /// The cells of a column as plugin values over all batches.
    pub fn values(&self, name: &str) -> Vec<Option<Value>> {
        self.batches.iter().filter_map(|batch| batch.values(name)).flatten().collect()
    }

    /// What the stage skipped, warned of and counted.
    pub fn report(&self) -> &RunReport {
        &self.report
    }
}

impl HandMade {
    fn note(&mut self, entity: Entity, rows: usize) {
        if entity == Entity::File {
            self.files = self.files.max(rows);
        }
    }
}

impl Stage for HandMade {
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

/// Keeps what comes out.
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
