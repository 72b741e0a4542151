//! A pipeline engine in the style of an entity component system (ECS).
//!
//! Entities are files and chunks. A batch has a table of file rows and a table of chunk rows, and each chunk row refers
//! to a file row. Components are typed columns. Systems are stages: each stage declares the columns that it reads and
//! writes, and its view of a batch rejects access to any other column. A pipeline is written in TOML. [`load`] checks
//! it, reports all errors at once, and returns a [`Plan`]. The plan is built into a [`Pipeline`]. An executor runs the
//! pipeline and streams batches through workers within one memory budget. The rows that a sink receives do not depend
//! on the number of threads or on timing.
//!
//! Deliberately absent: the stages themselves, file formats other than pipeline files, I/O (each stage does its own),
//! signal handling (the program cancels a [`CancelToken`]), and conditional or looping plans.
//!
//! | question | module |
//! |---|---|
//! | What is a column, a batch, a view? | `column`, `column_use`, `column_table`, `batch`, `view`, `permissions` |
//! | How do stages see values whose type they do not know? | `cell`, `value`, `column_values`, `built_in_column`, `stored_values` |
//! | What does a stage look like? | `stage`, `transform`, `access`, `program_spec`, `context`, `emitter`, `fingerprint`, `stage_error` |
//! | How does TOML become a plan? | `config`, `config_entry`, `resolved_stage`, `resolve`, `graph`, `plan_diagnostics`, `plan`, `plan_part` |
//! | Where do the reference and the JSON Schema come from? | `reference`, `schema` |
//! | How does a pipeline run? | `assembly`, `executor`, `worker_task`, `in_flight`, `queue`, `budget`, `progress`, `probe`, `stage_log`, `report` |
//!
//! ```
//! use std::path::Path;
//! use aurora_pipeline::*;
//! use serde::Deserialize;
//!
//! const PATH: Column<String> = Column::new("file.path");
//! const DEPTH: Column<u64> = Column::new("file.depth");
//!
//! #[derive(Deserialize)]
//! struct Paths { paths: Vec<String> }
//!
//! impl StageConfig for Paths {
//!     const TYPE: &'static str = "paths";
//!     fn access(&self) -> Access { Access::source().writes([PATH]) }
//!     fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> { Ok(Box::new(self)) }
//! }
//!
//! impl Stage for Paths {
//!     fn open(&self) -> Box<dyn Worker + '_> {
//!         producer(|out: &mut Emitter<'_>, cx: &StageContext<'_>| {
//!             for paths in self.paths.chunks(cx.batch_files()) {
//!                 let mut draft = out.batch(paths.len());
//!                 draft.write(PATH, paths.to_vec())?;
//!                 out.emit(draft)?;
//!             }
//!             Ok(())
//!         })
//!     }
//!     fn fingerprint(&self) -> Fingerprint { Fingerprint::new(Self::TYPE, 1) }
//! }
//!
//! #[derive(Deserialize)]
//! struct Depth {}
//!
//! impl Transform for Depth {
//!     const TYPE: &'static str = "depth";
//!     fn access(&self) -> Access { Access::transform().reads([PATH]).writes([DEPTH]) }
//!     fn fingerprint(&self) -> Fingerprint { Fingerprint::new(Self::TYPE, 1) }
//!     fn process(&self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
//!         let depths: Vec<u64> = batch.read(PATH)?.iter().map(|path| path.matches('/').count() as u64).collect();
//!         cx.count("levels", depths.iter().sum());
//!         Ok(batch.write(DEPTH, depths)?)
//!     }
//! }
//!
//! let mut registry = Registry::new();
//! registry.register::<Paths>();
//! registry.register::<Stateless<Depth>>();
//! let text = "
//!     [stage.depth]
//!     [stage.paths]
//!     paths = ['a/b.rs', 'c.rs']
//! ";
//! let plan = load(&[PipelineSource { name: "pipeline.toml", text }], &registry, &[])?;
//! assert_eq!(plan.stages()[0].name(), "paths");
//!
//! let services = Services::new();
//! let pipeline = plan.build(&BuildContext { root: Path::new("."), services: &services })?;
//! let report = pipeline.run(RunOptions::default())?;
//! assert_eq!((report.files, report.counters["levels"]), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![warn(missing_docs)]

mod access;
mod assembly;
mod batch;
mod batch_copy;
mod budget;
mod built_in_column;
mod byte_size;
mod ceilings;
mod cell;
mod column;
mod column_table;
mod column_use;
mod column_values;
mod config;
mod config_entry;
mod context;
pub mod emitter;
mod executor;
mod fingerprint;
mod graph;
mod in_flight;
mod missing_result;
mod permissions;
mod plan;
mod plan_diagnostics;
mod plan_part;
mod probe;
mod problems;
mod program_spec;
mod progress;
mod queue;
mod reference;
mod registry;
mod report;
mod resolve;
mod resolved_stage;
mod schema;
mod source_map;
mod stage;
mod stage_error;
mod stage_log;
mod stored_values;
mod transform;
mod value;
mod view;
mod worker_task;

pub use access::{Access, StageKind};
pub use assembly::{Pipeline, StagePart};
pub use aurora_diagnostics::{Diagnostic, Diagnostics, Location, Place, Severity, code};
pub use batch_copy::BatchCopy;
pub use built_in_column::{BuiltInColumn, ColumnReference, RefusedValue};
pub use byte_size::{ByteSize, format_bytes, parse_bytes};
pub use ceilings::{Ceiling, MAX_WORKERS};
pub use cell::Cell;
pub use column::{CellType, Column, ColumnSpec, Entity};
pub use column_use::ColumnUses;
pub use column_values::ColumnValues;

pub use config::RunConfig;
pub use context::{CancelToken, StageContext};
pub use emitter::Emitter;
pub use executor::RunOptions;
pub use fingerprint::Fingerprint;
pub use missing_result::{MissingResult, NO_RESULT};
pub use permissions::AccessError;
pub use plan::{Plan, PlannedStage, StandIn, Thresholds};
pub use probe::{Probe, StageEvent, StageOutput};
pub use problems::Problems;
pub use program_spec::ProgramSpec;
pub use progress::{Observer, Progress, Silent, StageLoad};
pub use reference::{Described, Key, TableReference, ValueType};
pub use registry::Registry;
pub use report::{Outcome, RunError, RunReport, StageReport, Tally, TallyEntry};
pub use resolve::{PipelineSource, load, load_checked};
pub use resolved_stage::{Configured, STAGE_KEYS};
pub use stage::{BuildContext, Services, Stage, StageConfig, Worker, producer};
pub use stage_error::StageError;
pub use stored_values::{CHUNK_STORED, FILE_STORED, StoredValues};
pub use transform::{Stateless, Transform};
pub use value::{DynamicType, Value, ValueRef};
pub use view::BatchView;
